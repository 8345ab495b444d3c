"""The events of a plan as lines for `ip -batch` and `tc -batch` in the nodes concerned, and what routing must make of
them.

A node that goes down loses its processes too, and has its daemons again when it comes back: the job's `down` and `up`.

Qdiscs are changed, never removed: what is queued stays queued. A link that goes down is set down at both ends, as a cut
fibre is dark at both; the kernel then forgets routes and neighbours there, so the line that brings it up is followed by
those that restore them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from fabriclab.compile.convergence import compile_reconvergence, routes_without
from fabriclab.compile.frr import speaks_bgp
from fabriclab.compile.port import Line, compile_line_change
from fabriclab.compile.routing import compile_neighbours, compile_own_routes, compile_route, static_route_line
from fabriclab.formats.job import Change, Step
from fabriclab.formats.plan.model import Event, Plan
from fabriclab.formats.plan.node import Port
from fabriclab.resolve.interfaces import Interface, interface_of_port, interfaces

_ALL_LOST_PPM = 1_000_000


@dataclass(frozen=True)
class _Link:
    """A link's state: both its directions alike; None where they are still as the plan has them."""

    is_up: bool = True
    is_blackhole: bool = False
    rate_bps: int | None = None
    delay_ns: int | None = None
    loss_ppm: int = 0

    @property
    def all_lost(self) -> bool:
        return self.is_blackhole or self.loss_ppm == _ALL_LOST_PPM

    @property
    def is_dead(self) -> bool:
        return not self.is_up or self.all_lost


Links = dict[tuple[str, str], _Link]


def impaired_ports(plan: Plan) -> frozenset[str]:
    """Return the ports (`node:interface`) that lose packets or change their delay at some time."""
    return frozenset(
        port
        for event in plan.events
        for link in event.links
        for port in link
        if event.action == "blackhole" or event.delay_ns is not None or event.loss_ppm is not None
    )


def compile_events(plan: Plan, *, stock: bool = False) -> list[Change]:
    """Return the job's `events`; `stock`: for a kernel without the machine's own qdisc."""
    links = dict.fromkeys((link for event in plan.events for link in event.links), _Link())
    routes = routes_without(plan, ())
    dead: set[str] = set()
    compiled = []
    for event in plan.events:
        before = dict(links)
        links |= {link: _after(links[link], event) for link in event.links}
        following = routes_without(plan, _dead(links))
        entry: Change = {
            "name": event.name,
            "at_ns": event.at_ns,
            "steps": _steps(plan, event, before, links, stock),
        }
        match _power(event, dead):
            case "down", node:
                entry["down"] = [node]
            case "up", node:
                entry["up"] = [node]
        reconvergence = compile_reconvergence(plan, routes, following)
        if reconvergence is not None:
            entry["reconvergence"] = reconvergence
        routes = following
        compiled.append(entry)
    return compiled


def _power(event: Event, dead: set[str]) -> tuple[str, str] | None:
    """Return which node loses its processes, or has its daemons again, at an event;
    `dead` are those that are down, and are afterwards."""
    if event.node is None or event.action not in ("down", "up") or (event.action == "down") == (event.node in dead):
        return None
    dead.symmetric_difference_update({event.node})
    return event.action, event.node


def _after(link: _Link, event: Event) -> _Link:
    match event.action:
        case "down":
            return replace(link, is_up=False)
        case "up":
            return replace(link, is_up=True, is_blackhole=False)
        case "blackhole":
            return replace(link, is_blackhole=True)
    return replace(
        link,
        rate_bps=link.rate_bps if event.rate_bps is None else event.rate_bps,
        delay_ns=link.delay_ns if event.delay_ns is None else event.delay_ns,
        loss_ppm=link.loss_ppm if event.loss_ppm is None else event.loss_ppm,
    )


def _dead(links: Links) -> list[str]:
    return [port for link, state in links.items() if state.is_dead for port in link]


def _steps(plan: Plan, event: Event, before: Links, after: Links, stock: bool) -> list[Step]:
    """Return what the nodes do: first the qdiscs, so that a link comes up as it is to be,
    then the links, then what they need."""
    ports = [(name, link) for link in event.links for name in link]
    qdiscs = [
        (name, line) for name, link in ports for line in _line_changes(plan, name, before[link], after[link], stock)
    ]
    switched = [(name, after[link].is_up) for name, link in ports if before[link].is_up != after[link].is_up]
    channels = _switched_channels(plan, [name for name, _ in switched], before, after)
    links = [
        (name, f"link set dev {name.partition(':')[2]} {'up' if is_up else 'down'}")
        for name, is_up in (*switched, *channels)
    ]
    whole = [(name, is_up) for name, is_up in switched if _interface(plan, name).name == name.partition(":")[2]]
    restored = [
        (name, line) for name, is_up in (*whole, *channels) if is_up for line in _restoring_lines(plan, name, after)
    ]
    return [*_by_node("tc", qdiscs), *_by_node("ip", links), *_by_node("ip", restored)]


def _by_node(tool: Literal["ip", "tc"], lines: Iterable[tuple[str, str]]) -> list[Step]:
    """Return one step for each node, in the order in which they come."""
    of_node: dict[str, list[str]] = {}
    for port, line in lines:
        of_node.setdefault(port.partition(":")[0], []).append(line)
    # Both interfaces of two parallel links may need the same route.
    return [{"node": node, "tool": tool, "lines": list(dict.fromkeys(found))} for node, found in of_node.items()]


def _line_changes(plan: Plan, name: str, before: _Link, after: _Link, stock: bool) -> list[str]:
    node, port = plan.node(name.partition(":")[0]), _port(plan, name)
    return compile_line_change(plan, node, port, _line(port, before), _line(port, after), stock=stock)


def _line(port: Port, link: _Link) -> Line:
    return Line(
        rate_bps=port.rate_bps if link.rate_bps is None else link.rate_bps,
        delay_ns=port.delay_ns if link.delay_ns is None else link.delay_ns,
        loss_ppm=_ALL_LOST_PPM if link.all_lost else link.loss_ppm,
    )


def _switched_channels(plan: Plan, ports: Iterable[str], before: Links, after: Links) -> list[tuple[str, bool]]:
    """Return the port channels that lose their last member, or have one again, as its carrier would tell."""
    found: dict[str, bool] = {}
    for port in ports:
        node, interface = plan.node(port.partition(":")[0]), _interface(plan, port)
        if interface.name in [channel.name for channel in node.port_channels]:
            members = [f"{node.name}:{member.interface}" for member in interface.ports]
            was_up, is_up = (any(member not in _down(links) for member in members) for links in (before, after))
            if was_up != is_up:
                found[f"{node.name}:{interface.name}"] = is_up
    return list(found.items())


def _down(links: Links) -> set[str]:
    return {end for link, state in links.items() if not state.is_up for end in link}


def _restoring_lines(plan: Plan, name: str, links: Links) -> Iterator[str]:
    """Yield the neighbours and the static routes that the kernel forgot when the interface went down;
    no next hops that are down still."""
    node = plan.node(name.partition(":")[0])
    (interface,) = (one for one in interfaces(node) if one.name == name.partition(":")[2])
    yield from compile_neighbours(node, interface, plan.by_name())
    yield from compile_own_routes(node, interface, plan, "replace")
    down = _down(links)
    dead = {one.name for one in interfaces(node) if all(f"{node.name}:{port.interface}" in down for port in one.ports)}
    for static in node.static_routes:
        if any(hop == interface.name for _, hop in static.next_hops):
            hops = tuple(hop for hop in static.next_hops if hop[1] not in dead)
            yield static_route_line(static.model_copy(update={"next_hops": hops}), "replace")
    if speaks_bgp(node, plan):
        return
    own_static = {static.destination for static in node.static_routes}
    for route in node.routes:
        if route.destination not in own_static and any(hop == interface.name for _, hop in route.next_hops):
            hops = tuple(hop for hop in route.next_hops if hop[1] not in dead)
            yield from compile_route(node, route.model_copy(update={"next_hops": hops}), plan, "replace")


def _interface(plan: Plan, port: str) -> Interface:
    """Return the interface with an address that a port (`node:interface`) belongs to."""
    node, _, interface = port.partition(":")
    return interface_of_port(plan.node(node), interface)


def _port(plan: Plan, name: str) -> Port:
    node, _, interface = name.partition(":")
    for port in plan.node(node).ports:
        if port.interface == interface:
            return port
    raise KeyError(name)
