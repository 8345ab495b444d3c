"""What a shell completes of labs that are up: their names, nodes, ports, and keys that can be set.

Whatever goes wrong, a completion says nothing: the command itself will.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def complete_live_lab(incomplete: str) -> list[str]:
    """Return the names of the labs that are up."""
    with suppress(Exception):
        from fabriclab.live.labs_up import labs

        return [name for name in labs() if name.startswith(incomplete)]
    return []


def complete_live_node(incomplete: str) -> list[str]:
    """Return the nodes of the lab that is up; where several are, `NAME:NODE`."""
    with suppress(Exception):
        return [node for node, _ in _nodes() if node.startswith(incomplete)]
    return []


def complete_live_port(incomplete: str) -> list[str]:
    """Return the ports likewise, `NODE:PORT`."""
    with suppress(Exception):
        every = [f"{node}:{port}" for node, ports in _nodes() for port in ports]
        return [port for port in every if port.startswith(incomplete)]
    return []


def complete_live_place(incomplete: str) -> list[str]:
    """Return the nodes, and the ports of the one that is written with its colon."""
    return complete_live_node(incomplete) or complete_live_port(incomplete)


def complete_live_key(incomplete: str) -> list[str]:
    """Return parameters and keys of the only lab that is up, each word of a key by itself."""
    with suppress(Exception):
        from fabriclab.lab import parse_lab
        from fabriclab.lab.settings import begun_keys
        from fabriclab.live.changes_log import LAB_FILES
        from fabriclab.live.labs_up import labs

        ((_, facts),) = labs().items()
        lab = parse_lab(Path(facts["directory"]) / LAB_FILES, every_point=False)
        names = [f"{name}=" for name in lab.parameters if name.startswith(incomplete)]
        return [*names, *begun_keys(incomplete, lab.document, lab.names)]
    return []


def _nodes() -> Iterator[tuple[str, list[str]]]:
    """Yield what each node is called, with its ports."""
    from fabriclab.live.labs_up import labs

    up = labs()
    for name, facts in up.items():
        for node, ports in facts["ports"].items():
            yield (node if len(up) == 1 else f"{name}:{node}"), ports
