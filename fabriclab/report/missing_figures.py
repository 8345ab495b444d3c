"""Figures that an experiment asks for and that a report has not: what stands in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabriclab.formats.figures import BY_NAME
from fabriclab.report.drawing.curves import setting_noun
from fabriclab.report.drawing.exhibits import Absent, Exhibit
from fabriclab.report.drawing.traffic_classes import timed_classes
from fabriclab.report.measured.quantities import metric_title
from fabriclab.results import Results

Figure = dict[str, Any]


def absent(figure: Figure, runs: Sequence[Results], varied: Sequence[str]) -> Absent:
    """Return what stands in the place of a figure of which these runs have nothing to show."""
    return Absent(_title(figure), _reason(figure, runs, varied))


def together(exhibits: Sequence[Exhibit]) -> list[Exhibit]:
    """Return the exhibits with those that are absent for one reason in the place of the first of them."""
    titles: dict[str, dict[str, None]] = {}
    for exhibit in exhibits:
        if isinstance(exhibit, Absent):
            titles.setdefault(exhibit.reason, {})[exhibit.title] = None
    shown: list[Exhibit] = []
    for exhibit in exhibits:
        if not isinstance(exhibit, Absent):
            shown.append(exhibit)
        elif exhibit.reason in titles:
            shown.append(Absent("; ".join(titles.pop(exhibit.reason)), exhibit.reason))
    return shown


def _title(figure: Figure) -> str:
    kind = str(figure["kind"])
    if kind == "metric":
        title = metric_title(str(figure.get("metric", "goodput_bps")))
        return f"{title} against {setting_noun(str(figure['x']))}" if figure.get("x") else title
    traffic = figure.get("traffic") or ()
    place = figure.get("port") or figure.get("switch") or ", ".join((traffic,) if isinstance(traffic, str) else traffic)
    queue = f", queue {figure['queue']}" if figure.get("queue") is not None else ""
    return f"{BY_NAME[kind].title}{f' ({place}{queue})' if place else ''}"


def _reason(figure: Figure, runs: Sequence[Results], varied: Sequence[str]) -> str:
    kind, port = str(figure["kind"]), figure.get("port")
    needs = BY_NAME[kind].needs
    if not runs:
        return "no point with the parameters of its `where` has results"
    if kind == "metric":
        return _no_metric(figure, runs, varied)
    if needs == "queues" and (lacks := _no_queue(runs, port, figure.get("queue"))):
        return lacks
    if needs == "switches" and not any(run.switches.is_sampled for run in runs):
        return "no switch with a shared buffer was sampled (probes.switches)"
    if needs == "tcp" and all(run.measured.tcp is None for run in runs):
        return "no TCP connection was sampled (probes.tcp)"
    if needs == "completion" and (lacks := _no_completion(figure, runs)):
        return lacks
    return BY_NAME[kind].none_of


def _no_metric(figure: Figure, runs: Sequence[Results], varied: Sequence[str]) -> str:
    metric, x = str(figure.get("metric", "goodput_bps")), figure.get("x")
    if x is not None and x not in varied:
        return "the parameter of the horizontal axis has only one value here; a sweep that varies it shows the figure"
    if all(run.summary.get(metric) is None for run in runs):
        return f"no point has {metric_title(metric)}"
    return "no point has both the number and a value on the horizontal axis"


def _no_queue(runs: Sequence[Results], port: str | None, queue: int | None) -> str:
    """Return why there is no queue to draw; empty where one was sampled."""
    probes = [run.plan.probes for run in runs]
    ports = {each for probe in probes for each in probe.queue_ports}
    switch_ports = {each for probe in probes for each in probe.switch_ports}
    if queue is not None and not any(run.switches.is_sampled for run in runs):
        return "no switch with a shared buffer was sampled (probes.switches)"
    if port is not None and port not in ports | switch_ports:
        return f"{port} was not sampled (probes.queues)"
    if not ports | switch_ports:
        return "no queue was sampled (probes.queues)"
    sampled = any(run.measured.queues is not None or run.switches.is_sampled for run in runs)
    return "" if sampled else "the samples are missing: the run was cut short"


def _no_completion(figure: Figure, runs: Sequence[Results]) -> str:
    traffic = figure.get("traffic") or ()
    wanted = (traffic,) if isinstance(traffic, str) else tuple(traffic)
    timed = timed_classes(runs)
    if wanted and not set(wanted) & set(timed):
        others = f"; {', '.join(timed)} {'has' if len(timed) == 1 else 'have'} completion times" if timed else ""
        return f"no flow of {' or '.join(wanted)} has a completion time{others}"
    is_timed = any(run.summary.get("fct_mean_ns") is not None for run in runs)
    return "" if is_timed else "no flow has a completion time"
