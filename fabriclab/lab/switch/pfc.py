"""`pfc` of a switch: which priorities pause and are paused (IEEE 802.1Qbb), and the watchdog against pause storms."""

from __future__ import annotations

from fabriclab.lab.reading.or_none import read_part
from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.switch.keys import PFC, WATCHDOG
from fabriclab.lab.switch.numbered_sections import read_number_list
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
    return read_number_list(section, "priorities", "priority")


def _read_watchdog(section: Section) -> WrittenWatchdog:
    return section.fill(WrittenWatchdog, WATCHDOG)
