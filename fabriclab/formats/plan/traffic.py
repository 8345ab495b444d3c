"""The kinds of traffic of the plan: who sends how much to whom, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

Carried = Literal["tcp", "mptcp"]
Process = Literal["poisson", "fixed", "jittered", "bursty"]
Pattern = Literal["permutation", "random", "all-to-all", "in-rack", "out-of-rack", "hot-spot"]
Connection = Literal["kept", "new"]
"""One connection of each pair carries all its flows, or each flow has its own."""
Mode = Literal["push", "pull"]
"""Who asks: the sender, or the receiver."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record of the plan that the lab's readers make, so that it is the standard library's: who reads a lab alone
    does not wait for pydantic. Of JSON it refuses unknown keys."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}


@dataclass(frozen=True, kw_only=True)
class Carrier(Record):
    """What carries the flows of a traffic."""

    transport: Carried = "tcp"
    congestion_control: str | None = None
    """None: the host's."""
    dscp: int = 0
    """Differentiated services code point of every packet, 0 to 63 (RFC 2474)."""


@dataclass(frozen=True, kw_only=True)
class FixedSize(Record):
    """Every flow has as many bytes."""

    kind: Literal["fixed"] = "fixed"
    size_bytes: int

    @property
    def mean(self) -> Fraction:
        """The mean in bytes."""
        return Fraction(self.size_bytes)


@dataclass(frozen=True, kw_only=True)
class UniformSize(Record):
    """Whole numbers of bytes, all equally likely, both ends included."""

    kind: Literal["uniform"] = "uniform"
    smallest_bytes: int
    largest_bytes: int

    @property
    def mean(self) -> Fraction:
        """The mean in bytes."""
        return Fraction(self.smallest_bytes + self.largest_bytes, 2)


@dataclass(frozen=True, kw_only=True)
class DistributedSize(Record):
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

    @property
    def mean(self) -> Fraction:
        """The mean in bytes, cap included."""
        return Fraction(self.mean_bytes)


Size = FixedSize | UniformSize | DistributedSize


@dataclass(frozen=True, kw_only=True)
class Arrivals(Record):
    """When the flows (or queries) of one sender start.

    `fixed`: every interval_ns. `jittered`: so too, each moved by a uniform draw of [0, jitter_ns). `poisson`:
    exponential gaps. `bursty`: bursts of burst_flows at one instant, exponential gaps of mean burst_flows x interval_ns
    between them.
    """

    process: Process
    interval_ns: int
    """Mean time from one start of a sender to its next."""
    jitter_ns: int = 0
    burst_flows: int = 1
    load_ppm: int | None = None
    """The load that interval_ns was computed of, in millionths of the sender's line rate:
    interval = 8 x mean size / (load x rate)."""


@dataclass(frozen=True, kw_only=True)
class Pairs(Record):
    """Who sends to whom. A host never sends to itself.

    `permutation`: each sender has one receiver, each receiver at most one sender more than any other. `random`: drawn
    for each flow. `all-to-all`: each sender takes all receivers in turn, in an order of its own. `in-rack`,
    `out-of-rack`: drawn among those behind the same first switch, behind another. `hot-spot`: a share of the flows goes
    to the hot spots, the others at random to the rest.
    """

    pattern: Pattern
    senders: tuple[str, ...]
    receivers: tuple[str, ...]
    hot_spots: tuple[str, ...] = ()
    hot_share_ppm: int = 0


@dataclass(frozen=True, kw_only=True)
class RoundsTraffic(Record):
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
    connection: Connection
    mode: Mode
    carrier: Carrier = Carrier()

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        return self.start_ns

    @property
    def flows(self) -> int:
        """How many flows it is."""
        return len(self.senders) * self.rounds


@dataclass(frozen=True, kw_only=True)
class LongTraffic(Record):
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

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        return self.stop_ns

    @property
    def flows(self) -> int:
        """How many flows it is."""
        if self.pairs is None or self.pairs.pattern != "all-to-all":
            return len(self.senders)
        return sum(receiver != sender for sender in self.senders for receiver in self.pairs.receivers)


@dataclass(frozen=True, kw_only=True)
class FlowsTraffic(Record):
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
    mode: Mode
    carrier: Carrier = Carrier()

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        return self.start_ns + (self.count - 1) * self.interval_ns + self.jitter_ns

    @property
    def flows(self) -> int:
        """How many flows it is."""
        return len(self.senders) * self.count


@dataclass(frozen=True, kw_only=True)
class ArrivalsTraffic(Record):
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
    mode: Mode = "push"
    carrier: Carrier = Carrier()

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        return self.stop_ns

    @property
    def flows(self) -> int:
        """How many flows it is, about."""
        return len(self.pairs.senders) * (1 + (self.stop_ns - self.start_ns) // self.arrivals.interval_ns)


@dataclass(frozen=True, kw_only=True)
class QueryTraffic(Record):
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
    connection: Connection
    carrier: Carrier = Carrier()

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        return self.stop_ns + self.jitter_ns

    @property
    def flows(self) -> int:
        """How many flows it is, about."""
        return len(self.aggregators) * self.fan_out * (1 + (self.stop_ns - self.start_ns) // self.arrivals.interval_ns)


@dataclass(frozen=True, kw_only=True)
class ShuffleTraffic(Record):
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

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        return self.start_ns

    @property
    def flows(self) -> int:
        """How many flows it is at most: data that stay on their host are none."""
        inputs = len(self.mappers) if self.sources else 0
        return inputs + len(self.reducers) * (len(self.mappers) + self.replicas - 1)


@dataclass(frozen=True, kw_only=True)
class Iperf3Traffic(Record):
    """Long flows that iperf3 sends instead of our replay, one from each sender to the receiver."""

    kind: Literal["iperf3"] = "iperf3"
    name: str
    senders: tuple[str, ...]
    receiver: str
    start_ns: int
    stop_ns: int
    carrier: Carrier = Carrier()

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        return self.stop_ns

    @property
    def flows(self) -> int:
        """How many flows it is."""
        return len(self.senders)


@dataclass(frozen=True, kw_only=True)
class TraceTraffic(Record):
    """A flow trace that the user brings (`traffic/README.md`); its text is part of the run directory,
    its hash part of the plan."""

    kind: Literal["trace"] = "trace"
    name: str
    file: str
    sha256: str

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        return 0

    @property
    def flows(self) -> int:
        """Its flows are counted when the run's own trace is made."""
        return 0


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
