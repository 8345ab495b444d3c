"""The plan: a lab with every default made explicit. Pure data; serialises to one JSON and back.

Bare numbers carry their unit in their name. Nothing here knows how a node is created or how a qdisc is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from fabriclab.constraints import Finite
from fabriclab.formats import names, ranges
from fabriclab.formats.family import FAMILIES, Family
from fabriclab.formats.names import InterfaceName, NodeName, PortName, Setting, SettingName
from fabriclab.formats.plan.algorithm import OwnAlgorithm
from fabriclab.formats.plan.node import Node, Port, PortChannel, Vlan
from fabriclab.formats.plan.setup import Configured
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.formats.record import Frozen


class Bfd(Frozen):
    """Bidirectional forwarding detection (RFC 5880) on every session: a neighbour silent for interval
    x multiplier is gone."""

    interval_ns: Annotated[int, ranges.BFD_INTERVAL]
    multiplier: Annotated[int, ranges.MISSED]


class Bgp(Frozen):
    """eBGP between neighbouring switches (RFC 7938).

    Sessions run over the links' addresses, or over IPv6 link-local ones (unnumbered).
    """

    unnumbered: bool
    max_paths: Annotated[int, ranges.PATHS]
    """Most next hops of a route."""
    keepalive_s: Annotated[int, ranges.TIMER_S]
    hold_s: Annotated[int, ranges.TIMER_S]
    """A neighbour silent for that long is gone (RFC 4271, section 4.4)."""
    bfd: Bfd | None
    convergence_limit_ns: Annotated[int, ranges.CONVERGENCE]
    """Virtual time that routing gets to converge before the traffic starts."""


_ALL_PPM = 10**6
_OF_SETTINGS = ("settings", "nodes", "bgp")


class Event(Frozen):
    """A change of the network at a set time.

    Of links, both directions alike: `down`: both ends lose the link. `blackhole`: every packet is lost, both ends keep
    the carrier. `up`: ends both. `change`: only what is not None below changes, it holds until the next change.
    `set`: settings of the experiment are others from then on.
    """

    name: NodeName
    at_ns: Annotated[int, ranges.INSTANT]
    """After the epoch."""
    links: tuple[tuple[PortName, PortName], ...]
    """The links, each by its two ports (`node:interface`)."""
    node: NodeName | None = None
    """The node all whose links these are, when the event is a node's."""
    action: Literal["down", "up", "blackhole", "change", "set"]
    rate_bps: Annotated[int, ranges.LINE_RATE] | None = None
    delay_ns: Annotated[int, ranges.DELAY] | None = None
    loss_ppm: Annotated[int, ranges.PPM] | None = None
    """Random loss, packets of a million."""
    settings: dict[SettingName, Setting] = Field(default_factory=dict)
    """What is set, by key, as the experiment writes it."""
    nodes: tuple[Node, ...] = ()
    """The nodes that settings change, as they are from then on."""
    bgp: Bgp | None = None
    """Routing as it is from then on; None: as before."""

    @property
    def is_silent(self) -> bool:
        """Whether links lose everything while both ends keep the carrier: only a timer tells the ends."""
        return self.action == "blackhole" or (self.action == "change" and self.loss_ppm == _ALL_PPM)

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave what settings make out where there are none, as in every plan made before there was such a thing."""
        record: dict[str, Any] = serialise(self)
        return record if self.action == "set" else {key: record[key] for key in record if key not in _OF_SETTINGS}


class PauseStorm(Frozen):
    """A host's broken NIC: from at_ns to until_ns its port pauses the given priorities of its
    neighbour without a break."""

    name: NodeName
    at_ns: Annotated[int, ranges.INSTANT]
    until_ns: Annotated[int, ranges.INSTANT]
    host: NodeName
    interface: InterfaceName
    priorities: tuple[Annotated[int, ranges.QUEUE], ...]


class Pcap(Frozen):
    """Ports whose packets are captured, each into a file of its own."""

    ports: tuple[PortName, ...]
    """`node:interface`, of hosts and switches."""
    snaplen_bytes: Annotated[int, ranges.SNAPLEN]
    """So much of each packet is kept, from its Ethernet header on."""
    file_limit_bytes: Annotated[int, ranges.FILE_LIMIT]
    """No port's file becomes larger: what comes later is not captured."""


class Probes(Frozen):
    """What is sampled and how often. An interval of None: not at all. Ports are `node:interface`."""

    queue_interval_ns: Annotated[int, ranges.PROBE_INTERVAL] | Literal[0] | None
    """EACH_CHANGE_NS, 0: each change is recorded."""
    queue_ports: tuple[PortName, ...]
    tcp_interval_ns: Annotated[int, ranges.PROBE_INTERVAL] | None
    tcp_classes: tuple[Annotated[str, names.TRAFFIC_NAME], ...]
    """Traffic whose flows are sampled, by name."""
    interface_interval_ns: Annotated[int, ranges.PROBE_INTERVAL] | None
    switch_interval_ns: Annotated[int, ranges.PROBE_INTERVAL] | None = None
    """Queues, priority groups, pools and pauses of the ports below."""
    switch_ports: tuple[PortName, ...] = ()
    """Ports that have a switch_port, hosts' among them."""
    pcap: Pcap | None = None
    """What is captured; None: nothing."""
    connection_hosts: tuple[NodeName, ...] = ()
    """Hosts of which each TCP connection is written down when it ends."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is not looked at, as in every plan that was made before there were such things."""
        record: dict[str, Any] = serialise(self)
        return {key: value for key, value in record.items() if value or key not in ("pcap", "connection_hosts")}


class Check(Frozen):
    """A condition on one number of the results, e.g. `goodput_bps >= 900000000`."""

    metric: Annotated[str, names.LINE]
    operator: Literal["<", "<=", ">", ">=", "=="]
    value: Annotated[float, Finite()]
    where: dict[SettingName, Setting] = Field(default_factory=dict)
    """Holds only for the points of the matrix that have these settings."""


class Plan(Frozen):
    """The plan of a run: everything that the run needs, with every default explicit."""

    format: Literal["fabriclab-plan-1"] = "fabriclab-plan-1"
    lab: Annotated[str, names.LINE]
    title: Annotated[str, names.PROSE]
    settings: dict[SettingName, Setting]
    """What this point of the matrix (and `--set`) changed, by the parameter's or key's name."""
    parameters: dict[SettingName, Setting] = Field(default_factory=dict)
    """Every parameter of the experiment (and `variant`, when one was chosen) with its value at this point, changed or
    not: what a check's `where` and a figure's axes are compared with. Same form as `settings`."""
    seed: Annotated[int, ranges.SEED]
    limit_ns: Annotated[int, ranges.INSTANT]
    """Virtual time after the epoch at which the run ends at the latest."""
    nodes: tuple[Node, ...]
    bgp: Bgp | None = None
    """How switches learn their routes; None: from static routes alone."""
    configured: Configured | None = None
    """Addresses and routes are what the nodes' own files make of them; None: the plan's."""
    events: tuple[Event, ...] = ()
    """In the order of time."""
    pause_storms: tuple[PauseStorm, ...] = ()
    warnings: tuple[Annotated[str, names.PROSE], ...] = ()
    """What can be run and is probably not meant, a sentence each; it names switch, field, value and bound."""
    groups: dict[Annotated[str, names.GROUP_NAME], tuple[NodeName, ...]] = Field(default_factory=dict)
    """The experiment's groups of hosts, those drawn by the seed among them."""
    traffic: tuple[Annotated[Traffic, Field(discriminator="kind")], ...]
    probes: Probes
    checks: tuple[Check, ...]
    study: Annotated[str, names.PROSE] | None = None
    algorithms: tuple[OwnAlgorithm, ...] = ()
    """The user's own, each a module of the machine's kernel."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what there is none of, as in every plan that was made before there were such things."""
        record: dict[str, Any] = serialise(self)
        for carrier in (traffic.get("carrier", {}) for traffic in record.get("traffic", ())):
            if carrier.get("ip", 0) is None:
                del carrier["ip"]
        for traffic in record.get("traffic", ()):
            if traffic.get("kind") == "long" and traffic.get("mode") == "push":
                del traffic["mode"]
        for algorithm in record.get("algorithms", ()):
            if not algorithm.get("files", True):
                del algorithm["files"]
        newer = {"algorithms", "configured"}
        return {key: value for key, value in record.items() if value or key not in newer}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values, which finds its properties anew: those that are asked for each node are kept
        beside the fields."""
        copied = super().model_copy(update=update, deep=deep)
        for name in vars(copied).keys() - type(self).model_fields.keys():
            del vars(copied)[name]
        return copied

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The address families of the fabric. Traffic that names no family uses the first one."""
        return families_of(self.nodes)

    @cached_property
    def _named(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def uses_mptcp(self) -> bool:
        """Whether there is MPTCP in the plan; without it no file says a word of it. A user's trace counts by its hosts
        alone."""
        return any(node.transport is not None and node.transport.mptcp is not None for node in self.nodes) or any(
            traffic.carried_by.transport == "mptcp" for traffic in self.traffic
        )

    @cached_property
    def uses_roce(self) -> bool:
        """Whether there are hosts whose NICs have RoCE."""
        return any(port.nic is not None and port.nic.roce is not None for node in self.nodes for port in node.ports)

    @cached_property
    def over_roce(self) -> tuple[Traffic, ...]:
        """The traffic that those NICs send. A user's trace may have more."""
        return tuple(traffic for traffic in self.traffic if traffic.carried_by.transport == "roce")

    @cached_property
    def limits_windows(self) -> bool:
        """Whether there are hosts with a window limit."""
        return any(node.transport is not None and node.transport.window_limit_segments for node in self.nodes)

    @cached_property
    def host_names(self) -> frozenset[str]:
        """The names of the hosts."""
        return frozenset(node.name for node in self.nodes if node.role == "host")

    @property
    def switch_names(self) -> frozenset[str]:
        """The names of the switches."""
        return frozenset(node.name for node in self.nodes if node.role == "switch")

    @property
    def trims_packets(self) -> bool:
        """Return whether a switch trims packets that there is no room for."""
        buffers = (port.switch_port for node in self.nodes for port in node.ports)
        return any(buffer is not None and buffer.trimming is not None for buffer in buffers)

    @property
    def changes(self) -> tuple[Event | PauseStorm, ...]:
        """All that happens to the network at set times: events, then pause storms."""
        return (*self.events, *self.pause_storms)

    def by_name(self) -> Mapping[str, Node]:
        """Return the nodes by name."""
        return self._named

    def node(self, name: str) -> Node:
        """Return the node of that name; raises KeyError."""
        return self._named[name]

    def peer_of(self, port: Port) -> Port:
        """Return the port at the other end of a port's link; raises KeyError."""
        for candidate in self.node(port.peer_node).ports:
            if candidate.interface == port.peer_interface:
                return candidate
        raise KeyError(f"{port.peer_node}:{port.peer_interface}")


def families_of(nodes: Sequence[Node]) -> tuple[Family, ...]:
    """Return the families of which nodes have addresses; IPv4 where they have none of the lab's."""
    ports = [port for node in nodes for port in node.ports]
    vlans = [vlan for node in nodes for vlan in node.vlans]
    channels = [channel for node in nodes for channel in node.port_channels]
    every: list[Port | PortChannel | Vlan] = [*ports, *vlans, *channels]
    has = {4: any(one.address is not None for one in every), 6: any(one.ipv6 is not None for one in every)}
    return tuple(family for family in FAMILIES if has[family]) or (4,)
