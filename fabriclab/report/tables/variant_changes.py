"""What a variant changes: each metric against the first variant's, run by run of the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriclab.report.drawing.curves import setting_label, setting_noun, value_text
from fabriclab.report.drawing.exhibits import Cell, DataTable, RowGroup
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.measured.quantities import setting_number
from fabriclab.report.tables.points import metric_columns
from fabriclab.results.paired_differences import Change, paired_change

_METRICS = (
    "goodput_bps",
    "job_ns",
    "fct_median_ns",
    "fct_p99_ns",
    "queue_mean_bytes",
    "srtt_mean_us",
    "reconvergence_ns",
)
_ALTERNATIVES = ("variant", "congestion_control")
FEW_PAIRS = 10
"""Percentile intervals of fewer pairs cover less than their 95 %."""


def change_table(pools: Sequence[PooledRuns], varied: Sequence[str]) -> DataTable | None:
    """Return the changes from the first alternative to the others, in groups of what else varies.

    The alternatives are variants, else congestion controls, else the first setting that is not a number; None without
    alternatives.
    """
    present = [pool for pool in pools if pool.runs]
    name = _alternatives(present, varied)
    if name is None:
        return None
    columns = metric_columns(present, _METRICS)
    others = [other for other in varied if other != name]
    base_value = present[0].parameters.get(name)
    groups, pairs = [], set()
    for key, members in _grouped(present, others).items():
        base = next((pool for pool in members if pool.parameters.get(name) == base_value), None)
        rows = []
        for pool in members if base is not None else []:
            assert base is not None
            changes = [paired_change(base.pool, pool.pool, metric) for metric, _ in columns]
            if pool is not base and any(changes):
                rows.append([Cell(value_text(name, pool.parameters.get(name))), *map(_cell, changes)])
                pairs |= {change.pairs for change in changes if change is not None}
        if rows:
            groups.append(
                RowGroup(", ".join(setting_label(other, value) for other, value in zip(others, key, strict=True)), rows)
            )
    if not groups:
        return None
    headings = [setting_noun(name), *(title for _, title in columns)]
    title = f"Changes against {value_text(name, base_value)}"
    return DataTable(title, _caption(pairs), headings, [False] + [True] * len(columns), groups)


def _alternatives(pools: Sequence[PooledRuns], varied: Sequence[str]) -> str | None:
    named = [name for name in _ALTERNATIVES if name in varied]
    named += [name for name in varied if any(setting_number(pool.parameters.get(name)) is None for pool in pools)]
    return next((name for name in named if len({str(pool.parameters.get(name)) for pool in pools}) > 1), None)


def _grouped(
    pools: Sequence[PooledRuns], names: Sequence[str]
) -> dict[tuple[str | int | float | bool | None, ...], list[PooledRuns]]:
    groups: dict[tuple[str | int | float | bool | None, ...], list[PooledRuns]] = {}
    for pool in pools:
        groups.setdefault(tuple(pool.parameters.get(name) for name in names), []).append(pool)
    return groups


def _cell(change: Change | None) -> Cell:
    if change is None or change.ratio.value is None:
        return Cell("–")
    low, high = change.ratio.low, change.ratio.high
    return Cell(
        f"{_percent(change.ratio.value)} %",
        "" if low is None or high is None else f"{_percent(low)} to {_percent(high)}",
    )


def _percent(ratio: float) -> str:
    percent = 100 * (ratio - 1)
    text = f"{percent:+,.0f}" if abs(percent) >= 100 else f"{percent:+.1f}"
    return text.replace("-", "\u2212")


def _caption(pairs: set[int]) -> str:
    return " ".join(_sentences(pairs))


def _sentences(pairs: set[int]) -> Iterator[str]:
    if pairs == {1}:
        yield (
            "There is one run on each side, with the same seed, so there is no interval, and the effect of the seed "
            "is not known."
        )
        return
    yield (
        "Changes are in per cent of the mean over the runs; completion times are each run's own median and percentile."
    )
    paired = sorted(count for count in pairs if count)
    if paired:
        seeds = str(paired[0]) if len(paired) == 1 else f"{paired[0]} to {paired[-1]}"
        yield (
            f"Runs of the same seed are compared with each other: {seeds} seeds. Small numbers are 95 % intervals, "
            "made by resampling these pairs."
        )
    if paired and paired[0] < FEW_PAIRS:
        yield f"With fewer than {FEW_PAIRS} seeds the intervals are somewhat too narrow."
    if 0 in pairs:
        yield "If the two sides have no common seed, all their runs are compared, without an interval."
