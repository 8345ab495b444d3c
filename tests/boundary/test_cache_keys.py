"""What the cache names an artefact by: all that went into it, so that two builds from other packages never share a
name, and a cache from before there were such names serves on."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from fabriclab.engine.artefacts import Artefacts

ROOT = Path(__file__).parents[2]
MACHINE = ROOT / "images" / "machine"
DASH = "dash_0.5.12-12_amd64"


def shell(script: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run shell lines that know the functions of cache.sh."""
    lines = f"set -euo pipefail\nsource '{MACHINE}/cache.sh'\n{script}"
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(cache)}
    return subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=False, env=environment)


def make(cache: Path, packages: dict[str, str], version: str = "", recipe: str = "1234") -> Path:
    """Make an artefact of a recipe from packages with their hashes, as a root file system is made."""
    listed = "".join(
        f"echo {name} >>$1/packages; echo '{sha}  {name}.deb' >>$1/SHA256SUMS\n" for name, sha in packages.items()
    )
    command = f"made() {{ {listed or ':'}\n{f'echo {version!r} >$1/version' if version else ''}\n}}"
    result = shell(f"{command}\ncache_make rootfs {recipe} made", cache)
    assert result.returncode == 0, result.stderr
    return Path(result.stdout.strip())


def forget(cache: Path) -> None:
    """Let the recipe be built again, as it would be on another machine or on another day."""
    for link in (cache / "fabriclab" / "rootfs" / "recipes").iterdir():
        link.unlink()


def test_a_key_is_the_hash_of_the_list_of_what_went_in(tmp_path: Path) -> None:
    artefact = make(tmp_path, {DASH: "aa", "bash_5.2.37-2_amd64": "bb"}, version="Compilers: rustc 1.95.0; gcc 12.2.0")
    contents = (artefact / "contents").read_text()
    assert contents.splitlines() == [
        "recipe 1234",
        "compiler rustc 1.95.0",
        "compiler gcc 12.2.0",
        f"package {DASH} aa",
        "package bash_5.2.37-2_amd64 bb",
    ]
    assert artefact.name == hashlib.sha256(contents.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("packages", "version"),
    [
        pytest.param({"dash_0.5.12-13_amd64": "aa"}, "Compiler: gcc 12.2.0", id="another version"),
        pytest.param({DASH: "ab"}, "Compiler: gcc 12.2.0", id="another file of the same version"),
        pytest.param({DASH: "aa", "bash_5.2.37-2_amd64": "bb"}, "Compiler: gcc 12.2.0", id="one package more"),
        pytest.param({DASH: "aa"}, "Compiler: gcc 14.2.0", id="another compiler"),
    ],
)
def test_the_same_recipe_with_other_ingredients_has_another_key(
    tmp_path: Path, packages: dict[str, str], version: str
) -> None:
    first = make(tmp_path, {DASH: "aa"}, "Compiler: gcc 12.2.0")
    forget(tmp_path)
    second = make(tmp_path, packages, version)
    assert first != second
    assert first.is_dir(), "what recordings and bundles name stays"
    assert shell("cache_find rootfs 1234", tmp_path).stdout == f"{second}\n", "the latest is taken"


def test_what_a_run_writes_down_tells_two_builds_apart(tmp_path: Path) -> None:
    """The manifest's hashes, which bundles, comparisons and recordings compare."""
    hashes = []
    for version in ("0.5.12-12", "0.5.12-13"):
        root = make(tmp_path, {f"dash_{version}_amd64": "aa"}) / "root"
        hashes.append(Artefacts(kernel=tmp_path / "linux", rootfs=root, tools=tmp_path).hashes())
        forget(tmp_path)
    assert hashes[0]["rootfs"] != hashes[1]["rootfs"]
    assert (hashes[0]["kernel"], hashes[0]["tools"]) == (hashes[1]["kernel"], hashes[1]["tools"])


def test_the_same_ingredients_have_the_same_key(tmp_path: Path) -> None:
    first = make(tmp_path, {DASH: "aa"})
    forget(tmp_path)
    assert make(tmp_path, {DASH: "aa"}) == first
    assert make(tmp_path / "elsewhere", {DASH: "aa"}).name == first.name


def test_a_kernel_names_its_source_package_with_the_hash_of_its_file(tmp_path: Path) -> None:
    source = tmp_path / "fabriclab" / "sources" / "linux-source-6.12_6.12.117-1_all.deb"
    source.parent.mkdir(parents=True)
    source.write_bytes(b"a package")
    version = r"Package: linux-source-6.12\nVersion: 6.12.117-1\nCompiler: gcc 12.2.0\n"
    made = f"""made() {{ printf '{version}' >"$1/version"; }}\ncache_make kernel 1234 made"""
    path = Path(shell(made, tmp_path).stdout.strip())
    assert (path / "contents").read_text().splitlines() == [
        "recipe 1234",
        f"package linux-source-6.12_6.12.117-1_all {hashlib.sha256(b'a package').hexdigest()}",
        "compiler gcc 12.2.0",
    ]


# -- A cache from before -----------------------------------------------------------------------------------------------
def former(cache: Path, recipe: str) -> Path:
    """Put an artefact where it lay when its name was its recipe's."""
    directory = cache / "fabriclab" / "rootfs" / recipe
    (directory / "root").mkdir(parents=True)
    (directory / "root" / "file").write_text("as it was")
    (directory / "packages").write_text(f"{DASH}\n")
    return directory


FAILS = "made() { echo 'builds anew' >&2; false; }\n"


def test_a_former_artefact_is_adopted_and_not_built(tmp_path: Path) -> None:
    old = former(tmp_path, "1234")
    result = shell(f"{FAILS}cache_make rootfs 1234 made", tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    adopted = Path(result.stdout.strip())
    assert (adopted / "contents").read_text() == f"recipe 1234\npackage {DASH}\n"
    assert adopted.name == hashlib.sha256((adopted / "contents").read_bytes()).hexdigest()[:16]
    assert (adopted / "root" / "file").samefile(old / "root" / "file"), "it takes no room"
    assert not (old / "contents").exists(), "recordings name it: it stays what it was"
    assert shell("cache_find rootfs 1234", tmp_path).stdout == f"{adopted}\n"


def test_who_only_looks_finds_a_former_artefact_and_touches_nothing(tmp_path: Path) -> None:
    old = former(tmp_path, "1234")
    assert shell("cache_find rootfs 1234", tmp_path).stdout == f"{old}\n"
    assert [path.name for path in old.parent.iterdir()] == ["1234"]


def test_a_former_artefact_that_one_may_only_read_is_used_as_it_is() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        old = former(directory, "1234")
        old.parent.chmod(0o555)
        for script in ("cache.sh", "contents.sh"):
            shutil.copy(MACHINE / script, directory)
        lines = f"source '{directory}/cache.sh'\n{FAILS}cache_make rootfs 1234 made"
        command = [*_NOBODY, "bash", "-euo", "pipefail", "-c", lines]
        environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": name}
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd="/")
        old.parent.chmod(0o755)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{old}\n", "")


_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
"""Root may write everywhere."""
