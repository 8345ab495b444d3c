"""An archive of a directory: a ZIP file that everybody can open, the same bytes for the same files.

Archives come from strangers. So nothing of one is written before all of its names and sizes are known to be harmless,
and no more is unpacked than it says it holds.
"""

from __future__ import annotations

import errno
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from fabriclab.errors import FabriclabError
from fabriclab.files import below, check_regular, naming, replacing
from fabriclab.units import format_size

MOST_FILES = 2_000_000
MOST_BYTES = 64 << 30
MOST_FILE_RATIO, FREE_FILE_BYTES = 400, 1 << 20
MOST_RATIO, FREE_BYTES = 100, 64 << 20
"""How often its size in the archive a file, and all of them, may have, beyond so many bytes. Of the bundles of four
labs, a plan grew 40 times, and the whole 1.1 to 6.2 times; what grows more than this is made to fill a disk."""
_LONGEST_NAME_BYTES = 255
_MOST_SHOWN = 60
_BLOCK_BYTES = 4096
"""What a file takes on a disk at least."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error),
    *(EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError, IndexError, KeyError),
)
"""What the library raises of a file whose bytes were changed."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first date that ZIP can write: that of every file, so that the same files make the same archive."""
_CHUNK = 1 << 20


class ArchiveError(FabriclabError):
    """A file is not a bundle, or contains something that may not be unpacked; the text says which."""


def pack(files: Mapping[str, Path | bytes], out: Path) -> None:
    """Write an archive of these files by their names in it, whole or not at all. Raises OSError that names it."""
    with replacing(out) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(files):
            content, entry = files[name], zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            if isinstance(content, bytes):
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
                continue
            entry.compress_type = zipfile.ZIP_DEFLATED
            with content.open("rb") as source, archive.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, _CHUNK)


def read_member(path: Path, name: str, most_bytes: int) -> bytes:
    """Return one file of an archive. Raises ArchiveError where it is none, lacks the file, or it is too large."""
    with _opened(path) as archive:
        try:
            entry = archive.getinfo(name)
        except KeyError:
            raise ArchiveError(f"{path}: is not a bundle of fabriclab: it has no {name}") from None
        if entry.file_size > most_bytes:
            raise ArchiveError(f"{path}: {name} has {entry.file_size} bytes; at most {most_bytes} are read")
        _check_entry(path, entry)
        with archive.open(entry) as file:
            return file.read(most_bytes)


def unpack(path: Path, directory: Path) -> None:
    """Unpack an archive into a new directory, all of it or nothing.

    Raises ArchiveError for what may not be unpacked, OSError.
    """
    with _opened(path) as archive, naming(directory):
        entries = _harmless(path, archive)
        directory.parent.mkdir(parents=True, exist_ok=True)
        _check_room(path, entries, directory.parent)
        partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        try:
            for entry in entries:
                _unpack_one(archive, entry, below(partial, entry.filename), path)
            partial.chmod(0o755)
            partial.rename(directory)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except _DAMAGE as error:
        raise ArchiveError(f"{path}: is not a bundle, or is damaged: {error}") from error
    except OSError as error:
        if error.filename is not None or error.errno != errno.EINVAL:
            raise
        raise ArchiveError(f"{path}: is damaged: an entry points to a place that has no file") from error


def _harmless(path: Path, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the files of an archive, directories left out. Raises ArchiveError."""
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise ArchiveError(f"{path}: holds {len(entries)} files; a bundle has at most {MOST_FILES}")
    files = [entry for entry in entries if not entry.is_dir()]
    total, packed = sum(entry.file_size for entry in files), sum(entry.compress_size for entry in files)
    if total > MOST_BYTES:
        raise ArchiveError(f"{path}: holds more than {MOST_BYTES >> 30} GiB")
    for entry in entries:
        _check_entry(path, entry)
    names = {entry.filename for entry in files}
    for name, number in Counter(entry.filename for entry in entries).items():
        if number > 1:
            raise ArchiveError(f"{path}: {_shown(name)} occurs twice in it; nothing was unpacked")
        if any(str(parent) in names for parent in PurePosixPath(name).parents):
            raise ArchiveError(
                f"{path}: {_shown(name)} lies below a file, as if that were a directory; nothing was unpacked"
            )
    if total > max(FREE_BYTES, MOST_RATIO * packed):
        growth = f"its {format_size(packed, 3)} would become {format_size(total, 3)}"
        raise ArchiveError(f"{path}: {growth}; a bundle may grow at most {MOST_RATIO} times; nothing was unpacked")
    return files


def _check_entry(path: Path, entry: zipfile.ZipInfo) -> None:
    """Raise ArchiveError for what no bundle holds."""
    name = PurePosixPath(entry.filename)
    is_long = any(len(part.encode(errors="replace")) > _LONGEST_NAME_BYTES for part in name.parts)
    if name.is_absolute() or ".." in name.parts or "\\" in entry.filename or not name.parts or is_long:
        raise ArchiveError(f"{path}: {_shown(entry.filename)} leads out of the directory; nothing was unpacked")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveError(f"{path}: {_shown(entry.filename)} is not a plain file; nothing was unpacked")
    if entry.compress_type not in _METHODS:
        raise ArchiveError(
            f"{path}: {_shown(entry.filename)} is compressed in a way that bundles do not use; nothing was unpacked"
        )
    if entry.file_size > max(FREE_FILE_BYTES, MOST_FILE_RATIO * entry.compress_size):
        raise ArchiveError(
            f"{path}: {_shown(entry.filename)} grows more than {MOST_FILE_RATIO} times; nothing was unpacked"
        )


def _check_room(path: Path, entries: list[zipfile.ZipInfo], place: Path) -> None:
    """Raise ArchiveError where the disk has no room for all of the files."""
    needed = sum(entry.file_size + _BLOCK_BYTES for entry in entries)
    free = shutil.disk_usage(place).free
    if needed > free:
        raise ArchiveError(
            f"{path}: needs {format_size(needed, 3)} in {place}, where {format_size(free, 3)} are free; make room, or "
            "name a directory on another disk"
        )


def _unpack_one(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, path: Path) -> None:
    """Unpack one file. Its end is checked by the library's checksum, its size here."""
    target.parent.mkdir(parents=True, exist_ok=True)
    left = entry.file_size
    with archive.open(entry) as source, target.open("xb") as file:
        while chunk := source.read(min(_CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                raise ArchiveError(f"{path}: {_shown(entry.filename)} is larger than it says; nothing was unpacked")
            file.write(chunk)


def _shown(name: str) -> str:
    """Return a name from the archive quoted for a message, a long one cut."""
    return repr(name if len(name) <= _MOST_SHOWN else f"{name[:_MOST_SHOWN]}...")
