"""Drawn fabrics with VLANs and port channels: whatever is grouped, every packet's way ends at
the host that it is for."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, ip_interface, ip_network
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layer2_labs import HEAD, plan_of

from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.formats.plan.node import Node
from fabriclab.resolve.interfaces import first_address, interfaces, neighbours

MOST_HOPS = 8


@dataclass(frozen=True)
class Leaf:
    """A leaf: its links to each spine, those to each host, and which of these are a port channel,
    which hosts in the VLAN."""

    uplinks: int
    is_bundled: bool
    hosts: tuple[int, ...]
    vlan: tuple[bool, ...]


LEAVES = st.integers(1, 3).flatmap(
    lambda hosts: st.builds(
        Leaf,
        uplinks=st.integers(1, 3),
        is_bundled=st.booleans(),
        hosts=st.tuples(*[st.integers(1, 2)] * hosts),
        vlan=st.tuples(*[st.booleans()] * hosts),
    )
)


def lab_text(leaves: list[Leaf], spines: int) -> tuple[str, str]:
    """Return topology and `switches` section."""
    nodes = [f"s{number}: {{labels: {{fabriclab.role: switch}}}}" for number in range(spines)]
    links, switches, spine_ports = [], [], [0] * spines
    for number, leaf in enumerate(leaves):
        nodes.append(f"l{number}: {{labels: {{fabriclab.role: switch}}}}")
        channels, members, port = [], [], 0
        for spine in range(spines):
            mine = [f"eth{port + 1 + line}" for line in range(leaf.uplinks)]
            for name in mine:
                spine_ports[spine] += 1
                links.append(f"l{number}:{name}', 's{spine}:eth{spine_ports[spine]}")
            port += leaf.uplinks
            if leaf.is_bundled:
                channels.append(f"PortChannel{spine + 1}: {{members: [{', '.join(mine)}]}}")
        for host, (lines, in_vlan) in enumerate(zip(leaf.hosts, leaf.vlan, strict=True)):
            name = f"h{number}-{host}"
            nodes.append(f"{name}: {{labels: {{fabriclab.role: host}}}}")
            mine = [f"eth{port + 1 + line}" for line in range(lines)]
            port += lines
            links += [f"{name}:eth{line + 1}', 'l{number}:{leaf_port}" for line, leaf_port in enumerate(mine)]
            if lines > 1:
                channels.append(f"PortChannel{10 + host}: {{members: [{', '.join(mine)}]}}")
            if in_vlan:
                members.append(mine[0] if lines == 1 else f"PortChannel{10 + host}")
        vlan = f", vlans: {{Vlan7: {{members: [{', '.join(members)}]}}}}" if members else ""
        switches.append(f"  l{number}: {{port_channels: {{{', '.join(channels)}}}{vlan}}}\n")
    topology = "name: drawn\ntopology:\n  defaults: {kind: linux}\n  nodes:\n" + "".join(
        f"    {node}\n" for node in nodes
    )
    return topology + "  links:\n" + "".join(f"    - {{endpoints: ['{link}']}}\n" for link in links), "".join(switches)


def next_nodes(plan: Plan, node: Node, address: IPv4Address) -> set[str]:
    """Return where a packet for an address goes from here: to a neighbour of that address, or to a route's gateways."""
    nodes = plan.by_name()
    around = {
        one.name: {far.interface.ip: far.node.name for far in neighbours(node, one, nodes)} for one in interfaces(node)
    }
    for one in interfaces(node):
        if address in ip_interface(one.address).network:
            return {around[one.name][str(address)]}
    found = [
        (ip_network("0.0.0.0/0" if route.destination == "default" else route.destination), route)
        for route in node.routes
    ]
    _, route = max(
        ((network, route) for network, route in found if address in network), key=lambda each: each[0].prefixlen
    )
    return {around[interface][gateway] for gateway, interface in route.next_hops}


@pytest.mark.parametrize("routing", ["", "routing: {protocol: bgp-numbered}\n"], ids=["static", "bgp"])
@settings(max_examples=25, deadline=None)
@given(leaves=st.lists(LEAVES, min_size=2, max_size=3), spines=st.integers(1, 2))
def test_every_way_ends_at_its_host(routing: str, leaves: list[Leaf], spines: int) -> None:
    topology, switches = lab_text(leaves, spines)
    traffic = "traffic: {one: {kind: flows, senders: [h0-0], receiver: h1-0, size: 1 KB}}\n"
    with TemporaryDirectory() as directory:
        plan = plan_of(
            Path(directory), f"{HEAD}switches:\n  default: {{buffer: 100 KB}}\n{switches}{traffic}{routing}", topology
        )
    assert parse_plan_json(plan_json(plan)) == plan
    addresses = [interface.ip for node in plan.nodes for interface in interfaces(node)]
    assert len(set(addresses)) == len(addresses)
    hosts = [node for node in plan.nodes if node.role == "host"]
    for sender, receiver in ((one, other) for one in hosts for other in hosts if one is not other):
        frontier, hops = {sender.name}, 0
        while frontier != {receiver.name}:
            assert hops < MOST_HOPS, (sender.name, receiver.name, frontier)
            address = IPv4Address(first_address(receiver))
            frontier = {far for name in frontier for far in next_nodes(plan, plan.node(name), address)}
            hops += 1
