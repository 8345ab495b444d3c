"""What gives programs of a host RDMA devices (verbs): Linux's `rdma_rxe` in the machine.

Sources: rdma-link(8); Linux, drivers/infiniband/sw/rxe.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.plan.node import Node
from fabriclab.resolve.interfaces import interfaces

_PRELOAD = "etc/ld.so.preload"
_VERBS = "/tools/verbs.so\n"
"""Looks at an empty completion queue take time (`images/machine/preload/verbs.c`): in the machine work takes none."""
_ECN_BITS = 2


def compile_rdma(node: Node) -> str:
    """Return the node's `rdma.batch`: a device on each interface with an address; empty for a node without any."""
    return "" if node.rdma is None else "".join(line + "\n" for line in _devices(node))


def _devices(node: Node) -> Iterator[str]:
    # A member of a port channel has no address, and so its packets could come from nowhere.
    for number, interface in enumerate(interfaces(node), 1):
        yield f"link add rxe{number} type rxe netdev {interface.name}"


def compile_rdma_sysctl(node: Node) -> list[tuple[str, str]]:
    """Return the settings of the node's devices, pairs of key and value."""
    return [] if node.rdma is None else [("net.rdma_rxe.tos", str(node.rdma.dscp << _ECN_BITS))]


def preloads(node: Node) -> dict[str, str]:
    """Return the files below `root/` that a node with devices needs."""
    return {} if node.rdma is None else {_PRELOAD: _VERBS}


def without_rdma(node: Node) -> Node:
    """Return the node without devices, for containers: Debian's `rdma_rxe` (Linux 6.12) knows the host's own network
    namespace only, and no container's."""
    return node if node.rdma is None else node.model_copy(update={"rdma": None})
