"""What a browser loads, in bundles: made from a folder of sources by `.ci/page.py`, kept in the cache by the hash of
what it is made from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.engine.packed import cache_root
from fabriclab.errors import FabriclabError
from fabriclab.shipped import is_installed, shipped


class BrowserBundleError(FabriclabError):
    """A bundle is not there; the text says why, and what makes it."""


@dataclass(frozen=True)
class BrowserBundle:
    """Files that are made of a folder of sources."""

    name: str
    """Of its directory in the cache and in a wheel."""
    what: str
    """In words, for messages: `the page`."""
    sources: Path
    files: Sequence[str]
    variable: str
    """The environment variable that names the directory with the files, where somebody made them elsewhere."""

    def key(self) -> str:
        """Return the hash of all that it is made from."""
        found = hashlib.sha256()
        for path in sorted(self.sources.iterdir()):
            if path.is_file():
                data = path.read_bytes()
                found.update(f"{path.name} {len(data)}\n".encode() + data)
        return found.hexdigest()[:16]

    def made(self) -> Path:
        """Return the directory that its files are made in, or come in with a wheel; Docker images name theirs."""
        named = os.environ.get(self.variable)
        if named:
            return Path(named)
        return shipped(self.name) if is_installed() else cache_root() / self.name / self.key()

    def load(self) -> dict[str, bytes]:
        """Return its files by name. Raises BrowserBundleError where they are not made."""
        directory = self.made()
        try:
            return {name: (directory / name).read_bytes() for name in self.files}
        except FileNotFoundError:
            without, build = f"this package was made without {self.what}", f"{self.what} is not built: make page"
            raise BrowserBundleError(without if is_installed() else build) from None
