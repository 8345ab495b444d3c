"""Two sides, point by point and metric by metric, with verdicts that hold together."""

from __future__ import annotations

import filecmp
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import polars as pl

from fabriclab.comparison.changes import changes
from fabriclab.comparison.matching import match, side
from fabriclab.comparison.records import ComparedMetric, ComparedPoint, Comparison, Verdict
from fabriclab.errors import ArgumentError
from fabriclab.formats.metrics import BY_NAME, METRICS
from fabriclab.keys.wording import did_you_mean
from fabriclab.report.measured.quantities import metric_dimension
from fabriclab.results import Pool, Results, Sweep
from fabriclab.results.differences import FEWEST, Difference, difference, holm
from fabriclab.results.sweep import SEED

LEVEL = 0.95
ALL = "all"
HEADLINES = (
    *(
        "goodput_bps",
        "job_ns",
        "program_ns",
        "fct_mean_ns",
        "fct_median_ns",
        "fct_p99_ns",
        "coflow_median_ns",
        "coflow_p99_ns",
    ),
    *("slowdown_p99", "flows_incomplete", "timeouts", "stalls", "deadline_misses", "jain_fairness"),
    *("queue_mean_bytes", "queue_p99_bytes", "drops", "queue_drops", "wred_drops", "ingress_discards", "paused_ns"),
    *("srtt_mean_us", "reconvergence_ns"),
)
"""What is compared unless metrics are named: the more tests, the less each of them can show."""
OF_CLASSES = ("throughput_bps", "fct_median_ns", "fct_p99_ns", "coflow_p99_ns")
"""Of these that of each class of flows, too, where there are several."""
SEEDS_TO_ASK = 5
"""What is proposed where there are too few seeds for a verdict."""
_ONE_RUN = "one run each, so the effect of the seed is unknown"
_FEW_RUNS = f"fewer than {FEWEST} seeds"


def compare(
    base: Results | Sweep,
    other: Results | Sweep,
    metrics: Sequence[str] = (),
    level: float = LEVEL,
    asked: Sequence[str] = (),
) -> Comparison:
    """Return how `other` differs from `base`.

    `metrics` names what is compared (`goodput_bps`, `fct_p99_ns[query]`); none: HEADLINES and OF_CLASSES, `all`:
    everything that was measured; `asked` come on top. Raises ArgumentError for a metric or a level that is none.
    """
    check_level(level)
    here, there = side(base), side(other)
    matched = match(here, there)
    pairs = [(before, after) for _, _, before, after in matched.pairs]
    names = _names(metrics, asked, [run for pool in (*here, *there) for run in pool.runs])
    points = tuple(
        ComparedPoint(
            label,
            settings,
            len(_seeds(before) & _seeds(after)),
            (len(before.runs), len(after.runs)),
            _same_flows(before, after),
            tuple(_undecided(name, before, after) for name in names if _is_known(name, before, after)),
        )
        for settings, label, before, after in matched.pairs
    )
    return Comparison(
        str(base.directory),
        str(other.directory),
        changes(here, there, pairs),
        _decided(points, level),
        matched.only_base,
        matched.only_other,
        _again(there),
        level,
    )


def _again(pools: Sequence[Pool]) -> str:
    """Return the command that runs a side with several seeds; empty where nothing ran."""
    runs = [run for pool in pools for run in pool.runs]
    if not runs:
        return ""
    settings = {name: value for name, value in runs[0].manifest.settings.items() if len(runs) == 1 and name != SEED}
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={_as_typed(value)}")]
    return shlex.join(["fabriclab", "sweep", runs[0].plan.lab, *words, "--seeds", str(SEEDS_TO_ASK)])


def _as_typed(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_level(level: float) -> None:
    """Raise ArgumentError for what is not a level of confidence."""
    if not 0.5 <= level < 1:
        raise ArgumentError("level {0}: must be a probability of at least 0.5 and below 1, such as 0.95", level)


def check_metric(name: str) -> None:
    """Raise ArgumentError for what is not a metric, with the nearest one; what stands in brackets is not looked at."""
    bare = name.partition("[")[0]
    if bare not in BY_NAME:
        raise ArgumentError("metric {0!r}: there is no such metric; {1}", name, did_you_mean(bare, list(BY_NAME)))


def _names(metrics: Sequence[str], asked: Sequence[str], runs: Sequence[Results]) -> list[str]:
    """Return the metrics that are compared, in the order of the list of metrics, each with its classes after it."""
    for name in (*metrics, *asked):
        if name != ALL:
            check_metric(name)
    known = dict.fromkeys(chain.from_iterable(run.summary for run in runs))
    ranks = {metric.name: rank for rank, metric in enumerate(METRICS)}
    if ALL in metrics:
        chosen: Iterable[str] = (name for name in known if name.partition("[")[0] in BY_NAME)
    elif metrics:
        chosen = metrics
    else:
        classes = [name for name in known if "[" in name and _is_of_class(name)]
        several = {name for name in classes if sum(other.split("[")[0] == name.split("[")[0] for other in classes) > 1}
        chosen = [*HEADLINES, *several]
    return sorted(dict.fromkeys((*chosen, *asked)), key=lambda name: (ranks[name.partition("[")[0]], name))


def _is_of_class(name: str) -> bool:
    bare, _, place = name.partition("[")
    return bare in OF_CLASSES and ":" not in place


def _is_known(name: str, *pools: Pool) -> bool:
    """Return whether any run of these measured it; what nobody did is not a difference."""
    return any(run.summary.get(name) is not None for pool in pools for run in pool.runs)


def _undecided(name: str, base: Pool, other: Pool) -> ComparedMetric:
    """Return the difference of one metric; the verdict comes with those of all others."""
    values = [_by_seed(pool, name) for pool in (base, other)]
    missing = [where for where, found in zip(("the base", "the other"), values, strict=True) if not found]
    if missing:
        return ComparedMetric(name, None, "not measured", f"{missing[0]} has not measured it")
    found = difference(*values, is_count=metric_dimension(name) == "" and _are_whole(values))
    assert found is not None
    if found.is_same:
        return ComparedMetric(name, found, "same", "")
    return ComparedMetric(name, found, "undecided", _why_untested(found))


def _why_untested(found: Difference) -> str:
    if found.error is not None:
        return ""
    return _ONE_RUN if max(found.runs) == 1 else _FEW_RUNS


def _decided(points: Sequence[ComparedPoint], level: float) -> tuple[ComparedPoint, ...]:
    """Return the points with verdicts: all tests of the comparison are one family."""
    tested = [
        (metric, metric.difference.p_value)
        for point in points
        for metric in point.metrics
        if metric.verdict == "undecided" and metric.difference is not None and metric.difference.p_value is not None
    ]
    fallen = {
        id(metric)
        for (metric, _), falls in zip(tested, holm([p_value for _, p_value in tested], level), strict=True)
        if falls
    }
    return tuple(
        replace(
            point,
            metrics=tuple(
                replace(metric, verdict=_direction(metric)) if id(metric) in fallen else metric
                for metric in point.metrics
            ),
        )
        for point in points
    )


def _direction(metric: ComparedMetric) -> Verdict:
    assert metric.difference is not None
    better = BY_NAME[metric.metric.partition("[")[0]].better
    if better is None:
        return "changed"
    return "better" if (metric.difference.change > 0) == (better == "more") else "worse"


def _by_seed(pool: Pool, name: str) -> Mapping[int, float]:
    values = {run.plan.seed: run.summary.get(name) for run in pool.runs}
    return {seed: float(value) for seed, value in values.items() if value is not None}


def _are_whole(values: Sequence[Mapping[int, float]]) -> bool:
    return all(value.is_integer() for of_side in values for value in of_side.values())


def _seeds(pool: Pool) -> set[int]:
    return {run.plan.seed for run in pool.runs}


def _same_flows(base: Pool, other: Pool) -> bool | None:
    here, there = ({run.plan.seed: run for run in pool.runs} for pool in (base, other))
    common = here.keys() & there.keys()
    return all(_alike(here[seed], there[seed]) for seed in common) if common else None


def _alike(base: Results, other: Results) -> bool:
    """Return whether two runs have the same flows; versions of Polars may write the same table otherwise."""
    here, there = (run.directory / "flows.parquet" for run in (base, other))
    return filecmp.cmp(here, there, shallow=False) or pl.read_parquet(here).equals(pl.read_parquet(there))
