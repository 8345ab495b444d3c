"""Which families of addresses a fabric has: the experiment's key `addresses`, else what the topology writes."""

from __future__ import annotations

from fabriclab.formats.family import Family
from fabriclab.keys.wording import shown
from fabriclab.lab.network.addresses import LEAST_IPV6_MTU
from fabriclab.lab.network.keys import ADDRESSES
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written


def families_of_lab(addresses: Written[str] | None, topology: Topology) -> tuple[Family, ...]:
    """Return the families of which every link of a lab has addresses; `addresses` is the experiment's key."""
    return topology.written_families() if addresses is None else ADDRESSES[addresses.value]


def check_families(
    addresses: Written[str] | None, topology: Topology, mtu: Written[int] | None, problems: Problems
) -> None:
    """Record what cannot have IPv6: links that are too narrow (`mtu` is that of all, where written), and switches of
    whose own configuration IPv4 alone is read."""
    if 6 not in families_of_lab(addresses, topology):
        return
    narrow = [mtu] if mtu is not None else [link.mtu for link in topology.links if link.mtu is not None]
    for each in narrow:
        if each.value < LEAST_IPV6_MTU:
            each.complain(
                problems,
                f"{shown(each.text)} is below {LEAST_IPV6_MTU}, the least MTU of a link with IPv6 (RFC 8200); write "
                "more, or addresses: ipv4",
            )
    for node in topology.nodes:
        if node.own is None or 6 in node.own.families:
            continue
        message = f"{node.name} is what {node.own.file} says, of which IPv4 alone is read; write addresses: ipv4"
        if addresses is not None:
            addresses.complain(problems, message)
        else:
            problems.add(node.place, f"topology.nodes.{node.name}", message, node.name)
        return
