"""Files: written whole or not at all, read where they are files and not too large, and what the system says when
neither can be.

A disk may be full, read-only or out of quota at every write: whoever writes a file of the user's does it through
`replacing`.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath

from fabriclab.errors import ArgumentError

_NO_ROOM = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "no file may become so large here (`ulimit -f`, or the file system's own limit)",
}
_MISTAKES = {
    errno.ENOENT: "no such file or directory",
    errno.EEXIST: "already exists, and is not a directory",
    errno.ENOTDIR: "is not a directory",
    errno.EISDIR: "is a directory, not a file",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "a link that leads to itself",
}
"""What is wrong with a path that the user named. Any other error of the system, such as a full disk,
is a failure of ours to run."""
_KINDS = {
    stat.S_IFIFO: "is a pipe, not a file",
    stat.S_IFSOCK: "is a socket, not a file",
    stat.S_IFCHR: "is a device, not a file",
    stat.S_IFBLK: "is a device, not a file",
}
_PART = ".part"


class NotReadableError(OSError):
    """What was named is not a file that can be read: a device, a pipe, too much. `strerror` says what."""


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
    """Give a name to write to. When all went well `path` becomes that file; else it stays as it was, and nothing else
    is left.

    A link stays a link. A pipe or /dev/stdout is written to as it is. Raises OSError that names `path`.
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

    The bytes of a file's name that are not UTF-8 become escapes, which JSON reads back.
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
                parts[path].write_bytes(
                    content.encode(errors="backslashreplace") if isinstance(content, str) else content
                )
        for path, part in parts.items():
            if not path.exists():
                undo.append(partial(path.unlink, missing_ok=True))
            part.replace(path)
    except BaseException:
        for step in reversed(undo):
            with suppress(OSError):
                step()
        raise


def write_files(contents: Mapping[Path, str | bytes], *, force: bool) -> None:
    """Write files and the directories that they lie in, all or none.

    Raises ArgumentError where one already exists, unless it may be replaced; OSError that names one.
    """
    for path in contents:
        if path.exists() and not force:
            raise ArgumentError("{0} already exists; {force} replaces it", path)
        if path.parent.exists() and not path.parent.is_dir():
            raise ArgumentError("{0} is a file; give a directory", path.parent)
    write_all(contents)


def _make_directory(directory: Path) -> list[Path]:
    """Make a directory and those above it; return the ones that were not there, the uppermost first."""
    made = [one for one in (*reversed(directory.parents), directory) if not one.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    return made


def below(directory: Path, name: str) -> Path:
    """Return the path of a name below a directory.

    Raises NotReadableError for a name that leads out of it, and for one whose way there is a link: whoever writes what
    a plan or an archive names joins it here.
    """
    parts = PurePosixPath(name).parts
    if not parts or "\0" in name or PurePosixPath(name).is_absolute() or ".." in parts:
        raise NotReadableError(errno.EINVAL, f"{name!r} leads out of this directory", str(directory))
    path = directory
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise NotReadableError(errno.EINVAL, f"{name!r} is, or lies behind, a link", str(directory))
    return path


def check_regular(path: Path) -> None:
    """Raise NotReadableError for what is not a regular file: opening a pipe waits for ever, a device never ends."""
    with suppress(FileNotFoundError):
        _check_kind(path.stat().st_mode, path, pipes=False)


def open_file(path: Path, most_bytes: int, *, pipes: bool = False) -> io.BufferedReader:
    """Open a file of at most so many bytes, or a pipe where `pipes` may be; nothing is opened that could block.

    Raises OSError, NotReadableError for what is not a file or is too large.
    """
    _check(path.stat(), path, most_bytes, pipes=pipes)  # first by name: opening a device may do something
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    file = os.fdopen(handle, "rb")
    try:
        _check(os.fstat(handle), path, most_bytes, pipes=pipes)
        os.set_blocking(handle, True)  # a pipe without a writer is at its end by now
    except BaseException:
        file.close()
        raise
    return file


def read_all(file: io.BufferedReader, path: Path, most_bytes: int) -> bytes:
    """Return what an open file holds.

    Raises OSError that names `path`, NotReadableError where a pipe or a growing file holds more.
    """
    with naming(path):
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise _too_large(len(data), most_bytes, path)
    return data


def read_text(path: Path, most_bytes: int) -> str:
    """Return a text file, UTF-8.

    Raises OSError, NotReadableError for what is not a file or holds more than that, UnicodeDecodeError.
    """
    with open_file(path, most_bytes) as file:
        return read_all(file, path, most_bytes).decode()


def _check(status: os.stat_result, path: Path, most_bytes: int, *, pipes: bool) -> None:
    _check_kind(status.st_mode, path, pipes=pipes)
    if status.st_size > most_bytes:
        raise _too_large(status.st_size, most_bytes, path)


def _check_kind(mode: int, path: Path, *, pipes: bool) -> None:
    kind = stat.S_IFMT(mode)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if kind != stat.S_IFREG and not (pipes and kind == stat.S_IFIFO):
        raise NotReadableError(errno.EINVAL, _KINDS.get(kind, "is not a regular file"), str(path))


def _too_large(size_bytes: int, most_bytes: int, path: Path) -> NotReadableError:
    return NotReadableError(
        errno.EFBIG, f"has {size_bytes} bytes or more; at most {most_bytes >> 20} MiB are read", str(path)
    )
