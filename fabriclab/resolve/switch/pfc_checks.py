"""Checks of priority flow control: that what is called lossless is, and that what is paused is what was meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.plan.switch import Lossless, Pfc, PriorityGroup, Switch, SwitchQueue
from fabriclab.resolve.switch.findings import CheckedPort, SwitchFinding
from fabriclab.resolve.switch.headroom import cells, full_frames_headroom, headroom_bytes
from fabriclab.resolve.switch.memory import Memory, alpha
from fabriclab.resolve.switch.notes import number_ranges, size

_COMPUTED = "write headroom: auto"


def lossy_priority(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """A PFC priority belongs to a lossless group."""
    del switch
    for port in ports:
        for priority in _priorities(port):
            index = port.port.maps.priority_to_group[priority]
            group = port.group(index)
            if group is None or group.lossless is None:
                yield SwitchFinding(
                    "pfc-lossy-group",
                    "warning",
                    ("pfc", "priorities"),
                    str(priority),
                    f"in priority group {index}, which is lossy",
                    "the port stops for its neighbours' pauses but never sends one",
                    f"write priority_groups: {{{index}: {{lossless: true}}}}",
                    (port.name,),
                )


def unpaused_group(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """A lossless group has a PFC priority, and the neighbour stops for it."""
    del switch
    for port in ports:
        for group, _ in _lossless(port):
            sent = _priorities_of(group, port)
            path = ("priority_groups", str(group.index), "lossless")
            if not sent:
                bound = "set without a PFC priority, because none of pfc.priorities belongs to the group"
                fate = "no neighbour is paused, so frames beyond the limit and the headroom are dropped"
                yield SwitchFinding("lossless-without-pfc", "warning", path, "true", bound, fate, ports=(port.name,))
            elif not set(sent) & set(port.line.honoured):
                bound = f"ignored by the neighbour, which has no PFC for priority {number_ranges(sent)}"
                fate = "the neighbour keeps sending while it is paused, so frames beyond the headroom are dropped"
                yield SwitchFinding("pause-ignored", "warning", path, "true", bound, fate, ports=(port.name,))


def headroom_below_need(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """A lossless group's headroom holds what comes after the pause."""
    for port in ports:
        for group, lossless in _lossless(port):
            full = full_frames_headroom(port.line, switch.cell_bytes)
            safe = headroom_bytes(port.line, switch.cell_bytes, len(_priorities(port)))
            path, value = ("priority_groups", str(group.index), "headroom"), size(lossless.headroom_bytes)
            whole = cells(lossless.headroom_bytes, switch.cell_bytes) * switch.cell_bytes
            if whole < cells(port.line.frame_bytes, switch.cell_bytes) * switch.cell_bytes:
                bound = f"less than one frame of {port.line.frame_bytes} B (MTU {port.line.mtu})"
                fate = f"the group is never lossless; this link needs {size(safe)}"
                yield SwitchFinding("headroom-below-frame", "error", path, value, bound, fate, _COMPUTED, (port.name,))
            elif whole < min(full, safe):
                bound = (
                    f"less than {size(min(full, safe))}, which a sender of full frames at the link's rate fills after "
                    "the "
                    "pause"
                )
                fate = f"the class loses frames; {size(safe)} are enough for any traffic"
                yield SwitchFinding("headroom-below-need", "warning", path, value, bound, fate, _COMPUTED, (port.name,))
            elif whole < safe:
                bound = f"less than {size(safe)}, which is enough for small frames and traffic in both directions"
                fate = "with small frames, or with traffic in the other direction, the class can lose frames"
                yield SwitchFinding(
                    "headroom-for-full-frames", "warning", path, value, bound, fate, _COMPUTED, (port.name,)
                )


def shared_headroom(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """Headroom that groups share is enough for one group at least; for all of them it need not be, but it is said."""
    for pool in switch.pools:
        each = [
            (port, lossless.headroom_bytes)
            for port in ports
            for group, lossless in _lossless(port)
            if group.account.pool == pool.name and pool.headroom_bytes
        ]
        path, value = ("pools", pool.name, "headroom"), size(pool.headroom_bytes)
        needs = [full_frames_headroom(port.line, switch.cell_bytes) for port, _ in each]
        total = sum(headroom for _, headroom in each)
        if needs and max(needs) > pool.headroom_bytes:
            bound = f"less than {size(max(needs))}, which a single lossless group needs"
            fate, remedy = "no group of the pool is lossless", "write more, or 0 B so that each group has its own"
            yield SwitchFinding("shared-headroom-too-small", "error", path, value, bound, fate, remedy)
        elif total > pool.headroom_bytes:
            ratio = Fraction(total, pool.headroom_bytes)
            at_once = pool.headroom_bytes // max(headroom for _, headroom in each)
            bound = (
                f"oversubscribed {float(ratio):.3g} times, because the {len(each)} lossless groups have {size(total)} "
                "of "
                "headroom"
            )
            fate = f"when more than {at_once} of them fill their headroom at once, frames are lost"
            yield SwitchFinding("headroom-oversubscribed", "warning", path, value, bound, fate)


def xon_above_limit(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """A group goes on below the limit at which it stopped; a dynamic limit is highest while the group is alone."""
    memory = Memory(switch, ports)
    for port in ports:
        for group, lossless in _lossless(port):
            limit = group.account.limit_bytes
            if limit is None and group.account.pool is None:
                continue
            stop = (
                memory.holds_bytes(group.account, 1, port.line.frame_bytes)
                if limit is None
                else limit + group.account.reserved_bytes
            )
            if lossless.xon_bytes <= stop:
                continue
            path, value = ("priority_groups", str(group.index), "xon"), size(lossless.xon_bytes)
            if limit is None:
                bound = f"more than {size(stop)}, the most that the group ever holds when it stops its neighbour"
                fate = "it lets its neighbour send when its headroom is empty, and stops it again with the next frame"
                yield SwitchFinding("xon-above-limit", "warning", path, value, bound, fate, "write less", (port.name,))
            else:
                bound = (
                    f"more than {size(stop)}, the limit (with reserved memory) at which the group stops its neighbour"
                )
                fate = "the neighbour would be told to send while it must wait"
                yield SwitchFinding("xon-above-limit", "error", path, value, bound, fate, "write less", (port.name,))


def wrong_queue_paused(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """The pause of a lossless group stops the queue that its frames wait in,
    taking the neighbour's maps for the same."""
    del switch
    for port in ports:
        maps = port.port.maps
        for group, _ in _lossless(port):
            stopped = {maps.priority_to_queue[priority] for priority in _priorities_of(group, port)}
            filled = {maps.tc_to_queue[tc] for tc in _classes(group, port)}
            if stopped and filled - stopped:
                bound = (
                    f"mapped to queue {number_ranges(stopped)}, but frames of group {group.index} leave by queue "
                    f"{number_ranges(filled)}"
                )
                fate, remedy = (
                    "the queue that fills the group is not stopped, and frames are lost",
                    "correct priority_to_queue, tc_to_queue or tc_to_group",
                )
                sent = number_ranges(_priorities_of(group, port))
                yield SwitchFinding(
                    "pause-stops-other-queue",
                    "warning",
                    ("maps", "priority_to_queue"),
                    sent,
                    bound,
                    fate,
                    remedy,
                    (port.name,),
                )


def lossless_class_dropped(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """The egress queue of a lossless class has room for what its groups take in until everybody has paused."""
    memory = Memory(switch, ports)
    for port in ports:
        for group, lossless in _lossless(port):
            for index in dict.fromkeys(port.port.maps.tc_to_queue[tc] for tc in _classes(group, port)):
                queue = port.queue(index)
                senders = None if queue is None else _overflows_at(queue, group, lossless, memory, len(ports) - 1)
                if senders is not None:
                    who = "one port sends" if senders == 1 else f"{senders} ports send"
                    yield SwitchFinding(
                        "lossless-queue-drops",
                        "warning",
                        ("queues", str(index), "limit" if alpha(queue.account) is None else "alpha") if queue else (),
                        _account_shown(queue) if queue else "",
                        f"less than its lossless priority group takes in when {who} to one",
                        "frames are dropped at egress before the pause begins",
                        "write pool: none and a limit as large as the whole memory",
                        (port.name,),
                    )


def _overflows_at(
    queue: SwitchQueue, group: PriorityGroup, lossless: Lossless, memory: Memory, most: int
) -> int | None:
    """Return the least number of ports whose groups, full with their headroom, hold more than the queue may;
    None: no number does."""
    room = Fraction(cells(queue.account.reserved_bytes, memory.cell_bytes))
    for senders in range(1, most + 1):
        # In one pool each frame counts twice, so that as many accounts again are full.
        same = queue.account.pool is not None and queue.account.pool == group.account.pool
        held = memory.share_cells(group.account, 2 * senders if same else senders)
        own_alpha, group_alpha = alpha(queue.account), alpha(group.account)
        if same and own_alpha is not None and group_alpha is not None:
            limit = held / group_alpha * own_alpha
        else:
            limit = memory.share_cells(queue.account, 1)
        headroom = cells(memory.headroom_bytes(group.account, lossless, senders), memory.cell_bytes)
        filled = senders * (held + cells(group.account.reserved_bytes, memory.cell_bytes)) + headroom
        if filled > room + limit:
            return senders
    return None


def _account_shown(queue: SwitchQueue) -> str:
    share = alpha(queue.account)
    if share is not None:
        return str(share)
    return "none" if queue.account.limit_bytes is None else size(queue.account.limit_bytes)


def _lossless(port: CheckedPort) -> list[tuple[PriorityGroup, Lossless]]:
    return [(group, group.lossless) for group in port.port.groups if group.lossless is not None]


def _priorities(port: CheckedPort) -> tuple[int, ...]:
    pfc: Pfc | None = port.port.pfc
    return () if pfc is None else pfc.priorities


def _priorities_of(group: PriorityGroup, port: CheckedPort) -> tuple[int, ...]:
    """Return the priorities that a port sends pauses of for a group."""
    return tuple(
        priority for priority in _priorities(port) if port.port.maps.priority_to_group[priority] == group.index
    )


def _classes(group: PriorityGroup, port: CheckedPort) -> tuple[int, ...]:
    """Return the traffic classes of a group that some DSCP belongs to."""
    maps = port.port.maps
    return tuple(tc for tc in range(QUEUES) if maps.tc_to_group[tc] == group.index and tc in maps.dscp_to_tc)


PFC_RULES = (
    lossy_priority,
    unpaused_group,
    headroom_below_need,
    shared_headroom,
    xon_above_limit,
    wrong_queue_paused,
    lossless_class_dropped,
)
