"""What links do where they are cables: a cable has its delay, and loses what an event lets it lose. The ports at its
ends have no delay. A `switch_port` loses frames itself, and counts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fabriclab.compile.link_state import Links, state_of_port
from fabriclab.formats.job import Step
from fabriclab.formats.plan.model import Event, Plan
from fabriclab.formats.plan.node import Node


def without_delays(plan: Plan) -> Plan:
    """Return a plan whose ports have no delay, whatever happens: its cables have it."""
    events = tuple(without_delay(event) for event in plan.events)
    return plan.model_copy(update={"nodes": _nodes_without_delays(plan.nodes), "events": events})


def without_delay(event: Event) -> Event:
    """Return what is left of an event for the ports."""
    return event.model_copy(update={"delay_ns": None, "nodes": _nodes_without_delays(event.nodes)})


def links_without_delays(links: Links) -> Links:
    """Return the state of links as their ports know it."""
    return {link: state.without_delay() for link, state in links.items()}


def node_without_delays(node: Node) -> Node:
    """Return a node whose ports have no delay."""
    return node.model_copy(update={"ports": tuple(port.model_copy(update={"delay_ns": 0}) for port in node.ports)})


def _nodes_without_delays(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(map(node_without_delays, nodes))


def cable_steps(event: Event, before: tuple[Plan, Links], after: tuple[Plan, Links]) -> list[Step]:
    """Return the steps that make cables what they are after an event; none where they were so before."""
    ports = list(dict.fromkeys(_concerned(event, after[0])))
    old, new = (_lines(ports, plan.by_name(), links) for plan, links in (before, after))
    lines: dict[str, list[str]] = {}
    for port, peer in ports:
        if (old[port], old[peer]) != (new[port], new[peer]):
            node, _, interface = port.partition(":")
            (delay_ns, loss_ppm), (delay_in_ns, _) = new[port], new[peer]
            lines.setdefault(node, []).append(f"{interface} {delay_ns} {delay_in_ns} {loss_ppm}")
    return [{"node": node, "tool": "wire", "lines": found} for node, found in lines.items()]


def _concerned(event: Event, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the ports (`node:interface`) whose delays may change, each with its peer."""
    for a, b in event.links:
        yield from ((a, b), (b, a))
    for node in event.nodes:
        for port in plan.node(node.name).ports:
            here, there = f"{node.name}:{port.interface}", f"{port.peer_node}:{port.peer_interface}"
            yield from ((here, there), (there, here))


def _lines(ports: Iterable[tuple[str, str]], nodes: Mapping[str, Node], links: Links) -> dict[str, tuple[int, int]]:
    """Return the delay of each port's cable, and the share in millionths that it loses."""
    named = {f"{node}:{port.interface}": port for node in _nodes_of(ports) for port in nodes[node].ports}
    found: dict[str, tuple[int, int]] = {}
    for name, _ in ports:
        # What a port without a `switch_port` loses from the start, its netem loses.
        line = state_of_port(links, name).line(named[name].model_copy(update={"loss_ppm": 0}))
        found[name] = line.delay_ns, line.loss_ppm if named[name].switch_port is None else 0
    return found


def _nodes_of(ports: Iterable[tuple[str, str]]) -> set[str]:
    return {name.partition(":")[0] for name, _ in ports}
