"""An archive of a directory: a ZIP file that everybody can open, the same bytes for the same files.

Archives come from strangers. So nothing of one is written before all of its names and sizes are known to be harmless,
and no more is unpacked than it says it holds.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from fabriclab.errors import FabriclabError
from fabriclab.files import check_regular, naming, replacing

MOST_FILES = 2_000_000
MOST_BYTES = 64 << 30
MOST_RATIO = 1000
"""Text of a log shrinks to a fiftieth; what shrinks more than this is made to fill a disk."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first date that ZIP can write: that of every file, so that the same files make the same archive."""
_CHUNK = 1 << 20


class ArchiveError(FabriclabError):
    """A file is no archive of ours, or holds what may not be unpacked; the text says which."""


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
            raise ArchiveError(f"{path}: is no bundle of fabriclab: it has no {name}") from None
        if entry.file_size > most_bytes:
            raise ArchiveError(f"{path}: {name} has {entry.file_size} bytes; {most_bytes} at most are read")
        with archive.open(entry) as file:
            return file.read(most_bytes)


def unpack(path: Path, directory: Path) -> None:
    """Unpack an archive into a new directory, all of it or nothing.

    Raises ArchiveError for what may not be unpacked, OSError.
    """
    with _opened(path) as archive, naming(directory):
        entries = list(_harmless(path, archive))
        directory.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        try:
            for entry in entries:
                _unpack_one(archive, entry, partial / entry.filename, path)
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
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise ArchiveError(f"{path}: is no bundle, or is damaged: {error}") from error


def _harmless(path: Path, archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    """Yield the files of an archive, directories left out. Raises ArchiveError."""
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise ArchiveError(f"{path}: holds {len(entries)} files; a bundle has at most {MOST_FILES}")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise ArchiveError(f"{path}: holds more than {MOST_BYTES >> 30} GiB")
    seen = set()
    for entry in entries:
        name = PurePosixPath(entry.filename)
        if name.is_absolute() or ".." in name.parts or "\\" in entry.filename or not name.parts:
            raise ArchiveError(f"{path}: {entry.filename!r} leads out of the directory; nothing was unpacked")
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise ArchiveError(f"{path}: {entry.filename!r} is no plain file; nothing was unpacked")
        if entry.file_size > MOST_RATIO * max(entry.compress_size, 1):
            raise ArchiveError(f"{path}: {entry.filename!r} grows {MOST_RATIO} times and more; nothing was unpacked")
        if entry.filename in seen:
            raise ArchiveError(f"{path}: {entry.filename!r} stands in it twice; nothing was unpacked")
        seen.add(entry.filename)
        if not entry.is_dir():
            yield entry


def _unpack_one(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, path: Path) -> None:
    """Unpack one file. Its end is checked by the library's checksum, its size here."""
    target.parent.mkdir(parents=True, exist_ok=True)
    left = entry.file_size
    with archive.open(entry) as source, target.open("xb") as file:
        while chunk := source.read(min(_CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                raise ArchiveError(f"{path}: {entry.filename!r} is larger than it says; nothing was unpacked")
            file.write(chunk)
