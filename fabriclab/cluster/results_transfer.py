"""The transfer of a run directory from a worker: packed there, and put in its place here whole or not at all."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from fabriclab.runs.point import remove_run

PART = ".part"
"""How the name of a run directory ends that is not whole yet, with what tells one attempt from another behind it."""
_IN_MEMORY_BYTES = 64 << 20


def pack(directory: Path, file: IO[bytes]) -> None:
    """Write a run directory to a file as a compressed archive. Raises OSError."""
    # Most of it is text, and what is not, Parquet, is compressed: a higher level takes time for nothing.
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive:
        archive.add(directory, arcname=".")


def unpack(pieces: Iterable[bytes], part: Path) -> None:
    """Unpack a run directory to `part`, which is made. Raises OSError, tarfile.TarError; nothing is left then."""
    part.mkdir(parents=True)
    try:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=str(part)) as file:
            for piece in pieces:
                file.write(piece)
            file.seek(0)
            _extract(file, part)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def settle(part: Path, directory: Path) -> None:
    """Put a run directory that is whole in its place; an earlier run that stands there goes. Raises OSError."""
    remove_run(directory)
    part.rename(directory)


def clear_parts(points: Path) -> None:
    """Remove what earlier sweeps of this directory that were killed have left of run directories on their way."""
    for part in points.glob(f"*{PART}-*"):
        shutil.rmtree(part, ignore_errors=True)


def _check(member: tarfile.TarInfo) -> None:
    path = Path(member.name)
    if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
        raise tarfile.ReadError(f"{member.name} does not belong in a run directory")


def _extract(file: IO[bytes], part: Path) -> None:
    with tarfile.open(fileobj=file, mode="r:gz") as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(part, filter="data")
        else:  # Python before 3.11.4
            for member in archive:
                _check(member)
                archive.extract(member, part)
