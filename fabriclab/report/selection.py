"""Which figures a report has, and which points of a sweep tell its story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fabriclab.report.figures.curves import Curve, Picture, curve_of, curves_of
from fabriclab.report.figures.flows import fct_cdf
from fabriclab.report.figures.metric import collapse_of, metric_lines, metric_picture
from fabriclab.report.figures.queue import drops_picture, queue_distribution, queue_multiples, queue_picture
from fabriclab.report.figures.tcp import cwnd_picture, throughput_picture
from fabriclab.report.quantities import setting_number
from fabriclab.report.studies import Study
from fabriclab.results import Results, ResultsError, Sweep, SweepPoint

FIGURE_KINDS = ("metric", "queue", "queue-distribution", "drops", "fct-cdf", "cwnd", "throughput")
"""What `report.figures` of an experiment may name as `kind`."""

MOST_POINTS = 4
"""Points that are drawn side by side."""

_RUN_DEFAULT = ("queue", "queue-distribution", "drops", "fct-cdf", "throughput", "cwnd")
_SWEEP_DEFAULT = ("metric", "queue", "queue-distribution", "fct-cdf", "throughput")


def run_pictures(results: Results, prefix: str) -> list[Picture]:
    """Return the figures of one run: those that the experiment asks for, then the default ones of kinds that it does not name."""
    curve = curve_of(results)
    wanted = wanted_figures(results.manifest, _RUN_DEFAULT)
    pictures = [_run_picture(curve, figure, f"{prefix}-{index}") for index, figure in enumerate(wanted)]
    return [picture for picture in pictures if picture is not None]


def sweep_pictures(sweep: Sweep, prefix: str, study: Study | None) -> list[Picture]:
    """Return the figures of a sweep: the metrics against the parameters, and details of the telling points."""
    if not sweep.runs:
        return []
    curves = curves_of(telling_points(sweep), sweep.varied)
    pictures: list[Picture | None] = []
    for index, figure in enumerate(wanted_figures(sweep.runs[0].manifest, _SWEEP_DEFAULT)):
        pictures += _sweep_figure(sweep, curves, figure, f"{prefix}-{index}", study)
    return [picture for picture in pictures if picture is not None]


def wanted_figures(manifest: dict[str, Any], default: Sequence[str]) -> list[dict[str, Any]]:
    """Return the experiment's figures, followed by the default kinds that it does not name. Raises ResultsError for an unknown kind."""
    asked = list((manifest.get("report") or {}).get("figures") or [])
    for figure in asked:
        if figure.get("kind") not in FIGURE_KINDS:
            raise ResultsError(f"report.figures: kind: '{figure.get('kind')}'; right is one of {', '.join(FIGURE_KINDS)}")
    kinds = {figure["kind"] for figure in asked}
    return asked + [{"kind": kind} for kind in default if kind not in kinds]


def telling_points(sweep: Sweep) -> list[SweepPoint]:
    """Return up to MOST_POINTS points with results that show what happens.

    With a numeric parameter: the last point before the first collapse of goodput and the first one in it, and the points with the same
    number of the line that does best there; without a collapse, both ends of the first line and of the best other one.
    Otherwise the first points.
    """
    x = numeric_parameter(sweep)
    whole = [point for point in sweep.points if point.results is not None]
    if x is None or len(whole) <= MOST_POINTS:
        return whole[:MOST_POINTS]
    lines = [line for line in metric_lines(sweep, "goodput_bps", x, [name for name in sweep.varied if name != x]) if len(line.x) > 1]
    if not lines:
        return whole[:MOST_POINTS]
    fallen = next((line for line in lines if collapse_of(line) is not None), lines[0])
    before, after = collapse_of(fallen) or (fallen.points[0], fallen.points[-1])
    at = setting_number(after.parameters[x])
    others = [(line.y[line.x.index(at)], line) for line in lines if line is not fallen and at in line.x]
    if not others:
        return [before, after]
    best = max(others, key=lambda pair: pair[0])[1]
    beside = [point for point in best.points if setting_number(point.parameters[x]) in (setting_number(before.parameters[x]), at)]
    # Two columns: before and in collapse; a row for each line.
    return [before, after, *beside]


def numeric_parameter(sweep: Sweep) -> str | None:
    """Return the varied parameter that is a number with the most values: a figure's natural x axis. None without any."""
    counts = {
        name: len({point.parameters.get(name) for point in sweep.points})
        for name in sweep.varied
        if all(setting_number(point.parameters.get(name)) is not None for point in sweep.points)
    }
    return max(counts, key=lambda name: counts[name]) if counts else None


def _run_picture(curve: Curve, figure: dict[str, Any], name: str) -> Picture | None:
    port = figure.get("port")
    match figure["kind"]:
        case "queue":
            return queue_picture(curve, name, _port_of(curve, port))
        case "queue-distribution":
            return queue_distribution([curve], name, _port_of(curve, port))
        case "drops":
            return drops_picture(curve, name, _port_of(curve, port))
        case "fct-cdf":
            return fct_cdf([curve], name)
        case "cwnd":
            return cwnd_picture(curve, name)
        case "throughput":
            return throughput_picture(curve, name)
    return None


def _sweep_figure(sweep: Sweep, curves: list[Curve], figure: dict[str, Any], name: str, study: Study | None) -> list[Picture | None]:
    port = figure.get("port")
    match figure["kind"]:
        case "metric":
            return [_metric(sweep, figure, name, study)]
        case "queue":
            return [queue_multiples(curves, 2, name, _common_port(curves, port))]
        case "queue-distribution":
            return [queue_distribution(curves, name, _common_port(curves, port))]
        case "fct-cdf":
            return [fct_cdf(curves, name)]
        case "drops":
            return [_of(curve, drops_picture(curve, f"{name}-{number}", _port_of(curve, port))) for number, curve in enumerate(curves)]
    draw = {"cwnd": cwnd_picture, "throughput": throughput_picture}[figure["kind"]]
    return [_of(curve, draw(curve, f"{name}-{number}")) for number, curve in enumerate(curves)]


def _of(curve: Curve, picture: Picture | None) -> Picture | None:
    """Return a picture of one run among several, with the run's label in its title."""
    return replace(picture, title=f"{picture.title}: {curve.label}") if picture is not None else None


def _metric(sweep: Sweep, figure: dict[str, Any], name: str, study: Study | None) -> Picture | None:
    x = figure.get("x") or numeric_parameter(sweep)
    if x is None:
        return None
    metric = figure.get("metric", "goodput_bps")
    series = figure.get("series") or [setting for setting in sweep.varied if setting != x]
    bands = [band for band in study.bands if (band.metric, band.x) == (metric, x)] if study is not None else []
    log_x = bool(figure.get("log_x", x == "senders"))
    return metric_picture(sweep, metric_lines(sweep, metric, x, series), metric, x, name, log_x=log_x, bands=bands)


def _port_of(curve: Curve, port: str | None) -> str | None:
    """Return the port that a figure names when this run samples it, else None, the first sampled one."""
    sampled = curve.results.plan.get("probes", {}).get("queue_ports") or []
    return port if port in sampled else None


def _common_port(curves: Sequence[Curve], port: str | None) -> str | None:
    """Return the port that a figure names when every run samples it, else None, each run's first sampled one."""
    return port if all(_port_of(curve, port) == port for curve in curves) else None
