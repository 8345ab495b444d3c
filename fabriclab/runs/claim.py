"""Directories to write to: made once, and held by one command at a time."""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fabriclab.errors import ArgumentError

_NO_LOCKS_HERE = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF)
"""What flock(2) says on file systems that cannot lock a directory, NFS among them."""


class InUseError(ArgumentError):
    """Another command writes to the directory; the text says so."""


def new_directory(wanted: Path) -> Path:
    """Make a directory of this name, or of this name with -2, -3 and so on: of two commands that ask at
    once each gets its own."""
    for directory in itertools.chain(
        [wanted], (wanted.with_name(f"{wanted.name}-{number}") for number in itertools.count(2))
    ):
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            continue
        return directory
    raise AssertionError("a count has no end")


@contextmanager
def claimed(directory: Path, *, ours: bool = False) -> Iterator[None]:
    """Make a directory unless it is there, and hold it. The kernel lets go of it when this process ends, however it
    ends.

    One that was made for this (`ours`: already) is removed if nothing was put there. Raises InUseError while another
    process holds it, OSError when it can't be made.
    """
    ours = ours or not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    if not os.access(directory, os.W_OK | os.X_OK):
        # Now, and not when a run has been started.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(directory))
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(handle, directory)
        yield
    except InUseError:
        ours = False
        raise
    finally:
        if ours:
            with suppress(OSError):
                directory.rmdir()
        os.close(handle)


def _lock(handle: int, directory: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InUseError(
            "{0}: another fabriclab writes to it; wait until it ends, or choose another directory ({out})", directory
        ) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS_HERE:
            raise
