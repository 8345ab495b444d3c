"""A host's MPTCP: sysctl settings, and endpoints and limits as lines for `ip -batch`.

Source of names and meanings: Linux Documentation/networking/mptcp-sysctl.rst, ip-mptcp(8), net/mptcp/pm_netlink.c.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.family import Family
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Mptcp, Node
from fabriclab.resolve.interfaces import interfaces

DEFAULT_SCHEDULER = "default"


def compile_mptcp_sysctl(node: Node, plan: Plan) -> list[tuple[str, str]]:
    """Return the settings of a host's MPTCP."""
    if node.transport is None or not plan.uses_mptcp:
        return []
    mptcp = node.transport.mptcp
    return [
        ("net.mptcp.enabled", "1"),
        ("net.mptcp.pm_type", "0"),
        ("net.mptcp.scheduler", DEFAULT_SCHEDULER if mptcp is None else mptcp.scheduler),
        ("net.mptcp.checksum_enabled", "0"),
        # The subflows of the peer come to the address and port that it connected to first.
        ("net.mptcp.allow_join_initial_addr_port", "1"),
        ("net.mptcp.add_addr_timeout", "120"),
        ("net.mptcp.stale_loss_cnt", "4"),
        # No memory from one connection to the next: two lost SYNs would end MPTCP for all connections of the host, for
        # an hour.
        ("net.mptcp.blackhole_timeout", "0"),
    ]


def compile_endpoints(node: Node, plan: Plan) -> Iterator[str]:
    """Yield the lines that set a host's limits and endpoints. Limits count the subflows beside the first one."""
    if node.transport is None or not plan.uses_mptcp:
        return
    mptcp = node.transport.mptcp
    if mptcp is None:
        yield "mptcp limits set subflow 0 add_addr_accepted 0"
        return
    yield f"mptcp limits set subflow {mptcp.subflows - 1} add_addr_accepted {mptcp.add_addr_accepted}"
    # The ports' own addresses too: from the first port or another, whichever a connection leaves by, the others are
    # free for the rest.
    addresses = [one for family in _families(plan) for one in _addresses(node, family)[: mptcp.subflows]]
    for number, (address, interface) in enumerate(addresses, 1):
        yield f"mptcp endpoint add {address} dev {interface} id {number} {_flags(mptcp)}"


def _families(plan: Plan) -> list[Family]:
    """Return the families that MPTCP runs over, of which alone it has endpoints: the kernel has 8 of them in all. A
    user's trace runs over the first."""
    over = {
        traffic.carried_by.ip or plan.families[0] for traffic in plan.traffic if traffic.carried_by.transport == "mptcp"
    }
    return [family for family in plan.families if family in over] or [plan.families[0]]


def _addresses(node: Node, family: Family) -> list[tuple[str, str]]:
    own = interfaces(node, family)
    return [(one.ip, one.name) for one in own] + [(address, one.name) for one in own for address in one.extra_addresses]


def _flags(mptcp: Mptcp) -> str:
    return "subflow fullmesh" if mptcp.path_manager == "fullmesh" else mptcp.path_manager
