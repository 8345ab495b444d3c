"""Tables of a report and of the terminal: which metrics, in which order, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriclab.report.network import receiver_port
from fabriclab.report.quantities import format_metric, format_share, metric_title
from fabriclab.report.style import algorithm_name
from fabriclab.results import Results, Sweep, SweepPoint

KEY_METRICS = (
    *("goodput_bps", "fct_median_ns", "fct_p99_ns", "queue_mean_bytes", "queue_max_bytes"),
    *("drops", "stalls", "reconvergence_ns", "srtt_mean_us"),
)
MOST_KEY_FIGURES = 8
COLUMNS = (
    ("goodput_bps", "Goodput"),
    ("flows_incomplete", "Incomplete flows"),
    ("fct_median_ns", "FCT median"),
    ("fct_p99_ns", "FCT p99"),
    ("queue_mean_bytes", "Queue mean"),
    ("queue_max_bytes", "Queue max"),
    ("drops", "Drops"),
    ("queue_marks", "Marks"),
    ("timeouts", "Timeouts"),
    ("stalls", "Stalls"),
    ("srtt_mean_us", "sRTT mean"),
    ("reconvergence_ns", "Rerouted after"),
)


@dataclass(frozen=True)
class PointTable:
    """A table of points: headings and rows of text; `numbers` tells which columns are numbers, to be aligned right."""

    headings: list[str]
    numbers: list[bool]
    rows: list[list[str]]
    whole: list[bool]
    """Whether the row's point is complete."""


def point_table(sweep: Sweep, leave_out: Sequence[str] = (), digits: int = 4) -> PointTable:
    """Return one row for every point of a sweep, those without results included.

    Columns that nobody measured are left out, those of `leave_out`, and the status where all points are complete.
    """
    columns = [
        (metric, title)
        for metric, title in COLUMNS
        if metric not in leave_out and any(run.summary.get(metric) is not None for run in sweep.runs)
    ]
    if all(run.summary.get("flows_incomplete") == 0 for run in sweep.runs):
        columns = [column for column in columns if column[0] != "flows_incomplete"]
    varied = sweep.varied or tuple(dict.fromkeys(name for point in sweep.points for name in point.settings))
    headings = [name.rpartition(".")[2].replace("_", " ") for name in varied] + [title for _, title in columns]
    rows = [_row(point, varied, [metric for metric, _ in columns], digits) for point in sweep.points]
    numbers = [name not in ("variant", "congestion_control") for name in varied] + [True] * len(columns)
    whole = [point.is_whole for point in sweep.points]
    if not all(whole):
        headings, numbers = [*headings, "Status"], [*numbers, False]
        rows = [[*row, _status(point)] for row, point in zip(rows, sweep.points, strict=True)]
    return PointTable(headings, numbers, rows, whole)


def metric_rows(results: Results) -> list[tuple[str, str]]:
    """Return every measured metric of a run as title and text; a port's own are left out where only one port is sampled."""
    ports = results.plan.get("probes", {}).get("queue_ports") or []
    hidden = tuple(f"[{port}]" for port in ports) if len(ports) == 1 else ()
    shown = {name: value for name, value in results.summary.items() if value is not None and not (hidden and name.endswith(hidden))}
    return [(metric_title(name), format_metric(name, value)) for name, value in shown.items()]


def key_figures(results: Results) -> list[tuple[str, str, str]]:
    """Return the few figures that are shown large: title, text, and what they are to be compared with."""
    summary, figures = results.summary, []
    for name in KEY_METRICS:
        value = summary.get(name)
        if value is not None:
            figures.append((metric_title(name), format_metric(name, value), _context(results, name, float(value))))
    flows = f"{format_metric('flows', summary.get('flows_complete'))} of {format_metric('flows', summary.get('flows'))}"
    figures.insert(1, ("Flows complete", flows, ""))
    return figures[:MOST_KEY_FIGURES]


def _context(results: Results, name: str, value: float) -> str:
    port = receiver_port(results)
    if port is None:
        return ""
    if name == "goodput_bps":
        return f"{format_share(value / port.goodput_limit_bps)} of the link's maximum"
    if name == "queue_max_bytes":
        return f"of {format_metric('_bytes', port.limit_bytes)} buffer"
    if name == "queue_mean_bytes" and port.threshold_bytes:
        return f"threshold {format_metric('_bytes', port.threshold_bytes)}"
    return ""


def _row(point: SweepPoint, varied: Sequence[str], metrics: Sequence[str], digits: int) -> list[str]:
    settings = [_setting(name, point) for name in varied]
    summary = point.results.summary if point.results is not None else {}
    return [*settings, *(format_metric(name, summary.get(name), digits) for name in metrics)]


def _status(point: SweepPoint) -> str:
    if point.is_whole:
        return "complete"
    return f"incomplete ({point.status})" if point.results is not None else point.status


def _setting(name: str, point: SweepPoint) -> str:
    value = point.parameters.get(name)
    if value is None:
        return "–"
    return algorithm_name(str(value)) if name in ("variant", "congestion_control") else str(value)
