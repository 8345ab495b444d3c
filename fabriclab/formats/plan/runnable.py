"""What a plan must be beside its fields to be run: all that it names is there, once, and it is no more work than a lab
may ask for. Of a lab's plan this is so; of a stranger's it is asked before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from fabriclab.formats.family import family_of
from fabriclab.formats.plan.algorithm import sha256_of
from fabriclab.formats.plan.reading import PlanError, parse_plan_json
from fabriclab.formats.plan.traffic import ProgramTraffic, TrafficRecord
from fabriclab.formats.ranges import MOST_FLOWS

if TYPE_CHECKING:
    from fabriclab.formats.plan.model import Plan
    from fabriclab.formats.plan.node import Node, OwnBgp, Port, PortChannel, Route, StaticRoute, Vlan


def check_plan(text: str) -> None:
    """Raise PlanError for the JSON of a plan that no reader would take, or that can't be run."""
    check_runnable(parse_plan_json(text))


def check_runnable(plan: Plan) -> None:
    """Raise PlanError for what can't be run, with the first thing that is wrong."""
    wrong = next(_contradictions(plan), None)
    if wrong is not None:
        raise PlanError(wrong)


def _contradictions(plan: Plan) -> Iterator[str]:
    """Yield each thing that is wrong, in a sentence that begins with the key."""
    yield from _twice("nodes", (node.name for node in plan.nodes))
    yield from _twice("traffic", (one.name for one in plan.traffic))
    nodes = plan.by_name()
    for node in (*plan.nodes, *(node for event in plan.events for node in event.nodes)):
        yield from _of_node(node, nodes)
    for traffic in plan.traffic:
        yield from _of_traffic(traffic, plan)
    yield from _work(plan)
    yield from _of_changes(plan, nodes)
    yield from _of_probes(plan, nodes)
    for group, members in plan.groups.items():
        yield from _unknown(f"groups.{group}", members, nodes)
    for algorithm in plan.algorithms:
        if sha256_of(algorithm.text) != algorithm.sha256:
            yield f"algorithms: {algorithm.file} is not the text whose SHA-256 the plan has"
    yield from _twice("algorithms", (algorithm.module for algorithm in plan.algorithms))


def _twice(key: str, names: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield f"{key}: {name!r} occurs twice"
        seen.add(name)


def _unknown(key: str, names: Iterable[str], nodes: Iterable[str]) -> Iterator[str]:
    known = nodes if isinstance(nodes, dict | frozenset) else frozenset(nodes)
    for name in names:
        if name not in known:
            yield f"{key}: {name!r} is not there"


def _of_node(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    key = f"nodes.{node.name}"
    yield from _unknown("nodes", [node.name], nodes)
    own = [*node.ports, *node.port_channels, *node.vlans]
    yield from _twice(f"{key}.ports", (port.interface for port in node.ports))
    interfaces = frozenset(_name(one) for one in own)
    layers: Sequence[PortChannel | Vlan] = (*node.port_channels, *node.vlans)
    for layer in layers:
        yield from _unknown(f"{key}.{layer.name}.members", layer.members, interfaces)
    routes: Sequence[Route | StaticRoute] = (*node.routes, *node.static_routes)
    for route in routes:
        yield from _unknown(f"{key}.routes.{route.destination}", (hop for _, hop in route.next_hops), interfaces)
    if node.bgp is not None:
        yield from _unknown(f"{key}.bgp", (one.interface for one in node.bgp.neighbours), interfaces)
        yield from _of_prefix_lists(f"{key}.bgp", node.bgp)
    for table in node.filters:
        yield from _unknown(f"{key}.filters.{table.name}", table.ports, interfaces)
    for port in node.ports:
        yield from _of_port(node, port, nodes)
    if node.setup is not None:
        yield from _unknown(f"{key}.setup.after", node.setup.after, nodes)
        yield from _twice(f"{key}.setup.files", (file.path for file in node.setup.files))


def _of_prefix_lists(key: str, bgp: OwnBgp) -> Iterator[str]:
    """Yield the rules of lists whose prefix, or its lengths, are not of the family that the list is for."""
    for family, bits in ((4, 32), (6, 128)):
        policies = bgp.policies if family == 4 else bgp.policies6
        for one in () if policies is None else policies.prefix_lists:
            for rule in one.rules:
                if family_of(rule.prefix) != family or max(rule.least or 0, rule.most or 0) > bits:
                    yield f"{key}.{one.name}.{rule.sequence}: is no rule for prefixes of IPv{family}"


def _name(one: Any) -> str:
    return str(getattr(one, "interface", None) or one.name)


def _of_port(node: Node, port: Port, nodes: Mapping[str, Node]) -> Iterator[str]:
    key = f"nodes.{node.name}.{port.interface}"
    there = nodes.get(port.peer_node)
    back = next((one for one in there.ports if one.interface == port.peer_interface), None) if there else None
    if back is None or (back.peer_node, back.peer_interface) != (node.name, port.interface):
        yield f"{key}: its link has no other end: {port.peer_node}:{port.peer_interface} does not lead back"
    elif back.mtu != port.mtu:
        yield f"{key}.mtu: {port.mtu} here, {back.mtu} at the other end of the link"
    buffer = port.switch_port
    if node.role == "host" and (port.nic is None or buffer is None):
        yield (
            f"{key}.nic: is missing; an earlier version of fabriclab, whose hosts could have a token bucket instead of "
            "a NIC, made this plan: make it again from its lab, or run it with that version"
        )
    if buffer is None:
        return
    pools = frozenset(pool.name for pool in node.switch.pools) if node.switch is not None else frozenset()
    accounts = [queue.account for queue in buffer.queues] + [group.account for group in buffer.groups]
    yield from _unknown(f"{key}.switch_port", (one.pool for one in accounts if one.pool is not None), pools)
    yield from _twice(f"{key}.switch_port.queues", (str(queue.index) for queue in buffer.queues))
    yield from _twice(f"{key}.switch_port.groups", (str(group.index) for group in buffer.groups))


def _of_traffic(traffic: TrafficRecord, plan: Plan) -> Iterator[str]:
    key, hosts = f"traffic.{traffic.name}", plan.host_names
    every = traffic.sending(hosts) | traffic.receiving() | _drawn(traffic)
    yield from _unknown(key, sorted(every), hosts)
    yield from _unknown(key, sorted(traffic.program_nodes()), plan.by_name())
    start_ns, stop_ns = getattr(traffic, "start_ns", 0), getattr(traffic, "stop_ns", None)
    if stop_ns is not None and stop_ns <= start_ns:
        yield f"{key}.stop_ns: {stop_ns} is not after its start, {start_ns}"
    for name in ("senders", "receivers", "aggregators", "workers", "mappers", "reducers"):
        if getattr(traffic, name, None) == ():
            yield f"{key}.{name}: no host is named"
    yield from (f"{key}{wrong}" for wrong in traffic.contradictions())
    yield from _awaited(traffic, plan)


def _drawn(traffic: TrafficRecord) -> frozenset[str]:
    """Return the hosts that pairs name: their flows are drawn among all of these."""
    pairs = getattr(traffic, "pairs", None)
    return frozenset() if pairs is None else frozenset((*pairs.senders, *pairs.receivers, *pairs.hot_spots))


def _awaited(traffic: TrafficRecord, plan: Plan) -> Iterator[str]:
    programs = frozenset(program.name for one in plan.traffic for program in one.programs())
    if isinstance(traffic, ProgramTraffic):
        yield from _unknown(f"traffic.{traffic.name}.after", (one.program for one in traffic.after), programs)
        if not traffic.argv:
            yield f"traffic.{traffic.name}.argv: no program is named"


def _work(plan: Plan) -> Iterator[str]:
    flows = sum(traffic.flows for traffic in plan.traffic)
    if flows > MOST_FLOWS:
        yield f"traffic: {flows} flows; an experiment has at most {MOST_FLOWS}"


def _of_changes(plan: Plan, nodes: Mapping[str, Node]) -> Iterator[str]:
    ports = _ports(nodes)
    for event in plan.events:
        yield from _unknown(f"events.{event.name}", chain.from_iterable(event.links), ports)
        yield from _unknown(f"events.{event.name}", () if event.node is None else (event.node,), nodes)
    for storm in plan.pause_storms:
        yield from _unknown(f"pause_storms.{storm.name}", (f"{storm.host}:{storm.interface}",), ports)


def _of_probes(plan: Plan, nodes: Mapping[str, Node]) -> Iterator[str]:
    probes, ports = plan.probes, _ports(nodes)
    captured = () if probes.pcap is None else probes.pcap.ports
    yield from _unknown("probes", (*probes.queue_ports, *probes.switch_ports, *captured), ports)
    yield from _unknown("probes.connection_hosts", probes.connection_hosts, nodes)
    yield from _unknown("probes.tcp_classes", probes.tcp_classes, [traffic.name for traffic in plan.traffic])


def _ports(nodes: Mapping[str, Node]) -> frozenset[str]:
    return frozenset(f"{node.name}:{port.interface}" for node in nodes.values() for port in node.ports)
