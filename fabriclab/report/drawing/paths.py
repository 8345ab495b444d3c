"""Lines and areas as the paths of SVG; places are points, and what is not a number interrupts a line."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from fabriclab.report.drawing.svg_text import points

Array = npt.NDArray[np.float64]


def line_path(x: Array, y: Array, *, steps: bool) -> str:
    """Return the path through the places, or of a step function whose values hold until the next place."""
    known = np.isfinite(x) & np.isfinite(y)
    return "".join(f"M{_through(x[begin:end], y[begin:end], steps=steps)}" for begin, end in _runs(known))


def area_path(x: Array, low: Array, high: Array, *, steps: bool) -> str:
    """Return the outline of what lies between two lines."""
    known = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
    if not known.any():
        return ""
    x, low, high = x[known], low[known], high[known]
    if steps:
        x, low, high = np.repeat(x, 2)[1:], np.repeat(low, 2)[:-1], np.repeat(high, 2)[:-1]
    outline_x, outline_y = np.concatenate((x, x[::-1])), np.concatenate((high, low[::-1]))
    return f"M{_through(outline_x, outline_y, steps=False)}z"


def _runs(known: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the ranges of places without a gap."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def _through(x: Array, y: Array, *, steps: bool) -> str:
    """Return the path after its first letter; steps along an axis have one number each, and none without a change."""
    x, y = np.round(x, 2), np.round(y, 2)
    if not steps:
        keep = _corners(x, y)
        return "L".join(f"{a} {b}" for a, b in zip(points(x[keep].tolist()), points(y[keep].tolist()), strict=True))
    across, along = x.tolist(), y.tolist()
    parts = [f"{across[0]:.6g} {along[0]:.6g}"]
    for (_, before), (place, value) in pairwise(zip(across, along, strict=True)):
        if value != before:
            parts.append(f"H{place:.6g}V{value:.6g}")
    if len(across) > 1 and along[-1] == along[-2]:
        parts.append(f"H{across[-1]:.6g}")
    return "".join(parts)


def _corners(x: Array, y: Array) -> npt.NDArray[np.intp]:
    """Return the places without those that are the same as the one before, or within a line along an axis."""
    kept = np.flatnonzero(np.concatenate(([True], (np.diff(x) != 0) | (np.diff(y) != 0))))
    if len(kept) < 3:
        return kept
    across, along = np.diff(x[kept]) == 0, np.diff(y[kept]) == 0
    within = (across[:-1] & across[1:]) | (along[:-1] & along[1:])
    return kept[np.concatenate(([True], ~within, [True]))]
