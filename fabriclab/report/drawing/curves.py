"""What the figures share: runs side by side with a label and a colour each, and settings in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabriclab.report.drawing.style import algorithm_name
from fabriclab.report.measured.port_facts import Level
from fabriclab.report.measured.quantities import Axis, Value, setting_number
from fabriclab.results import Results, SweepPoint
from fabriclab.results.summary import busy_interval

Dash = Any

_ACRONYMS = frozenset(("ack", "aqm", "bfd", "dscp", "ecn", "frr", "mptcp", "mtu", "pfc", "rto", "sru", "wred"))
_BARE = re.compile(r"\d+(\.\d+)?")
"""Numbers without a unit: counts, where the noun is a plural, else a version or a factor."""
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
    is_count = _BARE.fullmatch(str(value)) is not None
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


def level_label(level: Level, axis: Axis) -> str:
    """Return `buffer 64 KB`, `K = 30 KB`."""
    return f"{level.name} {level.bytes / axis.scale:.4g} {axis.unit}"
