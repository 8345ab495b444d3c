"""What a plan says of the traffic: its classes in the order of the experiment, and sizes that were cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from fabriclab.formats.plan.traffic import DistributedSize, Size
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.measured.quantities import format_metric
from fabriclab.results import Results

_OPEN_LOOP = {"arrivals", "query"}
"""Kinds of traffic that come whatever becomes of what came before: its goodput is what was offered."""


def sized_classes(pools: Sequence[PooledRuns]) -> list[str]:
    """Return the classes that have sized flows, in the order of the experiment's traffic;
    those of a trace of the user's come last."""
    found: set[str] = set()
    for pool in pools:
        if pool.runs:
            sized = pool.flows.filter(pl.col("size_bytes").is_not_null() & pl.col("class").is_not_null())
            found |= set(sized.select(pl.col("class").unique()).collect(engine="streaming")["class"])
    named = dict.fromkeys(traffic.name for pool in pools for run in pool.runs[:1] for traffic in run.plan.traffic)
    return [name for name in named if name in found] + sorted(found - set(named))


def timed_classes(runs: Sequence[Results]) -> list[str]:
    """Return the classes of which the runs' summaries have completion times,
    in the order of the experiment's traffic."""
    found = dict.fromkeys(name for run in runs for metric in run.summary if (name := _class_of(metric)))
    named = dict.fromkeys(traffic.name for run in runs[:1] for traffic in run.plan.traffic)
    return [name for name in named if name in found] + [name for name in found if name not in named]


def _class_of(metric: str) -> str:
    return metric.removeprefix("fct_mean_ns[").removesuffix("]") if metric.startswith("fct_mean_ns[") else ""


def cap_notes(runs: Iterable[Results]) -> list[str]:
    """Return a sentence for each size distribution that was cut: the numbers are not those of the distribution
    that it is named after."""
    notes: dict[str, None] = {}
    for run in runs:
        for traffic in run.plan.traffic:
            if note := _cap_note(traffic.name, traffic.drawn_size):
                notes[note] = None
    return list(notes)


def _cap_note(traffic: str, size: Size | None) -> str:
    if not isinstance(size, DistributedSize) or not size.cap_bytes:
        return ""
    cap = format_metric("_bytes", size.cap_bytes)
    mean = format_metric("_bytes", size.mean_bytes, 3)
    return f"The sizes of {traffic} follow the distribution {size.name}, cut at {cap} (mean {mean})."


def headline_metric(runs: Sequence[Results]) -> str:
    """Return the metric that tells most of runs: the time of an operation where there are collectives, the mean
    completion time where flows come by themselves, else the goodput."""
    kinds = {traffic.kind for run in runs[:1] for traffic in run.plan.traffic}
    if kinds == {"program"}:
        return "program_ns"
    if "collective" in kinds:
        return "collective_ns"
    if not kinds & _OPEN_LOOP:
        return "goodput_bps"
    classes = timed_classes(runs[:1])
    return f"fct_mean_ns[{classes[0]}]" if len(classes) > 1 else "fct_mean_ns"


_GROUPS = {"query": "query", "rounds": "round", "shuffle": "phase", "collective": "iteration"}


def group_noun(results: Results, traffic: str) -> str:
    """Return what flows of one group are together: a query, a round, a phase of a job, an iteration, else a
    coflow."""
    kinds = {each.name: each.kind for each in results.plan.traffic}
    return _GROUPS.get(kinds.get(traffic, "trace"), "coflow")


def plural(noun: str) -> str:
    """Return the plural of a noun of `group_noun`."""
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
