"""The events of a plan as lines for `ip -batch` and `tc -batch` in the nodes concerned, and what routing must make of
them.

A node that goes down loses its processes too, and has its daemons again when it comes back: the job's `down` and `up`.

Qdiscs are changed, never removed: what is queued stays queued. A link that goes down is set down at both ends, as a cut
fibre is dark at both; the kernel then forgets routes and neighbours there, so the line that brings it up is followed by
those that restore them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from fabriclab.compile.cables import cable_steps, links_without_delays, without_delay, without_delays
from fabriclab.compile.convergence import compile_reconvergence, routes_without
from fabriclab.compile.frr import runs_frr, speaks_bgp
from fabriclab.compile.link_state import Links, LinkState, changing_ports, dead_ports, down_ports
from fabriclab.compile.port import EVERYTHING, Changing, compile_line_change
from fabriclab.compile.routing import compile_neighbours, compile_own_routes, compile_route, static_route_line
from fabriclab.compile.settings_change import Network, compile_settings_change
from fabriclab.formats.job import Change, Settling, Step
from fabriclab.formats.plan.model import Event, Plan
from fabriclab.formats.plan.node import Port
from fabriclab.resolve.interfaces import Interface, interface_of_port, interfaces

SETTLING_INTERVAL_NS = 10**6
"""A millisecond, as where it is known what routing must come to."""


def compile_events(plan: Plan, *, stock: bool = False) -> list[Change]:
    """Return the job's `events`; `stock`: for a kernel without the machine's own qdisc, whose ports have the links'
    delays."""
    if not plan.events:
        return []
    changing = changing_ports(plan if stock else without_delays(plan))
    state = Timeline(plan, changing, stock=stock)
    routes = routes_without(plan, ())
    compiled = []
    for event in plan.events:
        if stock and event.action == "set":
            continue
        entry, state = state.compile(event)
        following = routes_without(state.plan, dead_ports(state.links))
        reconvergence = compile_reconvergence(state.plan, routes, following)
        if reconvergence is not None:
            entry["reconvergence"] = reconvergence
        if plan.configured is not None and (event.links or event.node is not None):
            still_ns = plan.configured.still_ns
            if event.is_silent:
                # Nothing changes before a hold timer ends, which may be far longer: who looked for `still` gave up.
                still_ns = max(still_ns, plan.limit_ns)
            settling: Settling = {"interval_ns": SETTLING_INTERVAL_NS, "still_ns": still_ns}
            entry["settling"] = settling
        routes = following
        compiled.append(entry)
    return compiled


@dataclass(frozen=True)
class Timeline:
    """A lab between two events: what has become of its links, nodes and settings."""

    plan: Plan
    """As settings have made it."""
    changing: Mapping[str, Changing] | None = None
    """What of its ports can change; None: everything of all."""
    links: Links = field(default_factory=dict)
    dead: frozenset[str] = frozenset()
    """Nodes that are down."""
    stock: bool = False
    """It is in containers. In the machine links have their delays themselves, and ports have none."""

    def compile(self, event: Event) -> tuple[Change, Timeline]:
        """Return what an event does, and what is afterwards. Raises UnchangeableError."""
        after = self.after(event)
        entry: Change = {"name": event.name, "at_ns": event.at_ns, "steps": self._steps(event, after)}
        for node in after.dead - self.dead:
            entry["down"] = [node]
        for node in self.dead - after.dead:
            entry["up"] = [node]
        return entry, after

    def after(self, event: Event) -> Timeline:
        """Return what is after an event."""
        links = {**self.links, **{link: self.links.get(link, LinkState()).after(event) for link in event.links}}
        dead = self.dead
        if event.node is not None and event.action in ("down", "up"):
            dead = dead | {event.node} if event.action == "down" else dead - {event.node}
        return replace(self, plan=_plan_after(self.plan, event), links=links, dead=dead)

    def _at_ports(self) -> Timeline:
        """Return what of it the ports know where links have their delays themselves."""
        plan, links = without_delays(self.plan), links_without_delays(self.links)
        return replace(self, plan=plan, links=links)

    def _steps(self, event: Event, after: Timeline) -> list[Step]:
        if self.stock:
            return self._port_steps(event, after)
        cables = cable_steps(event, (self.plan, self.links), (after.plan, after.links))
        return cables + self._at_ports()._port_steps(without_delay(event), after._at_ports())

    def _port_steps(self, event: Event, after: Timeline) -> list[Step]:
        if event.action == "set":
            network = Network(self.plan, self.links, self._changing, self.stock)
            return compile_settings_change(network, after.plan)
        # A link of which nothing was heard is as the plan has it.
        before = {**dict.fromkeys(event.links, LinkState()), **self.links}
        return _steps(replace(self, links=before), event, after.links)

    def _changing(self, port: str) -> Changing:
        found = EVERYTHING if self.changing is None else self.changing.get(port, Changing())
        return found if self.stock else found._replace(line=False)


def plans_in_time(plan: Plan) -> list[Plan]:
    """Return the plan as it begins, and as events that set something make it."""
    plans = [plan]
    for event in plan.events:
        if event.action == "set":
            plans.append(_plan_after(plans[-1], event))
    return plans


def _plan_after(plan: Plan, event: Event) -> Plan:
    if event.action != "set":
        return plan
    changed = {node.name: node for node in event.nodes}
    nodes = tuple(changed.get(node.name, node) for node in plan.nodes)
    return plan.model_copy(update={"nodes": nodes, "bgp": event.bgp or plan.bgp})


def _steps(network: Timeline, event: Event, after: Links) -> list[Step]:
    """Return what the nodes do: first the qdiscs, so that a link comes up as it is to be,
    then the links, then what they need."""
    plan, before = network.plan, network.links
    ports = [(name, link) for link in event.links for name in link]
    qdiscs = [(name, line) for name, link in ports for line in _line_changes(network, name, before[link], after[link])]
    switched = [
        (name, after[link].is_up)
        for name, link in ports
        if before[link].is_up != after[link].is_up and name in _operated(plan, event, link)
    ]
    is_own = plan.configured is not None
    channels = [] if is_own else _switched_channels(plan, [name for name, _ in switched], before, after)
    links = [
        (name, f"link set dev {name.partition(':')[2]} {'up' if is_up else 'down'}")
        for name, is_up in (*switched, *channels)
    ]
    # What the kernel forgot where addresses are the nodes' own matter, their own daemons bring back.
    whole = [
        (name, is_up)
        for name, is_up in ([] if is_own else switched)
        if _interface(plan, name).name == name.partition(":")[2]
    ]
    restored = [
        (name, line) for name, is_up in (*whole, *channels) if is_up for line in _restoring_lines(plan, name, after)
    ]
    return [*_by_node("tc", qdiscs), *_by_node("ip", links), *_by_node("ip", restored)]


def _operated(plan: Plan, event: Event, link: tuple[str, str]) -> tuple[str, ...]:
    """Return the ports of a link that are set down and up.

    Both; but where addresses and routes are the nodes' own matter one, for nobody could restore what the kernel forgets
    of both: the dying node's, else a router's, whose daemons restore it. The other end loses its carrier alone.
    """
    if plan.configured is None:
        return link
    nodes = {port: plan.node(port.partition(":")[0]) for port in link}
    of_event = [port for port in link if nodes[port].name == event.node]
    routers = [port for port in link if runs_frr(nodes[port], plan)]
    return (*of_event, *routers, *link)[:1]


def _by_node(tool: Literal["ip", "tc"], lines: Iterable[tuple[str, str]]) -> list[Step]:
    """Return one step for each node, in the order in which they come."""
    of_node: dict[str, list[str]] = {}
    for port, line in lines:
        of_node.setdefault(port.partition(":")[0], []).append(line)
    # Both interfaces of two parallel links may need the same route.
    return [{"node": node, "tool": tool, "lines": list(dict.fromkeys(found))} for node, found in of_node.items()]


def _line_changes(network: Timeline, name: str, before: LinkState, after: LinkState) -> list[str]:
    plan = network.plan
    node, port = plan.node(name.partition(":")[0]), _port(plan, name)
    old, new = before.line(port), after.line(port)
    if not network.stock and port.switch_port is None:
        old, new = old._replace(loss_ppm=0), new._replace(loss_ppm=0)
    return compile_line_change(plan, node, port, old, new, stock=network.stock)


def _switched_channels(plan: Plan, ports: Iterable[str], before: Links, after: Links) -> list[tuple[str, bool]]:
    """Return the port channels that lose their last member, or have one again, as its carrier would tell."""
    found: dict[str, bool] = {}
    for port in ports:
        node, interface = plan.node(port.partition(":")[0]), _interface(plan, port)
        if interface.name in [channel.name for channel in node.port_channels]:
            members = [f"{node.name}:{member.interface}" for member in interface.ports]
            was_up, is_up = (any(member not in down_ports(links) for member in members) for links in (before, after))
            if was_up != is_up:
                found[f"{node.name}:{interface.name}"] = is_up
    return list(found.items())


def _restoring_lines(plan: Plan, name: str, links: Links) -> Iterator[str]:
    """Yield the neighbours and the static routes that the kernel forgot when the interface went down;
    no next hops that are down still."""
    node = plan.node(name.partition(":")[0])
    for family in plan.families:
        (interface,) = (one for one in interfaces(node, family) if one.name == name.partition(":")[2])
        yield from compile_neighbours(node, interface, plan, plan.by_name())
        yield from compile_own_routes(node, interface, plan, "replace")
    down = down_ports(links)
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
