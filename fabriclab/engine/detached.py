"""A process of ours that goes on when whoever started it has ended."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Sequence
from typing import Any

CHANNEL = 3
"""The descriptor that the process finds its channel at."""
_PATIENCE_S = 30.0


def start_detached(module: str, arguments: Sequence[str], channel: int) -> int:
    """Run a module of ours in a session of its own, and return the process's number.

    It has `channel` at CHANNEL, and no other stream of ours. Raises OSError when it can't be started.
    """
    # -P: what lies in the working directory is not a module of ours.
    argv = [sys.executable, "-P", "-m", module, *arguments]
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    actions = [*null, (os.POSIX_SPAWN_DUP2, channel, CHANNEL)]
    return os.posix_spawn(sys.executable, argv, os.environ, file_actions=actions, setsid=True)


def start_and_hear(module: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Start a module as `start_detached` does, and return what it says on its channel, as JSON, before it closes that.

    Empty where it says nothing in half a minute. Raises OSError when it can't be started.
    """
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            start_detached(module, arguments, theirs.fileno())
        ours.settimeout(_PATIENCE_S)
        try:
            with ours.makefile("rb") as file:
                return dict(json.loads(file.read() or b"{}"))
        except TimeoutError:
            return {}
