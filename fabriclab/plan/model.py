"""The plan: a lab with every default made explicit. Pure data; serialises to one JSON and back.

Bare numbers carry their unit in their name. Nothing here knows how a node is created or how a qdisc is written.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from fabriclab.plan.record import Frozen
from fabriclab.plan.switch import Switch, SwitchPort

PLAN_FORMAT = "fabriclab-plan-1"

Role = Literal["host", "switch"]
Scalar = str | int | float | bool


class Aqm(Frozen):
    """Active queue management by a stock qdisc (RFC 8289 CoDel, RFC 8290 FQ-CoDel, RFC 8033 PIE)."""

    kind: Literal["codel", "fq_codel", "pie"]
    target_ns: int
    """Queueing delay that it aims at."""
    interval_ns: int
    """CoDel: the time in which the delay must fall below the target at least once; PIE: from one update to the next."""
    ecn: bool
    """Packets that can be marked are marked instead of dropped."""


class Queue(Frozen):
    """The buffer of one egress port: a byte limit and, optionally, ECN marks above a threshold of the instantaneous queue (RFC 8257)."""

    limit_bytes: int
    ecn_threshold_bytes: int | None = None
    non_ect: Literal["drop", "queue"] = "drop"
    """What happens above the threshold to a packet that cannot be marked: RED hardware drops it (RFC 8257, section 4.4)."""
    aqm: Aqm | None = None
    """Instead of the threshold."""


class Port(Frozen):
    """One end of a link, as seen from its node: what leaves here is queued, serialised at the line rate, and arrives after the delay."""

    interface: str
    peer_node: str
    peer_interface: str
    mac: str
    address: str
    """IPv4 address with prefix length, e.g. `10.0.0.1/31`."""
    extra_addresses: tuple[str, ...] = ()
    """Further IPv4 addresses of a host, without prefix length: MPTCP's endpoints, one for each further subflow through this port.
    They begin a network of their own, of the least size that holds them (`fabriclab.plan.addressing.extra_network`)."""
    rate_bps: int
    delay_ns: int
    """One-way propagation delay of the link."""
    mtu: int
    queue: Queue | None = None
    """Exactly one of queue (a buffer of its own, out of stock qdiscs) and switch_port is given."""
    switch_port: SwitchPort | None = None

    @model_validator(mode="after")
    def _has_one_buffer(self) -> Self:
        if (self.queue is None) == (self.switch_port is None):
            raise ValueError(f"{self.interface}: exactly one of queue and switch_port is wanted")
        return self


class Mptcp(Frozen):
    """A host's MPTCP (RFC 8684; Linux Documentation/networking/mptcp.rst, mptcp-sysctl.rst, ip-mptcp(8))."""

    subflows: int
    """Of a connection, the first one included."""
    add_addr_accepted: int
    """Most addresses announced by the peer that a connection uses."""
    scheduler: str
    """`net.mptcp.scheduler`."""
    path_manager: Literal["subflow", "fullmesh", "signal"]
    """What the kernel's path manager does with the addresses: a connection that this host opens has a subflow from each of them to the
    peer's first address, or to every address that the peer announces; or they are announced to the peer, which connects to them."""


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
    mptcp: Mptcp | None = None
    """None: the host has no endpoints of MPTCP and takes no further subflows; a flow of transport mptcp has one subflow then."""


class Route(Frozen):
    """A route of one node: a destination and the next hops that share it."""

    destination: str
    next_hops: tuple[tuple[str, str], ...]
    """Pairs of gateway address and interface."""


class BgpNeighbour(Frozen):
    """A session as a switch's own configuration has it."""

    interface: str
    """The port that leads there."""
    address: str | None
    """None: over link-local addresses."""
    asn: int | None
    """None: any other than the switch's own."""
    keepalive_s: int
    hold_s: int
    bfd: bool = False


class OwnBgp(Frozen):
    """BGP as a switch's own configuration has it (a SONiC switch's config_db.json), where others have what follows from the topology."""

    neighbours: tuple[BgpNeighbour, ...]
    networks: tuple[str, ...]
    """That it announces."""
    max_paths: int | None = None
    """None: the lab's."""


class Node(Frozen):
    """A host or a switch."""

    name: str
    role: Role
    ports: tuple[Port, ...]
    switch: Switch | None = None
    """What its ports share, of a switch with a profile."""
    transport: Transport | None = None
    """Hosts only."""
    asn: int | None = None
    """AS number of a switch that speaks BGP."""
    loopback: str | None = None
    """IPv4 address of a switch that speaks BGP: its router identifier, and reachable from every other one."""
    bgp: OwnBgp | None = None
    """Of a switch whose own configuration says it."""
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


class PauseStorm(Frozen):
    """A host's broken NIC: from at_ns to until_ns its port pauses the given priorities of its neighbour without a break."""

    name: str
    at_ns: int
    until_ns: int
    host: str
    interface: str
    priorities: tuple[int, ...]


class Carrier(Frozen):
    """What carries the flows of a traffic."""

    transport: Literal["tcp", "mptcp"] = "tcp"
    congestion_control: str | None = None
    """None: the host's."""
    dscp: int = 0
    """Differentiated services code point of every packet, 0 to 63 (RFC 2474)."""


class FixedSize(Frozen):
    """Every flow has as many bytes."""

    kind: Literal["fixed"] = "fixed"
    size_bytes: int


class UniformSize(Frozen):
    """Whole numbers of bytes, all equally likely, both ends included."""

    kind: Literal["uniform"] = "uniform"
    smallest_bytes: int
    largest_bytes: int


class DistributedSize(Frozen):
    """A distribution of flow sizes given by points of its cumulative distribution function."""

    kind: Literal["distribution"] = "distribution"
    name: str
    """Of `traffic/workloads`, or a file in the lab's directory."""
    points: tuple[tuple[int, float], ...]
    """Pairs of bytes and cumulative probability, ascending, the last one's 1."""
    interpolation: Literal["linear", "step"]
    """Between two points: piecewise linear, or only the points themselves occur."""
    cap_bytes: int | None
    """Larger flows are cut to this size. A run with a cap must say so wherever it is shown."""
    mean_bytes: float
    """Of the sizes that are drawn, cap included: what a load is computed with."""


Size = FixedSize | UniformSize | DistributedSize


class Arrivals(Frozen):
    """When the flows (or queries) of one sender start.

    `fixed`: every interval_ns. `jittered`: so too, each moved by a uniform draw of [0, jitter_ns). `poisson`: exponential gaps.
    `bursty`: bursts of burst_flows at one instant, exponential gaps of mean burst_flows x interval_ns between them.
    """

    process: Literal["fixed", "jittered", "poisson", "bursty"]
    interval_ns: int
    """Mean time from one start of a sender to its next."""
    jitter_ns: int = 0
    burst_flows: int = 1
    load_ppm: int | None = None
    """The load that interval_ns was computed of, in millionths of the sender's line rate: interval = 8 x mean size / (load x rate)."""


class Pairs(Frozen):
    """Who sends to whom. A host never sends to itself.

    `permutation`: each sender has one receiver, each receiver at most one sender more than any other. `random`: drawn for each flow.
    `all-to-all`: each sender takes all receivers in turn, in an order of its own. `in-rack`, `out-of-rack`: drawn among those behind the
    same first switch, behind another. `hot-spot`: a share of the flows goes to the hot spots, the others at random to the rest.
    """

    pattern: Literal["permutation", "random", "all-to-all", "in-rack", "out-of-rack", "hot-spot"]
    senders: tuple[str, ...]
    receivers: tuple[str, ...]
    hot_spots: tuple[str, ...] = ()
    hot_share_ppm: int = 0


class RoundsTraffic(Frozen):
    """Synchronised rounds: every sender sends `size_bytes` to the receiver; a round starts when the one before is complete (in-cast)."""

    kind: Literal["rounds"] = "rounds"
    name: str
    senders: tuple[str, ...]
    receiver: str
    size_bytes: int
    rounds: int
    start_ns: int
    jitter_ns: int = 0
    """Each flow of a round starts a uniform draw of [0, jitter_ns) after the round."""
    connection: Literal["kept", "new"]
    mode: Literal["pull", "push"]
    carrier: Carrier = Carrier()


class LongTraffic(Frozen):
    """Long flows, one from each sender (all-to-all: one to each of its receivers), that start `stagger_ns` apart, each a draw of
    [0, jitter_ns) later, and stop together."""

    kind: Literal["long"] = "long"
    name: str
    senders: tuple[str, ...]
    receiver: str | None = None
    """Of all; exactly one of receiver and pairs is given."""
    pairs: Pairs | None = None
    start_ns: int
    stop_ns: int
    stagger_ns: int
    jitter_ns: int = 0
    carrier: Carrier = Carrier()


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
    jitter_ns: int = 0
    """Each flow starts a uniform draw of [0, jitter_ns) later."""
    mode: Literal["pull", "push"]
    carrier: Carrier = Carrier()


class ArrivalsTraffic(Frozen):
    """Open-loop flows: each sender starts flows by an arrival process, whatever becomes of those before."""

    kind: Literal["arrivals"] = "arrivals"
    name: str
    pairs: Pairs
    size: Size
    arrivals: Arrivals
    start_ns: int
    stop_ns: int
    """No flow starts at this time or later."""
    deadline_ns: int | None = None
    """Of each flow, counted from its start."""
    mode: Literal["pull", "push"] = "push"
    carrier: Carrier = Carrier()


class QueryTraffic(Frozen):
    """Partition/aggregate: an aggregator asks `fan_out` workers; complete when all have answered (DCTCP, SIGCOMM'10, section 2)."""

    kind: Literal["query"] = "query"
    name: str
    aggregators: tuple[str, ...]
    workers: tuple[str, ...]
    fan_out: int
    """Workers of a query, drawn for each query; never the aggregator itself."""
    request_bytes: int
    response: Size
    arrivals: Arrivals
    """Queries of one aggregator."""
    start_ns: int
    stop_ns: int
    """No query starts at this time or later."""
    jitter_ns: int = 0
    """Each request leaves a uniform draw of [0, jitter_ns) after its query's start."""
    deadline_ns: int | None = None
    """Of the whole query, counted from its start."""
    connection: Literal["kept", "new"]
    carrier: Carrier = Carrier()


class ShuffleTraffic(Frozen):
    """A MapReduce job's network phases as dependent flows: input, shuffle, output. Data that stay on their host are no flow.

    input: each mapper pulls its share of `size_bytes` from one of the sources. shuffle: each reducer pulls its partition, size_bytes /
    (mappers x reducers), from every mapper, parallel_copies at a time. output: each reducer writes what it received through a chain of
    replicas - 1 hosts.
    """

    kind: Literal["shuffle"] = "shuffle"
    name: str
    sources: tuple[str, ...] = ()
    """Empty: mappers read what lies on their own disks."""
    mappers: tuple[str, ...]
    reducers: tuple[str, ...]
    size_bytes: int
    """Of the job's input; as much is shuffled and written (TeraSort)."""
    parallel_copies: int
    replicas: int
    start_ns: int
    carrier: Carrier = Carrier()


class Iperf3Traffic(Frozen):
    """Long flows that iperf3 sends instead of our replay, one from each sender to the receiver."""

    kind: Literal["iperf3"] = "iperf3"
    name: str
    senders: tuple[str, ...]
    receiver: str
    start_ns: int
    stop_ns: int
    carrier: Carrier = Carrier()


class TraceTraffic(Frozen):
    """A flow trace that the user brings (`traffic/README.md`); its text is part of the run directory, its hash part of the plan."""

    kind: Literal["trace"] = "trace"
    name: str
    file: str
    sha256: str


Traffic = RoundsTraffic | LongTraffic | FlowsTraffic | ArrivalsTraffic | QueryTraffic | ShuffleTraffic | Iperf3Traffic | TraceTraffic


class Probes(Frozen):
    """What is sampled and how often. An interval of None: not at all. Ports are `node:interface`."""

    queue_interval_ns: int | None
    queue_ports: tuple[str, ...]
    tcp_interval_ns: int | None
    tcp_classes: tuple[str, ...]
    """Traffic whose flows are sampled, by name."""
    interface_interval_ns: int | None
    switch_interval_ns: int | None = None
    """Queues, priority groups, pools and pauses of the ports below."""
    switch_ports: tuple[str, ...] = ()
    """Ports that have a switch_port, hosts' among them."""


class Check(Frozen):
    """A condition on one number of the results, e.g. `goodput_bps >= 900000000`."""

    metric: str
    operator: Literal["<", "<=", ">", ">=", "=="]
    value: float
    where: dict[str, Scalar] = Field(default_factory=dict)
    """Holds only for the points of the matrix that have these settings."""


class Plan(Frozen):
    """Everything that a run needs, every default explicit."""

    format: Literal["fabriclab-plan-1"] = "fabriclab-plan-1"
    lab: str
    title: str
    settings: dict[str, Scalar]
    """What this point of the matrix (and `--set`) changed, by the parameter's or key's name."""
    parameters: dict[str, Scalar] = Field(default_factory=dict)
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
    pause_storms: tuple[PauseStorm, ...] = ()
    warnings: tuple[str, ...] = ()
    """What can be run and is probably not meant, a sentence each; it names switch, field, value and bound."""
    groups: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The experiment's groups of hosts, those drawn by the seed among them."""
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
