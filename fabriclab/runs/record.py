"""The manifest of a run in its directory, with room kept for it: how the run ended can be written
when the disk is full."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO, Any

from fabriclab.engine.watch import Status
from fabriclab.files import naming, no_room
from fabriclab.formats.run_directory import MANIFEST
from fabriclab.runs.directory import json_text, write_json

_GROWS_BYTES = 64 << 10
"""What it gains to the end: the hashes of some five hundred files."""


class Record:
    """The manifest, on disk from the beginning. Use as a context manager: on leaving it no room is kept any more."""

    def __init__(self, directory: Path, manifest: dict[str, Any]) -> None:
        """Write the manifest, and keep room for a second one. Raises OSError that names it, and leaves nothing then."""
        self.manifest = manifest
        self._path = directory / MANIFEST
        self._room: IO[bytes] | None = None
        try:
            write_json(self._path, manifest)
            with naming(self._path):
                self._room = _room_in(directory, len(json_text(manifest)) + _GROWS_BYTES)
        except OSError:
            self._path.unlink(missing_ok=True)
            raise

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *_: object) -> None:
        self._free()

    def note(self, status: Status, message: str) -> None:
        """Write down how the run stands; where the disk is full, in the room that was kept. Raises OSError."""
        self.manifest["status"], self.manifest["message"] = status, message
        try:
            write_json(self._path, self.manifest)
        except OSError as error:
            if not no_room(error):
                raise
            self._free()
            write_json(self._path, self.manifest)

    def _free(self) -> None:
        if self._room is not None:
            self._room.close()
            self._room = None


def _room_in(directory: Path, size: int) -> IO[bytes]:
    """Return a file without a name that takes up room: it is gone when it is closed, or its process ends."""
    room = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 - it stays open as long as its room is kept
    try:
        room.write(os.urandom(size))  # zeros take up no room where a file system compresses
        room.flush()
    except BaseException:
        room.close()
        raise
    return room
