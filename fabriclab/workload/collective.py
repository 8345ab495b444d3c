"""The flows of collective operations, iteration by iteration.

What rank 5 receives of bucket 0 in iteration 3 of `training` is of the group `training/3/r5/b0`. A rank begins its part
of an operation when it has received everything of the one before and has computed for long enough: two things with a
delay each, of which the later one counts (`traffic/README.md`, `after`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from fabriclab.formats.plan.traffic import CollectiveTraffic
from fabriclab.formats.trace import SMALLEST_BYTES, Awaited, after_cell
from fabriclab.workload.collective_schedules import ROOTED, Transfer, exchange, schedule, split
from fabriclab.workload.flows import flow_table
from fabriclab.workload.randomness import rounded
from fabriclab.workload.site import Site, TraceError

_PPM = 10**6


class _Row(NamedTuple):
    """A flow between two ranks; `waits` counts from the epoch where it names no group."""

    src: int
    dst: int
    size_bytes: int
    channel: int
    group: str
    waits: tuple[Awaited, ...]


def collective_table(traffic: CollectiveTraffic, site: Site) -> pl.DataFrame:
    """Return the flows of all iterations, each behind those that it waits for.

    Raises TraceError where a share is too small to be a flow, or the ranks don't suit the algorithm.
    """
    rows = list(_Job(traffic, site).rows())
    # What waits for the epoch alone starts at a time; else that is one of the things that it waits for.
    timed = [len(row.waits) == 1 and not row.waits[0].group for row in rows]
    columns = {
        "start_ns": np.array(
            [row.waits[0].delay_ns if alone else 0 for row, alone in zip(rows, timed, strict=True)], dtype=np.int64
        ),
        "src": site.indices(traffic.ranks[row.src] for row in rows),
        "dst": site.indices(traffic.ranks[row.dst] for row in rows),
        "size_bytes": np.array([row.size_bytes for row in rows], dtype=np.int64),
        "mode": "push",
        "group": pl.Series([row.group for row in rows], dtype=pl.String()),
        "after": pl.Series(
            [None if alone else after_cell(row.waits) for row, alone in zip(rows, timed, strict=True)],
            dtype=pl.String(),
        ),
    }
    if traffic.carrier.transport not in ("mptcp", "homa"):
        columns["connection"] = [f"{traffic.name}.{row.channel}" for row in rows]
    return flow_table(site, traffic.name, traffic.carrier, columns)


class _Job:
    """All iterations of a traffic."""

    def __init__(self, traffic: CollectiveTraffic, site: Site) -> None:
        self._traffic = traffic
        self._site = site

    def rows(self) -> Iterator[_Row]:
        for iteration in range(self._traffic.iterations):
            if self._traffic.operation == "pipeline":
                yield from self._pipeline(iteration)
            else:
                yield from self._operations(iteration)

    def _operations(self, iteration: int) -> Iterator[_Row]:
        sizes = split(self._traffic.size_bytes, self._traffic.buckets)
        for bucket, size_bytes in enumerate(sizes):
            transfers = self._transfers(size_bytes, iteration)
            starts = {transfer.src for transfer in transfers if not transfer.needs}
            begins = {rank: self._begin(iteration, bucket, rank) for rank in starts}
            for transfer in transfers:
                of_src, of_dst = (self._of(iteration, bucket, rank) for rank in (transfer.src, transfer.dst))
                needs = tuple(Awaited(f"{of_src}/{need}") for need in transfer.needs)
                yield _Row(*transfer[:4], f"{of_dst}/{transfer.tag}", needs or begins[transfer.src])

    def _transfers(self, size_bytes: int, iteration: int) -> list[Transfer]:
        traffic = self._traffic
        try:
            if traffic.skew_ppm:
                return exchange(self._unequal(size_bytes, iteration), channels=traffic.channels)
            if traffic.algorithm == "hierarchical":
                return self._between_servers(size_bytes)
            return schedule(
                traffic.operation,
                traffic.algorithm,
                len(traffic.ranks),
                size_bytes,
                chunks=traffic.chunks,
                channels=traffic.channels,
            )
        except ValueError as error:
            raise TraceError(f"traffic.{traffic.name}: {error}") from error

    def _between_servers(self, size_bytes: int) -> list[Transfer]:
        """Return a ring's all-reduce among the ranks of each place within their servers, of the place's share."""
        ranks = 1 if self._traffic.server is None else self._traffic.server.ranks
        servers = len(self._traffic.ranks) // ranks
        if servers < 2:
            raise ValueError(f"all {ranks} ranks are in one server; nothing would cross the network")
        rings = [
            schedule("all-reduce", "ring", servers, share, chunks=self._traffic.chunks, channels=self._traffic.channels)
            for share in split(size_bytes, ranks)
        ]
        return [
            one._replace(src=one.src * ranks + place, dst=one.dst * ranks + place)
            for step in zip(*rings, strict=True)
            for place, one in enumerate(step)
        ]

    def _unequal(self, size_bytes: int, iteration: int) -> list[list[int]]:
        """Return what each rank has for each: the ranks' shares follow a Zipf distribution, in an order that is drawn
        for each iteration."""
        stream = self._site.stream(self._traffic.name, str(iteration), "popular")
        order = stream.shuffled(range(len(self._traffic.ranks)))
        shares = dict(zip(order, self._zipf, strict=True))
        total = sum(self._zipf)
        row = [int(size_bytes * shares[rank] / total) for rank in range(len(order))]
        return [row] * len(order)

    @cached_property
    def _zipf(self) -> list[Decimal]:
        with localcontext(prec=28):  # a power of Decimal's is rounded as it says, on every machine
            exponent = -Decimal(self._traffic.skew_ppm) / _PPM
            return [Decimal(place) ** exponent for place in range(1, len(self._traffic.ranks) + 1)]

    def _of(self, iteration: int, bucket: int, rank: int) -> str:
        """Return the group of what a rank receives of a bucket."""
        return f"{self._traffic.name}/{iteration}/r{rank}/b{bucket}"

    def _begin(self, iteration: int, bucket: int, rank: int) -> tuple[Awaited, ...]:
        """Return what a rank waits for before it begins with a bucket: its data, and the bucket before."""
        share = bucket + 1
        waits = [
            wait._replace(delay_ns=wait.delay_ns + computed * share // self._traffic.buckets + self._inside_ns)
            for wait, computed in self._computing(iteration, rank)
        ]
        if bucket:
            before = self._received(f"{self._traffic.name}/{iteration}", rank, f"/b{bucket - 1}")
            waits += [wait._replace(delay_ns=wait.delay_ns + self._inside_ns) for wait in before]
        return _merged(waits)

    def _computing(self, iteration: int, rank: int) -> Iterator[tuple[Awaited, int]]:
        """Yield what the computation of a rank, and of those of its server whose data it needs, begins with, and how
        long it takes."""
        for member in self._members(rank):
            computed_ns = self._traffic.compute_ns + int(self._jitters[member][iteration])
            if iteration == 0:
                yield Awaited("", self._traffic.start_ns), computed_ns
            else:
                for wait in self._received(f"{self._traffic.name}/{iteration - 1}", member):
                    yield wait, computed_ns

    def _received(self, iteration: str, rank: int, bucket: str = "") -> Iterator[Awaited]:
        """Yield when a rank has everything of an iteration, or of a bucket: what its server's other ranks received,
        too, which reaches it within the server. A rank that receives nothing waits for all, and of a bucket for those
        that it sends to."""
        if rank in self._sends_only:
            if bucket:
                yield from (Awaited(f"{iteration}/r{member}{bucket}") for member in self._sends_only[rank])
            else:
                yield Awaited(iteration)
            return
        for member in self._members(rank):
            yield Awaited(f"{iteration}/r{member}{bucket}", self._inside_ns)

    @cached_property
    def _sends_only(self) -> Mapping[int, Sequence[int]]:
        """The ranks that receive nothing, in an operation with a root, and to whom each of them sends."""
        if self._traffic.operation not in ROOTED:
            return {}
        transfers = self._transfers(self._traffic.size_bytes, 0)
        receivers = {one.dst for one in transfers}
        return {
            rank: tuple(dict.fromkeys(one.dst for one in transfers if one.src == rank))
            for rank in range(len(self._traffic.ranks))
            if rank not in receivers
        }

    def _members(self, rank: int) -> Sequence[int]:
        """Return the ranks of a rank's server, if the operation goes through it."""
        server = self._traffic.server
        if server is None or self._traffic.algorithm != "hierarchical":
            return (rank,)
        first = rank // server.ranks * server.ranks
        return range(first, first + server.ranks)

    @cached_property
    def _inside_ns(self) -> int:
        """How long the reduce-scatter within a server takes before, and the all-gather after, each bucket."""
        server = self._traffic.server
        if server is None or self._traffic.algorithm != "hierarchical":
            return 0
        return server.ring_ns(-(-self._traffic.size_bytes // self._traffic.buckets))

    @cached_property
    def _jitters(self) -> list[Sequence[int]]:
        """By how much each rank's computation is longer, in each iteration, in ns."""
        traffic, count = self._traffic, self._traffic.iterations
        if not traffic.jitter_ns:
            return [[0] * count] * len(traffic.ranks)
        streams = (self._site.stream(traffic.name, host, "computation") for host in traffic.ranks)
        if traffic.jitter_shape == "exponential":
            return [rounded(stream.exponentials(traffic.jitter_ns, count)).tolist() for stream in streams]
        return [stream.below(traffic.jitter_ns, count).tolist() for stream in streams]

    def _pipeline(self, iteration: int) -> Iterator[_Row]:
        """Yield what the stages hand on: each micro-batch forwards, then, when all are through, backwards (GPipe: Y.
        Huang et al., NeurIPS 2019). A stage computes one at a time, for `compute_ns` each."""
        traffic, batches, last = self._traffic, self._traffic.chunks, len(self._traffic.ranks) - 1
        if traffic.size_bytes < SMALLEST_BYTES:
            raise TraceError(f"traffic.{traffic.name}: a flow has {SMALLEST_BYTES} bytes at least")
        for stage in range(last):
            for batch in range(batches):
                if stage == 0:
                    waits = self._after_flush(iteration, batch + 1)
                else:
                    waits = self._computed(iteration, stage, "f", range(batch + 1), batch + 1)
                yield self._handed(iteration, stage, stage + 1, f"f{batch}", waits)
        for stage in range(last, 0, -1):
            for batch in range(batches):
                if stage == last:
                    waits = self._computed(iteration, stage, "f", range(batches), batches + batch + 1)
                else:
                    waits = self._computed(iteration, stage, "b", range(batch + 1), batch + 1)
                yield self._handed(iteration, stage, stage - 1, f"b{batch}", waits)

    def _after_flush(self, iteration: int, computations: int) -> tuple[Awaited, ...]:
        """Return what the first stage waits for: all that came back in the iteration before, and computations."""
        if iteration == 0:
            return (Awaited("", self._traffic.start_ns + computations * self._traffic.compute_ns),)
        batches = self._traffic.chunks
        return self._computed(iteration - 1, 0, "b", range(batches), batches + computations)

    def _computed(
        self, iteration: int, stage: int, way: str, batches: Sequence[int], computations: int
    ) -> tuple[Awaited, ...]:
        """Return what a stage waits for that computes so many times in a row, at the earliest with each batch when it
        has come: whatever comes late, those behind it follow."""
        group = f"{self._traffic.name}/{iteration}/r{stage}/{way}"
        compute_ns = self._traffic.compute_ns
        return tuple(Awaited(f"{group}{batch}", (computations - batch) * compute_ns) for batch in batches)

    def _handed(self, iteration: int, src: int, dst: int, tag: str, waits: tuple[Awaited, ...]) -> _Row:
        return _Row(src, dst, self._traffic.size_bytes, 0, f"{self._traffic.name}/{iteration}/r{dst}/{tag}", waits)


def _merged(waits: Sequence[Awaited]) -> tuple[Awaited, ...]:
    """Return the waits with one for each group, that of the longest delay; first the epoch."""
    delays: dict[str, int] = {}
    for group, delay_ns in waits:
        delays[group] = max(delay_ns, delays.get(group, 0))
    return tuple(Awaited(group, delays[group]) for group in sorted(delays, key=bool))
