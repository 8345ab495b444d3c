"""The kinds of traffic of the plan: who sends how much to whom, and when."""

from __future__ import annotations

from typing import Literal

from fabriclab.formats.record import Frozen


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
    """The name of a distribution in `traffic/workloads`, or of a file in the lab's directory."""
    points: tuple[tuple[int, float], ...]
    """Pairs of bytes and cumulative probability, ascending, the last one's 1."""
    interpolation: Literal["linear", "step"]
    """Between two points: piecewise linear, or only the points themselves occur."""
    cap_bytes: int | None
    """Larger flows are cut to this size. A run with a cap must say so wherever it is shown."""
    mean_bytes: float
    """The mean of the sizes that are drawn, cap included, in bytes: what a load is computed with."""


Size = FixedSize | UniformSize | DistributedSize


class Arrivals(Frozen):
    """When the flows (or queries) of one sender start.

    `fixed`: every interval_ns. `jittered`: so too, each moved by a uniform draw of [0, jitter_ns). `poisson`:
    exponential gaps. `bursty`: bursts of burst_flows at one instant, exponential gaps of mean burst_flows x interval_ns
    between them.
    """

    process: Literal["fixed", "jittered", "poisson", "bursty"]
    interval_ns: int
    """Mean time from one start of a sender to its next."""
    jitter_ns: int = 0
    burst_flows: int = 1
    load_ppm: int | None = None
    """The load that interval_ns was computed of, in millionths of the sender's line rate:
    interval = 8 x mean size / (load x rate)."""


class Pairs(Frozen):
    """Who sends to whom. A host never sends to itself.

    `permutation`: each sender has one receiver, each receiver at most one sender more than any other. `random`: drawn
    for each flow. `all-to-all`: each sender takes all receivers in turn, in an order of its own. `in-rack`,
    `out-of-rack`: drawn among those behind the same first switch, behind another. `hot-spot`: a share of the flows goes
    to the hot spots, the others at random to the rest.
    """

    pattern: Literal["permutation", "random", "all-to-all", "in-rack", "out-of-rack", "hot-spot"]
    senders: tuple[str, ...]
    receivers: tuple[str, ...]
    hot_spots: tuple[str, ...] = ()
    hot_share_ppm: int = 0


class RoundsTraffic(Frozen):
    """Synchronised rounds: every sender sends `size_bytes` to the receiver;
    a round starts when the one before is complete (in-cast)."""

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
    """Long flows, one from each sender (all-to-all: one to each of its receivers), that start `stagger_ns` apart, each
    a draw of [0, jitter_ns) later, and stop together."""

    kind: Literal["long"] = "long"
    name: str
    senders: tuple[str, ...]
    receiver: str | None = None
    """The one receiver of all flows; exactly one of receiver and pairs is given."""
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
    """The deadline of each flow in nanoseconds, counted from its start; None: there is none."""
    mode: Literal["pull", "push"] = "push"
    carrier: Carrier = Carrier()


class QueryTraffic(Frozen):
    """Partition/aggregate: an aggregator asks `fan_out` workers; complete when all have answered (DCTCP,
    SIGCOMM'10, section 2)."""

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
    """The deadline of the whole query in nanoseconds, counted from its start; None: there is none."""
    connection: Literal["kept", "new"]
    carrier: Carrier = Carrier()


class ShuffleTraffic(Frozen):
    """A MapReduce job's network phases as dependent flows: input, shuffle, output. Data that stay on their host are no
    flow.

    input: each mapper pulls its share of `size_bytes` from one of the sources. shuffle: each reducer pulls its
    partition, size_bytes / (mappers x reducers), from every mapper, parallel_copies at a time. output: each reducer
    writes what it received through a chain of replicas - 1 hosts.
    """

    kind: Literal["shuffle"] = "shuffle"
    name: str
    sources: tuple[str, ...] = ()
    """Empty: mappers read what lies on their own disks."""
    mappers: tuple[str, ...]
    reducers: tuple[str, ...]
    size_bytes: int
    """The size of the job's input in bytes; as much is shuffled and written (TeraSort)."""
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
    """A flow trace that the user brings (`traffic/README.md`); its text is part of the run directory,
    its hash part of the plan."""

    kind: Literal["trace"] = "trace"
    name: str
    file: str
    sha256: str


Traffic = (
    RoundsTraffic
    | LongTraffic
    | FlowsTraffic
    | ArrivalsTraffic
    | QueryTraffic
    | ShuffleTraffic
    | Iperf3Traffic
    | TraceTraffic
)
Sent = RoundsTraffic | LongTraffic | FlowsTraffic | Iperf3Traffic
"""The kinds whose senders and receiver are named, not drawn."""
