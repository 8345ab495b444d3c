"""A comparison's numbers and sentences, as text and page both say them."""

from __future__ import annotations

from collections.abc import Sequence

from fabriclab.comparison.records import ComparedMetric, ComparedPoint, Comparison
from fabriclab.report.measured.quantities import format_metric
from fabriclab.units import format_count


def value(metric: ComparedMetric, number: float | None) -> str:
    """Return a mean with its unit; whole counts in full."""
    is_whole = number is not None and number.is_integer() and abs(number) < 2**53
    return format_metric(metric.metric, int(number) if is_whole and number is not None else number)


def change(metric: ComparedMetric) -> str:
    """Return how far the other side lies from the base, in per cent of the base; in the metric's unit where that
    is 0."""
    found = metric.difference
    if found is None:
        return "–"
    if found.change == 0:
        return "0"
    if found.ratio is not None:
        return _percent(found.ratio)
    return ("+" if found.change > 0 else "\u2212") + value(metric, abs(found.change))


def interval(metric: ComparedMetric, level: float) -> str:
    """Return the interval of the change, in the same unit; empty where there is none."""
    found = metric.difference
    ends = None if found is None else found.interval(level)
    if found is None or ends is None or found.is_same:
        return ""
    if found.base:
        return " to ".join(_percent(end / abs(found.base)) for end in ends)
    return " to ".join(("\u2212" if end < 0 else "+") + value(metric, abs(end)) for end in ends)


def pairing(point: ComparedPoint) -> str:
    """Return how runs were set against each other: `5 pairs`, `5 and 3 runs`."""
    if point.pairs > 1 or point.runs == (1, 1):
        return format_count(point.pairs, "pair") if point.pairs else "1 run each, with different seeds"
    return f"{point.runs[0]} and {point.runs[1]} runs, not paired"


def promise(comparison: Comparison) -> str:
    """Return in a sentence what the verdicts are worth."""
    tested = comparison.tested
    if not tested and set(comparison.counts) == {"same"}:
        return "Every number is the same, to the bit."
    if not tested and all(point.runs == (1, 1) for point in comparison.points):
        return "One run each: the effect of the seed is unknown, so there are no verdicts."
    if not tested:
        return "No difference was tested, because a test needs three seeds on both sides."
    return (
        f"{format_count(tested, 'difference')} {'was' if tested == 1 else 'were'} tested together. If both sides were "
        f"equal, at most {100 * (1 - comparison.level):.3g} of 100 such comparisons would give any verdict "
        "(Holm)."
    )


def hidden(metrics: Sequence[ComparedMetric], comparison: Comparison) -> str:
    """Return what metrics are that a reader is not shown: `3 undecided, the same or not measured`; empty for none."""
    if not metrics:
        return ""
    undecided = "undecided, " if comparison.tested else "changed without a verdict, "
    has_undecided = any(metric.verdict == "undecided" for metric in metrics)
    return f"{len(metrics)} {undecided if has_undecided else ''}the same or not measured"


def next_step(comparison: Comparison) -> str:
    """Return what makes a comparison sure; empty where something was tested, or nothing can be."""
    if comparison.tested or not comparison.points or set(comparison.counts) <= {"same", "not measured"}:
        return ""
    return f"For verdicts, run both sides with several seeds: {comparison.again}"


def tally(comparison: Comparison) -> str:
    """Return how many of which verdict there are: `2 worse, 1 better, 40 undecided`."""
    said = {} if comparison.tested else {"undecided": "without a verdict"}
    counts = (f"{count} {said.get(verdict, verdict)}" for verdict, count in comparison.counts.items())
    return ", ".join(counts) or "nothing in common"


def bits(comparison: Comparison) -> str:
    """Return in how many points the flows are the same to the bit; empty where no seed is common."""
    known = [point for point in comparison.points if point.same_flows is not None]
    if not known:
        return ""
    same = sum(point.same_flows is True for point in known)
    return f"Flows of common seeds: the same to the bit at {same} of {format_count(len(known), 'point')}."


def survivors(comparison: Comparison) -> str:
    """Return what completion times are of, where not as many flows completed on both sides; else nothing."""
    every = (metric for point in comparison.points for metric in point.metrics)
    if all(one.metric != "flows_incomplete" or not one.difference or one.difference.is_same for one in every):
        return ""
    return (
        "Completion times are of flows that completed, and not as many did on both sides: "
        "a time may look better because slow flows are not in it."
    )


def _percent(ratio: float) -> str:
    percent = 100 * ratio
    text = f"{percent:+,.0f}" if abs(percent) >= 100 else f"{percent:+.2g}" if abs(percent) < 1 else f"{percent:+.1f}"
    return text.replace("-", "\u2212") + " %"
