"""`exec`, `shell` and `vtysh`: a program in a node, as an operator calls it."""

from __future__ import annotations

import os

from fabriclab.errors import ArgumentError
from fabriclab.live.labs_up import chosen, labs
from fabriclab.live.terminal import run_in_node

TYPE_CHECKING = False  # `typing` takes as long to import as all else here
if TYPE_CHECKING:
    from collections.abc import Sequence

_SHELL = ("bash", "-l")
_MOST_NAMED = 20


def split_node(written: str) -> tuple[str | None, str]:
    """Return the lab's name, None where it is not said, and the node of `[NAME:]NODE`."""
    lab, colon, node = written.rpartition(":")
    return (lab, node) if colon else (None, written)


def exec_in_node(node: str, argv: Sequence[str]) -> int:
    """Run a command in a node (`[NAME:]NODE`) with this process's streams; returns its exit status."""
    lab, name = split_node(node)
    return run_in_node(lab, name, argv)


def shell_in_node(node: str, command: str | None) -> int:
    """Open a shell in a node on this terminal, or run a command on one; returns its exit status.

    Where standard input is not a terminal, the shell reads it as a script.
    """
    lab, name = split_node(node)
    terminal = _on_terminal()
    argv = ["/bin/sh", "-c", command] if command is not None else list(_SHELL) if terminal else ["bash"]
    return run_in_node(lab, name, argv, terminal=terminal)


def vtysh_in_node(node: str, commands: Sequence[str]) -> int:
    """Open FRR's shell in a node, or let it execute commands; returns its exit status.

    Raises ArgumentError where no FRR runs in the node.
    """
    lab, name = split_node(node)
    facts = labs()[chosen(lab)]
    if name in facts["nodes"] and name not in facts["routers"]:
        routers = facts["routers"]
        why = (
            f"FRR runs in {', '.join(routers[:_MOST_NAMED])}"
            if routers
            else "this lab's routes are static: no node runs FRR"
        )
        raise ArgumentError("{0}: {1}", name, why)
    options = [word for command in commands for word in ("-c", command)]
    return run_in_node(lab, name, ["vtysh", *options], terminal=not commands and _on_terminal())


def _on_terminal() -> bool:
    return os.isatty(0) and os.isatty(1)


def needs_command(argv: Sequence[str]) -> None:
    """Raise ArgumentError where no command was given."""
    if not argv:
        raise ArgumentError("no command is given; write one, such as `exec NODE -- ping -c1 h2`")
