"""Starts the page's server in the background, for one lab."""

from __future__ import annotations

from fabriclab.engine.detached import start_and_hear
from fabriclab.page.assets import PageError

_MODULE = "fabriclab.page.serve"


def start(lab: str) -> dict[str, str]:
    """Start a server that ends when the lab goes down; returns the page's `address`, and one that opens it `once`.

    Raises PageError, OSError.
    """
    said: dict[str, str] = start_and_hear(_MODULE, (lab,))
    if "once" not in said:
        raise PageError(said.get("failed") or "the page's server did not start")
    return said
