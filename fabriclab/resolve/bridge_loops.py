"""Loops of bridges: without the spanning tree protocol a broadcast frame goes round for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from fabriclab.formats.plan.setup import Setup
from fabriclab.keys.wording import listed
from fabriclab.lab.network.topology import Topology

_Bridge = tuple[str, str]
"""A node, and its bridge; of a node that is one itself, an empty name."""
_MEMBER = re.compile(r"\bip (?:-\S+ )*link set (?:dev )?(\S+) (?:\S+ )*?master (\S+)|\bbrctl addif (\S+) (\S+)")
_STP = re.compile(r"\bstp_state 1\b|\bstp \S+ (?:on|yes|1)\b|\bmstp")
"""Words by which a node's commands turn it on: ip-link(8), brctl(8), mstpd."""


def bridge_loops(topology: Topology) -> Iterator[str]:
    """Yield a sentence for each link that closes a loop of bridges, with the bridges and links of the loop."""
    setups = {node.name: node.setup for node in topology.nodes if node.setup is not None}
    bridges = {name: _bridges(setup) for name, setup in setups.items()}
    ways: dict[_Bridge, dict[_Bridge, str]] = {}
    for link in topology.links:
        ends = [_bridge_of(end.node, end.interface, setups.get(end.node), bridges) for end in link.ends]
        a, b = ends
        if a is None or b is None:
            continue
        name = f"{' - '.join(end.port for end in link.ends)} (line {link.place.line})"
        way = _way(ways, a, b)
        if way is None:
            ways.setdefault(a, {})[b] = ways.setdefault(b, {})[a] = name
        else:
            around = [ways[one][other] for one, other in pairwise(way)]
            yield (
                f"{listed(dict.fromkeys(node for node, _ in way))}: {listed([*around, name])} are a loop of bridges "
                "without STP: a frame to all goes round for ever, and the run hangs; remove a link"
            )


def _bridges(setup: Setup) -> dict[str, str]:
    """Return the bridge of each interface that commands make a member of one; none where they turn STP on."""
    commands = [" ".join(command.argv) for command in setup.commands]
    if any(map(_STP.search, commands)):
        return {}
    found = {}
    for command in commands:
        for match in _MEMBER.finditer(command):
            interface, bridge = (match[1], match[2]) if match[1] else (match[4], match[3])
            found[interface] = bridge.rstrip(";'\"")
    return found


def _bridge_of(node: str, interface: str, setup: Setup | None, bridges: dict[str, dict[str, str]]) -> _Bridge | None:
    if setup is not None and setup.is_bridge:
        return node, ""
    bridge = bridges.get(node, {}).get(interface)
    return None if bridge is None else (node, bridge)


def _way(ways: dict[_Bridge, dict[_Bridge, str]], a: _Bridge, b: _Bridge) -> list[_Bridge] | None:
    """Return the bridges on the way from one to another over links that are there already; None: there is no way."""
    if a == b:
        return [a]
    came: dict[_Bridge, _Bridge] = {a: a}
    ahead = [a]
    for one in ahead:
        for other in ways.get(one, {}):
            if other not in came:
                came[other] = one
                ahead.append(other)
    if b not in came:
        return None
    way = [b]
    while way[-1] != a:
        way.append(came[way[-1]])
    return way[::-1]
