"""Partition/aggregate queries: an aggregator asks many workers at once (DCTCP, SIGCOMM 2010, section 2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from fabriclab.formats.plan.traffic import QueryTraffic
from fabriclab.workload.arrivals import draw_starts, jitter
from fabriclab.workload.flows import by_start, flow_table
from fabriclab.workload.randomness import Integers, Stream
from fabriclab.workload.site import Site, TraceError
from fabriclab.workload.sizes import draw_sizes

_CELLS = 1 << 22
"""Most numbers of workers that are held at a time while they are drawn."""


class _Queries(NamedTuple):
    """Queries of one aggregator: starts by query; the others by query and worker."""

    starts: Integers
    workers: Integers
    shifts: Integers
    sizes: Integers


def query_table(traffic: QueryTraffic, site: Site) -> pl.DataFrame:
    """Return the responses of queries.

    A query is the group `NAME/q17`: numbers from 0 over all aggregators in the order of start.
    """
    aggregators = site.order(traffic.name, traffic.aggregators)
    drawn = [_draw(traffic, aggregator, site) for aggregator in aggregators]
    starts = np.concatenate([queries.starts for queries in drawn])
    numbers = np.empty(len(starts), dtype=np.int64)
    numbers[np.argsort(starts, kind="stable")] = np.arange(len(starts))
    asking = np.repeat(site.indices(aggregators), [len(queries.starts) for queries in drawn])
    shifts = np.concatenate([queries.shifts for queries in drawn])
    columns = {
        "start_ns": (starts[:, np.newaxis] + shifts).ravel(),
        "src": np.concatenate([queries.workers for queries in drawn]).ravel(),
        "dst": np.repeat(asking, traffic.fan_out),
        "size_bytes": np.concatenate([queries.sizes for queries in drawn]).ravel(),
        "mode": "pull",
        "request_bytes": traffic.request_bytes,
        "connection": traffic.name if traffic.connection == "kept" else None,
        "deadline_ns": traffic.deadline_ns,
    }
    table = flow_table(site, traffic.name, traffic.carrier, columns)
    number = pl.Series("number", np.repeat(numbers, traffic.fan_out))
    return by_start(
        table.with_columns(number).with_columns(group=pl.format(f"{traffic.name}/q{{}}", "number")).drop("number")
    )


def _draw(traffic: QueryTraffic, aggregator: str, site: Site) -> _Queries:
    workers = [worker for worker in traffic.workers if worker != aggregator]
    if traffic.fan_out > len(workers):
        raise TraceError(
            f"traffic.{traffic.name}: fan_out: {traffic.fan_out} workers of the {len(workers)} that {aggregator} can "
            "ask"
        )
    streams = {
        purpose: site.stream(traffic.name, aggregator, purpose) for purpose in ("starts", "workers", "jitter", "sizes")
    }
    starts = draw_starts(traffic.arrivals, streams["starts"], traffic.start_ns, traffic.stop_ns)
    shape = (len(starts), traffic.fan_out)
    flows = len(starts) * traffic.fan_out
    return _Queries(
        starts,
        site.indices(workers)[draw_subsets(streams["workers"], len(workers), *shape)],
        jitter(streams["jitter"], traffic.jitter_ns, flows).reshape(shape),
        draw_sizes(traffic.response, streams["sizes"], flows).reshape(shape),
    )


def draw_subsets(stream: Stream, members: int, count: int, size: int) -> Integers:
    """Return `count` rows of `size` different numbers below `members`, all choices equally likely (the shuffle
    of Fisher and Yates)."""
    rows_at_a_time = max(1, _CELLS // members)
    blocks = [np.zeros((0, size), dtype=np.int64)]
    for first in range(0, count, rows_at_a_time):
        blocks.append(_shuffled_rows(stream, members, min(rows_at_a_time, count - first), size))
    return np.concatenate(blocks)


def _shuffled_rows(stream: Stream, members: int, count: int, size: int) -> Integers:
    rows = np.tile(np.arange(members, dtype=np.int64), (count, 1))
    every = np.arange(count)
    shares = stream.uniforms(count * size).reshape(count, size)
    for place in range(size):
        chosen = place + np.floor(shares[:, place] * (members - place)).astype(np.int64)
        picked = rows[every, chosen]
        rows[every, chosen] = rows[:, place]
        rows[:, place] = picked
    return rows[:, :size].copy()
