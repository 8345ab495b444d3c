"""Open-loop flows: senders start flows by an arrival process, whatever becomes of those before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from fabriclab.formats.plan.traffic import Arrivals, ArrivalsTraffic
from fabriclab.workload.flows import by_start, flow_table
from fabriclab.workload.pairs import Receivers
from fabriclab.workload.randomness import Integers, Stream, rounded
from fabriclab.workload.site import Site
from fabriclab.workload.sizes import draw_sizes

_BLOCK = 1 << 20
"""Most gaps that are drawn at a time."""


def draw_starts(arrivals: Arrivals, stream: Stream, start_ns: int, stop_ns: int) -> Integers:
    """Return the start times from `start_ns` on, nanoseconds, none at `stop_ns` or later.

    Jittered ones may overtake each other.
    """
    span_ns = stop_ns - start_ns
    match arrivals.process:
        case "fixed":
            offsets = _fixed(arrivals, span_ns)
        case "jittered":
            offsets = _fixed(arrivals, span_ns)
            offsets = offsets + jitter(stream, arrivals.jitter_ns, len(offsets))
            offsets = offsets[offsets < span_ns]
        case "poisson":
            offsets = _poisson(stream, arrivals.interval_ns, span_ns)
        case "bursty":
            bursts = _poisson(stream, arrivals.interval_ns * arrivals.burst_flows, span_ns)
            offsets = np.repeat(bursts, arrivals.burst_flows)
    return offsets + start_ns


def jitter(stream: Stream, jitter_ns: int, count: int) -> Integers:
    """Return uniform draws of [0, jitter_ns) nanoseconds; without jitter zeroes, and nothing is drawn."""
    return stream.below(jitter_ns, count) if jitter_ns else np.zeros(count, dtype=np.int64)


def _fixed(arrivals: Arrivals, span_ns: int) -> Integers:
    return np.arange(0, span_ns, arrivals.interval_ns, dtype=np.int64)


def _poisson(stream: Stream, mean_ns: int, span_ns: int) -> Integers:
    """Return the times below `span_ns` of a Poisson process; the first gap begins at 0.

    Sums of whole nanoseconds: no rounding adds up.
    """
    blocks: list[Integers] = []
    reached_ns = 0
    while reached_ns < span_ns:
        count = min(_BLOCK, (span_ns - reached_ns) // mean_ns + 64)
        times = reached_ns + np.cumsum(rounded(stream.exponentials(float(mean_ns), count)))
        blocks.append(times)
        reached_ns = int(times[-1])
    every = np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.int64)
    return every[every < span_ns]


def jitters(traffic: str, senders: Sequence[str], jitter_ns: int, count: int, site: Site) -> Integers:
    """Return each sender's `count` shifts: an array of `count` rows with a column for each sender."""
    return np.column_stack([jitter(site.stream(traffic, sender, "jitter"), jitter_ns, count) for sender in senders])


def arrivals_table(traffic: ArrivalsTraffic, site: Site) -> pl.DataFrame:
    """Return the flows of an arrival process."""
    receivers = Receivers(traffic.pairs, site, traffic.name)
    senders = site.order(traffic.name, traffic.pairs.senders)
    starts = [
        draw_starts(traffic.arrivals, site.stream(traffic.name, sender, "starts"), traffic.start_ns, traffic.stop_ns)
        for sender in senders
    ]
    counts = [len(of_sender) for of_sender in starts]
    columns = {
        "start_ns": np.concatenate(starts),
        "src": np.repeat(site.indices(senders), counts),
        "dst": np.concatenate([receivers.of(sender, count) for sender, count in zip(senders, counts, strict=True)]),
        "size_bytes": np.concatenate(
            [
                draw_sizes(traffic.size, site.stream(traffic.name, sender, "sizes"), count)
                for sender, count in zip(senders, counts, strict=True)
            ]
        ),
        "mode": traffic.mode,
        "deadline_ns": traffic.deadline_ns,
    }
    return by_start(flow_table(site, traffic.name, traffic.carrier, columns))
