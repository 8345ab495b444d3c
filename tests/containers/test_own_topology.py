"""What Containerlab is given of somebody's own file: that file, and of a Go template what it comes to."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_commands import FakeCommands
from ruamel.yaml import YAML

from fabriclab.api import engine
from fabriclab.api.lab import Lab, load_lab
from fabriclab.engine.containers import ContainerLab
from fabriclab.engine.containers.deployment import Deployment
from fabriclab.engine.go_templates import has_go
from fabriclab.errors import ArgumentError

NODE = "{{kind: linux, image: 'own:1', binds: ['hosts:/h'], exec: [ip addr add 10.0.0.{0}/24 dev eth1]}}"
PLAIN = f"""name: pair
topology:
  nodes:
    h1: {NODE.format(1)}
    h2: {NODE.format(2)}
  links: [{{endpoints: ['h1:eth1', 'h2:eth1']}}]
"""
TEMPLATE = """name: pair
topology:
  nodes:
{{- range $number := .hosts }}
    h{{ $number }}:
      {kind: linux, image: 'own:1', binds: ['hosts:/h'], exec: [ip addr add 10.0.0.{{ $number }}/24 dev eth1]}
{{- end }}
  links: [{endpoints: ['h1:eth1', 'h2:eth1']}]
"""


def found(lab: Lab, directory: Path, monkeypatch: pytest.MonkeyPatch) -> ContainerLab:
    """Return what a run in containers would be made from, on a host whose docker and containerlab are stand-ins."""
    FakeCommands(directory / "bin", monkeypatch)
    monkeypatch.setattr(engine, "locate_artefacts", lambda: {"tools": directory})
    monkeypatch.setattr(engine, "check_engine", lambda *_: None)
    made_from = engine.fit_engine("containerlab", lab.written, [], trust=True)
    assert isinstance(made_from, ContainerLab)
    return made_from


def given(made_from: ContainerLab, directory: Path) -> object:
    """Return the topology that `containerlab deploy --topo` is given."""
    (directory / "run" / "machine").mkdir(parents=True)
    deployment = Deployment(made_from.topology, directory / "run", None, made_from.text)
    argv = deployment.deploy_argv()
    file = Path(argv[argv.index("--topo") + 1])
    text = file.read_text()
    assert "{{" not in text
    return YAML(typ="safe", pure=True).load(text)["topology"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pair.clab.yml", PLAIN),
        pytest.param(
            "pair.clab.gotmpl", TEMPLATE, marks=pytest.mark.skipif(not has_go(), reason="no Go renders templates here")
        ),
    ],
)
def test_a_file_is_deployed_as_containerlab_would(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "pair.clab_vars.yml").write_text("hosts: [1, 2]\n")
    (tmp_path / "hosts").write_text("")
    lab = load_lab(tmp_path / name)
    described = given(found(lab, tmp_path, monkeypatch), tmp_path)
    expected = YAML(typ="safe", pure=True).load(PLAIN)["topology"]
    for node in expected["nodes"].values():
        node["binds"] = [f"{tmp_path}/hosts:/h"]
    binds = [f"{tmp_path}/run/machine/rendezvous:/run/fabriclab/rendezvous"]
    assert described == {**expected, "defaults": {"binds": binds}}


def test_a_lab_that_was_changed_in_python_is_not_that_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pair.clab.yml").write_text(PLAIN)
    (tmp_path / "hosts").write_text("")
    lab = load_lab(tmp_path / "pair.clab.yml")
    changed = lab.replace("topology.nodes.h1.image", "own:2")
    with pytest.raises(ArgumentError, match="made in Python"):
        found(changed, tmp_path, monkeypatch)
