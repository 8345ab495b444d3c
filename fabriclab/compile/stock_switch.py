"""A port of a switch with a shared buffer out of stock qdiscs, for engines whose kernel has no `switch_port`.

    tbf 1:  the line rate
     └ netem 2:  the propagation delay, when there is one
        └ prio 3:  or, with weighted queues, ets 3:   filters by DSCP; what they don't name goes where DSCP 0 goes
           └ tbf 2Q:  the pir of queue Q, when it has one
              └ bfifo 1Q:  or  red 1Q:   the queue's own memory

A port whose DSCPs all go to one queue has that queue's qdisc as 3:. What is lost on the way stands in
`fabriclab.compile.container_differences`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.compile.qdisc import LEAF_HANDLE, compile_line, frame_bytes, red, shaper, wire_bytes
from fabriclab.compile.switch_port import quanta_of
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.plan.switch import Account, QosMaps, Switch, SwitchPort, SwitchQueue, Wred
from fabriclab.resolve.switch.findings import checked_ports
from fabriclab.resolve.switch.memory import Memory

PRIORITIES = 16
"""Entries of a `priomap`."""
_UNLIMITED_BYTES = 2**31 - 1
_LEAST_THRESHOLD_BYTES = 64
"""tc has no RED that marks an empty queue."""
_DSCP_BITS = 6
_TOS_SHIFT = 2
"""The code point is the upper six bits of the byte (RFC 2474)."""


def compile_stock_switch_port(memory: Memory, port: Port, buffer: SwitchPort, *, impaired: bool) -> list[str]:
    """Return the `tc -batch` lines of a port."""
    lines, parent = compile_line(port, default_limit_bytes(memory, port, buffer), impaired=impaired)
    queues = used_queues(buffer)
    device = f"dev {port.interface}"
    if len(queues) == 1:
        return [*lines, *_queue_lines(memory, port, queues[0], parent, LEAF_HANDLE)]
    bands = [
        *(queue for queue in reversed(queues) if not _is_weighted(queue)),
        *(queue for queue in queues if _is_weighted(queue)),
    ]
    classes = {queue.index: f"{LEAF_HANDLE}{number:x}" for number, queue in enumerate(bands, start=1)}
    lines.append(f"qdisc add {device} parent {parent} handle {LEAF_HANDLE} {_scheduler(bands, port, buffer.maps)}")
    lines += [f"filter add {device} parent {LEAF_HANDLE} {match}" for match in _filters(buffer.maps, classes)]
    return lines + [
        line for queue in bands for line in _queue_lines(memory, port, queue, classes[queue.index], _handle(queue))
    ]


def used_queues(buffer: SwitchPort) -> list[SwitchQueue]:
    """Return the queues that some DSCP leads to, by number."""
    configured = {queue.index: queue for queue in buffer.queues}
    used = sorted({queue_of(buffer.maps, dscp) for dscp in range(2**_DSCP_BITS)})
    return [configured.get(index, SwitchQueue(index=index)) for index in used]


def stock_marking_handles(buffer: SwitchPort) -> list[str] | None:
    """Return the handles of a port's queues that mark; None of a port with one queue,
    whose qdisc tells its marks itself."""
    queues = used_queues(buffer)
    return (
        [_handle(queue) for queue in queues if queue.wred is not None and queue.wred.ecn] if len(queues) > 1 else None
    )


def _handle(queue: SwitchQueue) -> str:
    return f"1{queue.index}:"


def queue_of(maps: QosMaps, dscp: int) -> int:
    """Return the number of the queue that a DSCP leads to."""
    return maps.tc_to_queue[maps.dscp_to_tc[dscp]]


def stock_memory(plan: Plan, node: Node) -> Memory:
    """Return the memory whose shares become the static limits of a node's ports; a host's has no pools."""
    return Memory(node.switch or Switch(profile=""), checked_ports(node, plan))


def static_limit_bytes(memory: Memory, account: Account, port: Port) -> int:
    """Return what a queue may hold when it is the only busy one, of full frames:
    alpha B / (1 + alpha) of its pool, or its limit."""
    if account.pool is None and account.limit_bytes is None:
        return _UNLIMITED_BYTES
    return max(frame_bytes(port), memory.holds_bytes(account, 1, frame_bytes(port)))


def default_limit_bytes(memory: Memory, port: Port, buffer: SwitchPort) -> int:
    """Return what the queue of DSCP 0 may hold: what the line's own limit is where that queue stands right below it."""
    queue = next(queue for queue in used_queues(buffer) if queue.index == queue_of(buffer.maps, 0))
    return static_limit_bytes(memory, queue.account, port)


def wred_bytes(wred: Wred, rate_bps: int) -> tuple[int, int]:
    """Return a curve's min and max in bytes; of one by delay what the line sends in that time."""
    low, high = (
        (wred.min, wred.max)
        if wred.unit == "bytes"
        else (value * rate_bps // (8 * 10**9) for value in (wred.min, wred.max))
    )
    low = max(low, _LEAST_THRESHOLD_BYTES)
    return low, max(high, low + 1)


def _is_weighted(queue: SwitchQueue) -> bool:
    return queue.scheduler.kind != "strict"


def _scheduler(bands: list[SwitchQueue], port: Port, maps: QosMaps) -> str:
    """Return prio, or ets (IEEE 802.1Qaz) where queues have weights: strict bands first,
    the first one before all others."""
    default = [queue.index for queue in bands].index(queue_of(maps, 0))
    priomap = f"priomap {' '.join([str(default)] * PRIORITIES)}"
    weighted = [queue for queue in bands if _is_weighted(queue)]
    if not weighted:
        return f"prio bands {len(bands)} {priomap}"
    # Its shares are of bytes: a frame of WRR becomes a full one.
    as_bytes = [
        queue.model_copy(update={"scheduler": queue.scheduler.model_copy(update={"kind": "dwrr"})})
        for queue in weighted
    ]
    quanta = " ".join(map(str, quanta_of(as_bytes, wire_bytes(port)).values()))
    strict = len(bands) - len(weighted)
    return " ".join(
        [f"ets bands {len(bands)}", *([f"strict {strict}"] if strict else []), f"quanta {quanta} {priomap}"]
    )


def _filters(maps: QosMaps, classes: dict[int, str]) -> Iterator[str]:
    """Yield the filters of all DSCPs that don't go where DSCP 0 goes; there everything goes that no filter names."""
    for value, mask, queue in dscp_prefixes([queue_of(maps, dscp) for dscp in range(2**_DSCP_BITS)]):
        if queue != queue_of(maps, 0):
            key = f"0x{value << _TOS_SHIFT:02x} 0x{mask << _TOS_SHIFT:02x} flowid {classes[queue]}"
            yield f"protocol ip prio 1 u32 match ip dsfield {key}"
            yield f"protocol ipv6 prio 2 u32 match ip6 priority {key}"


def dscp_prefixes(queues: list[int]) -> list[tuple[int, int, int]]:
    """Return a map by DSCP as the fewest prefixes of its bits: value, mask,
    and the queue that all DSCPs below it go to."""
    found: list[tuple[int, int, int]] = []

    def divide(value: int, bits: int) -> None:
        below = set(queues[value : value + (1 << bits)])
        if len(below) == 1:
            found.append((value, 2**_DSCP_BITS - (1 << bits), below.pop()))
            return
        divide(value, bits - 1)
        divide(value + (1 << (bits - 1)), bits - 1)

    divide(0, _DSCP_BITS)
    return found


def _queue_lines(memory: Memory, port: Port, queue: SwitchQueue, parent: str, handle: str) -> Iterator[str]:
    limit = static_limit_bytes(memory, queue.account, port)
    if queue.scheduler.pir_bps:
        above = f"2{queue.index}:"
        burst = max(queue.scheduler.pbs_bytes, frame_bytes(port))
        yield (
            f"qdisc add dev {port.interface} parent {parent} handle {above} "
            f"{shaper(queue.scheduler.pir_bps, burst, limit)}"
        )
        parent = f"{above}1"
    yield f"qdisc add dev {port.interface} parent {parent} handle {handle} {_leaf(queue, limit, port.rate_bps)}"


def _leaf(queue: SwitchQueue, limit_bytes: int, rate_bps: int) -> str:
    wred = queue.wred
    if wred is None:
        return f"bfifo limit {limit_bytes}"
    flags = [*(["ecn"] if wred.ecn else []), *(["nodrop"] if wred.ecn and wred.non_ect == "queue" else [])]
    return red(limit_bytes, wred_bytes(wred, rate_bps), f"{wred.probability_ppm / 1_000_000:g}", rate_bps, flags)
