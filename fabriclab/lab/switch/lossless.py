"""The last step of reading a switch: which classes are lossless, and what was given up is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from fabriclab.formats.classes import QUEUES
from fabriclab.lab.reading.section import Written
from fabriclab.lab.switch.written import (
    Numbered,
    WrittenAccount,
    WrittenBuffer,
    WrittenGroup,
    WrittenLayer,
    WrittenMaps,
    WrittenPfc,
    WrittenQueue,
    WrittenSwitch,
)

T = TypeVar("T")


def dormant_groups(switch: WrittenSwitch) -> tuple[int, ...]:
    """Return the groups that are lossless by the profile's file and that no PFC priority of this switch belongs to.

    So that one profile serves experiments with PFC and without, these are lossy: a lossless group that pauses nobody
    would only lose later.
    """
    paused = _paused_groups(switch.buffer)
    return tuple(
        number
        for number, group in switch.buffer.groups.items()
        if group.lossless is not None
        and group.lossless.value
        and group.lossless.place.file == switch.file
        and number not in paused
    )


def without_lossless(profile: WrittenLayer, groups: tuple[int, ...], maps: WrittenMaps) -> WrittenLayer:
    """Return a profile that says nothing of these groups, nor of the queues of their classes,
    but what its `default` says of all."""
    classes = [number for number in range(QUEUES) if _mapped(maps.tc_to_group, number) in groups]
    queues = tuple(_mapped(maps.tc_to_queue, number) for number in classes)
    return replace(profile, queues=_silent_of(queues, profile.queues), groups=_silent_of(groups, profile.groups))


def finish(switch: WrittenSwitch) -> WrittenSwitch:
    """Return the switch without parts that are `none`, and without thresholds of dormant groups."""
    buffer = switch.buffer
    dormant = switch.dormant_groups
    lossless = lossless_queues(buffer)
    queues = {number: _by_ingress(queue) if number in lossless else queue for number, queue in buffer.queues.items()}
    finished = replace(
        buffer,
        queues={number: _finish_queue(queue) for number, queue in queues.items()},
        groups={number: _lossy(group) if number in dormant else group for number, group in buffer.groups.items()},
        pfc=active_pfc(buffer.pfc),
    )
    return replace(switch, buffer=finished)


def lossless_queues(buffer: WrittenBuffer) -> frozenset[int]:
    """Return the queues that have classes, all of them of lossless groups."""
    lossless = {
        number for number, group in buffer.groups.items() if group.lossless is not None and group.lossless.value
    }
    groups: dict[int, set[int]] = {}
    for number in range(QUEUES):
        groups.setdefault(_mapped(buffer.maps.tc_to_queue, number), set()).add(_mapped(buffer.maps.tc_to_group, number))
    return frozenset(queue for queue, of_queue in groups.items() if of_queue <= lossless)


def is_boundless(account: WrittenAccount) -> bool:
    """Return whether an account is written to have memory of its own without a limit."""
    no_pool = account.pool is not None and account.pool.value is None
    return no_pool and account.alpha_log is None and (account.limit is None or account.limit.value is None)


def active_pfc(pfc: WrittenPfc | None) -> WrittenPfc | None:
    """Return the PFC that is in force; None when there is none, or no priority has it."""
    if pfc is None or pfc.is_none or pfc.priorities is None:
        return None
    return replace(pfc, watchdog=None) if pfc.watchdog is not None and pfc.watchdog.is_none else pfc


def _paused_groups(buffer: WrittenBuffer) -> frozenset[int]:
    """Return the priority groups that a PFC priority belongs to."""
    pfc = active_pfc(buffer.pfc)
    priorities = () if pfc is None or pfc.priorities is None else pfc.priorities.value
    return frozenset(_mapped(buffer.maps.priority_to_group, priority) for priority in priorities)


def _mapped(entries: Mapping[int, Written[int]], number: int) -> int:
    """Return what a map says of a number; where it is silent, the same number."""
    return entries[number].value if number in entries else number


def _silent_of(numbers: tuple[int, ...], numbered: Numbered[T]) -> Numbered[T]:
    def others(entries: Mapping[int, T]) -> dict[int, T]:
        return {number: value for number, value in entries.items() if number not in numbers}

    return Numbered(numbered.default, others(numbered.ranges), others(numbered.single))


def _by_ingress(queue: WrittenQueue) -> WrittenQueue:
    """Return a lossless queue; without any limit of its own it has no account: the ingress side alone decides."""
    return replace(queue, account=WrittenAccount()) if is_boundless(queue.account) else queue


def _lossy(group: WrittenGroup) -> WrittenGroup:
    return replace(group, lossless=None, headroom=None, xon=None, xon_offset=None)


def _finish_queue(queue: WrittenQueue) -> WrittenQueue:
    return replace(
        queue,
        wred=None if queue.wred is None or queue.wred.is_none else queue.wred,
        phantom=None if queue.phantom is None or queue.phantom.is_none else queue.phantom,
        qcn=None if queue.qcn is None or queue.qcn.is_none else queue.qcn,
        voq_limit=None if queue.voq_limit is None or queue.voq_limit.value is None else queue.voq_limit,
        event=None if queue.event is None or queue.event.value is None else queue.event,
    )
