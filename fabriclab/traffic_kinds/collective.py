"""`kind: collective`: iterations of a collective operation, as training has them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic import CollectiveTraffic, Server
from fabriclab.formats.plan.traffic.collective import ALGORITHMS, Algorithm, JitterShape, Operation
from fabriclab.keys.mappings import Key, Keys
from fabriclab.keys.quantities import Factor, Number, Quantity
from fabriclab.keys.values import Word
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.names import HostReader
from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.traffic import keys
from fabriclab.lab.traffic.carrier import read_carrier
from fabriclab.lab.traffic.scope import Scope, read_start
from fabriclab.traffic_kinds import words
from fabriclab.traffic_kinds.kind import Kind
from fabriclab.units import RATE, format_count, format_rate, format_size

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site

RANKS = Key(
    "ranks",
    keys.HOSTS,
    "The host of each rank, in the order of the ranks: who is the neighbour of whom follows from it.",
    examples=("h1..h8",),
    required=True,
)
OPERATION = Key(
    "operation",
    Word[Operation](tuple(ALGORITHMS)),
    "What the ranks do in each iteration. Rank 0 is the root of an operation that has one. `pipeline` hands "
    "micro-batches on from rank to rank and back.",
    examples=("all-reduce",),
    required=True,
)
ALGORITHM = Key(
    "algorithm",
    Word[Algorithm](("ring", "halving-doubling", "tree", "hierarchical", "direct", "chain")),
    "How the operation is made of transfers; each operation has its own.",
    unset="the first that the operation has",
)
ITERATIONS = Key("iterations", keys.REPEATS, "The number of iterations.", default=1)
DATA = keys.SIZE.but(
    about="Bytes of an operation, as nccl-tests count them: each rank's buffer; of an all-gather and a gather the "
    "whole result, of a scatter the root's buffer; of a pipeline what a micro-batch hands on.",
    examples=("256 MB",),
)
CHANNELS = Key(
    "channels",
    Number(*ranges.CHANNELS),
    "Shares of the data that flow side by side, each on connections, or queue pairs, of its own.",
    default=1,
)
CHUNKS = Key(
    "chunks",
    Number(*ranges.CHUNKS),
    "Pieces of a channel's share that follow each other from rank to rank; the micro-batches of a pipeline.",
    default=1,
)
BUCKETS = Key(
    "buckets",
    Number(*ranges.CHUNKS),
    "Shares of the data, each an operation of its own, that become ready one after the other while a rank computes: "
    "computation and communication overlap.",
    default=1,
    source="gradient buckets of PyTorch's DistributedDataParallel (S. Li et al., VLDB 2020)",
)
COMPUTE = Key(
    "compute",
    keys.TIME,
    "How long a rank computes in each iteration before it communicates; in a pipeline for each micro-batch and pass.",
    default=0,
    examples=("10 ms",),
)
COMPUTE_JITTER = Key(
    "jitter",
    keys.TIME,
    "By how much a rank's computation is longer in an iteration, drawn by the seed: less than this, or with "
    "`jitter_shape: exponential` this on average.",
    default=0,
    examples=("100 us",),
)
JITTER_SHAPE = Key(
    "jitter_shape",
    Word[JitterShape](("uniform", "exponential")),
    "The distribution of the jitter. `exponential` has stragglers.",
    default="uniform",
)
SKEW = Key(
    "skew",
    Factor("an exponent from 0 to 4", Fraction(0), Fraction(4)),
    "Of an all-to-all, the exponent of the Zipf distribution that the destinations' shares follow, in an order that is "
    "drawn for each iteration: popular experts of a mixture of experts. 0: all receive as much.",
    default=Fraction(0),
)
SERVER_RANKS = Key(
    "ranks", Number(*ranges.RANKS), "So many ranks in a row are one server.", examples=(8,), required=True
)
SERVER_RATE = Key(
    "rate",
    Quantity(RATE, *ranges.SERVER_RATE),
    "The rate of each rank within its server, in each direction.",
    default=3_600_000_000_000,
    source="NVLink 4: 450 GB/s in each direction (NVIDIA H100 data sheet)",
)
SERVER_LATENCY = Key(
    "latency",
    keys.TIME,
    "The latency of a step within a server.",
    default=1_000,
)
SERVER_KEYS = Keys(
    "collective-server",
    "Ranks within a server reach each other without the network",
    (SERVER_RANKS, SERVER_RATE, SERVER_LATENCY),
)
SERVER = Key(
    "server",
    SERVER_KEYS,
    "With `algorithm: hierarchical`, the ranks that reach each other within a server (NVLink), which takes a time that "
    "follows from rate and latency.",
    unset="required with `algorithm: hierarchical`",
)
KEYS = keys.keys_of_kind(
    "collective",
    "Training: ranks compute, then take part in a collective operation, and so on.",
    RANKS,
    OPERATION,
    ALGORITHM,
    DATA,
    ITERATIONS,
    CHANNELS,
    CHUNKS,
    BUCKETS,
    COMPUTE,
    COMPUTE_JITTER,
    JITTER_SHAPE,
    SKEW,
    SERVER,
    keys.START,
    *keys.CARRIER,
)


class Collective(Kind[CollectiveTraffic]):
    """A collective operation."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> CollectiveTraffic | None:
        """Return the operation; None after recording what is wrong."""
        section.require("ranks", example="ranks: a range such as h1..h8, a group, a list, or all")
        section.require("operation", example="operation: all-reduce")
        section.require("size", example="size: bytes of an operation, such as 256 MB")
        ranks = HostReader(section, scope.names).hosts("ranks")
        operation, size = section.read(OPERATION), section.read(DATA)
        algorithm = _algorithm(section, operation)
        server = _server(section, algorithm, ranks)
        iterations, channels = (
            ITERATIONS.or_default(section.read(ITERATIONS)),
            CHANNELS.or_default(section.read(CHANNELS)),
        )
        chunks, buckets = CHUNKS.or_default(section.read(CHUNKS)), BUCKETS.or_default(section.read(BUCKETS))
        skew = section.read(SKEW)
        compute_ns = COMPUTE.or_default(section.read(COMPUTE))
        jitter_ns = COMPUTE_JITTER.or_default(section.read(COMPUTE_JITTER))
        shape = JITTER_SHAPE.or_default(section.read(JITTER_SHAPE))
        start_ns, carrier = read_start(section), read_carrier(section, scope.names)
        if ranks is None or operation is None or size is None or algorithm is None:
            return None
        if len(ranks) < 2:
            section.complain("ranks", f"{shown(ranks[0])} is the only rank; nothing would cross the network")
        if algorithm == "halving-doubling" and len(ranks) & (len(ranks) - 1):
            section.complain("algorithm", f"halving-doubling needs a power of two ranks, and there are {len(ranks)}")
        _check_scope(section, operation.value, skew)
        return CollectiveTraffic(
            name=name,
            ranks=ranks,
            operation=operation.value,
            algorithm=algorithm,
            size_bytes=size.value,
            iterations=iterations,
            channels=channels,
            chunks=chunks,
            buckets=buckets,
            compute_ns=compute_ns,
            jitter_ns=jitter_ns,
            jitter_shape=shape,
            server=server,
            skew_ppm=int(SKEW.or_default(skew) * 10**6),
            start_ns=start_ns,
            carrier=carrier,
        )

    def flows(self, traffic: CollectiveTraffic, site: Site) -> pl.DataFrame:
        """Return the flows, each behind those that it waits for."""
        from fabriclab.workload.collective import collective_table

        return collective_table(traffic, site)

    def sentences(self, traffic: CollectiveTraffic, plan: Plan) -> Iterator[str]:
        """Yield what the ranks do, and how often."""
        how = "" if traffic.operation == "pipeline" else f" by {_ALGORITHM_WORDS[traffic.algorithm]}"
        yield f"{format_count(len(traffic.ranks), 'rank')}, {traffic.operation}{how}{words.over(traffic.carrier)}"
        parts = [
            format_count(count, what)
            for count, what in (
                (traffic.channels, "channel"),
                (traffic.chunks, "micro-batch" if traffic.operation == "pipeline" else "chunk"),
                (traffic.buckets, "bucket"),
            )
            if count > 1
        ]
        often = f"{format_count(traffic.iterations, 'iteration')} from {words.time(traffic.start_ns)} on"
        yield f"{format_size(traffic.size_bytes)}{', ' if parts else ''}{', '.join(parts)}; {often}"
        if traffic.compute_ns or traffic.jitter_ns:
            yield f"computation of {words.time(traffic.compute_ns)}{_jitter(traffic)} before"
        if traffic.server is not None:
            server = traffic.server
            yield f"servers of {server.ranks} ranks, {format_rate(server.rate_bps)} each within"

    def drawn(self, traffic: CollectiveTraffic, flows: pl.DataFrame, site: Site) -> Iterator[str]:
        """Yield the flows of an iteration."""
        per_iteration = flows.height // traffic.iterations
        total = int(flows["size_bytes"].sum()) / traffic.iterations
        yield f"each iteration: {format_count(per_iteration, 'flow')}, {format_size(total, 4)}"


KIND = Collective()

_ALGORITHM_WORDS: dict[Algorithm, str] = {
    "ring": "a ring",
    "halving-doubling": "halving and doubling",
    "tree": "a double binary tree",
    "hierarchical": "rings between servers",
    "direct": "direct sends",
    "chain": "a chain",
}


def _jitter(traffic: CollectiveTraffic) -> str:
    if not traffic.jitter_ns:
        return ""
    if traffic.jitter_shape == "exponential":
        return f", longer by {words.time(traffic.jitter_ns)} on average (exponential),"
    return f", up to {words.time(traffic.jitter_ns)} longer,"


def _algorithm(section: Section, operation: Written[Operation] | None) -> Algorithm | None:
    """Return the algorithm, of those that the operation has; None after recording what is wrong."""
    written = section.read(ALGORITHM)
    if operation is None:
        return None
    possible = ALGORITHMS[operation.value]
    if written is None:
        return None if "algorithm" in section else possible[0]
    if written.value not in possible:
        written.complain(
            section.problems, f"{operation.value} has no {shown(written.text)}; write {' or '.join(possible)}"
        )
        return None
    return written.value


def _server(section: Section, algorithm: Algorithm | None, ranks: tuple[str, ...] | None) -> Server | None:
    """Return the servers of a hierarchical operation; None where there are none, or after recording what is wrong."""
    if algorithm == "hierarchical":
        section.require("server", example="server: {ranks: 8}")
    elif algorithm is not None and "server" in section:
        section.complain("server", "is for algorithm: hierarchical; remove the key, or write that algorithm")
    server = section.section("server", SERVER_KEYS)
    if server is None:
        return None
    server.require("ranks", example="ranks: how many ranks a server has, such as 8")
    count, rate, latency = (server.read(key) for key in (SERVER_RANKS, SERVER_RATE, SERVER_LATENCY))
    if count is None:
        return None
    if ranks is not None and (len(ranks) % count.value or len(ranks) == count.value):
        count.complain(
            section.problems,
            f"{shown(count.text)}: {format_count(len(ranks), 'rank')} must fill two or more servers of that many",
        )
    return Server(
        ranks=count.value,
        rate_bps=SERVER_RATE.or_default(rate),
        latency_ns=SERVER_LATENCY.or_default(latency),
    )


def _check_scope(section: Section, operation: Operation, skew: Written[Fraction] | None) -> None:
    """Record keys that mean nothing to the operation."""
    if skew is not None and skew.value and operation != "all-to-all":
        section.complain("skew", f"is for operation: all-to-all, not for {operation}; remove the key")
    if operation == "pipeline":
        for key, instead in (("buckets", "chunks"), ("channels", "chunks"), ("jitter", "compute")):
            if key in section:
                section.complain(key, f"is not for a pipeline; remove the key, or write {instead}")
    if skew is not None and skew.value and "chunks" in section:
        section.complain("chunks", "is not for an all-to-all with skew; remove the key")
