"""Flow completion times as a cumulative distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from fabriclab.report.figures.curves import Curve, Picture
from fabriclab.report.quantities import format_metric, format_share
from fabriclab.report.style import drawing, figure_svg, new_figure, place_legend

_MOST_POINTS = 1000


def fct_cdf(curves: Sequence[Curve], name: str) -> Picture | None:
    """Return the share of sized flows that were complete after each time; None with fewer than two complete flows in every run.

    Incomplete flows count in the share: a curve that ends below 100 % is a run in which flows are missing.
    """
    found = [(curve, *_completion_times(curve)) for curve in curves]
    found = [(curve, times, wanted) for curve, times, wanted in found if len(times) >= 2]
    if not found:
        return None
    shortest, longest = min(times[0] for _, times, _ in found), max(times[-1] for _, times, _ in found)
    with drawing():
        figure = new_figure(2.8)
        axes = figure.subplots()
        for curve, times, wanted in found:
            shown = _thinned(len(times))
            # From 0 at the first completion on, and level after the last.
            x = np.concatenate((times[:1], times[shown], [2 * longest])) / 1e6
            y = np.concatenate(([0], shown + 1, [len(times)])) / wanted * 100
            axes.step(x, y, where="post", color=curve.color, linestyle=curve.dash, label=curve.label)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0) if longest < 1000 * shortest else (1.0,)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(True, axis="x", which="major")
        axes.set(
            xlim=(shortest / 1e6 / 1.15, longest / 1e6 * 1.15),
            ylim=(0, 102),
            xlabel="Flow completion time (ms)",
            ylabel="Flows complete (%)",
        )
        place_legend(axes)
        caption = "; ".join(_describe(curve, times, wanted) for curve, times, wanted in found) + "."
        return Picture("Flow completion times", caption, figure_svg(figure, name, caption))


def _completion_times(curve: Curve) -> tuple[np.ndarray, int]:
    """Return the sorted completion times (ns) of a run and the number of sized flows that it had."""
    sized = curve.results.flows.filter(pl.col("size_bytes").is_not_null()).select("fct_ns").collect(engine="streaming")
    return sized["fct_ns"].drop_nulls().sort().cast(pl.Float64).to_numpy(), sized.height


def _thinned(count: int) -> np.ndarray:
    """Return the indices to draw: all, or evenly spaced ones with both ends."""
    return np.unique(np.linspace(0, count - 1, min(count, _MOST_POINTS)).astype(np.int64))


def _describe(curve: Curve, times: np.ndarray, wanted: int) -> str:
    median, high = (curve.results.summary.get(f"fct_{word}_ns") for word in ("median", "p99"))
    text = f"{curve.label}: median {format_metric('_ns', median)}, 99th percentile {format_metric('_ns', high)}"
    missing = wanted - len(times)
    return text + (f", {missing:,} of {wanted:,} flows ({format_share(missing / wanted)}) never completed" if missing else "")
