"""What a reader has to know before the figures: runs that are incomplete, events that never came, what the plan itself warns of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fabriclab.report.figures.curves import setting_label
from fabriclab.report.quantities import format_metric
from fabriclab.results import Results, SweepPoint
from fabriclab.results.sweep import SEED
from fabriclab.units import format_count

_MOST_NAMED = 6
_MOST_WARNINGS = 24
"""Of the plans; a plan for containers has one for each thing that stock qdiscs can't express."""


def warnings_of(points: Sequence[SweepPoint]) -> list[str]:
    """Return sentences on the points that are not whole, then on what their runs had no time for, then those of plans (`Plan.warnings`)."""
    return [*_incomplete(points), *_each_once(points, _missed_events), *_of_plans(points)]


def _missed_events(results: Results) -> list[str]:
    """Return a sentence on each event that the run, which ended with its traffic, ended before."""
    if results.status != "complete":
        return []
    ended_ns = float(results.manifest.get("virtual_s") or 0) * 1e9
    events = [*(results.plan.get("events") or ()), *(results.plan.get("pause_storms") or ())]
    missed = [event for event in events if event["at_ns"] >= ended_ns]
    return [f"events.{event['name']}, at {format_metric('_ns', event['at_ns'])}, never came: all traffic had ended" for event in missed]


def _of_plans(points: Sequence[SweepPoint]) -> list[str]:
    """Return each sentence of the plans, the first of many."""
    sentences = _each_once(points, lambda results: results.plan.get("warnings") or ())
    left = len(sentences) - _MOST_WARNINGS
    more = [f"The plans have {left} more warnings; fabriclab plan shows all of a point."] if left > 0 else []
    return sentences[:_MOST_WARNINGS] + more


def _each_once(points: Sequence[SweepPoint], of: Callable[[Results], Iterable[str]]) -> list[str]:
    """Return each sentence that runs have once, with a point that has it where not all have."""
    planned = [(point, point.results) for point in points if point.results is not None]
    having: dict[str, list[SweepPoint]] = {}
    for point, results in planned:
        for sentence in of(results):
            having.setdefault(str(sentence), []).append(point)
    return [f"{sentence.rstrip('.')}{_some(alike, len(planned))}." for sentence, alike in having.items()]


def _some(alike: Sequence[SweepPoint], all_points: int) -> str:
    if len(alike) == all_points:
        return ""
    others = len(alike) - 1
    noun = "point" if others == 1 else "points"
    return f" ({_name(alike[0])}{f' and {others} more {noun}' if others else ''})"


def _incomplete(points: Sequence[SweepPoint]) -> list[str]:
    broken = [point for point in points if not point.is_whole]
    if not broken:
        return []
    if len(points) == 1 and points[0].status == "starved":
        return [f"This run is invalid: {_reason(points[0])}."]
    if len(points) == 1:
        return [f"This run is incomplete: {_reason(broken[0])}."]
    reasons: dict[str, dict[str, list[SweepPoint]]] = {}
    for point in broken:
        reasons.setdefault(_reason(point), {}).setdefault(_name(point), []).append(point)
    named = [f"{_named(alike, points)}: {reason}" for reason, alike in list(reasons.items())[:_MOST_NAMED]]
    more = [f"and {len(reasons) - _MOST_NAMED} more reasons"] if len(reasons) > _MOST_NAMED else []
    verb = "is" if len(broken) == 1 else "are"
    return [f"{len(broken)} of {len(points)} points {verb} incomplete: {'; '.join(named + more)}."]


def _named(alike: dict[str, list[SweepPoint]], points: Sequence[SweepPoint]) -> str:
    """Return which points have one reason: the first of them by name, the others counted."""
    (first, members), *others = alike.items()
    count = sum(len(more) for _, more in others)
    return f"{first}{_seeds(members, points)}" + (f" and {format_count(count, 'more point')}" if count else "")


def _name(point: SweepPoint) -> str:
    return ", ".join(setting_label(name, value) for name, value in point.settings.items() if name != SEED) or "default settings"


def _seeds(alike: Sequence[SweepPoint], points: Sequence[SweepPoint]) -> str:
    """Return which seeds it is, where points differ in their seed."""
    if len({point.seed for point in points}) < 2:
        return ""
    seeds = [str(point.seed) for point in alike]
    return f" (seed {', '.join(seeds[:_MOST_NAMED])}{', ...' if len(seeds) > _MOST_NAMED else ''})"


def _reason(point: SweepPoint) -> str:
    message = point.message.removeprefix(f"{point.status}: ")
    reasons = [] if point.status == "complete" else [f"status {point.status}" + (f" ({message})" if message else "")]
    if point.results is not None:
        summary = point.results.summary
        missing, flows = summary.get("flows_incomplete"), summary.get("flows")
        if missing and flows is not None:
            kinds = [f"{summary[f'flows_{kind}']:,} {kind}" for kind in ("failed", "lost", "unstarted") if summary.get(f"flows_{kind}")]
            reasons.append(f"{missing:,} of {flows:,} flows are incomplete" + (f" ({', '.join(kinds)})" if kinds else ""))
        reasons += point.results.notes[:3]
    return ", ".join(reasons) or point.message or "no results"
