"""What a reader has to know before the figures: runs that are incomplete, events that never came,
what the plan itself warns of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from fabriclab.report.drawing.curves import setting_label
from fabriclab.report.measured.quantities import format_metric
from fabriclab.results import Results, SweepPoint, fallback_causes
from fabriclab.results.idle_path import least_delayed
from fabriclab.results.silence import waited_for
from fabriclab.results.sweep import SEED
from fabriclab.units import format_count

_MOST_NAMED = 6
_MOST_WARNINGS = 24
"""The most warnings of plans that a report shows; a plan for containers has one for each thing that stock
qdiscs can't express."""


_LATE = "flows_with_setup_timeouts"
_RTT_TOLERANCE = 0.05
"""A round trip that is longer than planned by this share is told."""


def warnings_of(points: Sequence[SweepPoint]) -> list[str]:
    """Return sentences on the points that are not whole, on what their runs had no time for, on what real time made
    longer or less exact, then those of plans (`Plan.warnings`)."""
    from_runs = (
        _incomplete(points),
        _each_once(points, _missed_events),
        _each_once(points, _unsettled_routes),
        _late_handshakes(points),
        _fallbacks(points),
        _slow_round_trips(points),
        _late_looks(points),
    )
    return [*chain.from_iterable(from_runs), *_of_plans(points)]


def _late_handshakes(points: Sequence[SweepPoint]) -> list[str]:
    """Return a sentence on the flows whose connection came a second or more after their start; none where none did."""
    every = [point.results.summary.get(_LATE) for point in points if point.results is not None]
    late = [int(count) for count in every if count]
    if not late:
        return []
    where = f", in {len(late)} of {len(every)} runs" if len(every) > 1 else ""
    waited = f"{format_count(sum(late), 'flow')} waited a second or more for a connection{where}"
    return [f"{waited}: the first SYN or SYN-ACK was lost, and TCP retransmits it only after a second ({_LATE})."]


def _fallbacks(points: Sequence[SweepPoint]) -> list[str]:
    """Return a sentence on the flows that fell back from MPTCP to TCP, and why; none where none did."""
    causes: Counter[str] = Counter()
    for point in points:
        if point.results is not None and point.results.summary.get("mptcp_fallbacks"):
            causes.update(fallback_causes(point.results.flows))
    if not causes:
        return []
    reasons = ", ".join(f"{count:,} because {reason}" for reason, count in sorted(causes.items()))
    return [f"{format_count(causes.total(), 'flow')} fell back from MPTCP to TCP: {reasons}."]


def _slow_round_trips(points: Sequence[SweepPoint]) -> list[str]:
    """Return a sentence on the run in real time whose round trips are longer than planned by most;
    none where all are about right."""
    found = []
    for point in points:
        quickest = (
            least_delayed(point.results.flows) if point.results is not None and point.results.clock == "real" else None
        )
        if quickest is not None and quickest.excess_ns > _RTT_TOLERANCE * quickest.planned_ns:
            found.append((quickest, point))
    if not found:
        return []
    quickest, point = max(found, key=lambda pair: pair[0].excess_ns)
    measured, planned = (format_metric("_ns", time_ns) for time_ns in (quickest.measured_ns, quickest.planned_ns))
    where = f"{quickest.src} to {quickest.dst}" + (
        f" ({_name(point)}, the worst of {len(found)})" if len(points) > 1 else ""
    )
    excess = format_metric("_ns", quickest.excess_ns)
    return [
        f"In real time the host's own work is part of every round trip: the shortest round trip, {where}, took "
        f"{measured}, although the links' delays add up to {planned}. Results that depend on the round-trip time are "
        f"those of a path that is {excess} longer."
    ]


def _late_looks(points: Sequence[SweepPoint]) -> list[str]:
    """Return a sentence on how exactly the times of routing are known, the worst of all runs; none where all are
    read at every millisecond."""
    summaries = [point.results.summary for point in points if point.results is not None]
    within = [
        float(value)
        for summary in summaries
        for name, value in summary.items()
        if "_within_ns" in name and value is not None
    ]
    if not within:
        return []
    latest = format_metric("_ns", max(within), 2)
    return [
        f"Routes are read one after another, or now and then: routing may have converged up to {latest} sooner than "
        "stated here."
    ]


def _missed_events(results: Results) -> list[str]:
    """Return a sentence on each event that the run, which ended with its traffic, ended before."""
    if results.status != "complete":
        return []
    missed = [event for event in results.plan.changes if event.at_ns >= results.manifest.ended_ns]
    return [
        f"events.{event.name}, at {format_metric('_ns', event.at_ns)}, never came, because all traffic had ended"
        for event in missed
    ]


def _unsettled_routes(results: Results) -> list[str]:
    """Return a sentence on each failure that routing did not come to rest after, with what routers wait for."""
    found = []
    for event in results.plan.events:
        watched_ns = results.summary.get(f"reconvergence_unsettled_ns[{event.name}]")
        if watched_ns is None:
            continue
        ends = [port.partition(":")[0] for link in event.links for port in link]
        waits = waited_for(results.plan, ends) if event.is_silent else ""
        why = f"; routers learn of a silent link by a timer ({waits})" if waits else ""
        found.append(
            f"events.{event.name}: routing had not come to rest within {format_metric('_ns', watched_ns)}{why}."
        )
    return found


def _of_plans(points: Sequence[SweepPoint]) -> list[str]:
    """Return each sentence of the plans, the first of many."""
    sentences = _each_once(points, lambda results: results.plan.warnings)
    left = len(sentences) - _MOST_WARNINGS
    more = [f"The plans have {left} more warnings; `fabriclab plan` shows all warnings of a point."] if left > 0 else []
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
    return (
        ", ".join(setting_label(name, value) for name, value in point.settings.items() if name != SEED)
        or "default settings"
    )


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
            kinds = [
                f"{summary[f'flows_{kind}']:,} {kind}"
                for kind in ("failed", "lost", "unstarted")
                if summary.get(f"flows_{kind}")
            ]
            reasons.append(
                f"{missing:,} of {flows:,} flows are incomplete" + (f" ({', '.join(kinds)})" if kinds else "")
            )
        reasons += point.results.notes[:3]
    return ", ".join(reasons) or point.message or "no results"
