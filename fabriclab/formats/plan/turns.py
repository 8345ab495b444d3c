"""Which ports of a switch frames come in by and leave by: the turns that shortest paths take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fabriclab.formats.plan.model import Event
from fabriclab.formats.plan.node import Node, Port

Turns = Mapping[str, frozenset[str]]
"""By the port that a frame comes in by, the ports that it may leave by (`node:interface`)."""


def turns(nodes: Sequence[Node], events: Iterable[Event], pairs: Iterable[tuple[str, str]]) -> Turns:
    """Return the turns of all shortest paths between pairs of sender and receiver, of the topology and of what each
    event leaves of it. Nodes whose own files route may send by other paths."""
    switches = frozenset(node.name for node in nodes if node.role == "switch")
    senders: dict[str, set[str]] = defaultdict(set)
    for source, receiver in pairs:
        senders[receiver].add(source)
    found: dict[str, set[str]] = defaultdict(set)
    for gone in _absent_ports(events):
        links = {
            node.name: [port for port in node.ports if f"{node.name}:{port.interface}" not in gone] for node in nodes
        }
        for receiver, sources in senders.items():
            _walk(links, _distances(switches, links, receiver), sources, found)
    return {port: frozenset(leaving) for port, leaving in found.items()}


def _absent_ports(events: Iterable[Event]) -> Iterator[frozenset[str]]:
    """Yield the ports that are down at first, and after each event."""
    down: frozenset[str] = frozenset()
    seen = {down}
    yield down
    for event in events:
        ends = frozenset(end for link in event.links for end in link)
        if event.action in ("down", "up"):
            down = down | ends if event.action == "down" else down - ends
            if down not in seen:
                seen.add(down)
                yield down


def _walk(
    links: Mapping[str, list[Port]], away: Mapping[str, int], sources: Iterable[str], found: dict[str, set[str]]
) -> None:
    """Add the turns of the paths from the sources to the receiver that nodes are so far away from."""
    nearer = {
        name: [port for port in ports if away.get(port.peer_node, name_distance) < name_distance]
        for name, ports in links.items()
        if (name_distance := away.get(name)) is not None
    }
    frontier = {source for source in sources if source in nearer}
    seen = set(frontier)
    while frontier:
        following: set[str] = set()
        for name in frontier:
            for port in nearer[name]:
                onward = nearer.get(port.peer_node, [])
                into = f"{port.peer_node}:{port.peer_interface}"
                found[into].update(f"{port.peer_node}:{one.interface}" for one in onward)
                following.add(port.peer_node)
        frontier = {name for name in following if name in nearer} - seen
        seen |= frontier


def _distances(switches: frozenset[str], links: Mapping[str, list[Port]], receiver: str) -> dict[str, int]:
    """Return the hops from each node to the receiver; only switches pass frames on."""
    away, frontier = {receiver: 0}, [receiver]
    while frontier:
        following = []
        for name in frontier:
            for port in links.get(name, ()):
                if port.peer_node not in away:
                    away[port.peer_node] = away[name] + 1
                    following.append(port.peer_node)
        frontier = [name for name in following if name in switches]
    return away
