"""Checks of a switch whose figures are resolved: memory, ECN thresholds, schedulers. PFC has its own file,
`pfc_checks`.

Each rule is a function of a switch and its ports and yields findings; `check_switch` has all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.plan.switch import CODEPOINTS, Account, QosMaps, Switch, SwitchQueue
from fabriclab.resolve.switch.findings import CheckedPort, SwitchFinding, merged
from fabriclab.resolve.switch.headroom import cells
from fabriclab.resolve.switch.memory import Memory
from fabriclab.resolve.switch.notes import number_ranges, size, told_apart
from fabriclab.resolve.switch.pfc_checks import PFC_RULES
from fabriclab.resolve.switch.threshold_checks import THRESHOLD_RULES
from fabriclab.units import format_rate


def check_switch(switch: Switch, ports: Sequence[CheckedPort]) -> tuple[SwitchFinding, ...]:
    """Return everything that is found; the same of several ports once."""
    rules = (
        reserved_above_pool,
        account_below_frame,
        pool_below_frames,
        counted_twice,
        *THRESHOLD_RULES,
        *PFC_RULES,
        starvation,
        guarantees_above_line,
    )
    return merged(finding for rule in rules for finding in rule(switch, ports))


def reserved_above_pool(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """What queues and priority groups of all ports reserve fits into their pool;
    the kernel refuses the port that is too much."""
    memory = Memory(switch, ports)
    for pool in switch.pools:
        reserved = memory.reserved_bytes(pool.name)
        if reserved > pool.size_bytes // switch.cell_bytes * switch.cell_bytes:
            value, wanted = told_apart(pool.size_bytes, reserved)
            yield SwitchFinding(
                "reserved-above-pool",
                "error",
                ("pools", pool.name, "size"),
                value,
                f"less than the {wanted} that queues and priority groups of {len(ports)} ports reserve in it",
                "the switch can't be made",
                "write a larger pool, or smaller reserved sizes",
            )


def account_below_frame(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """Every pool, every limit and every VOQ holds a frame of the port's MTU."""
    memory = Memory(switch, ports)
    for port in ports:
        needed = cells(port.line.frame_bytes, switch.cell_bytes)
        for path, account in _accounts(port):
            reserved = cells(account.reserved_bytes, switch.cell_bytes)
            if account.limit_bytes is not None and account.limit_bytes // switch.cell_bytes + reserved < needed:
                yield _below_frame((*path, "limit"), account.limit_bytes, port)
            elif account.pool is not None and memory.free_cells(account.pool) + reserved < needed:
                yield _below_frame(("pools", account.pool, "size"), memory.pools[account.pool].size_bytes, port)
        for queue in port.port.queues:
            if queue.voq_limit_bytes is not None and queue.voq_limit_bytes < port.line.frame_bytes:
                yield _voq_below_frame(queue.index, queue.voq_limit_bytes, port)


def _below_frame(path: tuple[str, ...], size_bytes: int, port: CheckedPort) -> SwitchFinding:
    bound = (
        f"too small for a frame of {port.line.frame_bytes} B (MTU {port.line.mtu}), in whole cells and beside the "
        "reserved memory"
    )
    return SwitchFinding(
        "account-below-frame", "error", path, size(size_bytes), bound, "no such frame would pass", ports=(port.name,)
    )


def pool_below_frames(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """Every pool holds a frame for each port that takes from it: a scaled one may be no more than a
    frame for all of them."""
    memory = Memory(switch, ports)
    for pool in switch.pools:
        frames = [
            cells(port.line.frame_bytes, switch.cell_bytes)
            for port in ports
            if _takes_from(pool.name, port, switch.cell_bytes)
        ]
        if max(frames, default=0) <= memory.free_cells(pool.name) < sum(frames):
            value, wanted = told_apart(
                pool.size_bytes, memory.reserved_bytes(pool.name) + sum(frames) * switch.cell_bytes
            )
            yield SwitchFinding(
                "pool-below-frames",
                "warning",
                ("pools", pool.name, "size"),
                value,
                f"less than {wanted}, a frame for each of {len(frames)} ports",
                "frames that wait at one port leave no room for those of the others",
                "write a larger pool, or another scale",
            )


def _takes_from(pool: str, port: CheckedPort, cell_bytes: int) -> bool:
    """Return whether a queue or a priority group needs the pool for a frame, because less is reserved for it."""
    needed = cells(port.line.frame_bytes, cell_bytes)
    return any(
        account.pool == pool and cells(account.reserved_bytes, cell_bytes) < needed for _, account in _accounts(port)
    )


def _voq_below_frame(index: int, limit_bytes: int, port: CheckedPort) -> SwitchFinding:
    path, bound = (
        ("queues", str(index), "voq_limit"),
        f"too small for a frame of {port.line.frame_bytes} B (MTU {port.line.mtu})",
    )
    return SwitchFinding(
        "account-below-frame", "error", path, size(limit_bytes), bound, "no such frame would pass", ports=(port.name,)
    )


def _accounts(port: CheckedPort) -> Iterator[tuple[tuple[str, ...], Account]]:
    for queue in port.port.queues:
        yield ("queues", str(queue.index)), queue.account
    for group in port.port.groups:
        yield ("priority_groups", str(group.index)), group.account


def counted_twice(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """A class whose queue and whose priority group take from one pool: each frame is charged to it twice."""
    for port in ports:
        maps = port.port.maps
        for tc in classes_in_use(maps):
            queue, group = port.queue(maps.tc_to_queue[tc]), port.group(maps.tc_to_group[tc])
            if queue is None or group is None or queue.account.pool is None or queue.account.pool != group.account.pool:
                continue
            yield SwitchFinding(
                "counted-twice",
                "warning",
                ("priority_groups", str(group.index), "pool"),
                queue.account.pool,
                "also the pool of its queue",
                "the pool counts each frame twice, on arrival and on departure, so it holds half as many",
                "write one pool for queues and another one for priority groups",
                (port.name,),
            )


def starvation(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """Strict queues without a peak rate come before weighted ones without a guarantee."""
    del switch
    for port in ports:
        queues = [queue for queue in port.port.queues if queue.index in queues_in_use(port.port.maps)]
        greedy = [queue.index for queue in queues if queue.scheduler.kind == "strict" and not queue.scheduler.pir_bps]
        starved = [queue.index for queue in queues if queue.scheduler.kind != "strict" and not queue.scheduler.cir_bps]
        if greedy and starved:
            yield SwitchFinding(
                "starvation",
                "warning",
                ("queues", str(greedy[0]), "scheduler"),
                "strict",
                f"served before the weighted {_queues(starved)} without a limit on its rate (no pir)",
                f"while {_queues(greedy)} can fill the link, the others send nothing",
                "write pir for the strict queues, or cir for the weighted ones",
                (port.name,),
            )


def guarantees_above_line(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """The guaranteed rates of a port's queues together are at most the line's."""
    del switch
    for port in ports:
        guaranteed = [queue for queue in port.port.queues if queue.scheduler.cir_bps]
        total = sum(queue.scheduler.cir_bps for queue in guaranteed)
        if total > port.line.out_rate_bps:
            yield SwitchFinding(
                "cir-above-line",
                "warning",
                ("queues", number_ranges(queue.index for queue in guaranteed), "cir"),
                format_rate(total),
                f"in total more than the rate of the link, {format_rate(port.line.out_rate_bps)}",
                "none of these queues gets its guaranteed rate while all are busy",
                ports=(port.name,),
            )


def unmarked(switch: Switch, ports: Sequence[CheckedPort], codepoints: Iterable[int]) -> Iterator[SwitchFinding]:
    """DCTCP with these DSCPs crosses a switch whose queues mark nothing (not part of `check_switch`:
    it needs to know the traffic)."""
    del switch
    for port in ports:
        queues = {
            port.port.maps.tc_to_queue[port.port.maps.dscp_to_tc[codepoint]]: codepoint for codepoint in codepoints
        }
        for index, codepoint in sorted(queues.items()):
            queue = port.queue(index)
            if queue is None or not marks(queue):
                yield SwitchFinding(
                    "dctcp-without-marks",
                    "warning",
                    ("queues", str(index), "wred"),
                    "none",
                    f"the setting for DCTCP with DSCP {codepoint}",
                    "no packet is marked, so DCTCP fills the buffer as Reno does",
                    "write wred: {min: 30 KB} or a phantom queue",
                    (port.name,),
                )


def marks(queue: SwitchQueue) -> bool:
    """Return whether a queue ever marks a frame."""
    return queue.phantom is not None or (queue.wred is not None and queue.wred.ecn)


def classes_in_use(maps: QosMaps) -> tuple[int, ...]:
    """Return the traffic classes that some DSCP belongs to."""
    used = {maps.dscp_to_tc[codepoint] for codepoint in range(CODEPOINTS)}
    return tuple(tc for tc in range(QUEUES) if tc in used)


def queues_in_use(maps: QosMaps) -> tuple[int, ...]:
    """Return the queues that frames can get to."""
    used = {maps.tc_to_queue[tc] for tc in classes_in_use(maps)}
    return tuple(queue for queue in range(QUEUES) if queue in used)


def _queues(indices: Sequence[int]) -> str:
    return f"queue{'s' if len(indices) > 1 else ''} {number_ranges(indices)}"
