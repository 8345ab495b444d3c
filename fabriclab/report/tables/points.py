"""Tables of a report and of the terminal: which metrics, in which order, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriclab.report.drawing.exhibits import Cell
from fabriclab.report.drawing.pools import PooledRuns, format_interval, format_measure
from fabriclab.report.drawing.style import algorithm_name
from fabriclab.report.drawing.traffic_classes import timed_classes
from fabriclab.report.measured.port_facts import port_facts, receiver_port
from fabriclab.report.measured.quantities import Value, format_metric, format_share, metric_title
from fabriclab.report.measured.scope import most_of, scope_text, table_note
from fabriclab.results import Results
from fabriclab.results.queue_metrics import PORT_LENGTHS
from fabriclab.results.switch_metrics import PORT_METRICS, QUEUE_METRICS

KEY_METRICS = (
    *("goodput_bps", "job_ns", "program_ns", "fct_median_ns", "fct_p99_ns", "queue_mean_bytes", "queue_max_bytes"),
    *("drops", "pool_max_bytes", "queue_drops", "storm_drops", "pauses_sent", "ingress_discards", "ecn_marks"),
    *("stalls", "reconvergence_ns", "reconvergence_unsettled_ns", "srtt_mean_us"),
)
_OF_FAILURES = ("reconvergence_ns", "reconvergence_unsettled_ns")
_ONLY_WHERE_ANY = ("storm_drops", "pauses_sent", "ingress_discards", "ecn_marks")
"""Key figures of switches that tell nothing where they are 0: it has no such queues or groups."""
MOST_KEY_FIGURES = 8
COLUMNS = (
    ("goodput_bps", "Goodput"),
    ("flows_incomplete", "Incomplete flows"),
    ("fct_median_ns", "FCT median"),
    ("fct_p99_ns", "FCT p99"),
    ("job_ns", "Job"),
    ("program_ns", "Program"),
    ("queue_mean_bytes", "Queue mean"),
    ("queue_max_bytes", "Queue max"),
    ("drops", "Drops"),
    ("queue_drops", "Queue drops"),
    ("queue_marks", "Marks"),
    ("timeouts", "Timeouts"),
    ("stalls", "Stalls"),
    ("srtt_mean_us", "sRTT mean"),
    ("reconvergence_ns", "Rerouted after"),
)
MOST_CLASSES = 3
"""With more classes that have completion times there is no room for columns of each."""
_OF_SEEDS = (
    "The numbers are means over the seeds; completion times are those of all flows together. Small numbers are 95 % "
    "intervals, made by resampling the runs."
)
_ACCURACY_UNIT = "_within_ns"
"""`reconvergence_within_ns` is how exact `reconvergence_ns` is (`fabriclab.results.routing`)."""
_COMPLETION_TIMES = ("fct_median_ns", "fct_p99_ns")


@dataclass(frozen=True)
class PointTable:
    """A table of points, one row for those that differ only in their seed; `numbers` tells which columns are
    numbers, aligned right."""

    headings: list[str]
    numbers: list[bool]
    rows: list[list[Cell]]
    whole: list[bool]
    """Whether the row's points are complete."""
    caption: str
    scope: str
    """How many ports its columns cover, in words; empty where that is plain."""


def point_table(
    pools: Sequence[PooledRuns],
    varied: Sequence[str],
    leave_out: Sequence[str] = (),
    digits: int = 4,
    *,
    by_class: bool = True,
) -> PointTable:
    """Return one row for every pool, those without results included.

    Columns that nobody measured are left out, those of `leave_out`, and the status where all points are complete. Where
    several classes have completion times, these are by class, or not there at all. A pool of several seeds has the mean
    over its runs, of completion times the statistic of all flows together, and the interval as the cell's detail.
    """
    columns = _columns(pools, leave_out, by_class=by_class)
    named = varied or tuple(dict.fromkeys(name for pool in pools for name in pool.pool.settings))
    headings = [name.rpartition(".")[2].replace("_", " ") for name in named]
    rows = [[Cell(_setting(name, pool)) for name in named] for pool in pools]
    numbers = [name not in ("variant", "congestion_control") for name in named]
    whole = [pool.is_whole for pool in pools]
    if not all(whole):
        headings, numbers = [*headings, "Status"], [*numbers, False]
        rows = [[*row, Cell(_status(pool))] for row, pool in zip(rows, pools, strict=True)]
    headings, numbers = [*headings, *(title for _, title in columns)], [*numbers, *(True for _ in columns)]
    rows = [
        [*row, *_cells(pool, [metric for metric, _ in columns], digits)] for row, pool in zip(rows, pools, strict=True)
    ]
    repeated = any(len(pool.points) > 1 for pool in pools)
    if repeated:
        headings, numbers = [*headings, "Seeds"], [*numbers, True]
        rows = [[*row, Cell(_seeds(pool))] for row, pool in zip(rows, pools, strict=True)]
    of_ports = table_note((run for pool in pools for run in pool.runs[:1]), [metric for metric, _ in columns])
    return PointTable(headings, numbers, rows, whole, _OF_SEEDS if repeated else "", of_ports)


def metric_rows(results: Results, *, of_ports: bool | None = None) -> list[tuple[str, str]]:
    """Return every measured metric of a run as title and text; a port's own are left out where only one port is
    sampled.

    So are those of a shared buffer's ports and queues: they have a table, and there are many. `of_ports`: only those of
    single ports, or only the others.
    """
    ports = results.plan.probes.queue_ports
    hidden = tuple(f"[{port}]" for port in ports) if len(ports) == 1 else ()
    shown = {
        name: value
        for name, value in results.summary.items()
        if value is not None and not (hidden and name.endswith(hidden))
    }
    return [
        (metric_title(name), _with_accuracy(results, name, value))
        for name, value in shown.items()
        if not _stands_elsewhere(name) and of_ports in (None, _is_of_port(name))
    ]


def _is_of_port(metric: str) -> bool:
    """Return whether a metric is of one port, such as `drops[leaf1:eth1]`."""
    return ":" in metric.partition("[")[2]


def _with_accuracy(results: Results, name: str, value: Value) -> str:
    accuracy = _accuracy(results, name)
    return format_metric(name, value) + (f" ({accuracy})" if accuracy else "")


def _stands_elsewhere(metric: str) -> bool:
    """Return whether a metric has a table of its own, or stands beside the one whose accuracy it is."""
    name, bracket, _ = metric.partition("[")
    return (bool(bracket) and name in (*QUEUE_METRICS, *PORT_METRICS)) or name.endswith(_ACCURACY_UNIT)


def key_figures(results: Results) -> list[tuple[str, str, str]]:
    """Return the few figures that are shown large: title, text, and what they are to be compared with."""
    summary, figures = results.summary, []
    for metric in KEY_METRICS:
        name = _of_busiest(results, metric) if metric == "stalls" else metric
        value = summary.get(name)
        if value is not None and (value or name not in _ONLY_WHERE_ANY):
            figures.append((metric_title(metric), format_metric(metric, value), _context(results, name, float(value))))
    if summary.get("flows") != 0:
        complete, every = (format_metric("flows", summary.get(name)) for name in ("flows_complete", "flows"))
        figures.insert(1, ("Flows complete", f"{complete} of {every}", ""))
    return _few(figures)


def _of_busiest(results: Results, metric: str) -> str:
    """Return the metric of the port with the longest queue, where several are sampled: a port that nothing passes is
    silent without any timer."""
    most = most_of(results, "queue_mean_bytes")
    return metric if most is None or most.sampled < 2 else f"{metric}[{most.port}]"


def _few(figures: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return the first figures, and in the place of the last what routing did after a failure: who makes a link fail
    asks for that."""
    kept, left = list(figures[:MOST_KEY_FIGURES]), figures[MOST_KEY_FIGURES:]
    asked = [figure for figure in left if figure[0] in map(metric_title, _OF_FAILURES)]
    return [*kept[: MOST_KEY_FIGURES - len(asked)], *asked]


def _context(results: Results, name: str, value: float) -> str:
    """Return what a key figure covers, and what it is to be compared with."""
    if name == "pool_max_bytes":
        return _of_pool(results)
    if name.startswith("stalls["):
        return f"at {name.partition('[')[2].rstrip(']')}, which has the longest queue"
    return "; ".join(filter(None, (scope_text(results, name), _compared(results, name, value))))


def _compared(results: Results, name: str, value: float) -> str:
    if name == "goodput_bps":
        receiver = receiver_port(results)
        return "" if receiver is None else f"{format_share(value / receiver.goodput_limit_bps)} of the link's maximum"
    if name not in PORT_LENGTHS:
        return _accuracy(results, name)
    most = most_of(results, name)
    port = port_facts(results, most.port) if most is not None else None
    if port is None:
        return ""
    if name == "queue_max_bytes" and port.limit_bytes is not None:
        what = "buffer" if port.has_own_buffer else "that a queue can get"
        return f"of {format_metric('_bytes', port.limit_bytes)} {what}"
    if name == "queue_mean_bytes" and port.threshold_bytes:
        return f"threshold {format_metric('_bytes', port.threshold_bytes)}"
    return ""


def _accuracy(results: Results, name: str) -> str:
    """Return by how much a time of routing may be too long, where the engine can't look at all routes
    at once; else nothing."""
    metric, bracket, event = name.partition("[")
    within = results.summary.get(f"{metric.removesuffix('_ns')}{_ACCURACY_UNIT}{bracket}{event}")
    return "" if within is None else f"or up to {format_metric('_ns', within, 2)} sooner"


def _of_pool(results: Results) -> str:
    """Return the size of the pool that the bare metric is of: the first with so much in use."""
    most = results.summary.get("pool_max_bytes")
    for node in results.plan.nodes:
        for pool in () if node.switch is None else node.switch.pools:
            if results.summary.get(f"pool_max_bytes[{node.name}:{pool.name}]") == most:
                return f"of {format_metric('_bytes', pool.size_bytes)}, {pool.name} of {node.name}"
    return ""


def metric_columns(pools: Sequence[PooledRuns], metrics: Sequence[str]) -> list[tuple[str, str]]:
    """Return metric and heading of those columns of a table of points that are of these metrics."""
    return _columns(pools, [metric for metric, _ in COLUMNS if metric not in metrics], by_class=True)


def _columns(pools: Sequence[PooledRuns], leave_out: Sequence[str], *, by_class: bool) -> list[tuple[str, str]]:
    """Return metric and heading of each column."""
    runs = [run for pool in pools for run in pool.runs]
    classes = timed_classes(runs)
    shown = [""] if len(classes) < 2 else classes if by_class and len(classes) <= MOST_CLASSES else []
    complete = all(run.summary.get("flows_incomplete") == 0 for run in runs)
    columns: list[tuple[str, str]] = []
    for metric, title in COLUMNS:
        if metric in leave_out or (metric == "flows_incomplete" and complete):
            continue
        of = shown if metric in _COMPLETION_TIMES else [""]
        columns += [(f"{metric}[{name}]", f"{name} {title}") if name else (metric, title) for name in of]
    return [(metric, title) for metric, title in columns if any(run.summary.get(metric) is not None for run in runs)]


def _cells(pool: PooledRuns, metrics: Sequence[str], digits: int) -> list[Cell]:
    measures = [(metric, pool.measure(metric)) for metric in metrics]
    return [
        Cell(format_measure(metric, measure, digits), format_interval(metric, measure)) for metric, measure in measures
    ]


def _seeds(pool: PooledRuns) -> str:
    whole = sum(point.is_whole for point in pool.points)
    return str(whole) if whole == len(pool.points) else f"{whole} of {len(pool.points)}"


def _status(pool: PooledRuns) -> str:
    broken = [point for point in pool.points if not point.is_whole]
    if not broken:
        return "complete"
    status = next((point.status for point in broken if point.status != "complete"), "complete")
    return f"incomplete ({status})" if any(point.results is not None for point in broken) else status


def _setting(name: str, pool: PooledRuns) -> str:
    value = pool.parameters.get(name)
    if value is None:
        return "–"
    return algorithm_name(str(value)) if name in ("variant", "congestion_control") else str(value)
