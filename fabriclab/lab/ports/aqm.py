"""A port's queue management as written, and how one layer of `switches` or `hosts` overrides another.

The kinds are in `fabriclab.qdiscs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabriclab.keys.values import NONE, Word
from fabriclab.keys.wording import did_you_mean, listed, shown
from fabriclab.lab.ports.keys import OWN_QDISC
from fabriclab.lab.reading.document import MappingValue, ScalarValue, must_be
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section, Written
from fabriclab.qdiscs import AQM_WORDS, KINDS
from fabriclab.qdiscs.own import QDISC_OPTIONS

_KIND: Word[str] = Word(tuple(KINDS))


@dataclass(frozen=True)
class WrittenAqm:
    """What an experiment says of a port's queue management; None: nothing.

    With `is_none` it says that there is none.
    """

    is_none: bool = False
    kind: Written[str] | None = None
    values: Mapping[str, Written[int] | Written[bool] | Written[str]] = field(default_factory=dict)
    """By key, those that are written."""
    own: Written[str] | None = None
    """In place of a kind: what a qdisc of the user's own registers itself as."""
    options: Written[str] | None = None
    """What that is told."""


def read_aqm(section: Section, names: Names) -> WrittenAqm | None:
    """Return the `aqm` of a switch's or host's section; None when it is absent or wrong."""
    value = section.get("aqm")
    if isinstance(value, ScalarValue) and not value.is_null:
        if value.text.strip() == NONE:
            return WrittenAqm(is_none=True)
        wanted = f"a mapping such as {{kind: codel}} (keys: {listed(('kind', *AQM_WORDS))}) or '{NONE}'"
        section.complain("aqm", must_be(wanted, value))
        return None
    if isinstance(value, MappingValue) and not value.entries.keys().isdisjoint(OWN_QDISC.names):
        return _read_own(section, names)
    aqm = section.section("aqm", ("kind", *AQM_WORDS))
    if aqm is None:
        return None
    kind = aqm.value("kind", _KIND)
    values = {name: one for name, key in AQM_WORDS.items() if (one := aqm.value(name, key.value)) is not None}
    return WrittenAqm(kind=kind, values=values)


def _read_own(section: Section, names: Names) -> WrittenAqm | None:
    """Return a qdisc of the user's own; of a layer it may be the options alone."""
    aqm = section.section("aqm", OWN_QDISC)
    if aqm is None:
        return None
    registered = names.own_names("qdisc")
    return WrittenAqm(
        own=aqm.convert("source", "a C file beside the lab, such as ./sch_mine.c", lambda text: registered[text]),
        options=aqm.convert("options", "pairs of a word and a value, such as 'limit 100 target 5ms'", _options),
    )


def _options(text: str) -> str:
    if not QDISC_OPTIONS.is_in(text):
        raise ValueError(
            f"{shown(text)} is not a list of options; write words and values of letters, digits and _ . : + - with "
            f"blanks between them, at most {QDISC_OPTIONS.most_characters} characters"
        )
    return " ".join(text.split())


def check_aqm(aqm: WrittenAqm | None, marks: bool, problems: Problems) -> None:
    """Record what a port's queue management contradicts; `marks` says whether a threshold marks, too."""
    if aqm is None or aqm.is_none or _is_own(aqm, marks, problems):
        return
    if aqm.kind is None and not aqm.values:
        return
    if aqm.kind is None:
        first = next(iter(aqm.values.values()))
        first.complain(problems, f"has no kind of queue management; write kind: one of {listed(KINDS)}")
        return
    if marks:
        aqm.kind.complain(problems, "conflicts with ecn_threshold; write one of them (aqm: {ecn: true} marks, too)")
        return
    qdisc = KINDS[aqm.kind.value]
    own = [key.name for key in qdisc.keys().values()]
    for name, written in aqm.values.items():
        if name not in own:
            written.complain(problems, f"is not a key of {aqm.kind.value}; {did_you_mean(name, own)}")
    for name, message in qdisc.contradictions(aqm.values):
        aqm.values[name].complain(problems, f"{shown(aqm.values[name].text)} {message}")


def _is_own(aqm: WrittenAqm, marks: bool, problems: Problems) -> bool:
    """Return whether it is the user's own; what contradicts that is recorded."""
    if aqm.own is None and aqm.options is not None:
        aqm.options.complain(problems, "is an option of your own qdisc; write source: its C file, such as ./sch_mine.c")
    if aqm.own is not None and marks:
        aqm.own.complain(problems, "conflicts with ecn_threshold; write one of them (a qdisc marks by itself)")
    return aqm.own is not None


def override_aqm(base: WrittenAqm | None, over: WrittenAqm | None) -> WrittenAqm | None:
    """Return `base` overridden key by key; `none` on either side leaves nothing of the base.

    Of a base of another kind those keys stay that the new kind has, too.
    """
    if base is None or over is None or base.is_none or over.is_none:
        return base if over is None else over
    if over.own is not None or (base.own is not None and over.kind is not None):
        return over
    kept = base.values
    if over.kind is not None and base.kind is not None:
        own = {key.name for key in KINDS[over.kind.value].keys().values()}
        kept = {name: value for name, value in base.values.items() if name in own}
    values = _in_order({**kept, **over.values})
    return WrittenAqm(kind=over.kind or base.kind, values=values, own=base.own, options=over.options or base.options)


def _in_order(
    values: Mapping[str, Written[int] | Written[bool] | Written[str]],
) -> dict[str, Written[int] | Written[bool] | Written[str]]:
    return {name: values[name] for name in AQM_WORDS if name in values}
