"""A port's active queue management as written: its keys and their bounds, and how one layer of `switches` overrides another."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.or_none import NONE
from fabriclab.lab.reading.problems import Problems, listed, shown
from fabriclab.lab.reading.section import Section, Written

AQM_KEYS = ("kind", "target", "interval", "ecn")
AQM_KINDS = ("codel", "fq_codel", "pie", "fq_pie")
"""RFC 8289, RFC 8290, RFC 8033; FQ-PIE is FQ-CoDel's scheduler with a PIE for each flow."""
_SHORTEST_NS, _LONGEST_NS = 1_000, 10 * 10**9
_NS_PER_US = 1_000


@dataclass(frozen=True)
class WrittenAqm:
    """What an experiment says of a port's queue management; None: nothing. With `is_none` it says that there is none."""

    is_none: bool = False
    kind: Written[str] | None = None
    target: Written[int] | None = None
    interval: Written[int] | None = None
    ecn: Written[bool] | None = None


def read_aqm(switch: Section) -> WrittenAqm | None:
    """Return the `aqm` of a switch's section; None when it is absent or wrong."""
    value = switch.get("aqm")
    if isinstance(value, ScalarValue) and not value.is_null:
        if value.text.strip() == NONE:
            return WrittenAqm(is_none=True)
        message = (
            f"{shown(value.text)} stands here; a mapping of {listed(AQM_KEYS)} is wanted (kind: codel), or '{NONE}'"
        )
        switch.complain("aqm", message)
        return None
    section = switch.section("aqm", AQM_KEYS)
    if section is None:
        return None
    return WrittenAqm(
        kind=section.choice("kind", AQM_KINDS),
        target=_microseconds(section, "target"),
        interval=_microseconds(section, "interval"),
        ecn=section.flag("ecn"),
    )


def _microseconds(section: Section, name: str) -> Written[int] | None:
    """Read a time in nanoseconds that is whole microseconds, in which qdiscs are told (tc-codel(8), tc-pie(8))."""
    written = section.duration(name, _SHORTEST_NS, _LONGEST_NS)
    if written is not None and written.value % _NS_PER_US:
        written.complain(
            section.problems, f"{shown(written.text)} is no whole number of microseconds, in which the qdisc is told"
        )
    return written


def check_aqm(aqm: WrittenAqm | None, marks: bool, problems: Problems) -> None:
    """Record what a port's queue management contradicts; `marks` says whether a threshold marks, too."""
    if aqm is None or aqm.is_none:
        return
    written = aqm.kind or aqm.target or aqm.interval or aqm.ecn
    if written is None:
        return
    if aqm.kind is None:
        written.complain(problems, f"of no queue management; write kind: one of {listed(AQM_KINDS)}")
    elif marks:
        aqm.kind.complain(problems, "stands beside ecn_threshold; write one of them (aqm: {ecn: true} marks, too)")
    elif "codel" in aqm.kind.value and aqm.target and aqm.interval and aqm.target.value >= aqm.interval.value:
        message = f"{shown(aqm.target.text)} is not below interval, {aqm.interval.text}; CoDel wants 5 % to 10 % of it (RFC 8289, section 4.4)"
        aqm.target.complain(problems, message)


def override_aqm(base: WrittenAqm | None, over: WrittenAqm | None) -> WrittenAqm | None:
    """Return `base` overridden key by key; `none` on either side leaves nothing of the base."""
    if base is None or over is None or base.is_none or over.is_none:
        return base if over is None else over
    return replace(
        base, **{field.name: value for field in fields(over) if (value := getattr(over, field.name)) is not None}
    )
