"""The plan: a lab with every default made explicit. Pure data; serialises to one JSON and back.

Bare numbers carry their unit in their name. Nothing here knows how a node is created or how a qdisc is written.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

PLAN_FORMAT = "fabriclab-plan-1"

Role = Literal["host", "switch"]
Scalar = str | int | float | bool


class Frozen(BaseModel):
    """An immutable record that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Queue(Frozen):
    """The buffer of one egress port: a byte limit and, optionally, ECN marks above a threshold of the instantaneous queue (RFC 8257)."""

    limit_bytes: int
    ecn_threshold_bytes: int | None = None
    non_ect: Literal["drop", "queue"] = "drop"
    """What happens above the threshold to a packet that cannot be marked: RED hardware drops it (RFC 8257, section 4.4)."""


class Port(Frozen):
    """One end of a link, as seen from its node: what leaves here is queued, serialised at the line rate, and arrives after the delay."""

    interface: str
    peer_node: str
    peer_interface: str
    mac: str
    address: str
    """IPv4 address with prefix length, e.g. `10.0.0.1/31`."""
    rate_bps: int
    delay_ns: int
    """One-way propagation delay of the link."""
    mtu: int
    queue: Queue


class Transport(Frozen):
    """A host's TCP. Sources: Linux Documentation/networking/ip-sysctl.rst, ip-route(8)."""

    congestion_control: str
    ecn: Literal["off", "on", "accept"]
    rto_min_us: int
    delayed_ack: bool
    initial_window_segments: int
    window_limit_segments: int | None
    """Most segments of full size that a connection of this host has in flight; None: no bound. It is the window that the receiver offers
    (`window` of its route, kept by the replay), so the congestion window itself may be larger."""
    receive_buffer_bytes: int
    send_buffer_bytes: int


class Route(Frozen):
    """A route of one node: a destination and the next hops that share it."""

    destination: str
    next_hops: tuple[tuple[str, str], ...]
    """Pairs of gateway address and interface."""


class Node(Frozen):
    """A host or a switch."""

    name: str
    role: Role
    ports: tuple[Port, ...]
    transport: Transport | None = None
    """Hosts only."""
    asn: int | None = None
    """AS number of a switch that speaks BGP."""
    loopback: str | None = None
    """IPv4 address of a switch that speaks BGP: its router identifier, and reachable from every other one."""
    routes: tuple[Route, ...] = ()
    """Of a switch that speaks BGP: what it must have learnt when routing has converged (`fabriclab.plan.bgp`)."""


class Bfd(Frozen):
    """Bidirectional forwarding detection (RFC 5880) on every session: a neighbour silent for interval x multiplier is gone."""

    interval_ns: int
    multiplier: int


class Bgp(Frozen):
    """eBGP between neighbouring switches (RFC 7938). Sessions run over the links' addresses, or over IPv6 link-local ones (unnumbered)."""

    unnumbered: bool
    max_paths: int
    """Most next hops of a route."""
    keepalive_s: int
    hold_s: int
    """A neighbour silent for that long is gone (RFC 4271, section 4.4)."""
    bfd: Bfd | None
    convergence_limit_ns: int
    """Virtual time that routing gets to converge before the traffic starts."""


class Event(Frozen):
    """A change of links at a set time, both directions alike.

    `down`: both ends lose the link. `blackhole`: every packet is lost, both ends keep the carrier. `up`: ends both. `change`: only what
    is not None below changes, it holds until the next change.
    """

    name: str
    at_ns: int
    """After the epoch."""
    links: tuple[tuple[str, str], ...]
    """The links, each by its two ports (`node:interface`)."""
    node: str | None = None
    """The node all whose links these are, when the event is a node's."""
    action: Literal["down", "up", "blackhole", "change"]
    rate_bps: int | None = None
    delay_ns: int | None = None
    loss_ppm: int | None = None
    """Random loss, packets of a million."""


class RoundsTraffic(Frozen):
    """Synchronised rounds: every sender sends `size_bytes` to the receiver; a round starts when the one before is complete (in-cast)."""

    kind: Literal["rounds"] = "rounds"
    name: str
    senders: tuple[str, ...]
    receiver: str
    size_bytes: int
    rounds: int
    start_ns: int
    connection: Literal["kept", "new"]
    mode: Literal["pull", "push"]


class LongTraffic(Frozen):
    """Long flows, one from each sender to the receiver, that start `stagger_ns` apart and stop together."""

    kind: Literal["long"] = "long"
    name: str
    senders: tuple[str, ...]
    receiver: str
    start_ns: int
    stop_ns: int
    stagger_ns: int


class FlowsTraffic(Frozen):
    """Single flows of a given size, one from each sender to the receiver, `interval_ns` apart."""

    kind: Literal["flows"] = "flows"
    name: str
    senders: tuple[str, ...]
    receiver: str
    size_bytes: int
    count: int
    """Flows of each sender."""
    start_ns: int
    interval_ns: int
    mode: Literal["pull", "push"]


class TraceTraffic(Frozen):
    """A flow trace that the user brings (`traffic/README.md`); its text is part of the run directory, its hash part of the plan."""

    kind: Literal["trace"] = "trace"
    name: str
    file: str
    sha256: str


Traffic = RoundsTraffic | LongTraffic | FlowsTraffic | TraceTraffic


class Probes(Frozen):
    """What is sampled and how often. An interval of None: not at all. Ports are `node:interface`."""

    queue_interval_ns: int | None
    queue_ports: tuple[str, ...]
    tcp_interval_ns: int | None
    tcp_classes: tuple[str, ...]
    """Traffic whose flows are sampled, by name."""
    interface_interval_ns: int | None


class Check(Frozen):
    """A condition on one number of the results, e.g. `goodput_bps >= 900000000`."""

    metric: str
    operator: Literal["<", "<=", ">", ">=", "=="]
    value: float
    where: dict[str, Scalar] = {}
    """Holds only for the points of the matrix that have these settings."""


class Plan(Frozen):
    """Everything that a run needs, every default explicit."""

    format: Literal["fabriclab-plan-1"] = "fabriclab-plan-1"
    lab: str
    title: str
    settings: dict[str, Scalar]
    """What this point of the matrix (and `--set`) changed, by the parameter's or key's name."""
    parameters: dict[str, Scalar] = {}
    """Every parameter of the experiment (and `variant`, when one was chosen) with its value at this point, changed or not:
    what a check's `where` and a figure's axes are compared with. Same form as `settings`."""
    seed: int
    limit_ns: int
    """Virtual time after the epoch at which the run ends at the latest."""
    nodes: tuple[Node, ...]
    bgp: Bgp | None = None
    """How switches learn their routes; None: from static routes alone."""
    events: tuple[Event, ...] = ()
    """In the order of time."""
    traffic: tuple[Traffic, ...]
    probes: Probes
    checks: tuple[Check, ...]
    study: str | None = None

    def node(self, name: str) -> Node:
        """Return the node of that name; raises KeyError."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    def peer_of(self, port: Port) -> Port:
        """Return the port at the other end of a port's link; raises KeyError."""
        for candidate in self.node(port.peer_node).ports:
            if candidate.interface == port.peer_interface:
                return candidate
        raise KeyError(f"{port.peer_node}:{port.peer_interface}")
