"""The nodes' names for people who work in a live lab: `ping h2`. What fabriclab itself runs knows addresses alone."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.resolve.interfaces import interfaces

NAMES_FILE = "names/etc/hosts"
"""Where a node has them, in the directory of its files: `names/` is copied into it as `root/` is."""
_OWN = "127.0.0.1 localhost\n::1 localhost\n"


def compile_names(plan: Plan) -> str:
    """Return the text of /etc/hosts: each node by its loopback's address, else by that of its first interface."""
    return _OWN + "".join(f"{address} {node.name}\n" for node in plan.nodes for address in _addresses(node))


def _addresses(node: Node) -> Iterator[str]:
    if node.loopback is not None:
        yield node.loopback
        return
    yield from [interface.ip for interface in interfaces(node) if interface.ip][:1]
