"""A machine's private directory: its memory and control files, on a file system that can hold them;
gone when nobody lives who needs it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fabriclab.engine.artefacts import EngineError

PREFIX = "fabriclab-machine-"

_MIB = 1 << 20
_ATTEMPTS = 100


def memory_places(run_directory: Path) -> list[Path]:
    """Return where a machine's memory may lie, best first: the host's shared memory,
    directories of temporary files, the run directory."""
    temporary = [Path(os.environ[name]).absolute() for name in ("TMPDIR",) if os.environ.get(name)]
    places = [Path("/dev/shm"), *temporary, Path("/tmp"), Path("/var/tmp"), run_directory.absolute()]
    return list(dict.fromkeys(places))


def why_not(place: Path, need_bytes: int) -> str:
    """Return why a directory can't hold a machine's memory, as a phrase that follows its name; empty when it can."""
    try:
        state = os.statvfs(place)
    except OSError as error:
        return f"can't be used ({error.strerror})"
    if not os.access(place, os.W_OK | os.X_OK):
        return "can't be written"
    if state.f_flag & os.ST_NOEXEC:
        return "is mounted noexec, so memory there can't hold code"
    free_bytes = state.f_bavail * state.f_frsize
    return "" if free_bytes >= need_bytes else f"has only {free_bytes // _MIB} MiB free"


def memory_directory(need_bytes: int, places: Sequence[Path]) -> Path:
    """Return the first of the places that can hold a machine's memory.

    Raises EngineError that says of each why it can't.
    """
    reasons = []
    for place in places:
        reason = why_not(place, need_bytes)
        if not reason:
            return place
        reasons.append(f"{place} {reason}")
    raise EngineError(
        f"no directory has {need_bytes // _MIB} MiB for the virtual machine's memory: {'; '.join(reasons)}. Make room "
        "in one of them, or set TMPDIR to a directory that has it"
    )


def make_private(parent: Path) -> tuple[Path, int]:
    """Make a directory and hold it; return it and the descriptor that does.

    It is nobody's as soon as all copies of that are closed.
    """
    for _ in range(_ATTEMPTS):
        directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        try:
            handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # Between the two somebody's `clear_abandoned` found that nobody held it.
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), directory.stat()):
                return directory, handle
        except (BlockingIOError, FileNotFoundError):
            pass  # Likewise.
        except OSError:
            # A file system without locks: nobody can hold it there, so nobody clears it either.
            return directory, handle
        os.close(handle)
    raise EngineError(f"{parent}: directories that are made there are removed at once")


def clear_abandoned(places: Sequence[Path]) -> None:
    """Remove the private directories of this user that nobody holds: those of machines whose fabriclab and guard were
    killed at once.

    A lock tells, not a process's number: numbers come again, and mean nothing in other containers that share the
    directory.
    """
    for place in places:
        try:
            directories = [path for path in place.iterdir() if path.name.startswith(PREFIX)]
        except OSError:
            continue
        for directory in directories:
            _clear_unless_held(directory)


def _clear_unless_held(directory: Path) -> None:
    try:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        if os.fstat(handle).st_uid == os.geteuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
    except OSError:
        pass  # Somebody holds it, or nobody can there.
    finally:
        os.close(handle)
