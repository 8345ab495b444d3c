"""Files: written whole or not at all, read where they are files and not too large, and what the system says when neither can be.

A disk may be full, read-only or out of quota at every write: whoever writes a file of the user's does it through `replacing`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

_NO_ROOM = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "no file may become so large here (`ulimit -f`, or the file system's own limit)",
}
_MISTAKES = {
    errno.ENOENT: "no such file or directory",
    errno.EEXIST: "is there already, and is no directory",
    errno.ENOTDIR: "is no directory",
    errno.EISDIR: "is a directory; a file is wanted",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "a link that leads to itself",
}
"""What is wrong with a path that the user named. Any other error of the system, such as a full disk, is a failure of ours to run."""
_PART = ".part"


class NotReadableError(OSError):
    """What was named is no file that can be read: a device, a pipe, too much. `strerror` says what."""


def no_room(error: OSError) -> bool:
    """Return whether a write failed for lack of room: what is written next will fail, too."""
    return error.errno in _NO_ROOM


def is_mistake(error: OSError) -> bool:
    """Return whether an error of the system is about the path that was named, not about the state of this host."""
    return isinstance(error, NotReadableError) or error.errno in _MISTAKES


def reason(error: OSError) -> str:
    """Return what the system refused, in words for who named the file."""
    if isinstance(error, NotReadableError):
        return str(error.strerror)
    return _NO_ROOM.get(error.errno or 0) or _MISTAKES.get(error.errno or 0) or error.strerror or str(error)


def explain(error: OSError) -> str:
    """Return an error of the system as a line: the file, and what is wrong with it."""
    return f"{error.filename}: {reason(error)}" if error.filename else reason(error)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let errors of the system that name no file, or a partial one, name `path`: write(2) does not say where."""
    try:
        yield
    except NotReadableError:
        raise
    except OSError as error:
        if error.errno is None or (error.filename is not None and error.filename != str(_part(path))):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _part(path: Path) -> Path:
    return path.with_name(path.name + _PART)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a name to write to. When all went well `path` becomes that file; else it stays as it was, and nothing else is left.

    A link stays a link. What is no file (a pipe, /dev/stdout) is written to as it is. Raises OSError that names `path`.
    """
    if path.exists() and not path.is_file():
        with naming(path):
            yield path
        return
    target = path.resolve() if path.is_symlink() else path
    part = _part(target)
    try:
        with naming(path), naming(target):
            yield part
            part.replace(target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file, UTF-8, whole or not at all. Raises OSError that names it.

    The bytes of a file's name that are no UTF-8 become escapes, which JSON reads back.
    """
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")


def write_all(contents: Mapping[Path, str | bytes]) -> None:
    """Write files and the directories that they lie in, all or none. Raises OSError that names one."""
    parts = {path: _part(path) for path in contents}
    undo: list[Callable[[], object]] = []
    try:
        for path, content in contents.items():
            undo += [directory.rmdir for directory in _make_directory(path.parent)]
            undo.append(partial(parts[path].unlink, missing_ok=True))
            with naming(path):
                parts[path].write_bytes(content.encode(errors="backslashreplace") if isinstance(content, str) else content)
        for path, part in parts.items():
            if not path.exists():
                undo.append(partial(path.unlink, missing_ok=True))
            part.replace(path)
    except BaseException:
        for step in reversed(undo):
            with suppress(OSError):
                step()
        raise


def _make_directory(directory: Path) -> list[Path]:
    """Make a directory and those above it; return the ones that were not there, the uppermost first."""
    made = [one for one in (*reversed(directory.parents), directory) if not one.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    return made


def check_regular(path: Path) -> None:
    """Raise NotReadableError for what is there and is no file: opening a pipe waits for ever, a device never ends."""
    with suppress(FileNotFoundError):
        _check_kind(path.stat().st_mode, path)


def read_text(path: Path, most_bytes: int) -> str:
    """Return a text file, UTF-8. Raises OSError, NotReadableError for what is no file or holds more than that, UnicodeDecodeError."""
    # Opening a pipe would wait for who writes to it.
    with naming(path), os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        _check_kind(os.fstat(file.fileno()).st_mode, path)
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise NotReadableError(errno.EFBIG, f"is larger than {most_bytes >> 20} MiB, the most that is read of such a file", str(path))
    return data.decode()


def _check_kind(mode: int, path: Path) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise NotReadableError(errno.EINVAL, f"is {kind}; a file is wanted", str(path))
