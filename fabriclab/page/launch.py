"""Starts the page's server in the background, for one lab."""

from __future__ import annotations

import json
import socket

from fabriclab.engine.detached import start_detached
from fabriclab.page.assets import PageError

_MODULE = "fabriclab.page.serve"
_PATIENCE_S = 30.0


def start(lab: str) -> dict[str, str]:
    """Start a server that ends when the lab goes down; returns the page's `address`, and one that opens it `once`.

    Raises PageError, OSError.
    """
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            start_detached(_MODULE, (lab,), theirs.fileno())
        ours.settimeout(_PATIENCE_S)
        try:
            with ours.makefile("rb") as file:
                said = dict(json.loads(file.read() or b"{}"))
        except TimeoutError:
            said = {}
    if "once" not in said:
        raise PageError(said.get("failed") or "the page's server did not start")
    return said
