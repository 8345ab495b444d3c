"""Which queues and groups of a port are of a lossless class."""

from __future__ import annotations

from fabriclab.formats.classes import QUEUES
from fabriclab.resolve.switch.checks import classes_in_use
from fabriclab.resolve.switch.findings import CheckedPort


def lossless_groups(port: CheckedPort) -> frozenset[int]:
    """Return the lossless priority groups."""
    return frozenset(group.index for group in port.port.groups if group.lossless is not None)


def lossless_queues(port: CheckedPort) -> frozenset[int]:
    """Return the queues that frames of some lossless group leave by."""
    maps, lossless = port.port.maps, lossless_groups(port)
    return frozenset(maps.tc_to_queue[tc] for tc in range(QUEUES) if maps.tc_to_group[tc] in lossless)


def groups_in_use(port: CheckedPort) -> frozenset[int]:
    """Return the priority groups that frames can get to."""
    maps = port.port.maps
    return frozenset(maps.tc_to_group[tc] for tc in classes_in_use(maps))
