"""A fabric with IPv6 beside its IPv4: each address has the other's 32 bits at its end, so that one tells the other, and
what is a block there is one here.

Prefixes: unique local addresses (RFC 4193), those of links apart from what a lab assigns by itself.
"""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, IPv6Network

from fabriclab.lab.network.addresses import LEAST_IPV6_MTU, LONGEST_IPV6_PREFIX
from fabriclab.topologies.fabric import Fabric, FabricError

LINKS = IPv6Network("fdfa:b1ab:10::/96")
LOOPBACKS = IPv6Network("fdfa:b1ab:ff::/96")


def with_ipv6(fabric: Fabric) -> Fabric:
    """Return a fabric whose links and switches have IPv6 addresses too. Raises FabricError for links that are too
    narrow."""
    if fabric.mtu_bytes < LEAST_IPV6_MTU:
        raise FabricError(
            f"--mtu {fabric.mtu_bytes}: a link with IPv6 needs at least {LEAST_IPV6_MTU} bytes; write more, or leave "
            "--ipv6 out"
        )
    return replace(
        fabric,
        command=f"{fabric.command} --ipv6",
        facts=(*fabric.facts, f"IPv6: {LINKS} links, {LOOPBACKS} loopbacks; the last 32 bits are the IPv4 address."),
        nodes=tuple(
            node if node.loopback is None else replace(node, loopback6=_beside(node.loopback, LOOPBACKS))
            for node in fabric.nodes
        ),
        links=tuple(replace(link, ipv6=(_end(link.addresses[0]), _end(link.addresses[1]))) for link in fabric.links),
    )


def _end(address: IPv4Interface) -> IPv6Interface:
    return IPv6Interface((int(_beside(address.ip, LINKS)), LONGEST_IPV6_PREFIX))


def _beside(address: IPv4Address, network: IPv6Network) -> IPv6Address:
    return network[int(address)]
