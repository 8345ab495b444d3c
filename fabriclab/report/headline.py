"""What a report begins with: one sentence of what was found, out of the data."""

from __future__ import annotations

from collections.abc import Sequence

from fabriclab.report.drawing.pools import PooledRuns, format_measure
from fabriclab.report.drawing.traffic_classes import headline_metric
from fabriclab.report.measured.port_facts import receiver_port
from fabriclab.report.measured.quantities import format_metric, format_share, metric_title
from fabriclab.report.measured.scope import scope_text
from fabriclab.report.tables.checks import tally_of
from fabriclab.results import Results


def finding_of_run(results: Results) -> str:
    """Return what a run found: flows, goodput or completion time, losses, checks; what was not measured is not named.

    Empty for a run that is invalid: it found nothing.
    """
    if results.status == "starved":
        return ""
    summary = results.summary
    parts = [
        f"{format_metric('flows', summary.get('flows_complete'))} of {format_metric('flows', summary.get('flows'))} "
        "flows completed"
    ]
    if summary.get("flows") == 0 and any(each.program_nodes() for each in results.plan.traffic):
        parts = []
    metric = headline_metric([results])
    for name in dict.fromkeys((metric, "goodput_bps", "program_ns")):
        value = summary.get(name)
        if value is not None:
            parts.append(f"{metric_title(name)} {format_metric(name, value)}{_of_maximum(results, name, float(value))}")
    drops = summary.get("drops")
    if drops is not None:
        where = scope_text(results, "drops")
        parts.append(f"{format_metric('drops', drops)} packets dropped{f' {where}' if where else ''}")
    return f"{'; '.join([*parts, *_checks([results])])}."


def finding_of_sweep(pools: Sequence[PooledRuns]) -> str:
    """Return what a sweep found: where what tells most of it is highest and lowest, and how many checks pass;
    empty without results."""
    present = [pool for pool in pools if pool.runs]
    if not present:
        return ""
    metric = headline_metric(present[0].runs)
    measured = [(measure, pool) for pool in present if (measure := pool.measure(metric)).value is not None]
    checks = _checks([run for pool in present for run in pool.runs])
    if not measured:
        return f"{checks[0]}." if checks else ""
    ordered = sorted(measured, key=lambda pair: pair[0].value or 0.0)
    (lowest, low), (highest, high) = ordered[0], ordered[-1]
    most = f"{format_measure(metric, highest)} ({high.label})"
    text = f"{metric_title(metric)} {format_measure(metric, highest)} with {high.label}"
    if len(measured) > 1:
        text = f"{metric_title(metric)} from {format_measure(metric, lowest)} ({low.label}) to {most}"
    return f"{'; '.join([text, *checks])}."


def _of_maximum(results: Results, metric: str, value: float) -> str:
    port = receiver_port(results) if metric == "goodput_bps" else None
    return f", {format_share(value / port.goodput_limit_bps)} of the link's maximum" if port is not None else ""


def _checks(runs: Sequence[Results]) -> list[str]:
    tally = tally_of(runs)
    return [] if tally is None else [tally.text(" checks")]
