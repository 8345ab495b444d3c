"""`pfc` of a switch: which priorities pause and are paused (IEEE 802.1Qbb), and the watchdog against pause storms."""

from __future__ import annotations

from fabriclab.formats.classes import QUEUES
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.or_none import read_part
from fabriclab.lab.reading.section import Section, Written, as_words, duplicates
from fabriclab.lab.switch.keys import PFC, WATCHDOG
from fabriclab.lab.switch.written import WrittenPfc, WrittenWatchdog


def read_pfc(layer: Section) -> WrittenPfc | None:
    """Return the `pfc` of a switch's section; None when it is absent."""
    return read_part(layer, "pfc", PFC, _read_pfc, WrittenPfc(is_none=True))


def _read_pfc(section: Section) -> WrittenPfc:
    return section.fill(
        WrittenPfc,
        PFC,
        priorities=read_priorities(section),
        watchdog=read_part(section, "watchdog", WATCHDOG, _read_watchdog, WrittenWatchdog(is_none=True)),
    )


def read_priorities(section: Section) -> Written[tuple[int, ...]] | None:
    """Return the priorities that `priorities` lists, in the order of their numbers; None when it is absent or wrong."""
    value = section.get("priorities")
    if value is None:
        return None
    words = as_words(value, section.path("priorities"), section.problems)
    if words is None:
        return None
    wrong = [word for word in words if word.value not in map(str, range(QUEUES))]
    for word in wrong:
        word.complain(
            section.problems,
            f"{shown(word.value)} is not a priority; write numbers from 0 to {QUEUES - 1}, such as 3, 4",
        )
    for again in duplicates(words):
        again.complain(section.problems, f"priority {again.value} occurs twice")
    if wrong:
        return None
    numbers = tuple(sorted({int(word.value) for word in words}))
    return Written(numbers, section.path("priorities"), ", ".join(map(str, numbers)), value.place)


def _read_watchdog(section: Section) -> WrittenWatchdog:
    return section.fill(WrittenWatchdog, WATCHDOG)
