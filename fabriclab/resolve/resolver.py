"""From a lab and settings to a plan: every default made explicit, every name an address.

Pure: nothing is run, written or asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, cast

from fabriclab.formats.family import Family
from fabriclab.formats.plan.model import Bfd, Bgp, Check, Event, Plan, families_of
from fabriclab.formats.plan.node import Node, Port, Queue, Route, Transport
from fabriclab.formats.plan.switch import SwitchPort
from fabriclab.formats.where_clause import Scalar
from fabriclab.lab import AppliedSettings, Lab, LabError
from fabriclab.lab.experiment import Experiment, LinkOverrides
from fabriclab.lab.hosts.transport import WrittenTransport
from fabriclab.lab.network.families import families_of_lab
from fabriclab.lab.network.layer2 import WrittenLayer2
from fabriclab.lab.network.load_balancing import WrittenLoadBalancing
from fabriclab.lab.network.segments import Layer2, Segment
from fabriclab.lab.network.topology import Endpoint, Link, Topology
from fabriclab.lab.ports.buffer import WrittenPortBuffer
from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.problems import Mistake
from fabriclab.lab.reading.section import value_or
from fabriclab.lab.routing import (
    AS_CONFIGURED,
    BFD_MULTIPLIER,
    CONVERGENCE_LIMIT,
    HOLD,
    KEEPALIVE,
    MAX_PATHS,
    WrittenRouting,
)
from fabriclab.lab.study import WrittenCheck
from fabriclab.lab.switch.written import WrittenSwitch
from fabriclab.resolve.addressing import (
    Addresses,
    address_of,
    assign_addresses,
    assign_macs,
    extra_of,
    written_addresses,
)
from fabriclab.resolve.bgp import assign_speakers, bgp_routes
from fabriclab.resolve.buffers import Buffers, resolve_buffers, resolve_wire
from fabriclab.resolve.bursts import burst_warnings
from fabriclab.resolve.clocks import draw_clocks
from fabriclab.resolve.configured import protocol_of, resolve_configured
from fabriclab.resolve.configured_bgp import resolve_own_bgp, with_networks_of_the_lab, with_peers_of_the_lab
from fabriclab.resolve.events import resolve_event, resolve_storm, with_settings
from fabriclab.resolve.frr_versions import with_frr
from fabriclab.resolve.ipv4_only import ipv4_only_warnings
from fabriclab.resolve.layer2 import resolve_channels, resolve_vlans
from fabriclab.resolve.load_balancing import load_balancing_warnings, resolve_load_balancing
from fabriclab.resolve.mismatched_ends import ends_warnings
from fabriclab.resolve.own_algorithms import used_algorithms
from fabriclab.resolve.parameters import parameter_values
from fabriclab.resolve.policy_effects import policy_warnings
from fabriclab.resolve.probes import resolve_probes
from fabriclab.resolve.rdma import resolve_rdma
from fabriclab.resolve.roce import with_telemetry
from fabriclab.resolve.roce_warnings import roce_warnings
from fabriclab.resolve.routing import compute_routes
from fabriclab.resolve.static_routes import beside_static, resolve_static_routes
from fabriclab.resolve.transports import resolve_transports
from fabriclab.resolve.unreached import unreached_warnings
from fabriclab.resolve.warnings import file_warnings, mtu_warnings, plan_warnings

_NS_PER_US = 1000
_NS_PER_S = 10**9
Settings = Mapping[str, str | ScalarValue]
"""Parameters, `variant` or keys, each with a text; a text with a place is named by that in errors."""
_MOST_REMEMBERED = 16
"""Variants of the nodes that a matrix alternates between."""


class _NodeInputs(NamedTuple):
    """What the nodes depend on."""

    families: tuple[Family, ...]
    links: LinkOverrides
    switches: Mapping[str, WrittenPortBuffer]
    shared_switches: Mapping[str, WrittenSwitch]
    hosts: Mapping[str, WrittenTransport]
    layer2: Mapping[str, WrittenLayer2]
    load_balancing: Mapping[str, WrittenLoadBalancing]
    frr: Mapping[str, str | None]
    bgp: Bgp | None
    is_configured: bool


class _RouteInputs(NamedTuple):
    """What addresses and routes depend on, beside the topology: points that differ in buffers or congestion control
    share them."""

    families: tuple[Family, ...]
    layer2: Mapping[str, WrittenLayer2]
    subflows: Mapping[str, int]
    is_configured: bool
    are_learnt: bool
    """Whether switches learn their routes."""


class _Routed(NamedTuple):
    """The addresses, and each node's routes."""

    addresses: Addresses
    routes: Mapping[str, tuple[Route, ...]]


class _Network(NamedTuple):
    """The nodes, and their buffers for what is to be said of them."""

    nodes: tuple[Node, ...]
    buffers: Buffers
    notes: tuple[str, ...]
    """What of the switches' own static routes cannot be, a sentence each."""


def resolve_plan(lab: Lab, settings: Settings, seed: int | None = None) -> Plan:
    """Return the plan of one run.

    `settings` are texts by parameter name, `variant` or dotted key, as on the command line. Without `seed` it is the
    experiment's. Raises LabError for settings that are unknown or lead to an experiment that cannot be run.
    """
    return Resolver(lab).resolve(settings, seed)


class Resolver:
    """Resolves the points of one lab.

    Points that differ in traffic or seed alone share their nodes, which take longest to compute.
    """

    def __init__(self, lab: Lab) -> None:
        """Start with nothing computed."""
        self.lab = lab
        self._computed: list[tuple[_NodeInputs, _Network]] = []
        self._routed: list[tuple[_RouteInputs, _Routed]] = []
        self._clocked: list[tuple[_Network, int, tuple[Node, ...]]] = []

    def resolve(self, settings: Settings, seed: int | None = None) -> Plan:
        """Return the plan of one run, as `resolve_plan` does."""
        return self.resolve_applied(self.lab.apply(settings, seed))

    def resolve_applied(self, applied: AppliedSettings) -> Plan:
        """Return the plan of an experiment with settings in place. Raises LabError for one that cannot be run."""
        lab, experiment = self.lab, applied.experiment
        bgp = _resolve_bgp(experiment.routing, lab.topology)
        configured = resolve_configured(experiment, lab.topology)
        network = self._network(experiment, bgp)
        buffers, route_notes = network.buffers, network.notes
        nodes = self._clocked_nodes(network, experiment)
        traffic = experiment.traffic
        over_sockets = [each for each in traffic if each.carried_by.transport not in ("roce", "homa")]
        plan = Plan(
            lab=lab.name,
            title=experiment.title,
            settings=dict(applied.settings),
            parameters=parameter_values(lab, applied, nodes),
            seed=experiment.seed,
            limit_ns=experiment.limit_ns,
            nodes=nodes,
            bgp=bgp,
            configured=configured,
            pause_storms=tuple(resolve_storm(storm, nodes) for storm in experiment.pause_storms),
            warnings=(
                *file_warnings(lab.topology),
                *mtu_warnings(lab.topology, experiment.links),
                *route_notes,
                *plan_warnings(buffers.shared, nodes, traffic),
                *burst_warnings(nodes, over_sockets),
                *ends_warnings(experiment.hosts, nodes, over_sockets),
                *roce_warnings(nodes, traffic, _of_links(experiment, lab.topology)),
                *load_balancing_warnings(experiment.load_balancing, nodes, traffic, are_known=configured is None),
                *ipv4_only_warnings(experiment.hosts, nodes, traffic, families_of(nodes)),
                *(policy_warnings(nodes, unnumbered=bgp.unnumbered) if bgp is not None else ()),
                *(unreached_warnings(nodes, traffic) if bgp is not None else ()),
            ),
            groups=dict(experiment.groups),
            traffic=traffic,
            probes=resolve_probes(experiment, lab.topology, nodes, traffic),
            checks=tuple(_resolve_check(check) for check in lab.study.checks),
            study=experiment.study,
        )
        events = tuple(self._events(plan, experiment))
        plan = plan.model_copy(update={"events": events}) if events else plan
        algorithms = used_algorithms(plan, [experiment, *experiment.later.values()])
        return plan.model_copy(update={"algorithms": algorithms}) if algorithms else plan

    def parameters(self, settings: Settings) -> Mapping[str, Scalar]:
        """Return the value of every parameter of one run, as its plan has them: what else is in a plan takes as long
        as the nodes. Raises LabError as `resolve` does."""
        applied = self.lab.apply(settings)
        experiment, topology = applied.experiment, self.lab.topology
        if experiment.later:
            # Whether events can set what they set is known when there is a plan.
            return self.resolve_applied(applied).parameters
        resolve_configured(experiment, topology)
        network = self._network(experiment, _resolve_bgp(experiment.routing, topology))
        return parameter_values(self.lab, applied, network.nodes)

    def _events(self, plan: Plan, experiment: Experiment) -> Iterator[Event]:
        """Yield the events, those that set something with the nodes that differ then."""
        for written in experiment.events:
            event = resolve_event(written, self.lab.topology)
            if written.settings:
                later = experiment.later[written.name]
                bgp = _resolve_bgp(later.routing, self.lab.topology)
                nodes = draw_clocks(self._network(later, bgp).nodes, later.hosts, experiment.seed)
                after = plan.model_copy(update={"nodes": nodes, "bgp": bgp})
                event = with_settings(event, written, self.lab.document, plan, after)
                plan = after
            yield event

    def _network(self, experiment: Experiment, bgp: Bgp | None) -> _Network:
        inputs = _NodeInputs(
            families_of_lab(experiment.addresses, self.lab.topology),
            *(experiment.links, experiment.switches, experiment.shared_switches, experiment.hosts, experiment.layer2),
            *(experiment.load_balancing, experiment.frr, bgp),
            protocol_of(experiment.routing, self.lab.topology) == AS_CONFIGURED,
        )
        for known, network in self._computed:
            if known == inputs:
                return network
        topology = self.lab.topology
        transports = resolve_transports({host: experiment.hosts[host] for host in topology.hosts})
        subflows = {host: one.mptcp.subflows for host, one in transports.items() if one.mptcp is not None}
        routed = self._routes(
            _RouteInputs(inputs.families, inputs.layer2, subflows, inputs.is_configured, bgp is not None)
        )
        network = _resolve_network(topology, experiment, bgp, transports, routed)
        self._computed = [(inputs, network), *self._computed[: _MOST_REMEMBERED - 1]]
        return network

    def _clocked_nodes(self, network: _Network, experiment: Experiment) -> tuple[Node, ...]:
        """Return the nodes with clocks as the seed draws them: the same network has the same hosts."""
        for known, seed, nodes in self._clocked:
            if known is network and seed == experiment.seed:
                return nodes
        nodes = with_telemetry(draw_clocks(network.nodes, experiment.hosts, experiment.seed))
        self._clocked = [(network, experiment.seed, nodes), *self._clocked[: _MOST_REMEMBERED - 1]]
        return nodes

    def _routes(self, inputs: _RouteInputs) -> _Routed:
        for known, routed in self._routed:
            if known == inputs:
                return routed
        routed = _resolve_routes(self.lab.topology, inputs)
        self._routed = [(inputs, routed), *self._routed[: _MOST_REMEMBERED - 1]]
        return routed


def _resolve_routes(topology: Topology, inputs: _RouteInputs) -> _Routed:
    segments = Layer2(topology, inputs.layer2).segments()
    addresses = (
        {family: written_addresses(topology, family) for family in inputs.families}
        if inputs.is_configured
        else _assign_addresses(topology, segments, inputs.subflows, inputs.families)
    )
    computed = [
        compute_routes(topology, segments, each, are_learnt=inputs.are_learnt)
        for each in (() if inputs.is_configured else addresses.values())
    ]
    routes = {node.name: tuple(route for of in computed for route in of[node.name]) for node in topology.nodes}
    return _Routed(addresses, routes)


def _resolve_network(
    topology: Topology, experiment: Experiment, bgp: Bgp | None, transports: Mapping[str, Transport], routed: _Routed
) -> _Network:
    layer2, addresses, macs = Layer2(topology, experiment.layer2), routed.addresses, assign_macs(topology)
    buffers = resolve_buffers(topology, experiment)
    speakers = {} if bgp is None else assign_speakers(topology, addresses)
    ports: dict[str, list[Port]] = {node.name: [] for node in topology.nodes}
    for link in topology.links:
        for end, peer in ((link.a, link.b), (link.b, link.a)):
            resolved = _resolve_port(
                link, end, peer, macs[end.port], addresses, buffers.ports[end.port], experiment.links
            )
            nic = buffers.nics.get(end.port)
            ports[end.node].append(resolved if nic is None else resolved.model_copy(update={"nic": nic}))
    nodes = tuple(
        Node(
            name=node.name,
            asn=speakers[node.name].asn if node.name in speakers else None,
            loopback=speakers[node.name].loopback if node.name in speakers else None,
            loopback6=speakers[node.name].loopback6 if node.name in speakers else None,
            role=node.role,
            ports=tuple(ports[node.name]),
            port_channels=resolve_channels(node.name, layer2, addresses, macs),
            vlans=resolve_vlans(node.name, experiment.layer2, addresses),
            switch=buffers.shared[node.name].switch if node.name in buffers.shared else None,
            transport=transports.get(node.name),
            rdma=resolve_rdma(experiment.hosts.get(node.name)),
            load_balancing=resolve_load_balancing(experiment.load_balancing.get(node.name), ports[node.name]),
            bgp=resolve_own_bgp(node.own, bgp, addresses.keys()),
            routes=routed.routes[node.name],
            setup=node.setup,
            dummies=node.dummies,
            filters=node.own.filters if node.own is not None else (),
        )
        for node in topology.nodes
    )
    notes: list[str] = []
    named = with_peers_of_the_lab(with_networks_of_the_lab(nodes, topology))
    nodes = _with_static_routes(named, topology, notes, is_static=bgp is None)
    learnt = {} if bgp is None else bgp_routes(nodes, unnumbered=bgp.unnumbered)
    with_learnt = tuple(
        node.model_copy(update={"routes": learnt[node.name]}) if node.name in learnt else node for node in nodes
    )
    return _Network(with_frr(with_learnt, topology, experiment, notes, bgp), buffers, tuple(notes))


def _with_static_routes(
    nodes: tuple[Node, ...], topology: Topology, notes: list[str], *, is_static: bool
) -> tuple[Node, ...]:
    """Return the nodes with the static routes of their own files; `is_static`: the lab has no BGP."""
    every = {node.name: node for node in nodes}
    found = []
    for node, written in zip(nodes, topology.nodes, strict=True):
        routes = resolve_static_routes(node, written.own.static_routes, every, notes) if written.own is not None else ()
        own = node.model_copy(update={"static_routes": routes}) if routes else node
        found.append(
            own.model_copy(update={"routes": beside_static(own, node.routes)}) if routes and is_static else own
        )
    return tuple(found)


def _assign_addresses(
    topology: Topology,
    segments: tuple[Segment, ...],
    subflows: Mapping[str, int],
    families: tuple[Family, ...],
) -> Addresses:
    try:
        return {family: assign_addresses(topology, segments, subflows, family) for family in families}
    except ValueError as error:
        raise LabError([Mistake(topology.links[0].place.file, None, "topology.links", "", str(error))]) from error


def _of_links(experiment: Experiment, topology: Topology) -> tuple[Event, ...] | None:
    """Return the events as far as links are concerned; None where nodes' own files route, by whatever paths."""
    if protocol_of(experiment.routing, topology) == AS_CONFIGURED:
        return None
    return tuple(resolve_event(written, topology) for written in experiment.events)


def _resolve_bgp(written: WrittenRouting, topology: Topology) -> Bgp | None:
    protocol = protocol_of(written, topology)
    if protocol in ("static", AS_CONFIGURED):
        return None
    interval_ns = value_or(written.bfd, None)
    return Bgp(
        unnumbered=protocol == "bgp-unnumbered",
        max_paths=MAX_PATHS.or_default(written.max_paths),
        keepalive_s=KEEPALIVE.or_default(written.keepalive) // _NS_PER_S,
        hold_s=HOLD.or_default(written.hold) // _NS_PER_S,
        bfd=None
        if interval_ns is None
        else Bfd(interval_ns=interval_ns, multiplier=BFD_MULTIPLIER.or_default(written.bfd_multiplier)),
        convergence_limit_ns=CONVERGENCE_LIMIT.or_default(written.convergence_limit),
    )


def _resolve_port(
    link: Link,
    end: Endpoint,
    peer: Endpoint,
    mac: str,
    addresses: Addresses,
    buffer: Queue | SwitchPort,
    over: LinkOverrides,
) -> Port:
    wire = resolve_wire(link, end, over)
    return Port(
        interface=end.interface,
        peer_node=peer.node,
        peer_interface=peer.interface,
        mac=mac,
        address=address_of(addresses, end.port, 4),
        extra_addresses=extra_of(addresses, end.port, 4),
        ipv6=address_of(addresses, end.port, 6),
        extra_ipv6=extra_of(addresses, end.port, 6),
        rate_bps=wire.rate_bps,
        delay_ns=wire.delay_ns,
        mtu=wire.mtu,
        loss_ppm=wire.loss_ppm,
        queue=buffer if isinstance(buffer, Queue) else None,
        switch_port=buffer if isinstance(buffer, SwitchPort) else None,
    )


def _resolve_check(written: WrittenCheck) -> Check:
    operator = cast(Literal["<", "<=", ">", ">=", "=="], written.operator)
    return Check(metric=written.metric, operator=operator, value=written.value, where=dict(written.where))
