"""The wheel away from the checkout: an ordinary user, no network, no programs but Python and util-linux, an empty home.

Dependencies are those of the test's own environment: what pip makes of them is not ours to test.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement

from fabriclab.engine.artefacts import Artefacts

ROOT = Path(__file__).parents[2]
NO_NETWORK = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--net")
pytestmark = [pytest.mark.vm, pytest.mark.xdist_group("wheel")]


@dataclass(frozen=True)
class Place:
    """An environment with the wheel in it, and a directory to work in."""

    directory: Path
    alone: tuple[str, ...]

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*self.alone, str(self.directory / "venv" / "bin" / "fabriclab"), *arguments]
        environment = {"HOME": str(self.directory / "home"), "PATH": str(self.directory / "bin"), "COLUMNS": "400"}
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=self.directory / "work", env=environment
        )


def install(wheel: Path, directory: Path) -> Place:
    """Install a wheel where nothing else is."""
    for name in ("home", "work", "bin"):
        (directory / name).mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory / "venv"], check=True)
    (packages,) = (directory / "venv" / "lib").glob("python*/site-packages")
    # A path that is added so has no .pth files of its own followed: the checkout's package is not found.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(directory / "venv" / "bin" / "python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--no-deps", "--no-compile", str(wheel)], check=True)
    alone = (
        NO_NETWORK if subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False).returncode == 0 else ()
    )
    return Place(directory, tuple(shutil.which(word) or word if word == "unshare" else word for word in alone))


@pytest.fixture(scope="session")
def wheel(artefacts: Artefacts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, ROOT / ".ci" / "wheel.py", "--quick", dist], check=True, capture_output=True)
    (made,) = dist.glob("fabriclab-*.whl")
    return made


@pytest.fixture(scope="session")
def place(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    return install(wheel, tmp_path_factory.mktemp("wheel"))


@pytest.mark.slow("a lab runs from the wheel and from the checkout, each a process of its own")
def test_a_new_lab_runs_and_tells_what_the_checkout_tells(place: Place, tmp_path: Path) -> None:
    assert place.call("new", "mylab", "--from", "incast").returncode == 0
    ran = place.call("run", "mylab", "--set", "senders=4", "--out", "run")
    assert ran.returncode == 0, ran.stderr
    assert (place.directory / "work" / "run" / "report.html").is_file()
    command = [sys.executable, "-m", "fabriclab", "run", str(ROOT / "labs" / "incast")]
    command += ["--set", "senders=4", "--no-report", "--out", str(tmp_path / "run")]
    subprocess.run(command, check=True, capture_output=True)
    flows = [directory / "run" / "flows.parquet" for directory in (place.directory / "work", tmp_path)]
    assert len({hashlib.sha256(file.read_bytes()).hexdigest() for file in flows}) == 1
    cache = place.directory / "home" / ".cache" / "fabriclab"
    assert sorted(path.name for path in cache.iterdir()) == ["kernel", "rootfs", "tools"]
    assert [path for path in cache.rglob("*") if ".partial." in path.name or path.suffix == ".lock"] == []


def test_doctor_says_what_is_there_and_which_labs_lack_what(place: Place) -> None:
    result = place.call("doctor", "--json")
    assert result.returncode == 0, result.stdout
    findings = {one["name"]: one for one in json.loads(result.stdout)["findings"]}
    assert "installed, " in findings["fabriclab"]["state"]
    assert findings["kernel"]["state"].startswith("linux-source-6.12 6.12.")
    assert findings["rootfs"]["state"].startswith("Debian trixie, ")
    assert "programs to build" not in findings
    daemons = findings["rootfs with FRR"]
    assert "(ai-sonic, link-failure, pfc-deadlock, sonic-leaf-spine, sonic-qos)" in daemons["state"]
    assert "pip install fabriclab[frr]" in daemons["remedy"]


def test_labs_are_listed_and_a_lab_with_routing_daemons_says_what_it_lacks(place: Place) -> None:
    listed = json.loads(place.call("labs", "--json").stdout)
    assert {lab["name"] for lab in listed} == {path.parent.name for path in (ROOT / "labs").glob("*/topology.clab.yml")}
    # Its traffic asks for a distribution: those came along, too.
    assert place.call("check", "websearch-load").returncode == 0
    result = place.call("run", "link-failure")
    assert result.returncode == 1
    assert "FRR is not installed; install fabriclab-frr" in result.stderr
    assert not (place.directory / "work" / "runs" / "link-failure").exists()


def index(wheel: Path) -> dict[str, dict[str, str]]:
    """Return what the wheel's index says of the parts of the machine inside."""
    found: dict[str, dict[str, str]] = json.loads(ZipFile(wheel).read("fabriclab/shipped/machine/machine.json"))[
        "artefacts"
    ]
    return found


def test_licences_and_sources_are_inside(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    inside = "fabriclab/shipped/machine/LICENSES"
    wanted = ("README.md", "linux-COPYING", "linux-config.txt", "debian/iproute2", "debian/libc6", "debian-sources.txt")
    assert {f"{inside}/{name}" for name in wanted} <= names
    assert {f"fabriclab/shipped/page/{name}" for name in ("page.js", "index.html", "uplot-LICENSE")} <= names
    assert {"fabriclab/shipped/images/machine/kernel/build.sh", "fabriclab/shipped/Cargo.lock"} <= names
    packages = [line.split()[0] for line in ZipFile(wheel).read(f"{inside}/debian-sources.txt").decode().splitlines()]
    assert "frr" not in packages
    described = index(wheel)["rootfs"]["version"]
    assert described == f"Debian trixie, {len(packages)} packages", "each has its source"
    assert [package for package in packages if f"{inside}/debian/{package.partition(':')[0]}" not in names] == []
    assert f"{inside}/rust/crates.txt" in names


@pytest.mark.slow("the first of them builds the wheel")
def test_its_bill_of_materials_names_all_that_is_inside(wheel: Path) -> None:
    (name,) = (name for name in ZipFile(wheel).namelist() if name.endswith(".dist-info/sboms/fabriclab.cdx.json"))
    text = ZipFile(wheel).read(name).decode()
    assert text == (wheel.parent / "fabriclab.cdx.json").read_text(), "it lies beside the wheel, too"
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    parts = {one["bom-ref"]: one for one in bill["components"]}
    inside = "fabriclab/shipped/machine/LICENSES"
    # Every Debian package has its source and the hash of its file, and says of which root file system it is.
    for line in ZipFile(wheel).read(f"{inside}/debian-sources.txt").decode().splitlines():
        package, version, source, source_version = line.split()
        found = parts.pop(f"debian/{package.partition(':')[0]}")
        (ancestor,) = found["pedigree"]["ancestors"]
        assert (found["version"], ancestor["name"], ancestor["version"]) == (version, source, source_version)
        assert [one["alg"] for one in found["hashes"]] == ["SHA-256"]
        assert {"name": "fabriclab:contents", "value": index(wheel)["rootfs"]["key"]} in found["properties"]
    for line in ZipFile(wheel).read(f"{inside}/rust/crates.txt").decode().splitlines():
        crate, _, version = line.split()[0].rpartition("-")
        assert parts.pop(f"cargo/{crate}@{version}")["hashes"]
    kernel = parts.pop("kernel")
    assert kernel["pedigree"]["ancestors"][0]["name"] == "linux-source-6.12"
    patches = {one["diff"]["url"] for one in kernel["pedigree"]["patches"]}
    assert patches <= set(ZipFile(wheel).namelist())
    assert len([name for name in patches if name.endswith(".patch")]) == len(
        [*(ROOT / "images" / "machine" / "kernel" / "patches" / "6.12").glob("*.patch")]
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for text in project["dependencies"]:
        assert parts.pop(f"pypi/{Requirement(text).name}")["scope"] == "required"
    assert {one["scope"] for name, one in parts.items() if name.startswith("pypi/")} == {"optional"}
    rest = {name for name in parts if not name.startswith("pypi/")}
    assert rest == {"rust-std", "glibc"} | {f"npm/{name}" for name in ("uplot", "echarts", "zrender")} | {
        f"npm/@xterm/{name}" for name in ("xterm", "addon-fit")
    }


@pytest.mark.slow("builds a second wheel")
def test_the_same_wheel_has_the_same_bill(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / ".ci" / "wheel.py", "--quick", tmp_path], check=True, capture_output=True)
    assert (tmp_path / "fabriclab.cdx.json").read_bytes() == (wheel.parent / "fabriclab.cdx.json").read_bytes()


@pytest.mark.slow("builds a second wheel and installs it")
def test_a_wheel_without_the_machine_says_how_to_build_it(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "FABRICLAB_MACHINE"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*-py3-none-any.whl")
    bare = install(wheel, tmp_path / "bare")
    for program in (
        "bash",
        "env",
        "sha256sum",
        "cut",
        "find",
        "sort",
        "tail",
        "head",
        "sed",
        "cat",
        "dirname",
        "uname",
    ):
        (bare.directory / "bin" / program).symlink_to(shutil.which(program) or program)
    findings = {one["name"]: one for one in json.loads(bare.call("doctor", "--json").stdout)["findings"]}
    assert findings["kernel"]["state"] == "not built"
    build = Path(findings["kernel"]["remedy"])
    assert build.is_file() and os.access(build, os.X_OK) and bare.directory in build.parents
    result = bare.call("run", "incast")
    assert result.returncode == 1
    assert f"the virtual machine's kernel and rootfs and tools must be built first; run `{build}`" in result.stderr
