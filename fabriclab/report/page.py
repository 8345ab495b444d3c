"""The report: one HTML page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabriclab.files import write_text
from fabriclab.report.chosen_points import FEW_POINTS, MOST_POINTS, choice_note, telling_points
from fabriclab.report.coflow_chart import coflow_picture
from fabriclab.report.drawing.exhibits import DataTable, Exhibit, Picture
from fabriclab.report.drawing.pools import (
    PooledRuns,
    format_interval,
    format_measure,
    pool_of_run,
    pools_of,
    varied_settings,
)
from fabriclab.report.drawing.studies import BesideStudy, beside_studies, studies_of
from fabriclab.report.drawing.traffic_classes import cap_notes, headline_metric
from fabriclab.report.environment import environment_rows, package_names
from fabriclab.report.explorer import explorer_of
from fabriclab.report.headline import finding_of_run, finding_of_sweep
from fabriclab.report.link_use import Topology, topology_of
from fabriclab.report.measured.quantities import format_metric, metric_title
from fabriclab.report.measured.scope import measured_ports
from fabriclab.report.page_parts import render
from fabriclab.report.point_details import Detail, details_of
from fabriclab.report.selection import left_out_notes, run_exhibits, sweep_exhibits
from fabriclab.report.switch_notes import SwitchNote, switch_notes
from fabriclab.report.tables.checks import CheckRow, check_rows, tally_of
from fabriclab.report.tables.connections import connection_table
from fabriclab.report.tables.points import PointTable, key_figures, metric_rows, point_table
from fabriclab.report.tables.variant_changes import change_table
from fabriclab.report.warnings import warnings_of
from fabriclab.results import Results, ResultsError, Sweep, is_sweep, read_run, read_sweep
from fabriclab.results.sweep import SEED, compare_runs

MOST_ROWS = 24
"""A longer table is folded away."""
MOST_WARNINGS = 3
"""Others are folded away."""


@dataclass(frozen=True)
class Page:
    """All that the template of the report shows."""

    title: str
    kind: str
    lab: str
    finding: str
    """One sentence of what was found, which the page begins with; empty without results."""
    warnings: list[str]
    key_figures: list[tuple[str, str, str]]
    settings: list[tuple[str, str]]
    notes: list[str]
    """What has to be said beside every figure: sizes that were cut, points that are not drawn."""
    exhibits: list[Exhibit]
    studies: list[BesideStudy]
    checks: list[CheckRow]
    table: PointTable | None
    changes: DataTable | None
    """From the first variant to the others."""
    metrics: list[tuple[str, str]]
    port_metrics: list[tuple[str, str]]
    """Those of single ports, of which there are many: not read, but looked up."""
    details: list[Detail]
    environment: list[tuple[str, str]]
    packages: list[str]
    topology: Topology | None
    """The drawing of the network with the use of its links; None where no run has a plan."""
    coflows: Picture | None
    connections: DataTable | None
    """What TCP did in those of programs."""
    switches: list[SwitchNote]
    """Those with a shared buffer."""
    explorer: dict[str, Any] | None
    """What the page's script lets one explore; None without results."""
    most_rows: int = MOST_ROWS
    most_warnings: int = MOST_WARNINGS


def write_report(paths: Sequence[Path], out: Path) -> None:
    """Write the page of a run, of a sweep, or of several of both side by side.

    Raises ResultsError when a path is neither a run nor a sweep directory, OSError when `out` can't be written.
    """
    page = page_of(paths)
    extra = {"explorer": page.explorer} if page.explorer is not None else {}
    write_text(out, render("report.html", extra, page=page))


def page_of(paths: Sequence[Path]) -> Page:
    """Return what the page of a run, of a sweep, or of several of both shows. Raises ResultsError as `write_report`."""
    if not paths:
        raise ResultsError("no run: name at least one run or sweep directory")
    subject = _read(paths)
    return _run_page(subject) if isinstance(subject, Results) else _sweep_page(subject)


def _read(paths: Sequence[Path]) -> Results | Sweep:
    if len(paths) == 1:
        return read_sweep(paths[0]) if is_sweep(paths[0]) else read_run(paths[0])
    runs = [run for path in paths for run in (read_sweep(path).runs if is_sweep(path) else (read_run(path),))]
    if not runs:
        raise ResultsError(f"{', '.join(map(str, paths))}: no run in there has results")
    return compare_runs(runs)


def _run_page(results: Results) -> Page:
    pool, lab = pool_of_run(results), results.plan.lab
    return Page(
        title=results.title,
        kind="run",
        lab=lab,
        finding=finding_of_run(results),
        warnings=warnings_of(pool.points),
        key_figures=key_figures(results),
        settings=[(name.replace("_", " "), str(value)) for name, value in results.parameters.items()],
        notes=cap_notes([results]),
        exhibits=run_exhibits(results),
        studies=beside_studies(studies_of(lab, results.plan.study), [pool], lab, results.plan.study),
        checks=check_rows([pool]),
        table=None,
        changes=None,
        metrics=metric_rows(results, of_ports=False),
        port_metrics=metric_rows(results, of_ports=True),
        details=[],
        environment=environment_rows(results),
        packages=package_names(results),
        topology=topology_of(results),
        coflows=coflow_picture(pool.curve),
        connections=connection_table(results),
        switches=switch_notes([pool]),
        explorer=explorer_of([pool], ()),
    )


def _sweep_page(sweep: Sweep) -> Page:
    pools, varied, named = pools_of(sweep), varied_settings(sweep), _named_study(sweep)
    studies = studies_of(sweep.lab, named)
    telling = telling_points(pools, varied).pools
    told = telling[-1] if telling else None
    return Page(
        title=sweep.title,
        kind="comparison" if sweep.matrix == "comparison" else f"sweep, matrix {sweep.matrix}",
        lab=sweep.lab,
        finding=finding_of_sweep(pools),
        warnings=warnings_of(sweep.points),
        key_figures=_sweep_figures(sweep, pools),
        settings=_common_settings(sweep, varied),
        notes=_sweep_notes(sweep, pools, varied),
        exhibits=sweep_exhibits(sweep, studies, pools),
        studies=beside_studies(studies, pools, sweep.lab, named),
        checks=check_rows(pools),
        table=point_table(pools, varied),
        changes=change_table(pools, varied),
        metrics=[],
        port_metrics=[],
        details=details_of(pools),
        environment=environment_rows(sweep.runs[0]) if sweep.runs else [],
        packages=package_names(sweep.runs[0]) if sweep.runs else [],
        topology=topology_of(told.runs[0], told.label) if told is not None else None,
        coflows=_coflows(told),
        connections=None,
        switches=switch_notes(pools),
        explorer=explorer_of(pools, varied, telling[1::2] if len(telling) == FEW_POINTS else telling[:2]),
    )


def _sweep_notes(sweep: Sweep, pools: Sequence[PooledRuns], varied: Sequence[str]) -> list[str]:
    notes = [*cap_notes(run for pool in pools for run in pool.runs[:1]), choice_note(pools, varied)]
    return [note for note in (*notes, *left_out_notes(sweep, pools)) if note]


def _named_study(sweep: Sweep) -> str | None:
    names = {run.plan.study for run in sweep.runs if run.plan.study is not None}
    return names.pop() if len(names) == 1 else None


def _sweep_figures(sweep: Sweep, pools: Sequence[PooledRuns]) -> list[tuple[str, str, str]]:
    whole = sum(point.is_whole for point in sweep.points)
    figures = [
        (
            "Runs complete" if len(pools) < len(sweep.points) else "Points complete",
            f"{whole} of {len(sweep.points)}",
            "",
        )
    ]
    if len(pools) < len(sweep.points):
        figures.append(("Seeds of each point", _range([len(pool.points) for pool in pools]), ""))
    if len(pools) <= MOST_POINTS:
        return figures + [_pool_figure(pool) for pool in pools]
    measured = [(measure.value, pool) for pool in pools if (measure := pool.measure("goodput_bps")).value is not None]
    if measured:
        for title, choose in (("Highest goodput", max), ("Lowest goodput", min)):
            value, pool = choose(measured, key=lambda pair: pair[0])
            figures.append((title, format_metric("goodput_bps", value), pool.label))
    checks = tally_of(sweep.runs)
    if checks is not None:
        figures.append(("Checks", checks.text(), ""))
    return figures


def _pool_figure(pool: PooledRuns) -> tuple[str, str, str]:
    """Return what one wants to see first of few pools side by side."""
    metric = headline_metric(pool.runs)
    measure, queue = pool.measure(metric), pool.measure("queue_mean_bytes")
    interval = format_interval(metric, measure)
    context = [
        metric_title(metric) if metric != "goodput_bps" else "",
        f"95 % interval {interval}" if interval else "",
        f"mean queue {format_measure('queue_mean_bytes', queue)}{_of_how_many(pool)}"
        if queue.value is not None
        else "",
    ]
    return pool.label, format_measure(metric, measure), ", ".join(filter(None, context))


def _of_how_many(pool: PooledRuns) -> str:
    ports = len(measured_ports(pool.runs[0], "queue_mean_bytes"))
    return f" (the largest of {ports} ports)" if ports > 1 else ""


def _range(counts: Sequence[int]) -> str:
    return str(counts[0]) if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"


def _common_settings(sweep: Sweep, varied: Sequence[str]) -> list[tuple[str, str]]:
    """Return what varies with all its values, then the parameters that are the same everywhere."""
    names = list(dict.fromkeys(name for point in sweep.points for name in point.parameters if name != SEED))
    values = {
        name: list(dict.fromkeys(str(point.parameters[name]) for point in sweep.points if name in point.parameters))
        for name in names
    }
    ordered = [*varied, *(name for name in names if name not in varied)]
    return [(name.replace("_", " "), ", ".join(values[name])) for name in ordered]


def _coflows(told: PooledRuns | None) -> Picture | None:
    """Return the coflows of one point of a sweep, the last of those that tell its story, with its name."""
    picture = coflow_picture(told.curve) if told is not None else None
    return (
        replace(picture, title=f"{picture.title}: {told.label}") if picture is not None and told is not None else None
    )
