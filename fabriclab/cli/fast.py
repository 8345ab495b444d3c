"""`exec`, `shell` and `vtysh` without what the other commands load: a command in a node is to answer at once.

Anything that is not a plain call of one of them is left to the commands themselves.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` takes as long to import as all else here
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

COMMANDS = ("exec", "shell", "vtysh")
FAILED = 125
"""The exit status where the command did not start: as env(1) and docker have it, apart from the command's own."""


def plain(arguments: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return node and argv of a call without options, None for any other.

    Those are `exec NODE [--] CMD...`, `shell NODE`, `vtysh NODE`.
    """
    if len(arguments) < 2 or arguments[0] not in COMMANDS or arguments[1].startswith("-"):
        return None
    command, node, rest = arguments[0], arguments[1], list(arguments[2:])
    if command == "exec":
        argv = rest[1:] if rest[:1] == ["--"] else rest
        return (node, argv) if argv and not (rest[0].startswith("-") and rest[0] != "--") else None
    return (node, [command]) if not rest else None


def run(arguments: Sequence[str]) -> int | None:
    """Carry a plain call out; returns its exit status, None for any other."""
    call = plain(arguments)
    if call is None:
        return None
    _open_closed()
    from fabriclab.errors import FabriclabError
    from fabriclab.live.node import exec_in_node, shell_in_node, vtysh_in_node

    node, argv = call
    try:
        if arguments[0] == "exec":
            return exec_in_node(node, argv)
        return shell_in_node(node, None) if arguments[0] == "shell" else vtysh_in_node(node, ())
    except KeyboardInterrupt:
        return 130
    except FabriclabError as error:
        sys.stderr.write(f"{error}\n")
        return FAILED


def leave(status: int) -> NoReturn:
    """End the process without taking the interpreter apart, which takes longer than the command."""
    sys.stderr.flush()
    os._exit(status)


def _open_closed() -> None:
    """Put something into the place of a closed stream, else the lab's socket would be it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # For reading: whoever writes an answer there learns that nobody gets it.
            os.open(os.devnull, os.O_RDONLY)
