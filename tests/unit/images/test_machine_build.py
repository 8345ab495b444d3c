"""The build scripts of the machine, with stand-ins for what they call: what they name, publish,
refuse and clear away."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from plain_host import link_programs, path_of, stand_in
from repository import ROOT

MACHINE = ROOT / "images" / "machine"
COMPILERS = {"gcc", "cc", "c99", "clang", "rustc", "cargo", "rustup", "make", "mmdebstrap"}


@pytest.fixture(scope="module")
def plain_host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with all that a plain host has, but no compiler."""
    directory = tmp_path_factory.mktemp("programs")
    link_programs(directory, without=COMPILERS)
    return directory


@pytest.fixture
def programs(plain_host: Path, tmp_path: Path) -> str:
    return path_of(tmp_path / "stand-ins", plain_host)


def build(programs: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MACHINE / "build", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": programs, **environment},
    )


def cached(script: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run shell lines that know the functions of cache.sh."""
    lines = f"set -euo pipefail\nsource '{MACHINE}/cache.sh'\n{script}"
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(cache), **environment}
    return subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=False, env=environment)


def test_artefacts_are_named_where_there_is_no_compiler(programs: str, tmp_path: Path) -> None:
    result = build(programs, "--where", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (result.returncode, result.stdout, result.stderr) == (0, "kernel=\nrootfs=\ntools=\n", "")


def test_what_is_built_is_used_where_there_is_no_compiler(programs: str, tmp_path: Path) -> None:
    cache = tmp_path / "the cache"
    for name, key in _keys(programs, cache).items():
        (cache / "fabriclab" / name / key).mkdir(parents=True)
    result = build(programs, XDG_CACHE_HOME=str(cache))
    assert (result.returncode, result.stderr) == (0, "")
    assert [line.partition("=")[0] for line in result.stdout.splitlines() if not line.endswith("=")] == [
        "kernel",
        "rootfs",
        "tools",
    ]


def _keys(programs: str, cache: Path, **environment: str) -> dict[str, str]:
    """What the artefacts of these sources are called: each script says so to a builder that fails."""
    keys = {}
    for name, script in {"kernel": "kernel/build.sh", "rootfs": "rootfs.sh", "tools": "tools.sh"}.items():
        subprocess.run(
            [MACHINE / script, "build"],
            check=False,
            capture_output=True,
            env={"PATH": programs, "XDG_CACHE_HOME": str(cache), **environment},
        )
        (lock,) = (cache / "fabriclab" / name).glob("*.lock")
        keys[name] = lock.stem
    return keys


def test_the_compilers_do_not_move_a_name(programs: str, tmp_path: Path) -> None:
    plain = _keys(programs, tmp_path / "one")
    for name in ("rustc", "gcc"):
        stand_in(programs, name, "echo 99.9.9")
    assert _keys(programs, tmp_path / "two") == plain


@pytest.mark.parametrize("name", ["kernel", "tools"])
def test_what_a_build_lacks_is_named_with_what_installs_it(name: str, programs: str, tmp_path: Path) -> None:
    result = build(programs, name, XDG_CACHE_HOME=str(tmp_path))
    assert result.returncode == 1
    assert "is missing: make deps\n" in result.stderr


def test_a_root_file_system_that_could_not_be_made_is_not_published(programs: str, tmp_path: Path) -> None:
    stand_in(programs, "mmdebstrap", "echo 'no such archive' >&2; exit 7")
    result = build(programs, "rootfs", XDG_CACHE_HOME=str(tmp_path), DEBIAN_MIRROR="file:///nowhere")
    assert (result.returncode, result.stdout) == (7, "")
    assert [path for path in (tmp_path / "fabriclab" / "rootfs").iterdir() if path.is_dir()] == []


def test_root_may_unpack_by_a_mmdebstrap_that_has_to_be_told_so(programs: str, tmp_path: Path) -> None:
    """Debian 13's refuses its chrootless mode to root; the option is its manual's,
    and runs no maintainer script with this variant."""
    refusing = "E: running chrootless mode as root without fakeroot might damage the host system"
    stand_in(
        programs,
        "mmdebstrap",
        f'[[ " $* " == *" --skip=check/chrootless "*"--variant=extract "* ]] && exit 7; echo "{refusing}" >&2; exit 25',
    )
    assert build(programs, "rootfs", XDG_CACHE_HOME=str(tmp_path), DEBIAN_MIRROR="file:///nowhere").returncode == 7


@pytest.mark.parametrize("arguments", [("--where",), ()])
def test_without_a_home_the_message_says_what_to_set(arguments: tuple[str, ...], programs: str) -> None:
    result = build(programs, *arguments)
    assert result.returncode == 1
    assert result.stderr.startswith(
        "HOME is not set, so there is no directory for the virtual machine's files; set HOME, or XDG_CACHE_HOME"
    )
    assert len(result.stderr.splitlines()) == 1


def test_a_relative_cache_is_refused(programs: str) -> None:
    result = build(programs, "--where", XDG_CACHE_HOME="cache")
    assert (result.returncode, '"cache" is not an absolute path' in result.stderr) == (1, True)


def test_a_run_without_a_home_says_so(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    command = [sys.executable, "-m", "fabriclab", "run", str(ROOT / "labs" / "dctcp-queue"), "--out", "run"]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "HOME is not set" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "run").exists()


def test_another_processor_is_told_at_once(programs: str, tmp_path: Path) -> None:
    stand_in(programs, "uname", "echo aarch64")
    for name in ("gcc", "cargo", "mmdebstrap"):
        stand_in(programs, name, f"touch '{tmp_path}/called'; exit 1")
    result = build(programs, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(
        "this computer's processor is aarch64: fabriclab's virtual machine is built for x86-64"
    )
    assert not (tmp_path / "called").exists()
    assert not (tmp_path / "cache").exists()


def test_a_rustup_without_a_toolchain_is_told_before_anything_is_built(programs: str, tmp_path: Path) -> None:
    stand_in(programs, "cargo", "echo 'error: no default toolchain' >&2; exit 1")
    result = build(programs, "tools", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "cargo is there but does not run: rustup has no toolchain; this installs one:  rustup default stable\n"
    )


def test_an_artefact_appears_when_it_is_whole(tmp_path: Path) -> None:
    cache = tmp_path / "a cache"
    failed = cached(
        'broken() { touch "$1/half"; false; touch "$1/rest"; }\npath=$(cache_make tools 1234 broken)\necho "$path"',
        cache,
    )
    assert (failed.returncode, failed.stdout) == (1, "")
    assert list((cache / "fabriclab" / "tools").glob("1234*/")) == []
    made = cached('whole() { touch "$1/all"; }\ncache_make tools 1234 whole', cache)
    artefact = Path(made.stdout.removesuffix("\n"))
    assert artefact.parent == cache / "fabriclab" / "tools"
    assert sorted(path.name for path in artefact.iterdir()) == ["all", "contents"]


def test_what_a_killed_build_left_behind_is_removed_by_the_next(tmp_path: Path) -> None:
    cached('killed() { touch "$1/half"; kill -KILL $$ $BASHPID; }\ncache_make tools 1234 killed', tmp_path)
    (left,) = (tmp_path / "fabriclab" / "tools").glob("1234.partial.*")
    other = left.with_name("5678.partial.abcdef")
    other.mkdir()
    made = cached('whole() { touch "$1/all"; }\ncache_make tools 1234 whole', tmp_path)
    artefact = Path(made.stdout.strip())
    assert {path.name for path in left.parent.iterdir()} == {artefact.name, other.name, "recipes"}


def test_others_may_read_an_artefact_whatever_the_builders_umask(tmp_path: Path) -> None:
    made = cached('umask 077\nmade() { mkdir "$1/d"; touch "$1/d/f"; }\ncache_make tools 1234 made', tmp_path)
    artefact = Path(made.stdout.strip())
    assert stat.S_IMODE(artefact.stat().st_mode) == stat.S_IMODE((artefact / "d").stat().st_mode) == 0o755
    assert stat.S_IMODE((artefact / "d" / "f").stat().st_mode) == 0o644


def test_a_cache_that_cannot_be_made_says_what_helps(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = cached("none() { :; }\ncache_make tools 1234 none", tmp_path / "file")
    assert result.returncode == 1
    assert "can't be written: XDG_CACHE_HOME names another place" in result.stderr


def test_a_series_of_linux_is_chosen_by_name(programs: str, tmp_path: Path) -> None:
    usual = _keys(programs, tmp_path / "usual")["kernel"]
    assert usual == _keys(programs, tmp_path / "named", KERNEL_SERIES="6.12")["kernel"]
    assert usual != _keys(programs, tmp_path / "newer", KERNEL_SERIES="7.3")["kernel"]
    refused = build(programs, "--where", "kernel", XDG_CACHE_HOME=str(tmp_path / "cache"), KERNEL_SERIES="7.2")
    assert refused.returncode != 0
    assert refused.stderr.startswith("KERNEL_SERIES=7.2: there are patches for 6.12 7.3 only; ")
