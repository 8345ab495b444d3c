"""What a browser loads: made from `web/` by `.ci/page.py`, kept in the cache by the hash of what it is made from."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from fabriclab.engine.packed import cache_root
from fabriclab.errors import FabriclabError
from fabriclab.shipped import is_installed, shipped

WEB = Path(__file__).parent / "web"
"""The sources."""
FILES = {
    "index.html": "text/html; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
}
"""What is made of them, each with its type."""


class PageError(FabriclabError):
    """The page can't be shown; the text says why."""


def key() -> str:
    """Return the hash of all that the page is made from."""
    found = hashlib.sha256()
    for path in sorted(WEB.iterdir()):
        if path.is_file():
            data = path.read_bytes()
            found.update(f"{path.name} {len(data)}\n".encode() + data)
    return found.hexdigest()[:16]


def made() -> Path:
    """Return the directory that the page's files are made in, or come in with a wheel; Docker images name theirs."""
    named = os.environ.get("FABRICLAB_PAGE")
    if named:
        return Path(named)
    return shipped("page") if is_installed() else cache_root() / "page" / key()


def load() -> dict[str, bytes]:
    """Return the page's files by name. Raises PageError where they are not made."""
    directory = made()
    try:
        return {name: (directory / name).read_bytes() for name in FILES}
    except FileNotFoundError:
        words = "this package was made without the page" if is_installed() else "the page is not built: make page"
        raise PageError(words) from None
