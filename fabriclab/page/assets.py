"""What a browser loads of the live page."""

from __future__ import annotations

from pathlib import Path

from fabriclab.browser_bundles import BrowserBundle, BrowserBundleError

FILES = {
    "index.html": "text/html; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
}
"""What is made of the sources, each file with its type."""
WEB = Path(__file__).parent / "web"
"""The sources."""
PAGE = BrowserBundle("page", "the page", WEB, tuple(FILES), "FABRICLAB_PAGE")
PageError = BrowserBundleError
"""The page can't be shown; the text says why."""
