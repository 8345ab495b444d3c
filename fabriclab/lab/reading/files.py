"""What a lab may read, and the one place that reads it: regular files of the lab's own directory, links resolved, of
bounded size.

A lab comes from anywhere, and errors quote what they complain about: so nothing else of the host is opened, whatever a
key or a link says. What the command line names may lie anywhere, and may be a pipe (`/dev/stdin`,
`<(ssh leaf1 show run)`). Nothing is opened that could block.
"""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

from fabriclab.files import NotReadableError, open_file, read_all

LARGEST_YAML_BYTES = 16 * 2**20
"""The largest YAML file of a lab that is read: a topology of 4,096 nodes has about one megabyte."""
LARGEST_TABLE_BYTES = 8 * 2**20
"""The largest file of a distribution of flow sizes: ten thousand points have a tenth of a megabyte."""
LARGEST_TRACE_BYTES = 2**30
"""The largest flow trace, or simulator's flow file: ten million flows have about so much."""
LARGEST_ARCHIVE_BYTES = 2**28
"""The largest Java archive of a user's own."""

_REASONS = {
    errno.ENOENT: "no such file",
    errno.ENOTDIR: "no such file",
    errno.EISDIR: "is a directory, not a file",
    errno.EACCES: "cannot be read: permission denied",
    errno.ELOOP: "is a link that leads to itself",
    errno.ENAMETOOLONG: "no such file; the name is too long",
}


class UnreadableError(Exception):
    """Why a file is not read, as what follows its name in a sentence. It holds nothing of the file."""


class MissingError(UnreadableError):
    """The file that was named does not exist."""


class OutsideError(UnreadableError):
    """The file is not the lab's own. Whether there is one, nobody looks."""


def read_lab_file(directory: Path, name: str, largest_bytes: int) -> bytes:
    """Return what a file of the lab in `directory` holds. Raises UnreadableError."""
    with open_lab_file(directory, name, largest_bytes) as file:
        return _read(file, directory / name, largest_bytes)


def open_lab_file(directory: Path, name: str, largest_bytes: int) -> io.BufferedReader:
    """Open a file of the lab in `directory`; `name` is relative to that. Raises UnreadableError."""
    return _open(Path(_inside(directory, name)), largest_bytes, pipes=False)


def _inside(directory: Path, name: str) -> str:
    """Return the path of what a lab names, with links resolved. Raises OutsideError where it is not the lab's own."""
    if "\0" in name:
        raise OutsideError("cannot name a file: it has a NUL character")
    root, path = os.path.realpath(directory), os.path.realpath(directory / name)
    if path != root and not path.startswith(root.rstrip("/") + "/"):
        raise OutsideError(
            "lies outside the lab's directory (with links resolved), and a lab reads only files of its own directory; "
            "put it there"
        )
    return path


def list_lab_directory(directory: Path, name: str) -> list[str]:
    """Return the sorted names of what lies in a directory of the lab in `directory`. Raises UnreadableError."""
    path = _inside(directory, name)
    try:
        return sorted(entry.name for entry in os.scandir(path))
    except OSError as error:
        raise _unreadable(error) from error


def is_lab_directory(directory: Path, name: str) -> bool:
    """Return whether a name is that of a directory of the lab in `directory`. Raises OutsideError."""
    return Path(_inside(directory, name)).is_dir()


def own_name(directory: Path, name: str) -> str:
    """Return the path below the lab's directory of a file that the lab names, as a plan has it."""
    return os.path.relpath(directory / name, directory)


def read_named_file(path: Path, largest_bytes: int) -> bytes:
    """Return what a file holds that the command line names, wherever it lies; it may be a pipe.

    Raises UnreadableError.
    """
    with _open(path, largest_bytes, pipes=True) as file:
        return _read(file, path, largest_bytes)


def text_of(data: bytes) -> str:
    """Return a file's text with line ends as Python's text files have them. Raises UnicodeDecodeError."""
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8").read()


def _open(path: Path, largest_bytes: int, *, pipes: bool) -> io.BufferedReader:
    try:
        return open_file(path, largest_bytes, pipes=pipes)
    except OSError as error:
        raise _unreadable(error) from error


def _read(file: io.BufferedReader, path: Path, largest_bytes: int) -> bytes:
    try:
        return read_all(file, path, largest_bytes)
    except OSError as error:
        raise _unreadable(error) from error


def _unreadable(error: OSError) -> UnreadableError:
    if isinstance(error, NotReadableError):
        return UnreadableError(error.strerror)
    kind = MissingError if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG) else UnreadableError
    return kind(_REASONS.get(error.errno or 0, f"cannot be read: {error.strerror}"))
