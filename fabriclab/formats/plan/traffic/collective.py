"""Collective operations of ranks, as training has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.constraints import Record
from fabriclab.formats import ranges
from fabriclab.formats.names import NodeName
from fabriclab.formats.plan.traffic.record import PLAIN, Carrier, TrafficRecord

Operation = Literal[
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
    "pipeline",
]
Algorithm = Literal["ring", "halving-doubling", "tree", "direct", "hierarchical", "chain"]
JitterShape = Literal["uniform", "exponential"]
ALGORITHMS: Mapping[Operation, tuple[Algorithm, ...]] = {
    "all-reduce": ("ring", "halving-doubling", "tree", "hierarchical"),
    "all-gather": ("ring", "halving-doubling"),
    "reduce-scatter": ("ring", "halving-doubling"),
    "all-to-all": ("direct",),
    "broadcast": ("ring", "direct"),
    "reduce": ("ring", "direct"),
    "gather": ("direct",),
    "scatter": ("direct",),
    "pipeline": ("chain",),
}
"""The algorithms of each operation, the default first."""


@dataclass(frozen=True, kw_only=True)
class Server(Record):
    """Ranks that reach each other by a fabric of their own within a server (NVLink), which is a rate and a latency."""

    ranks: Annotated[int, ranges.RANKS]
    """So many ranks in a row are a server."""
    rate_bps: Annotated[int, ranges.SERVER_RATE]
    """Of each rank, in each direction, in bit/s."""
    latency_ns: Annotated[int, ranges.DURATION]
    """Of one step of an operation within a server."""

    def ring_ns(self, size_bytes: int) -> int:
        """Return how long a ring's reduce-scatter or all-gather of these bytes takes within a server, in ns."""
        steps = self.ranks - 1
        sent_bits = 8 * size_bytes * steps
        return -(-sent_bits * 10**9 // (self.ranks * self.rate_bps)) + steps * self.latency_ns


@dataclass(frozen=True, kw_only=True)
class CollectiveTraffic(TrafficRecord):
    """Iterations of one collective operation among ranks, each a host with a NIC of its own.

    In an iteration a rank computes, then takes part in the operation. It goes on with the next one when it has received
    everything, whether or not other ranks have.
    """

    kind: Literal["collective"] = "collective"
    ranks: tuple[NodeName, ...]
    """The host of each rank, in the order of the ranks."""
    operation: Operation
    algorithm: Algorithm
    size_bytes: Annotated[int, ranges.FLOW_BYTES]
    """What nccl-tests call the size (`fabriclab.workload.collective_schedules`)."""
    iterations: Annotated[int, ranges.REPEATS]
    channels: Annotated[int, ranges.CHANNELS] = 1
    """Shares of the data, each on connections of its own."""
    chunks: Annotated[int, ranges.CHUNKS] = 1
    """Pieces of a channel's share that follow each other from rank to rank; a pipeline's micro-batches."""
    buckets: Annotated[int, ranges.CHUNKS] = 1
    """Shares of the data that are ready one after the other during the computation, each an operation of its own."""
    compute_ns: Annotated[int, ranges.DURATION] = 0
    """How long a rank computes in an iteration; in a pipeline, for each pass of a micro-batch through a stage."""
    jitter_ns: Annotated[int, ranges.DURATION] = 0
    """By how much the computation of a rank in an iteration is longer: less than this, or this on average."""
    jitter_shape: JitterShape = "uniform"
    server: Server | None = None
    """None: every rank is alone."""
    skew_ppm: Annotated[int, ranges.SKEW_PPM] = 0
    """Exponent of a Zipf distribution of an all-to-all's destinations, in millionths; 0: all receive as much."""
    start_ns: Annotated[int, ranges.DURATION]
    carrier: Carrier = PLAIN

    has_coflows: ClassVar[bool] = True
    is_job: ClassVar[bool] = True

    @property
    def flows(self) -> int:
        """How many flows it is, at most."""
        n = len(self.ranks)
        around = {"broadcast": n, "reduce": n, "all-reduce": 2 * n * n}
        steps = {
            "ring": around.get(self.operation, n * n),
            "halving-doubling": 2 * n * n.bit_length(),
            "tree": 4 * n,
            "direct": n * n,
            "hierarchical": 2 * n * n,
            "chain": 2 * n,
        }
        return steps[self.algorithm] * self.channels * self.chunks * self.buckets * self.iterations

    def sending(self, every: Iterable[str]) -> frozenset[str]:
        """Return the nodes that send data."""
        return frozenset(self.ranks)

    def receiving(self) -> frozenset[str]:
        """Return the nodes that receive data."""
        return frozenset(self.ranks)

    def contradictions(self) -> Iterator[str]:
        """Yield that ranks are too few, or do not fill their servers."""
        if len(self.ranks) < 2:
            yield f".ranks: {len(self.ranks)} is too few"
        if self.server is not None and len(self.ranks) % self.server.ranks:
            yield f".server.ranks: {len(self.ranks)} ranks do not fill servers of {self.server.ranks}"
