"""Where a machine's memory lies, who holds it, and what of dead machines is cleared."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.cpu import claim_cpu, usable_cpus
from fabriclab.engine.private_directory import PREFIX, clear_abandoned, make_private, memory_directory, memory_places

MIB = 1 << 20


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    """A private directory of a machine that lives."""
    directory, handle = make_private(tmp_path)
    yield directory
    os.close(handle)


def abandoned(parent: Path) -> Path:
    """A private directory of a machine that is dead, with something in it."""
    directory, handle = make_private(parent)
    (directory / "uml").mkdir()
    (directory / "uml" / "pid").write_text("1\n")
    os.close(handle)
    return directory


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "mounted"
    place.mkdir()
    yield place
    subprocess.run(["umount", place], check=False, capture_output=True)


def mount(place: Path, options: str) -> Path:
    if (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, check=False
        ).returncode
        != 0
    ):
        pytest.skip("a file system can't be mounted here: run the tests as root, in no container")
    return place


def test_places_are_absolute_and_the_run_directory_is_the_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", "mine")
    places = memory_places(Path("runs/1"))
    assert places == [Path("/dev/shm"), tmp_path / "mine", Path("/tmp"), Path("/var/tmp"), tmp_path / "runs" / "1"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("size=1m", "has only 1 MiB free"),
        ("size=64m", "has only 64 MiB free"),
        ("size=1g,noexec", "is mounted noexec"),
        ("size=1g,ro", "can't be "),
    ],
)
def test_a_place_that_will_not_do_is_passed_over(options: str, reason: str, mounted: Path, tmp_path: Path) -> None:
    mount(mounted, options)
    assert memory_directory(128 * MIB, [mounted, tmp_path]) == tmp_path
    with pytest.raises(EngineError) as error:
        memory_directory(128 * MIB, [mounted])
    assert f"no directory has 128 MiB for the virtual machine's memory: {mounted} {reason}" in str(error.value)


def test_of_places_that_will_not_do_each_is_named_with_its_reason(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free // MIB
    with pytest.raises(EngineError) as error:
        memory_directory((free + 1000) * MIB, [tmp_path / "absent", tmp_path])
    for said in (
        f"{tmp_path}/absent can't be used (No such file",
        f"{tmp_path} has ",
        "or set TMPDIR",
    ):
        assert said in str(error.value)


def test_what_nobody_holds_is_cleared(held: Path, tmp_path: Path) -> None:
    left = abandoned(tmp_path)
    clear_abandoned([tmp_path / "absent", tmp_path])
    assert (held.is_dir(), left.exists()) == (True, False)


def test_what_a_guard_holds_alone_is_left(tmp_path: Path) -> None:
    directory, handle = make_private(tmp_path)
    guard = subprocess.Popen(["sleep", "600"], pass_fds=(handle,))
    try:
        os.close(handle)
        clear_abandoned([tmp_path])
        assert directory.is_dir()
    finally:
        guard.kill()
        guard.wait()
    clear_abandoned([tmp_path])
    assert not directory.exists()


def test_only_directories_of_that_name_are_cleared(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(elsewhere)
    (tmp_path / f"{PREFIX}file").write_text("")
    (tmp_path / "fabriclab-cpus-0").mkdir()
    clear_abandoned([tmp_path])
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["elsewhere", "fabriclab-cpus-0", f"{PREFIX}file", f"{PREFIX}link"]


def test_other_users_directories_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = abandoned(tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    clear_abandoned([tmp_path])
    assert left.is_dir()


def test_a_link_inside_is_not_followed(tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (abandoned(tmp_path) / "run").symlink_to(treasure)
    (treasure / "kept").write_text("")
    clear_abandoned([tmp_path])
    assert (treasure / "kept").is_file()


def test_many_starts_at_once_never_clear_each_other(tmp_path: Path) -> None:
    """Each thread is a start: it clears, makes its own, and must find it there until it lets go."""
    lost: list[Path] = []

    def start() -> None:
        for _ in range(40):
            clear_abandoned([tmp_path])
            directory, handle = make_private(tmp_path)
            clear_abandoned([tmp_path])
            if not directory.is_dir():
                lost.append(directory)
            os.close(handle)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clear_abandoned([tmp_path])
    assert (lost, list(tmp_path.iterdir())) == ([], [])


def test_a_directory_that_is_cleared_before_it_is_held_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    flock = fcntl.flock

    def late(handle: int, operation: int) -> None:
        calls.append(handle)
        if len(calls) == 1:
            for path in tmp_path.iterdir():
                path.rmdir()
        flock(handle, operation)

    monkeypatch.setattr("fcntl.flock", late)
    directory, handle = make_private(tmp_path)
    assert (directory.is_dir(), len(calls)) == (True, 2)
    os.close(handle)


def test_where_nothing_can_be_held_a_run_has_some_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"fabriclab-cpus-{os.getuid()}").write_text("another user's")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    with claim_cpu() as cpu:
        assert cpu in usable_cpus()
