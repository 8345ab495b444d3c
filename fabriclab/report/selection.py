"""Which figures and tables a report has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fabriclab.formats.figures import FIGURE_KINDS, RUN_DEFAULT, SWEEP_DEFAULT
from fabriclab.formats.manifest import Manifest
from fabriclab.formats.where_clause import concerns
from fabriclab.registry.applications import application_of, applications_of
from fabriclab.report.chosen_points import numeric_parameter, telling_points
from fabriclab.report.drawing.curves import Curve
from fabriclab.report.drawing.exhibits import Absent, Exhibit, Picture
from fabriclab.report.drawing.pools import PooledRuns, pool_of_run, pools_of, varied_settings
from fabriclab.report.drawing.setting_axis import SettingAxis
from fabriclab.report.drawing.studies import bands_of
from fabriclab.report.drawing.traffic_classes import timed_classes
from fabriclab.report.figures.collective import collective_picture
from fabriclab.report.figures.completion import fct_cdf
from fabriclab.report.figures.deadlines import deadlines_picture
from fabriclab.report.figures.drops import drops_picture
from fabriclab.report.figures.metric import left_out, metric_lines, metric_picture
from fabriclab.report.figures.queue import queue_multiples, queue_picture
from fabriclab.report.figures.queue_distribution import queue_distribution
from fabriclab.report.figures.rtt import rtt_picture
from fabriclab.report.figures.slowdown import binned_slowdowns, slowdown_against, slowdown_by_size
from fabriclab.report.figures.tcp import cwnd_picture, throughput_picture
from fabriclab.report.measured.quantities import setting_number
from fabriclab.report.measured.samples import default_place, longest_queue
from fabriclab.report.missing_figures import absent, together
from fabriclab.report.switch_selection import counts_drops, switch_exhibits, switch_point_exhibits
from fabriclab.report.tables.completion import completion_tables
from fabriclab.results import Results, ResultsError, Sweep
from fabriclab.results.completion import DEFAULT_BINS, size_bin_names
from fabriclab.studies.claims import Study

MOST_TABLED = 12
"""A sweep of more pools has a table of completion times where the experiment asks for it."""


Figure = dict[str, Any]


def run_exhibits(results: Results, kinds: Sequence[str] = FIGURE_KINDS) -> list[Exhibit]:
    """Return the figures and tables of one run: what the experiment asks for,
    then the default kinds that it does not name."""
    pool = pool_of_run(results)
    exhibits: list[Exhibit] = []
    for figure, is_asked in _with_origin(results.manifest, RUN_DEFAULT, kinds):
        found = _completion_exhibits([pool], [pool], figure) or _run_exhibits(pool.curve, figure)
        is_meant = concerns(figure.get("where"), results.parameters)
        exhibits += _or_absent(found, figure, [results] if is_meant else [], (), is_asked=is_asked and is_meant)
    return together(exhibits)


def sweep_exhibits(
    sweep: Sweep,
    studies: Sequence[Study] = (),
    pools: Sequence[PooledRuns] | None = None,
    kinds: Sequence[str] = FIGURE_KINDS,
) -> list[Exhibit]:
    """Return the figures and tables of a sweep: metrics against parameters, completion times, details of the telling
    points.

    `pools` are those of the sweep, where somebody has them already.
    """
    if not sweep.runs:
        return []
    pools, varied = pools_of(sweep) if pools is None else pools, varied_settings(sweep)
    every = telling_points(pools, varied).pools
    default = [kind for kind in SWEEP_DEFAULT if kind != "fct-table" or len(pools) <= MOST_TABLED]
    if counts_drops(sweep.runs[:1], None):
        default.insert(default.index("switch-ports") + 1, "drops")
    exhibits: list[Exhibit] = []
    for figure, is_asked in _with_origin(sweep.runs[0].manifest, default, kinds):
        concerned = [pool for pool in pools if concerns(figure.get("where"), pool.parameters)]
        telling = every if len(concerned) == len(pools) else telling_points(concerned, varied).pools
        found = _point_exhibits(concerned, telling, varied, figure, studies) if concerned else []
        exhibits += _or_absent(
            found, figure, [run for pool in concerned for run in pool.runs[:1]], varied, is_asked=is_asked
        )
    return together(exhibits)


def left_out_notes(sweep: Sweep, pools: Sequence[PooledRuns]) -> list[str]:
    """Return a sentence on tables that a report has by default and this one has not."""
    asked = wanted_figures(sweep.runs[0].manifest, ()) if sweep.runs else []
    if (
        len(pools) > MOST_TABLED
        and all(figure["kind"] != "fct-table" for figure in asked)
        and timed_classes(sweep.runs)
    ):
        return [
            f"With more than {MOST_TABLED} points the report has no tables of completion times; write "
            "{kind: fct-table} in report.figures to get them."
        ]
    return []


def _with_origin(manifest: Manifest, default: Sequence[str], kinds: Sequence[str]) -> list[tuple[Figure, bool]]:
    """Return the figures of `wanted_figures`, each with whether the experiment asks for it."""
    asked = len(wanted_figures(manifest, (), kinds))
    return [(figure, index < asked) for index, figure in enumerate(wanted_figures(manifest, default, kinds))]


def _or_absent(
    found: Sequence[Exhibit | None], figure: Figure, runs: Sequence[Results], varied: Sequence[str], *, is_asked: bool
) -> list[Exhibit]:
    """Return what there is of a figure; of one that was asked for and has nothing, why."""
    there = [exhibit for exhibit in found if exhibit is not None]
    return there or ([absent(figure, runs, varied)] if is_asked else [])


def _point_exhibits(
    pools: Sequence[PooledRuns],
    telling: Sequence[PooledRuns],
    varied: Sequence[str],
    figure: Figure,
    studies: Sequence[Study],
) -> list[Exhibit | None]:
    """Return what a figure shows of points of a sweep, those with results or without."""
    if figure["kind"] == "metric":
        return [_metric(pools, varied, figure, studies)]
    if figure["kind"] == "slowdown" and (against := _slowdown_against(pools, varied, figure)):
        return [against]
    of_points = _completion_exhibits(pools, telling, figure) or switch_point_exhibits(pools, figure)
    return of_points or _detail_exhibits(telling, figure)


def wanted_figures(manifest: Manifest, default: Sequence[str], kinds: Sequence[str] = FIGURE_KINDS) -> list[Figure]:
    """Return the experiment's figures, followed by the default kinds that it does not name; of all these only `kinds`.

    Raises ResultsError for an unknown kind.
    """
    asked = manifest.figures
    for figure in asked:
        if figure.get("kind") not in FIGURE_KINDS:
            raise ResultsError(f"report.figures: kind: '{figure.get('kind')}'; write one of {', '.join(FIGURE_KINDS)}")
    named = {figure["kind"] for figure in asked}
    wanted = asked + [{"kind": kind} for kind in default if kind not in named]
    return [figure for figure in wanted if figure["kind"] in kinds]


def _completion_exhibits(
    pools: Sequence[PooledRuns], telling: Sequence[PooledRuns], figure: Figure
) -> list[Exhibit | None]:
    """Return what is shown of completion times; empty for a figure of another kind."""
    traffic, bins = classes_of(figure), bins_of(figure)
    match figure["kind"]:
        case "fct-cdf":
            return [fct_cdf(telling, traffic)]
        case "fct-table":
            return [*completion_tables(pools, traffic, bins)] or [None]
        case "slowdown":
            return [slowdown_by_size(binned_slowdowns(telling, traffic, bins), bins)]
        case "collective":
            return [collective_picture(telling, traffic)]
        case "deadlines":
            return [deadlines_picture(pools if len(pools) <= MOST_TABLED else telling, traffic)]
    return []


def classes_of(figure: Figure) -> tuple[str, ...]:
    """Return the traffic that a figure is limited to; empty: all."""
    traffic = figure.get("traffic") or ()
    return (traffic,) if isinstance(traffic, str) else tuple(traffic)


def bins_of(figure: Figure) -> tuple[int, ...]:
    """Return the upper ends of a figure's size bins, bytes. Raises ResultsError when they are not ascending sizes."""
    bins = tuple(int(setting_number(value) or 0) for value in figure.get("bins") or DEFAULT_BINS)
    try:
        size_bin_names(bins)
    except ValueError as error:
        raise ResultsError(f"report.figures: {error}") from error
    return bins


def _slowdown_against(pools: Sequence[PooledRuns], varied: Sequence[str], figure: Figure) -> Picture | None:
    """Return slowdown against the numeric parameter; None where there is none, or no line has two points."""
    x = figure.get("x") or numeric_parameter(pools, varied)
    if x is None:
        return None
    bins, axis = bins_of(figure), SettingAxis.of(x, pools)
    lines = metric_lines(pools, "flows", axis, [setting for setting in varied if setting != x])
    looks = {
        id(pool): replace(pool, label=line.label, color=line.color, dash=line.dash, marker=line.marker)
        for line in lines
        for pool in line.pools
    }
    slowdowns = binned_slowdowns([looks[id(pool)] for pool in pools if id(pool) in looks], classes_of(figure), bins)
    return slowdown_against(slowdowns, axis, bins)


def _run_exhibits(curve: Curve, figure: Figure) -> list[Exhibit | None]:
    """Return what is shown of one run over time."""
    found = switch_exhibits(curve, figure)
    if found:
        return found
    port, queue = _place_of([curve], figure)
    draw: dict[str, Callable[[], Picture | None]] = {
        "queue": lambda: queue_picture(curve, port, queue),
        "queue-distribution": lambda: queue_distribution([curve], port, queue),
        "drops": lambda: drops_picture(curve, port),
        "cwnd": lambda: cwnd_picture(curve),
        "throughput": lambda: throughput_picture(curve),
        "rtt": lambda: rtt_picture(curve),
    }
    kind = figure["kind"]
    if kind == "metric":
        return []  # a run is one point of it
    application = application_of(kind)
    if application is not None:
        is_run = application in applications_of(curve.results.plan)
        return [application.load("report.picture").picture(curve, port)] if is_run else []
    if kind not in draw:
        raise AssertionError(f"{kind}: formats/figures.py has it, and nothing here draws it")
    return [draw[kind]()]


def _detail_exhibits(pools: Sequence[PooledRuns], figure: Figure) -> list[Exhibit | None]:
    """Return what is shown of the telling points, one run of each."""
    curves = [pool.curve for pool in pools]
    port, queue = _place_of(curves, figure)
    match figure["kind"]:
        case "queue":
            return [_of_one_seed(pools, queue_multiples(curves, 2, port, queue))]
        case "queue-distribution":
            return [_of_one_seed(pools, queue_distribution(curves, port, queue))]
    exhibits = [(pool, _run_exhibits(pool.curve, figure)) for pool in pools]
    return [_of_one_seed([pool], _of(pool.curve, exhibit)) for pool, each in exhibits for exhibit in each]


def _of(curve: Curve, exhibit: Exhibit | None) -> Exhibit | None:
    """Return what is shown of one run among several, with the run's label in its title."""
    return replace(exhibit, title=f"{exhibit.title}: {curve.label}") if exhibit is not None else None


def _of_one_seed(pools: Sequence[PooledRuns], exhibit: Exhibit | None) -> Exhibit | None:
    """Return it with a word on which seed is shown, where there are several."""
    if exhibit is None or isinstance(exhibit, Absent) or all(len(pool.runs) < 2 for pool in pools):
        return exhibit
    seeds = sorted({next(point.seed for point in pool.points if point.results is not None) for pool in pools})
    noun = "seed" if len(seeds) == 1 else "seeds"
    word = "Drawn" if isinstance(exhibit, Picture) else "Shown"
    return replace(
        exhibit, caption=f"{exhibit.caption} {word} is one run of each point: {noun} {', '.join(map(str, seeds))}."
    )


def _metric(
    pools: Sequence[PooledRuns], varied: Sequence[str], figure: Figure, studies: Sequence[Study]
) -> Picture | None:
    x = figure.get("x") or numeric_parameter(pools, varied)
    if x is None:
        return None
    metric = figure.get("metric", "goodput_bps")
    # What varies and is not asked for sets lines apart too: points of one line have different places.
    series = list(dict.fromkeys([*(figure.get("series") or ()), *(setting for setting in varied if setting != x)]))
    bands = bands_of(studies, metric, x, pools)
    axis = SettingAxis.of(x, pools)
    lines = metric_lines(pools, metric, axis, series)
    log_x = bool(figure.get("log_x", x == "senders" or axis.crowds([place for line in lines for place in line.x])))
    return metric_picture(lines, metric, axis, log_x=log_x, bands=bands, note=left_out(pools, lines, metric, axis))


def _place_of(curves: Sequence[Curve], figure: Figure) -> tuple[str | None, int | None]:
    """Return the port, and the queue where it is one of a shared buffer, that a figure shows of these runs.

    It is what the figure names if every run sampled it, else that of `default_place` in the first run.
    """
    port, queue = figure.get("port"), figure.get("queue")
    sampled = [curve.results.plan.probes.queue_ports for curve in curves]
    if queue is None and port is not None and all(port in ports for ports in sampled):
        return port, None
    if not curves or (queue is None and port is None):
        place = default_place(curves[0].results) if curves else (None, None)
        return place if place[1] is not None or all(place[0] in ports for ports in sampled) else (None, None)
    if queue is None and any(port in ports for ports in sampled):
        return None, None  # each run's own
    return longest_queue(curves[0].results, port, queue) or (port, queue)
