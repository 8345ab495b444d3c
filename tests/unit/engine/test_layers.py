"""Layers of Debian packages: what is built when, what is said meanwhile, and what a machine is started with."""

from __future__ import annotations

from pathlib import Path

import pytest
from program_labs import CLIENT, plan
from sample_plans import star

from fabriclab.engine import layers
from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.virtual import Machine, machine_argv
from fabriclab.runs.engines import layers_of
from fabriclab.runs.manifest import new_manifest

SCRIPT = """#!/bin/sh
layer=$(dirname "$2")/layer
case $1 in
  where) if [ -d "$layer" ]; then echo "$layer"; fi ;;
  build)
    echo "layer: unpacking $3 $4" >&2
    echo "what apt says" >&2
    if [ "$3" = broken ]; then echo "E: Unable to locate package broken" >&2; exit 100; fi
    mkdir -p "$layer/root"
    echo 'common_1_all server-package_2_amd64' >"$layer/packages"
    echo "$layer"
    ;;
esac
"""


@pytest.fixture
def artefacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Artefacts:
    script = tmp_path / "layer.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    monkeypatch.setitem(layers.SCRIPTS, "packages", script)
    (tmp_path / "rootfs" / "root").mkdir(parents=True)
    return Artefacts(tmp_path / "kernel" / "linux", tmp_path / "rootfs" / "root", tmp_path / "tools")


PACKAGES = ("common", "server-package")
WANTED = {"packages": PACKAGES}


def test_one_is_built_once_and_people_are_told(artefacts: Artefacts, capsys: pytest.CaptureFixture[str]) -> None:
    built = layers.with_layers(artefacts, [{}, WANTED, WANTED])
    assert list(built.layers) == [("packages", *PACKAGES)]
    assert capsys.readouterr().err == "unpacking common server-package\n"
    assert layers.with_layers(artefacts, [WANTED]).layers == built.layers
    assert capsys.readouterr().err == ""
    assert layers.with_layers(artefacts, [{}]).layers == {}


def test_why_one_cannot_be_built_is_told(artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EngineError, match=r"(?s)layer of broken can't be built:.*Unable to locate package broken"):
        layers.with_layers(artefacts, [{"packages": ("broken",)}])
    monkeypatch.setitem(layers.SCRIPTS, "packages", artefacts.rootfs / "no-such-script")
    with pytest.raises(EngineError, match="can't find the layer of"):
        layers.with_layers(artefacts, [WANTED])
    with pytest.raises(EngineError, match="can't be built"):
        layers.build_layer(artefacts.rootfs, "packages", PACKAGES)


def test_a_machine_is_started_with_the_layers_of_its_plan(artefacts: Artefacts, tmp_path: Path) -> None:
    built = layers.with_layers(artefacts, [WANTED])
    for name in ("private", "run"):
        (tmp_path / name).mkdir()
    machine = Machine(built, tmp_path / "run", 1, 1 << 30, None, layers=layers_of(plan(), built))
    argv = machine_argv(machine, tmp_path / "private")
    assert "fabriclab_layers=packages:layer-packages" in argv
    assert "hostfs.allow=ro:tools,ro:rootfs,ro:layer-packages,rw:scratch" in argv
    assert f"--read={tmp_path / 'rootfs' / 'layer' / 'root'}" in argv
    (tmp_path / "other").mkdir()
    alone = Machine(built, tmp_path / "run", 1, 1 << 30, None)
    assert "fabriclab_layers" not in " ".join(machine_argv(alone, tmp_path / "other"))
    assert layers_of(star(3), built) == {} and CLIENT.packages == ("common",)


def test_archives_of_java_lie_over_any_root_file_system(artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = f"org.example:tool:1.0={'0' * 64}"
    script = artefacts.rootfs.parent / "jars.sh"
    script.write_text(
        f"#!/bin/sh\n[ $1 = where ] || {{ mkdir -p {script.parent}/jars; echo {script.parent}/jars $2; }}\n"
    )
    script.chmod(0o755)
    monkeypatch.setitem(layers.SCRIPTS, "jars", script)
    built = layers.with_layers(artefacts, [{"jars": (jar,)}])
    assert built.layers == {("jars", jar): Path(f"{script.parent}/jars {jar}")}
    monkeypatch.setitem(layers.SCRIPTS, "jars", script.parent / "none")
    with pytest.raises(
        EngineError, match=r"the layer of org.example:tool:1.0, a, b, c, d, e and 1 more can't be built"
    ):
        layers.build_layer(artefacts.rootfs, "jars", (jar, *"abcdef"))


def test_the_manifest_has_its_versions(artefacts: Artefacts) -> None:
    manifest = new_manifest(plan(), layers.with_layers(artefacts, [WANTED]), (), {})
    assert manifest.versions["layer-packages"] == ["common_1_all", "server-package_2_amd64"]
    assert manifest.artefacts["layer-packages"] == "layer"
