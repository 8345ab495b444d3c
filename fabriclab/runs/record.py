"""The manifest of a run in its directory, with room kept for it: how the run ended can be written
when the disk is full."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from fabriclab.engine.watch import Status
from fabriclab.files import naming, no_room, write_text
from fabriclab.formats.manifest import Manifest, manifest_json, parse_manifest, plan_in_manifest
from fabriclab.formats.run_directory import MANIFEST
from fabriclab.runs.directory import read_json

_GROWS_BYTES = 64 << 10
"""What it gains to the end: the hashes of some five hundred files."""


class Record:
    """The manifest, on disk from the beginning. Use as a context manager: on leaving it no room is kept any more."""

    def __init__(self, directory: Path, manifest: Manifest, plan: str) -> None:
        """Write the manifest with the JSON of the plan, and keep room for a second one.

        Raises OSError that names it, and leaves nothing then.
        """
        self.manifest = manifest
        self._plan = plan_in_manifest(plan)
        self._path = directory / MANIFEST
        self._room: IO[bytes] | None = None
        try:
            text = self._text()
            write_text(self._path, text)
            with naming(self._path):
                self._room = _room_in(directory, len(text) + _GROWS_BYTES)
        except OSError:
            self._path.unlink(missing_ok=True)
            raise

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *_: object) -> None:
        self._free()

    def note(self, status: Status, message: str) -> None:
        """Write down how the run stands; where the disk is full, in the room that was kept. Raises OSError."""
        self.manifest.status, self.manifest.message = status, message
        try:
            write_text(self._path, self._text())
        except OSError as error:
            if not no_room(error):
                raise
            self._free()
            write_text(self._path, self._text())

    def _text(self) -> str:
        return manifest_json(self.manifest, self._plan)

    def _free(self) -> None:
        if self._room is not None:
            self._room.close()
            self._room = None


def recorded(directory: Path) -> Manifest:
    """Return the manifest of a run directory; one that says nothing where there is none that can be read."""
    try:
        return parse_manifest(read_json(directory / MANIFEST) or {})
    except ValidationError:
        return Manifest()


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
