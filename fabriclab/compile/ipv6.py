"""A node's sysctl settings of IPv6, in a fabric that has it: nothing is asked that the plan knows, and an idle network
stays idle.

Source of names and meanings: Linux Documentation/networking/ip-sysctl.rst, net/ipv6/addrconf.c.
"""

from __future__ import annotations

from fabriclab.compile.frr import speaks_bgp
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.resolve.interfaces import fabric_neighbours, interfaces

_SWITCH = (
    ("net.ipv6.conf.all.forwarding", "1"),
    # As for IPv4 (`transport.py`): ECMP by the five-tuple, and not by the flow label, which a sender may change.
    ("net.ipv6.fib_multipath_hash_policy", "3"),
    ("net.ipv6.fib_multipath_hash_fields", "55"),
    ("net.ipv6.conf.all.ignore_routes_with_linkdown", "1"),
    ("net.ipv6.icmp.ratelimit", "2147483000"),
)
_HOST = (
    # A label is drawn for each connection, and again after a timeout: a host's own ECMP would hang on it.
    ("net.ipv6.auto_flowlabels", "0"),
)
_INTERFACE = (
    # Addresses are unique by the plan: nothing to detect, nothing to wait for.
    ("accept_dad", "0"),
    # Nobody asks for routers or takes prefixes of them; where BGP needs advertisements, zebra reads them.
    ("accept_ra", "0"),
    ("autoconf", "0"),
    ("use_tempaddr", "0"),
    # A link that comes back has its addresses, as with IPv4.
    ("keep_addr_on_down", "1"),
    # Groups are told of once and at once, before any traffic, instead of twice within seconds (RFC 3810).
    ("mldv1_unsolicited_report_interval", "1"),
    ("mldv2_unsolicited_report_interval", "1"),
)
_EUI64, _NO_LINK_LOCAL = "0", "1"


def compile_ipv6_sysctl(node: Node, plan: Plan) -> list[tuple[str, str]]:
    """Return the settings; none where the fabric has IPv4 only, and where the network is its nodes' own matter."""
    if 6 not in plan.families or plan.configured is not None:
        return []
    settings = [*(_SWITCH if node.role == "switch" else _HOST)]
    ports = {port.interface for port in node.ports}
    towards = {interface.name for interface, _ in fabric_neighbours(node, plan.by_name(), 6)}
    names = [interface.name for interface in interfaces(node, 6)]
    # Port channels and VLANs are made later, with the settings of new interfaces.
    made_later = [name for name in names if name not in ports]
    for name in [*(name for name in names if name in ports), *(["default"] if made_later else [])]:
        # Next hops of BGP are link-local addresses; elsewhere nobody uses them.
        is_session = name in towards or (name == "default" and not towards.isdisjoint(made_later))
        mode = _EUI64 if is_session and speaks_bgp(node, plan) else _NO_LINK_LOCAL
        settings += [(f"net.ipv6.conf.{name}.{key}", value) for key, value in _INTERFACE]
        settings += [
            (f"net.ipv6.conf.{name}.addr_gen_mode", mode),
            (f"net.ipv6.conf.{name}.disable_ipv6", "0"),
        ]
    settings.append(("net.ipv6.conf.lo.disable_ipv6", "0"))
    return settings
