"""`maps` of a switch: which traffic class, queue, priority group and priority a frame belongs to."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.classes import QUEUES
from fabriclab.lab.reading.dscp import DSCP_NAMES, LARGEST_DSCP
from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.switch.keys import EIGHTH
from fabriclab.lab.switch.numbered_sections import read_map
from fabriclab.lab.switch.written import WrittenMaps

_CODEPOINTS = LARGEST_DSCP + 1


def read_maps(section: Section) -> WrittenMaps:
    """Return the entries that are written."""
    return WrittenMaps(
        dscp_to_tc=_read_map(section, "dscp_to_tc", "DSCP", _CODEPOINTS, DSCP_NAMES),
        tc_to_queue=_read_map(section, "tc_to_queue", "traffic class", QUEUES),
        tc_to_group=_read_map(section, "tc_to_group", "traffic class", QUEUES),
        priority_to_queue=_read_map(section, "priority_to_queue", "priority", QUEUES),
        priority_to_group=_read_map(section, "priority_to_group", "priority", QUEUES),
    )


def _read_map(
    maps: Section, name: str, what: str, count: int, names: Mapping[str, int] | None = None
) -> dict[int, Written[int]]:
    section = maps.section(name, None)
    if section is None:
        return {}
    return read_map(section, what, count, names, lambda key: section.value(key, EIGHTH))
