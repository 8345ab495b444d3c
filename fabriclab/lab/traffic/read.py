"""The section `traffic` of an experiment as written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabriclab.formats import ranges
from fabriclab.formats.names import TRAFFIC_NAME
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.keys.values import Word
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.document import MappingValue, Value
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.keys import ENABLED, TRAFFIC_KIND
from fabriclab.lab.traffic.programs import check_programs
from fabriclab.lab.traffic.scope import Scope
from fabriclab.registry.traffic_kinds import KINDS, load

_Reader = Callable[[Section, str, Scope], "Traffic | None"]
_KIND: Word[str] = Word(tuple(KINDS))


def read_traffic(root: Section, scope: Scope, *, is_optional: bool = False) -> tuple[Traffic, ...]:
    """Return the `traffic` section without what is not enabled; what is wrong is recorded, and left out.

    `is_optional`: a lab may be without, such as one of routers alone.
    """
    before = len(root.problems)
    if is_optional and "traffic" not in root:
        return ()
    root.require("traffic", example=f"traffic: with a name and a kind ({', '.join(KINDS)}) for each")
    section = root.section("traffic", None)
    if section is None:
        return ()
    if isinstance(root.get("traffic"), MappingValue) and not section.names():
        root.complain("traffic", "there is no traffic; name at least one")
    every = []
    for name in section.names():
        if not TRAFFIC_NAME.is_in(name):
            place = section.mapping.key_place(name)
            root.problems.add(
                place,
                section.path(name),
                f"{shown(name)} cannot name traffic; write letters, digits, '-' and '_'",
                name,
            )
        value = section.get(name)
        traffic = None if value is None else _read_one(value, section.path(name), name, scope, root)
        if traffic is not None:
            every.append(traffic)
    if not every and len(root.problems) == before:
        root.complain("traffic", "no traffic is enabled; leave at least one")
    if len(root.problems) == before:
        check_programs(every, section)
    _check_number(every, section)
    return tuple(every)


def _read_one(value: Value, key: str, name: str, scope: Scope, root: Section) -> Traffic | None:
    """Return one piece of traffic; None when it is not enabled, or after recording what is wrong with it."""
    before = len(root.problems)
    section = Section(value, key, root.problems, None)
    section.require("kind", example=f"kind: one of {', '.join(KINDS)}")
    kind = section.value("kind", _KIND)
    if kind is None:
        return None
    read: _Reader = load(kind.value).read
    section = Section(value, key, root.problems, TRAFFIC_KIND.kinds[kind.value])
    enabled = section.read(ENABLED)
    traffic = read(section, name, scope)
    return traffic if len(root.problems) == before and ENABLED.or_default(enabled) else None


def _check_number(every: Sequence[Traffic], section: Section) -> None:
    flows = sum(traffic.flows for traffic in every)
    if flows > ranges.MOST_FLOWS:
        largest = max(every, key=lambda traffic: traffic.flows)
        share = f", {largest.flows} of them of traffic.{largest.name}" if len(every) > 1 else ""
        section.problems.add(
            section.place, "traffic", f"{flows} flows{share}; an experiment has at most {ranges.MOST_FLOWS}"
        )
