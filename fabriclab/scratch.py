"""The directory in which a machine writes, and what of it becomes part of the run directory when the machine has ended.

The guest may be hostile (`SECURITY.md`): it alone writes there, and the host trusts nothing that it finds. What is
taken over are plain files, by their names in the directories that a run has; the rest is left out, and told.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from fabriclab.formats.live import LIVE_FILES
from fabriclab.formats.run_directory import COLLECT, HADOOP, HOSTS_FILE, INPUTS, LAB, LOGS, OUTPUT, RAW, SCRATCH

_WRITTEN = (RAW, LOGS, COLLECT, OUTPUT, HADOOP, LIVE_FILES)
"""The directories of a run directory that a machine fills."""
_STOP = "stop"
_NO_RESULTS = (*INPUTS, LAB, _STOP)
"""Beside those of the machines that agree on when to stop, whose names begin as its does."""
_HOSTS_OWN = re.compile(r"kernel(-\d+)?\.log|events-\d+\.jsonl|server\.log")
"""The names in LOGS of the host's own logs."""
_MOST_FILES = 2_000_000
_DEEPEST = 64
_MOST_TOLD = 5
_READ_ONLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = _READ_ONLY | os.O_DIRECTORY


class Scratch:
    """The scratch directory of one run, shared by all machines of it."""

    def __init__(self, run_directory: Path) -> None:
        self.run_directory = run_directory
        self.path = run_directory / SCRATCH

    def make(self, copied: Sequence[str] = ()) -> None:
        """Make the directory, with what the run directory has prepared for the machine to fill, and with a place for
        each of its inputs and for the lab's own files.

        `copied`: names in the run directory of what the machine adds to; it gets a copy. Raises OSError.
        """
        if self.path.exists():
            _remove(self.path)
        self.path.mkdir()
        for name in copied:
            source = self.run_directory / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, self.path / name)
        for name in (*INPUTS, LAB):
            (self.path / name).mkdir(exist_ok=True)
        # The host writes logs, too, and not where the machine could.
        (self.path / LOGS).mkdir(exist_ok=True)
        for name in _WRITTEN:
            if name != LOGS and (self.run_directory / name).is_dir():
                (self.run_directory / name).rename(self.path / name)

    def ask_to_stop(self) -> None:
        """Tell the machine to end its traffic. Raises OSError."""
        with suppress(FileExistsError):
            os.close(os.open(self.path / _STOP, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644))

    def take_over(self) -> list[str]:
        """Move what a machine has written into the run directory, and remove the scratch directory. The machine must
        have ended: nobody changes a file between a look at it and its move.

        Returns what was left out, in words. Raises OSError.
        """
        if not self.path.is_dir():
            return []
        left_out = self._each(move=True)
        _remove(self.path)
        return left_out

    def copy_out(self) -> list[str]:
        """Copy what a machine has written so far into the run directory: it may still run, or was killed with its host.

        Returns what was left out, in words. Raises OSError.
        """
        return self._each(move=False) if self.path.is_dir() else []

    def _each(self, *, move: bool) -> list[str]:
        taking = _Taking(move=move)
        with _opened(self.path) as scratch:
            for name in _names(scratch):
                if name in _WRITTEN:
                    taking.entry(scratch, name, self.run_directory, PurePosixPath(name))
                elif name not in _NO_RESULTS and not name.startswith(_STOP):
                    # What has no place of its own in a run.
                    taking.entry(scratch, name, self.run_directory / OUTPUT, PurePosixPath(name))
            # The addresses that the machine has added (`still` of the job).
            hosts = PurePosixPath(HOSTS_FILE)
            with suppress(FileNotFoundError, NotADirectoryError), _opened(str(hosts.parent), scratch) as inputs:
                taking.file(inputs, hosts.name, self.run_directory / hosts.parent, hosts)
        return taking.told()


class _Taking:
    """Takes files over, one by one, and keeps what was left out; the first few by name."""

    def __init__(self, *, move: bool) -> None:
        self._move = move
        self._reasons: list[str] = []
        self._more = 0
        self._looked_at = 0

    def told(self) -> list[str]:
        """Return what was left out, and why, as lines."""
        return [*self._reasons, *([f"and {self._more} more left out"] if self._more else [])]

    def entry(self, source: int, name: str, target: Path, path: PurePosixPath) -> None:
        """Take a file or a directory, by its name in the directory `source`, into the directory `target`."""
        self._looked_at += 1
        if self._looked_at > _MOST_FILES:
            self._leave_out(path, f"is behind the first {_MOST_FILES:,} files")
        elif not name.isprintable():
            self._leave_out(path, "has a name that can't be shown")
        elif not stat.S_ISDIR(os.stat(name, dir_fd=source, follow_symlinks=False).st_mode):
            self.file(source, name, target, path)
        elif len(path.parts) > _DEEPEST:
            self._leave_out(path, f"lies more than {_DEEPEST} directories deep")
        else:
            (target / name).mkdir(parents=True, exist_ok=True)
            with _opened(name, source) as directory:
                for inner in _names(directory):
                    self.entry(directory, inner, target / name, path / inner)

    def file(self, source: int, name: str, target: Path, path: PurePosixPath) -> None:
        """Take a file, if it is a plain one that has no other name."""
        state = os.stat(name, dir_fd=source, follow_symlinks=False)
        if not stat.S_ISREG(state.st_mode):
            self._leave_out(path, "is not a plain file")
        elif state.st_nlink != 1:
            self._leave_out(path, "has another name elsewhere")
        elif path.parent == PurePosixPath(LOGS) and _HOSTS_OWN.fullmatch(name):
            self._leave_out(path, "has the name of one of the host's own logs")
        else:
            target.mkdir(parents=True, exist_ok=True)
            (self._moved if self._move else self._copied)(source, name, target / name)

    def _moved(self, source: int, name: str, target: Path) -> None:
        os.rename(name, target, src_dir_fd=source)
        target.chmod(0o644)

    def _copied(self, source: int, name: str, target: Path) -> None:
        with open_plain(name, source) as file, target.open("wb") as copy:
            shutil.copyfileobj(file, copy)

    def _leave_out(self, path: PurePosixPath, reason: str) -> None:
        if len(self._reasons) < _MOST_TOLD:
            self._reasons.append(f"{str(path)!r} {reason}: left out")
        else:
            self._more += 1


@contextmanager
def _opened(directory: Path | str, inside: int | None = None) -> Iterator[int]:
    descriptor = os.open(directory, _DIRECTORY, dir_fd=inside)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _names(directory: int) -> list[str]:
    """Return the names in a directory: all of them first, for those that are moved are no longer there."""
    return sorted(os.listdir(directory))


def open_plain(path: Path | str, inside: int | None = None) -> BinaryIO:
    """Open a plain file for reading, bytes; a link, a pipe or a device is none. `inside`: a directory's descriptor.

    Raises OSError.
    """
    # A pipe without anybody at its other end would be waited for.
    descriptor = os.open(path, _READ_ONLY | os.O_NONBLOCK, dir_fd=inside)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(2, "is not a plain file", str(path))
    return os.fdopen(descriptor, "rb")


def while_it_runs(run_directory: Path, name: str) -> Path:
    """Return where a file or directory of a run lies while its machine may still write it."""
    scratch = run_directory / SCRATCH / name
    return scratch if scratch.exists() else run_directory / name


def _remove(directory: Path) -> None:
    """Remove a directory with all that it holds, whatever modes that has."""
    for root, names, _ in os.walk(directory):
        for name in names:
            with suppress(OSError):
                inner = Path(root, name)
                if not inner.is_symlink():
                    inner.chmod(0o700)
    shutil.rmtree(directory)
