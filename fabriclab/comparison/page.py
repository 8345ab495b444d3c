"""A comparison as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template, select_autoescape

from fabriclab.comparison import words
from fabriclab.comparison.conditions import Finding
from fabriclab.comparison.records import ComparedMetric, ComparedPoint, Comparison
from fabriclab.files import write_text
from fabriclab.report.drawing.style import css_variables
from fabriclab.report.measured.quantities import keep_units, metric_title

WIDTH, HEIGHT = 240, 22
"""Of an interval's drawing, in CSS pixels."""
_FARTHEST = 1.0
"""Drawings reach this part of the base to either side at most; what lies farther away stands at the edge."""


@dataclass(frozen=True)
class Row:
    """A line of the page's table."""

    title: str
    base: str
    other: str
    change: str
    interval: str
    verdict: str
    reason: str
    drawing: str
    """An SVG element: the interval about the base's value, which is the line in the middle."""


@dataclass(frozen=True)
class Group:
    """The lines of one point."""

    label: str
    pairing: str
    scale: str
    """How far the drawings of intervals reach to either side: `±58 %`."""
    shown: list[Row]
    others: list[Row]
    """What a reader has to ask for."""
    hidden: str
    """In words what those are."""


@dataclass(frozen=True)
class Side:
    """One comparison, ready to be written."""

    comparison: Comparison
    tally: str
    promise: str
    bits: str
    survivors: str
    next_step: str
    groups: list[Group]


def write_page(comparisons: Sequence[Comparison], findings: Sequence[Finding], out: Path) -> None:
    """Write the page. Raises OSError."""
    sides = [_side(comparison) for comparison in comparisons]
    write_text(
        out,
        _template().render(
            sides=sides,
            findings=findings,
            light=css_variables(dark=False),
            dark=css_variables(dark=True),
            title=f"{sides[0].comparison.base} compared",
        ),
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader("fabriclab.comparison", "templates"), PackageLoader("fabriclab.report", "templates")]
        ),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["keep_units"] = keep_units
    return environment.get_template("compare.html")


def _side(comparison: Comparison) -> Side:
    groups = [_group(point, comparison) for point in comparison.points]
    return Side(
        comparison,
        words.tally(comparison),
        words.promise(comparison),
        words.bits(comparison),
        words.survivors(comparison),
        words.next_step(comparison),
        groups,
    )


def _group(point: ComparedPoint, comparison: Comparison) -> Group:
    level, is_tested = comparison.level, comparison.tested > 0
    reach = min(max((_reach(metric, level) for metric in point.metrics), default=0.0), _FARTHEST)
    rows = [(comparison.shows(metric), _row(metric, level, reach, is_tested=is_tested)) for metric in point.metrics]
    return Group(
        point.label,
        words.pairing(point),
        f"±{100 * reach:.3g} %",
        [row for is_shown, row in rows if is_shown],
        [row for is_shown, row in rows if not is_shown],
        words.hidden([metric for metric in point.metrics if not comparison.shows(metric)], comparison),
    )


def _row(metric: ComparedMetric, level: float, reach: float, *, is_tested: bool) -> Row:
    found = metric.difference
    # Where nothing was tested, one sentence says why, and no verdict stands beside each line.
    is_silent = metric.verdict == "undecided" and not is_tested
    return Row(
        metric_title(metric.metric),
        "–" if found is None else words.value(metric, found.base),
        "–" if found is None else words.value(metric, found.other),
        words.change(metric),
        words.interval(metric, level),
        "" if is_silent else metric.verdict,
        "" if is_silent else metric.reason,
        _drawing(metric, level, reach),
    )


def _reach(metric: ComparedMetric, level: float) -> float:
    """Return how far from the base an interval reaches, as a part of the base."""
    found = metric.difference
    if found is None or not found.base:
        return 0.0
    ends = found.interval(level) or (found.change, found.change)
    return max(abs(end / found.base) for end in (*ends, found.change))


def _drawing(metric: ComparedMetric, level: float, reach: float) -> str:
    """Return the interval as a picture; empty where the base is 0, and per cent mean nothing."""
    found = metric.difference
    if found is None or not found.base or not reach:
        return ""
    low, high = found.interval(level) or (found.change, found.change)

    def place(change: float) -> float:
        share = change / abs(found.base) / reach
        return WIDTH / 2 + max(-1.0, min(1.0, share)) * (WIDTH / 2 - 6)

    middle = HEIGHT / 2
    said = f"{words.change(metric)}, {words.interval(metric, level) or 'no interval'}"
    return (
        f'<svg class="interval {metric.verdict.replace(" ", "-")}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" aria-label="{said}">'
        f'<line class="zero" x1="{WIDTH / 2}" y1="0" x2="{WIDTH / 2}" y2="{HEIGHT}"/>'
        f'<line class="reach" x1="{place(low):.1f}" y1="{middle}" x2="{place(high):.1f}" y2="{middle}"/>'
        f"{_dot(found.change / abs(found.base) / reach, place(found.change), middle)}</svg>"
    )


def _dot(share: float, x: float, y: float) -> str:
    """Return the mark of a mean: a dot, or an arrow at the edge for one beyond it (`share` of what is drawn)."""
    if abs(share) <= 1:
        return f'<circle cx="{x:.1f}" cy="{y}" r="4"/>'
    tip = x + (5 if share > 0 else -5)
    return f'<path class="beyond" d="M{tip:.1f} {y} L{x:.1f} {y - 5} V{y + 5} Z"><title>beyond the edge</title></path>'
