"""The report: one HTML page that needs nothing but itself."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from fabriclab.graph import network_svg
from fabriclab.graph.network import network_of_plan
from fabriclab.report.figures.curves import Picture, curve_of, point_label
from fabriclab.report.figures.queue import queue_picture
from fabriclab.report.quantities import format_metric, keep_units, metric_title
from fabriclab.report.selection import MOST_POINTS, run_pictures, sweep_pictures
from fabriclab.report.studies import Comparison, Study, compare_with, read_study
from fabriclab.report.style import algorithm_name, css_variables, themed
from fabriclab.report.tables import PointTable, key_figures, metric_rows, point_table
from fabriclab.report.warnings import warnings_of
from fabriclab.results import CheckResult, Results, ResultsError, Sweep, SweepPoint, evaluate_checks, is_sweep, read_run, read_sweep
from fabriclab.results.sweep import compare_runs

MOST_DETAILED_POINTS = 24
"""A sweep with more points shows each point's numbers, without its picture: the page would be too large to open."""


@dataclass(frozen=True)
class CheckRow:
    """A check as it is shown."""

    condition: str
    where: str
    measured: str
    outcome: str


@dataclass(frozen=True)
class Detail:
    """One point of a sweep, folded away."""

    label: str
    headline: str
    metrics: list[tuple[str, str]]
    picture: Picture | None


@dataclass(frozen=True)
class Page:
    """All that the template shows."""

    title: str
    kind: str
    lab: str
    warnings: list[str]
    key_figures: list[tuple[str, str, str]]
    settings: list[tuple[str, str]]
    pictures: list[Picture]
    study: Study | None
    comparison: list[Comparison]
    checks: list[CheckRow]
    table: PointTable | None
    metrics: list[tuple[str, str]]
    details: list[Detail]
    environment: list[tuple[str, str]]
    packages: list[str]
    topology: str
    """The drawing of the network, an SVG element; empty where no run has a plan."""
    light: str = field(default_factory=lambda: css_variables(dark=False))
    dark: str = field(default_factory=lambda: css_variables(dark=True))


def write_report(paths: Sequence[Path], out: Path) -> None:
    """Write the page of a run, of a sweep, or of several of both side by side.

    Raises ResultsError when a path is neither a run nor a sweep directory, OSError when `out` can't be written.
    """
    page = page_of(paths)
    environment = Environment(
        loader=PackageLoader("fabriclab.report", "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["keep_units"] = keep_units
    text = environment.get_template("report.html").render(page=page)
    part = out.with_name(out.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(out)


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
    point = SweepPoint(
        results.settings, int(results.plan.get("seed", 0)), results.status, results, str(results.manifest.get("message") or "")
    )
    study = _study([results])
    return Page(
        title=results.title,
        kind="run",
        lab=str(results.plan.get("lab", "")),
        warnings=warnings_of([point]),
        key_figures=key_figures(results),
        settings=[(name.replace("_", " "), str(value)) for name, value in results.parameters.items()],
        pictures=run_pictures(results, "run"),
        study=study,
        comparison=compare_with(study, [point]) if study is not None else [],
        checks=_check_rows([point]),
        table=None,
        metrics=metric_rows(results),
        details=[],
        environment=_environment(results),
        packages=_packages(results),
        topology=_topology(results),
    )


def _sweep_page(sweep: Sweep) -> Page:
    study = _study(sweep.runs)
    return Page(
        title=sweep.title,
        kind="comparison" if sweep.matrix == "comparison" else f"sweep, matrix {sweep.matrix}",
        lab=sweep.lab,
        warnings=warnings_of(sweep.points),
        key_figures=_sweep_figures(sweep),
        settings=_common_settings(sweep),
        pictures=sweep_pictures(sweep, "sweep", study),
        study=study,
        comparison=compare_with(study, sweep.points) if study is not None else [],
        checks=_check_rows(sweep.points),
        table=point_table(sweep),
        metrics=[],
        details=_details(sweep),
        environment=_environment(sweep.runs[0]) if sweep.runs else [],
        packages=_packages(sweep.runs[0]) if sweep.runs else [],
        topology=_topology(sweep.runs[0]) if sweep.runs else "",
    )


def _study(runs: Sequence[Results]) -> Study | None:
    names = {run.plan.get("study") for run in runs} - {None}
    return read_study(str(names.pop())) if len(names) == 1 else None


def _check_rows(points: Sequence[SweepPoint]) -> list[CheckRow]:
    return [_check_row(check) for point in points if point.results is not None for check in evaluate_checks(point.results)]


def _check_row(check: CheckResult) -> CheckRow:
    where = ", ".join(f"{name} {algorithm_name(str(value))}" for name, value in check.where.items())
    condition = f"{metric_title(check.metric)} {check.operator} {format_metric(check.metric, check.value)}"
    return CheckRow(condition, where, format_metric(check.metric, check.measured), check.outcome)


def _sweep_figures(sweep: Sweep) -> list[tuple[str, str, str]]:
    whole = sum(point.is_whole for point in sweep.points)
    figures = [("Points complete", f"{whole} of {len(sweep.points)}", "")]
    if len(sweep.points) <= MOST_POINTS:
        return figures + [_point_figure(point, sweep.varied) for point in sweep.points]
    measured = [
        (float(value), point) for point in sweep.points if point.results and (value := point.results.summary.get("goodput_bps")) is not None
    ]
    if measured:
        best, worst = max(measured, key=lambda pair: pair[0]), min(measured, key=lambda pair: pair[0])
        figures.append(("Highest goodput", format_metric("goodput_bps", best[0]), point_label(best[1], sweep.varied)))
        figures.append(("Lowest goodput", format_metric("goodput_bps", worst[0]), point_label(worst[1], sweep.varied)))
    checks = [check for run in sweep.runs for check in evaluate_checks(run)]
    if checks:
        figures.append(("Checks passed", f"{sum(check.outcome == 'pass' for check in checks)} of {len(checks)}", ""))
    return figures


def _point_figure(point: SweepPoint, varied: Sequence[str]) -> tuple[str, str, str]:
    """Return a point's goodput, with its queue: what one wants to see first of few runs side by side."""
    summary = point.results.summary if point.results is not None else {}
    queue = summary.get("queue_mean_bytes")
    context = f"mean queue {format_metric('queue_mean_bytes', queue)}" if queue is not None else ""
    return point_label(point, varied), format_metric("goodput_bps", summary.get("goodput_bps")), context


def _common_settings(sweep: Sweep) -> list[tuple[str, str]]:
    """Return what varies with all its values, then the parameters that are the same everywhere."""
    names = list(dict.fromkeys(name for point in sweep.points for name in point.parameters))
    values = {
        name: list(dict.fromkeys(str(point.parameters[name]) for point in sweep.points if name in point.parameters)) for name in names
    }
    ordered = [*sweep.varied, *(name for name in names if name not in sweep.varied)]
    return [(name.replace("_", " "), ", ".join(values[name])) for name in ordered]


def _details(sweep: Sweep) -> list[Detail]:
    with_pictures = len(sweep.points) <= MOST_DETAILED_POINTS
    details = []
    for index, point in enumerate(sweep.points):
        if point.results is None:
            details.append(Detail(point_label(point, sweep.varied), point.message or point.status, [], None))
            continue
        picture = queue_picture(curve_of(point.results), f"detail-{index}", small=True) if with_pictures else None
        headline = format_metric("goodput_bps", point.results.summary.get("goodput_bps"))
        details.append(Detail(point_label(point, sweep.varied), headline, metric_rows(point.results), picture))
    return details


def _environment(results: Results) -> list[tuple[str, str]]:
    manifest = results.manifest
    rows = [
        ("Command", shlex.join(str(word) for word in manifest.get("command") or [])),
        ("Seed", str(manifest.get("seed", ""))),
        ("Engine", str(manifest.get("engine", ""))),
        ("Started", str(manifest.get("started", ""))),
        ("Time", _times(manifest)),
        ("Host", _flat(manifest.get("host"))),
    ]
    versions = manifest.get("versions") or {}
    rows += [(str(name), _flat(value)) for name, value in versions.items() if not isinstance(value, list)]
    rows += [(f"{name} (hash)", _flat(value)) for name, value in (manifest.get("artefacts") or {}).items()]
    return [(name, value) for name, value in rows if value]


def _packages(results: Results) -> list[str]:
    """Return the packages of the machine's root file system."""
    return [str(package) for package in (results.manifest.get("versions") or {}).get("packages") or []]


def _topology(results: Results) -> str:
    """Return the drawing of the run's network, in the page's colours."""
    return themed(network_svg(network_of_plan(results.plan))) if results.plan.get("nodes") else ""


def _times(manifest: dict[str, Any]) -> str:
    wall, virtual = manifest.get("wall_s"), manifest.get("virtual_s")
    if wall is None or virtual is None:
        return ""
    return f"{float(virtual):.3g} s of virtual time in {float(wall):.3g} s"


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_flat(inner)}" for name, inner in value.items())
    return "" if value is None else str(value)
