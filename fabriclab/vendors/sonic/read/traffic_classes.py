"""Sixteen traffic classes of SAI in a lab's eight: what is treated alike, or has a number to spare, takes another one.

SONiC's templates use a ninth class (DSCP 33 is of class 8 on dual-ToR switches, sonic-buildimage,
files/build_templates/qos_config.j2); it goes to the queue and the group of another one, or has both to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fabriclab.formats.classes import QUEUES


@dataclass(frozen=True)
class Classes:
    """A port's maps of traffic classes, each by index."""

    dscp_to_tc: tuple[int, ...]
    tc_to_queue: tuple[int, ...]
    tc_to_group: tuple[int, ...]


def in_eight(maps: Classes, note: Callable[[str], None], complain: Callable[[str, str], None]) -> Classes:
    """Return a port's maps with classes 0 to 7 only, each DSCP in the queue and the group that it had.

    `note` takes what is worth knowing; `complain` the map and what it says that a lab's port cannot.
    """
    dscps, queue, group = list(maps.dscp_to_tc), list(maps.tc_to_queue), list(maps.tc_to_group)
    for tc in sorted({tc for tc in dscps if tc >= QUEUES}):
        used = sorted(set(dscps))
        alike = [one for one in used if one < QUEUES and (queue[one], group[one]) == (queue[tc], group[tc])]
        spare = [one for one in range(QUEUES) if one not in used]
        if not alike and not spare:
            complain(
                "dscp_to_tc",
                f"{len(used)} classes, all with different queues and groups; a lab's switch has only {QUEUES}",
            )
            break
        new = (alike or spare)[0]
        queue[new], group[new] = queue[tc], group[tc]
        dscps = [new if one == tc else one for one in dscps]
        why = "has the same queue and group" if alike else "has no DSCP"
        note(f"traffic class {tc} is {new} in the lab, which {why}: a lab's switch has classes 0 to {QUEUES - 1}")
    for tc in sorted({tc for tc in dscps if queue[tc] >= QUEUES}):
        complain("tc_to_queue", f"class {tc} goes to queue {queue[tc]}; a lab's port has queues 0 to {QUEUES - 1}")
    return Classes(
        tuple(min(tc, QUEUES - 1) for tc in dscps),
        tuple(min(one, QUEUES - 1) for one in queue[:QUEUES]),
        tuple(group[:QUEUES]),
    )
