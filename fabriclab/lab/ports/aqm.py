"""A port's queue management as written, and how one layer of `switches` or `hosts` overrides another.

The kinds are in `fabriclab.qdiscs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.or_none import NONE
from fabriclab.lab.reading.problems import Problems, did_you_mean, listed, shown
from fabriclab.lab.reading.section import Section, Written
from fabriclab.qdiscs import AQM_WORDS, KINDS, Key

_NS_PER_US = 1_000


@dataclass(frozen=True)
class WrittenAqm:
    """What an experiment says of a port's queue management; None: nothing.

    With `is_none` it says that there is none.
    """

    is_none: bool = False
    kind: Written[str] | None = None
    values: Mapping[str, Written[int] | Written[bool] | Written[str]] = field(default_factory=dict)
    """By key, those that are written."""


def read_aqm(section: Section) -> WrittenAqm | None:
    """Return the `aqm` of a switch's or host's section; None when it is absent or wrong."""
    value = section.get("aqm")
    if isinstance(value, ScalarValue) and not value.is_null:
        if value.text.strip() == NONE:
            return WrittenAqm(is_none=True)
        wanted = f"a mapping of {listed(('kind', *AQM_WORDS))} is wanted (kind: codel), or '{NONE}'"
        section.complain("aqm", f"{shown(value.text)} stands here; {wanted}")
        return None
    aqm = section.section("aqm", ("kind", *AQM_WORDS))
    if aqm is None:
        return None
    kind = aqm.choice("kind", tuple(KINDS))
    values = {name: one for name, key in AQM_WORDS.items() if (one := _read(aqm, key)) is not None}
    return WrittenAqm(kind=kind, values=values)


def _read(section: Section, key: Key) -> Written[int] | Written[bool] | Written[str] | None:
    if key.meaning == "duration":
        return _microseconds(section, key)
    if key.meaning == "size":
        return section.size(key.name, key.least, key.most)
    if key.meaning == "count":
        return section.count(key.name, key.least, key.most)
    return section.flag(key.name) if key.meaning == "flag" else section.choice(key.name, key.words)


def _microseconds(section: Section, key: Key) -> Written[int] | None:
    """Read a time in nanoseconds that is whole microseconds."""
    written = section.duration(key.name, key.least, key.most)
    if written is not None and written.value % _NS_PER_US:
        written.complain(
            section.problems, f"{shown(written.text)} is no whole number of microseconds, in which the qdisc is told"
        )
    return written


def check_aqm(aqm: WrittenAqm | None, marks: bool, problems: Problems) -> None:
    """Record what a port's queue management contradicts; `marks` says whether a threshold marks, too."""
    if aqm is None or aqm.is_none or (aqm.kind is None and not aqm.values):
        return
    if aqm.kind is None:
        first = next(iter(aqm.values.values()))
        first.complain(problems, f"of no queue management; write kind: one of {listed(KINDS)}")
        return
    if marks:
        aqm.kind.complain(problems, "stands beside ecn_threshold; write one of them (aqm: {ecn: true} marks, too)")
        return
    qdisc = KINDS[aqm.kind.value]
    own = [key.name for key in qdisc.keys().values()]
    for name, written in aqm.values.items():
        if name not in own:
            written.complain(problems, f"is no key of {aqm.kind.value}; {did_you_mean(name, own)}")
    for name, message in qdisc.contradictions(aqm.values):
        aqm.values[name].complain(problems, f"{shown(aqm.values[name].text)} {message}")


def override_aqm(base: WrittenAqm | None, over: WrittenAqm | None) -> WrittenAqm | None:
    """Return `base` overridden key by key; `none` on either side leaves nothing of the base.

    Of a base of another kind those keys stay that the new kind has, too.
    """
    if base is None or over is None or base.is_none or over.is_none:
        return base if over is None else over
    kept = base.values
    if over.kind is not None and base.kind is not None:
        own = {key.name for key in KINDS[over.kind.value].keys().values()}
        kept = {name: value for name, value in base.values.items() if name in own}
    return WrittenAqm(kind=over.kind or base.kind, values=_in_order({**kept, **over.values}))


def _in_order(
    values: Mapping[str, Written[int] | Written[bool] | Written[str]],
) -> dict[str, Written[int] | Written[bool] | Written[str]]:
    return {name: values[name] for name in AQM_WORDS if name in values}
