"""What the figures share: runs side by side with a label and a colour each, lines of reference, events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from matplotlib.axes import Axes

from fabriclab.formats.plan.model import PauseStorm
from fabriclab.report.drawing.style import GROUND, INK, MUTED, WARNING, algorithm_name
from fabriclab.report.measured.port_facts import Level, PortFacts
from fabriclab.report.measured.quantities import Axis, Value, setting_number
from fabriclab.results import Results, SweepPoint
from fabriclab.results.summary import busy_interval

Dash = Any
LEVEL_ROOM = 0.14
"""Levels that are closer than this share of the axis have their names side by side, above the highest."""

_ACRONYMS = frozenset(("ack", "aqm", "bfd", "dscp", "ecn", "mptcp", "mtu", "pfc", "rto", "sru", "wred"))
_FLAGS = {"True": "on", "False": "off"}


@dataclass(frozen=True)
class Curve:
    """A run as it appears in figures that compare runs."""

    results: Results
    label: str
    color: str
    dash: Dash = "-"


def point_label(point: SweepPoint, varied: Sequence[str]) -> str:
    """Return what sets a point apart: `CUBIC, 64 KB buffer, 16 senders`."""
    parts = [setting_label(name, point.parameters[name]) for name in varied if name in point.parameters]
    return ", ".join(parts) or str(point.status)


def setting_label(name: str, value: Value) -> str:
    """Return one setting as words: a variant by its name, a quantity first: `16 senders`,
    `64 KB buffer`, `window limit 2`."""
    if name in ("variant", "congestion_control"):
        return value_text(name, value)
    noun = setting_noun(name)
    is_count = str(value).isdecimal()
    if setting_number(value) is None or (is_count and not noun.endswith("s")):
        return f"{noun} {value_text(name, value)}"
    return f"{value} {noun[:-1] if str(value) == '1' and is_count else noun}"


def value_text(name: str, value: Value) -> str:
    """Return a setting's value alone as words: an algorithm by its name, a flag as on or off."""
    return (
        algorithm_name(str(value)) if name in ("variant", "congestion_control") else _FLAGS.get(str(value), str(value))
    )


def setting_noun(name: str) -> str:
    """Return what a setting is called within a sentence: `buffer`, `delayed ACK`."""
    return " ".join(word.upper() if word in _ACRONYMS else word for word in name.rpartition(".")[2].split("_"))


def shown_interval(results: Results) -> tuple[int, int]:
    """Return the time that a figure shows, ns after the epoch: the busy interval,
    from 0 on when it begins shortly after."""
    begin, end = busy_interval(results.measured)
    return (0 if begin < 0.02 * end else begin), end


def draw_level(
    axes: Axes, level: float, label: str, *, dash: Dash = (0, (4, 3)), color: str = MUTED, below: bool = False
) -> None:
    """Draw a horizontal line of reference with its name, where it has one, above or below it,
    over a patch of the ground."""
    axes.axhline(level, color=color, linewidth=1.0, linestyle=dash, zorder=1.5)
    if not label:
        return
    axes.annotate(
        label,
        (1, level),
        xycoords=("axes fraction", "data"),
        xytext=(-2, -2 if below else 2),
        textcoords="offset points",
        ha="right",
        va="top" if below else "bottom",
        fontsize=8,
        color=INK,
        zorder=5,
        bbox={"facecolor": GROUND, "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
    )


def draw_events(axes: Axes, results: Results, time: Axis, from_ns: float = 0) -> None:
    """Draw a vertical line with its name at each event of the run that the axis, whose limits are set and whose 0 is
    `from_ns`, shows.

    Pause storms are among them; the time that they last is shaded.
    """
    left, right = axes.get_xlim()
    for event in results.plan.changes:
        at = (event.at_ns - from_ns) / time.scale
        if not left <= at <= right:
            continue
        if isinstance(event, PauseStorm):
            axes.axvspan(
                at,
                min((event.until_ns - from_ns) / time.scale, right),
                color=WARNING,
                alpha=0.08,
                linewidth=0,
                zorder=0.4,
            )
        axes.axvline(at, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
        is_late = at > left + 0.75 * (right - left)
        axes.annotate(
            event.name,
            (at, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if is_late else 3, -3),
            textcoords="offset points",
            ha="right" if is_late else "left",
            va="top",
            fontsize=8,
            color=INK,
            zorder=5,
            bbox={"facecolor": GROUND, "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
        )


def draw_buffer_levels(axes: Axes, port: PortFacts | None, axis: Axis, top: float) -> None:
    """Draw buffer limit and marking thresholds of a port, as far as the axis reaches;
    those too close for names of their own share one."""
    room_bytes = LEVEL_ROOM * top * axis.scale
    levels = (
        sorted((level for level in port.levels if level.bytes <= top * axis.scale), key=lambda level: level.bytes)
        if port
        else []
    )
    names: list[str] = []
    for level, above in zip_longest(levels, levels[1:]):
        names.append(level_label(level, axis))
        has_room = above is None or above.bytes - level.bytes >= room_bytes
        look: dict[str, Any] = {} if level.is_limit else {"dash": (0, (1, 1.5)), "color": INK}
        draw_level(axes, level.bytes / axis.scale, ", ".join(names) if has_room else "", **look)
        names = [] if has_room else names


def level_label(level: Level, axis: Axis) -> str:
    """Return `buffer 64 KB`, `K = 30 KB`."""
    return f"{level.name} {level.bytes / axis.scale:.4g} {axis.unit}"
