"""Flows whose times are given: synchronised rounds, long flows, single flows, iperf3's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from fabriclab.formats.plan.traffic import FlowsTraffic, Iperf3Traffic, LongTraffic, RoundsTraffic
from fabriclab.workload.arrivals import jitter
from fabriclab.workload.flows import by_start, flow_table
from fabriclab.workload.pairs import Receivers
from fabriclab.workload.randomness import Integers
from fabriclab.workload.site import Site


def rounds_table(traffic: RoundsTraffic, site: Site) -> pl.DataFrame:
    """Return the flows of synchronised rounds: group `NAME.r2` waits for `NAME.r1`."""
    senders = site.order(traffic.name, traffic.senders)
    rounds = np.repeat(np.arange(traffic.rounds), len(senders))
    shifts = _jitters(traffic.name, senders, traffic.jitter_ns, traffic.rounds, site)
    table = flow_table(
        site,
        traffic.name,
        traffic.carrier,
        {
            "start_ns": np.where(rounds == 0, traffic.start_ns, 0) + shifts.ravel(),
            "src": np.tile(site.indices(senders), traffic.rounds),
            "dst": site.indices([traffic.receiver])[0],
            "size_bytes": traffic.size_bytes,
            "mode": traffic.mode,
            "connection": traffic.name if traffic.connection == "kept" else None,
        },
    )
    number = pl.Series("round", rounds)
    table = table.with_columns(number).with_columns(
        group=pl.format(f"{traffic.name}.r{{}}", "round"),
        after=pl.when(pl.col("round") > 0).then(pl.format(f"{traffic.name}.r{{}}", pl.col("round") - 1)),
    )
    return table.sort("round", "start_ns", maintain_order=True).drop("round")


def long_table(traffic: LongTraffic, site: Site) -> pl.DataFrame:
    """Return long flows. Where a sender has several, every sender's first comes before any second."""
    # Apart from each other they start in the order written.
    senders = list(traffic.senders) if traffic.stagger_ns else site.order(traffic.name, traffic.senders)
    receivers = _receivers(traffic, senders, site)
    counts = [len(of_sender) for of_sender in receivers]
    order = np.argsort(np.concatenate([np.arange(count) for count in counts]), kind="stable")
    shifts = [
        jitter(site.stream(traffic.name, sender, "jitter"), traffic.jitter_ns, count)
        for sender, count in zip(senders, counts, strict=True)
    ]
    columns = {
        "start_ns": traffic.start_ns + np.arange(len(order)) * traffic.stagger_ns + np.concatenate(shifts)[order],
        "src": np.repeat(site.indices(senders), counts)[order],
        "dst": np.concatenate(receivers)[order],
        "stop_ns": traffic.stop_ns,
        "mode": "push",
    }
    return by_start(flow_table(site, traffic.name, traffic.carrier, columns))


def flows_table(traffic: FlowsTraffic, site: Site) -> pl.DataFrame:
    """Return single flows of one size."""
    senders = site.order(traffic.name, traffic.senders)
    starts = traffic.start_ns + np.repeat(np.arange(traffic.count), len(senders)) * traffic.interval_ns
    columns = {
        "start_ns": starts + _jitters(traffic.name, senders, traffic.jitter_ns, traffic.count, site).ravel(),
        "src": np.tile(site.indices(senders), traffic.count),
        "dst": site.indices([traffic.receiver])[0],
        "size_bytes": traffic.size_bytes,
        "mode": traffic.mode,
    }
    return by_start(flow_table(site, traffic.name, traffic.carrier, columns))


def iperf3_table(traffic: Iperf3Traffic, site: Site) -> pl.DataFrame:
    """Return the long flows that iperf3 sends."""
    senders = site.order(traffic.name, traffic.senders)
    columns = {
        "start_ns": np.full(len(senders), traffic.start_ns),
        "src": site.indices(senders),
        "dst": site.indices([traffic.receiver])[0],
        "stop_ns": traffic.stop_ns,
        "mode": "iperf3",
    }
    return flow_table(site, traffic.name, traffic.carrier, columns)


def _jitters(traffic: str, senders: Sequence[str], jitter_ns: int, count: int, site: Site) -> Integers:
    """Return each sender's `count` shifts: an array of `count` rows with a column for each sender."""
    return np.column_stack([jitter(site.stream(traffic, sender, "jitter"), jitter_ns, count) for sender in senders])


def _long_flows(traffic: LongTraffic, sender: str) -> int:
    if traffic.pairs is None or traffic.pairs.pattern != "all-to-all":
        return 1
    return sum(receiver != sender for receiver in traffic.pairs.receivers)


def _receivers(traffic: LongTraffic, senders: Sequence[str], site: Site) -> list[Integers]:
    """Return the receivers of each sender: one, or all where everyone sends to all."""
    if traffic.pairs is None:
        return [site.indices([traffic.receiver or ""])] * len(senders)
    receivers = Receivers(traffic.pairs, site, traffic.name)
    if traffic.pairs.pattern != "all-to-all":
        return [receivers.of(sender, 1) for sender in senders]
    return [receivers.of(sender, len(set(traffic.pairs.receivers) - {sender})) for sender in senders]
