"""The last step of reading a switch: what was given up is left out, and lossless groups of a profile wait for PFC."""

from __future__ import annotations

from dataclasses import replace

from fabriclab.lab.switch.written import WrittenBuffer, WrittenGroup, WrittenPfc, WrittenQueue, WrittenSwitch


def finish(switch: WrittenSwitch) -> WrittenSwitch:
    """Return the switch without parts that are `none`.

    A group that is lossless by the profile's file needs a PFC priority of this switch: without one it is lossy, so that a profile with
    lossless groups also serves an experiment without PFC.
    """
    buffer = switch.buffer
    dormant = tuple(
        number
        for number, group in buffer.groups.items()
        if group.lossless is not None and group.lossless.value and _is_of(switch.file, group) and number not in paused_groups(buffer)
    )
    return replace(
        switch,
        buffer=replace(
            buffer,
            queues={number: _finish_queue(queue) for number, queue in buffer.queues.items()},
            groups={number: _lossy(group) if number in dormant else group for number, group in buffer.groups.items()},
            pfc=active_pfc(buffer.pfc),
        ),
        dormant_groups=dormant,
    )


def active_pfc(pfc: WrittenPfc | None) -> WrittenPfc | None:
    """Return the PFC that is in force; None when there is none, or no priority has it."""
    if pfc is None or pfc.is_none or pfc.priorities is None:
        return None
    return replace(pfc, watchdog=None) if pfc.watchdog is not None and pfc.watchdog.is_none else pfc


def paused_groups(buffer: WrittenBuffer) -> frozenset[int]:
    """Return the priority groups that a PFC priority belongs to."""
    pfc = active_pfc(buffer.pfc)
    priorities = () if pfc is None or pfc.priorities is None else pfc.priorities.value
    to_group = buffer.maps.priority_to_group
    return frozenset(to_group[priority].value if priority in to_group else priority for priority in priorities)


def _is_of(file: str, group: WrittenGroup) -> bool:
    return group.lossless is not None and group.lossless.place.file == file


def _lossy(group: WrittenGroup) -> WrittenGroup:
    return replace(group, lossless=None, headroom=None, xon=None, xon_offset=None)


def _finish_queue(queue: WrittenQueue) -> WrittenQueue:
    return replace(
        queue,
        wred=None if queue.wred is None or queue.wred.is_none else queue.wred,
        phantom=None if queue.phantom is None or queue.phantom.is_none else queue.phantom,
        voq_limit=None if queue.voq_limit is None or queue.voq_limit.value is None else queue.voq_limit,
        event=None if queue.event is None or queue.event.value is None else queue.event,
    )
