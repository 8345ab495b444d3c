"""`make deps` on hosts that we don't have: which packages it asks for by apt and by dnf, as root,
by sudo and without either."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from plain_host import link_programs, path_of, stand_in

ROOT = Path(__file__).parents[2]
DEBIAN_12 = {
    "cargo": "0.66.0+ds1-1",
    "cargo-web": "1.85.0+dfsg3-1~deb12u3",
    "libyang2-tools": "2.1.30-2",
    "libyang-tools": "2.1.30-2",
}
DEBIAN_13 = {"cargo": "1.85.1+dfsg1-1+deb13u1", "libyang3-tools": "3.12.2-1"}
UBUNTU_24_04 = {
    "cargo": "1.75.0+dfsg0ubuntu1-0ubuntu7.1",
    "cargo-1.80": "1.80.1+dfsg0ubuntu1-0ubuntu0.24.04",
    "cargo-1.85": "1.85.1+dfsg0ubuntu2~bpo0-0ubuntu0.24.04",
    "cargo-1.89": "1.89.0+dfsg0ubuntu1~bpo0-0ubuntu0.24.04",
    "libyang2-tools": "2.1.30-2.1build3",
}
LACKING = {
    "apt-get",
    "apt-cache",
    "cargo",
    "cargo-fmt",
    "cargo-clippy",
    "clippy-driver",
    "rustc",
    "rustup",
    "yanglint",
    "sudo",
    "dnf",
    "flex",
    "taskset",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("programs")
    link_programs(directory, without=LACKING)
    return directory


@pytest.fixture
def path(programs: Path, tmp_path: Path) -> str:
    """PATH as root has it on a Debian that lacks what LACKING names; what is installed is noted in `called`."""
    path = path_of(tmp_path / "stand-ins", programs)
    stand_in(path, "id", "echo 0")
    stand_in(path, "apt-get", f'echo "apt-get $*" >>"{tmp_path}/called"')
    return path


def knows(path: str, packages: dict[str, str]) -> None:
    """Make apt know these packages, and no others."""
    policies = "\n".join(
        f"{name}) printf '{name}:\\n  Candidate: {version}\\n' ;;" for name, version in packages.items()
    )
    names = "\n".join(packages)
    stand_in(
        path,
        "apt-cache",
        f"if [ $1 = pkgnames ]; then grep \"^$2\" <<<'{names}'; exit; fi\ncase $2 in\n{policies}\nesac",
    )


def deps(path: str, *arguments: str, script: Path = ROOT / ".ci" / "deps") -> subprocess.CompletedProcess[str]:
    environment = {"PATH": path, "RUST_DIRECTORIES": "/nonexistent"}
    return subprocess.run([script, *arguments], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(
    ("release", "packages"),
    [
        (
            DEBIAN_12,
            {"flex", "util-linux", "libyang2-tools", "cargo-web", "rustc-web", "rustfmt-web", "rust-web-clippy"},
        ),
        (DEBIAN_13, {"flex", "util-linux", "libyang3-tools", "cargo", "rustc", "rustfmt", "rust-clippy"}),
        (
            UBUNTU_24_04,
            {"flex", "util-linux", "libyang2-tools", "cargo-1.85", "rustc-1.85", "rustfmt-1.85", "rust-1.85-clippy"},
        ),
    ],
    ids=["debian-12", "debian-13", "ubuntu-24.04"],
)
def test_packages_are_those_that_apt_knows(release: dict[str, str], packages: set[str], path: str) -> None:
    knows(path, release)
    listed = deps(path, "--list").stdout.split()
    assert packages <= set(listed)
    assert len(listed) == len(set(listed))
    assert not {name for name in listed if name.startswith(("cargo", "libyang", "rust"))} - packages


def test_root_installs_after_an_update(path: str, tmp_path: Path) -> None:
    knows(path, DEBIAN_13)
    result = deps(path)
    first, second = (tmp_path / "called").read_text().splitlines()
    assert first == "apt-get update -q"
    assert second.startswith("apt-get install -q -y --no-install-recommends flex util-linux libyang3-tools")
    # The stand-in installs nothing, so that the compiler is still missing.
    assert result.returncode == 1
    assert "Rust 1.85 or later with rustfmt and clippy is needed, rustc is missing" in result.stderr


def test_a_user_without_sudo_is_told_the_line(path: str, tmp_path: Path) -> None:
    knows(path, DEBIAN_13)
    stand_in(path, "id", "echo 1000")
    result = deps(path)
    assert result.returncode == 1
    assert result.stderr.startswith("missing; this installs it:  sudo apt-get install flex util-linux libyang3-tools")
    assert not (tmp_path / "called").exists()


def test_a_user_with_sudo_installs(path: str, tmp_path: Path) -> None:
    knows(path, DEBIAN_13)
    stand_in(path, "id", "echo 1000")
    stand_in(path, "sudo", 'if [ "$1" = -n ]; then shift; fi; exec "$@"')
    deps(path)
    assert len((tmp_path / "called").read_text().splitlines()) == 2


def test_dnf_is_asked_for_programs_by_their_path(path: str, tmp_path: Path) -> None:
    (Path(path.partition(":")[0]) / "apt-get").unlink()
    stand_in(path, "dnf", f'echo "dnf $*" >>"{tmp_path}/called"')
    deps(path)
    (line,) = (tmp_path / "called").read_text().splitlines()
    assert line.startswith("dnf install -q -y /usr/bin/flex /usr/bin/apt-get /usr/bin/taskset /usr/bin/yanglint")
    assert line.endswith("cargo rustfmt clippy")


def test_without_a_package_manager_the_packages_are_named(path: str) -> None:
    (Path(path.partition(":")[0]) / "apt-get").unlink()
    result = deps(path)
    assert result.returncode == 1
    assert "neither apt-get nor dnf is here" in result.stderr
    assert "libyang3-tools" in result.stderr


def test_a_python_without_virtual_environments_gets_them(path: str) -> None:
    knows(path, DEBIAN_13)
    stand_in(path, "python3", "exit 1")
    assert "python3-venv" in deps(path, "--list").stdout.split()


@pytest.mark.parametrize(("version", "enough"), [("1.63.0", False), ("1.85.0", True), ("1.100.0", True)])
def test_a_rust_that_is_too_old_is_replaced(version: str, enough: bool, path: str) -> None:
    knows(path, DEBIAN_13)
    stand_in(path, "rustc", f"echo 'rustc {version} (hash date)'")
    for name in ("cargo", "cargo-fmt", "cargo-clippy"):
        stand_in(path, name, "")
    assert ("cargo" in deps(path, "--list").stdout.split()) is not enough


def test_a_rust_of_rustup_is_its_own_affair(path: str) -> None:
    knows(path, DEBIAN_12)
    stand_in(path, "rustc", "echo 'rustc 1.63.0 (hash date)'")
    stand_in(path, "rustup", "")
    assert "cargo-web" not in deps(path, "--list").stdout.split()
    assert "rustup update stable" in deps(path).stderr


@pytest.mark.parametrize("broken", ["cargo", "rustc"])
def test_a_rustup_without_a_toolchain_is_told(broken: str, path: str) -> None:
    """Its programs are there, and fail."""
    knows(path, DEBIAN_13)
    stand_in(path, "rustup", "")
    for name in ("cargo", "rustc", "cargo-fmt", "cargo-clippy"):
        stand_in(path, name, "echo 'error: no default toolchain' >&2; exit 1" if name == broken else "echo 'x 1.90.0'")
    result = deps(path)
    assert result.returncode == 1
    assert result.stderr == (
        f"{broken} is there but does not run: rustup has no toolchain; this installs one:  rustup default stable\n"
    )


def test_another_processor_is_told_before_anything_is_installed(path: str, tmp_path: Path) -> None:
    knows(path, DEBIAN_13)
    stand_in(path, "uname", "echo aarch64")
    result = deps(path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("this computer's processor is aarch64: ")
    assert not (tmp_path / "called").exists()


def test_a_checkout_with_blanks_in_its_path(path: str, tmp_path: Path) -> None:
    knows(path, DEBIAN_13)
    place = tmp_path / "my checkout"
    (place / "images" / "machine").mkdir(parents=True)
    shutil.copytree(ROOT / ".ci", place / ".ci")
    shutil.copy(ROOT / "images" / "machine" / "processor.sh", place / "images" / "machine")
    shutil.copy(ROOT / "Cargo.toml", place)
    assert deps(path, "--list", script=place / ".ci" / "deps").stdout == deps(path, "--list").stdout


def test_the_newest_of_ubuntus_rusts_is_found(path: str, tmp_path: Path) -> None:
    for version in ("1.80", "1.85", "1.89"):
        directory = tmp_path / "lib" / f"rust-{version}" / "bin"
        directory.mkdir(parents=True)
        stand_in(str(directory), "cargo", "")
    script = f"source '{ROOT}/.ci/rust.sh'; rust_directory"
    environment = {"PATH": path, "RUST_DIRECTORIES": str(tmp_path / "lib")}
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=environment).stdout
    assert found == f"{tmp_path}/lib/rust-1.89/bin\n"
    stand_in(path, "rustc", "echo 'rustc 1.90.0'")
    assert (
        subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=environment).stdout == ""
    )
