"""A port of a switch with a shared buffer as traffic control: one line for the machine's qdisc `switch_port`.

The words stand in the order in which the machine's PID 1 reads them; what they mean is in
the README of the kernel's `switch_port`. What is the qdisc's default is left out, but for the line's framing and a
queue's scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import gcd

from fabriclab.compile.qdisc import loss_percent, wire_bytes
from fabriclab.formats.framing import FRAMING_BYTES, LEAST_ON_LINE_BYTES
from fabriclab.formats.plan.node import Nic, Node, Pacer, Port
from fabriclab.formats.plan.roce import Roce
from fabriclab.formats.plan.switch import (
    Account,
    Pfc,
    Pool,
    PriorityGroup,
    QosMaps,
    Scheduler,
    Sharing,
    Slice,
    Switch,
    SwitchPort,
    SwitchQueue,
    Trimming,
    Wred,
)

SWITCH_HANDLE = "1:"
"""The qdisc's handle; its backlog is that of all the port's queues."""

_DEFAULT_MAPS = QosMaps()


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


_REMOVED = {"pfc": "pfc none", "slice": "slice 0 0", "trimming": "trimming none"} | {
    name: f"{name} {_listed(values)}" for name, values in _DEFAULT_MAPS
}
"""How a part is told to be the default's; a queue or group by its name alone."""


def compile_switch_port(node: Node, port: Port, buffer: SwitchPort) -> str:
    """Return the line that makes a device a port. The switch's first one carries what all share."""
    pools = {} if node.switch is None else {pool.name: index for index, pool in enumerate(node.switch.pools)}
    quanta = quanta_of(buffer.queues, wire_bytes(port))
    words = [f"qdisc add dev {port.interface} root handle {SWITCH_HANDLE} switch_port"]
    words += [f"rate {port.line_bps}bit delay {port.delay_ns}ns overhead {FRAMING_BYTES} mpu {LEAST_ON_LINE_BYTES}"]
    words += [f"loss {loss_percent(port.loss_ppm)}"] if port.loss_ppm else []
    if node.switch is not None and port.interface == node.ports[0].interface:
        words += _memory(node.switch)
    words += [] if port.nic is None else _nic(port.nic)
    words += _maps(buffer.maps)
    words += [] if buffer.pfc is None else _pfc(buffer.pfc)
    words += [] if buffer.slice == Slice() else [_slice(buffer.slice)]
    words += ["telemetry"] if buffer.telemetry else []
    words += [] if buffer.trimming is None else [_trimming(buffer.trimming)]
    for queue in buffer.queues:
        words += _queue(queue, quanta, pools)
    for group in buffer.groups:
        words += _group(group, pools)
    return " ".join(words)


def compile_switch_port_change(port: Port, loss_ppm: int) -> str:
    """Return the line that gives a port's line the rate and delay that `port` says, and a loss.

    All else, and what is queued, stays.
    """
    line = f"rate {port.line_bps}bit delay {port.delay_ns}ns loss {loss_percent(loss_ppm)}"
    return f"qdisc change dev {port.interface} root handle {SWITCH_HANDLE} switch_port {line}"


def compile_buffer_change(before: tuple[Node, Port], after: tuple[Node, Port]) -> list[str]:
    """Return the line that makes of a port's queues, groups, maps and PFC others; none where nothing differs.

    A queue or group is named as a whole; what stands in it stays. The memory of all ports is `compile_memory_change`'s.
    """
    old, new = _parts(*before), _parts(*after)
    gone = [name for name in old if name not in new]
    # A queue reaches to the next word that begins one: what is the port's stands before.
    words = [_REMOVED[name] for name in gone if name in _REMOVED]
    words += [text for name, text in new.items() if old.get(name) != text]
    words += [name for name in gone if name not in _REMOVED]
    interface = after[1].interface
    return [f"qdisc change dev {interface} root handle {SWITCH_HANDLE} switch_port {' '.join(words)}"] if words else []


def compile_memory_change(before: Node, after: Node, *, first: bool) -> list[str]:
    """Return the line that gives a switch's pools other sizes; none where it is not needed.

    `first`: before its ports change, pools only grow, so that there is always room for what ports reserve; after them
    they are what they are to be.
    """
    if before.switch is None or after.switch is None or before.switch == after.switch:
        return []
    pairs = list(zip(before.switch.pools, after.switch.pools, strict=True))
    grown = tuple(
        new.model_copy(
            update={
                "size_bytes": max(old.size_bytes, new.size_bytes),
                "headroom_bytes": max(old.headroom_bytes, new.headroom_bytes),
            }
        )
        for old, new in pairs
    )
    wanted, there = (grown, before.switch.pools) if first else (after.switch.pools, grown)
    words = [_pool(index, pool) for index, pool in enumerate(wanted) if pool != there[index]]
    device = f"qdisc change dev {after.ports[0].interface} root handle {SWITCH_HANDLE} switch_port"
    return [f"{device} {' '.join(words)}"] if words else []


def _parts(node: Node, port: Port) -> dict[str, str]:
    """Return the words of each part of a port's buffer, by its name."""
    buffer = port.switch_port
    if buffer is None:
        return {}
    pools = {} if node.switch is None else {pool.name: index for index, pool in enumerate(node.switch.pools)}
    quanta = quanta_of(buffer.queues, wire_bytes(port))
    parts = {words.partition(" ")[0]: words for words in _maps(buffer.maps)}
    if buffer.pfc is not None:
        parts["pfc"] = " ".join(_pfc(buffer.pfc))
    if buffer.slice != Slice():
        parts["slice"] = _slice(buffer.slice)
    if buffer.trimming is not None:
        parts["trimming"] = _trimming(buffer.trimming)
    parts |= {f"queue {queue.index}": " ".join(_queue(queue, quanta, pools)) for queue in buffer.queues}
    return parts | {f"group {group.index}": " ".join(_group(group, pools)) for group in buffer.groups}


def quanta_of(queues: Sequence[SwitchQueue], frame_bytes: int) -> dict[int, int]:
    """Return the quantum of each weighted queue by its number: frames (WRR), bytes on the wire (DWRR).

    The quanta are the weights, cancelled down, times one whole number, so that shares are exactly the weights'. WRR:
    times 1. DWRR: times the least with which the lightest queue sends a frame of `frame_bytes` (the largest on the
    wire) in every round, the condition of Shreedhar and Varghese (1996) for serving a frame in constant time: a shorter
    round would pass it over, a longer one is needless burst.
    """
    weighted = {queue.index: queue.scheduler for queue in queues if queue.scheduler.kind != "strict"}
    if not weighted:
        return {}
    divisor = gcd(*(scheduler.weight for scheduler in weighted.values()))
    shares = {index: scheduler.weight // divisor for index, scheduler in weighted.items()}
    unit = -(-frame_bytes // min(shares.values()))
    return {index: share * (unit if weighted[index].kind == "dwrr" else 1) for index, share in shares.items()}


def _memory(switch: Switch) -> Iterator[str]:
    yield f"cell {switch.cell_bytes}"
    if switch.slices > 1:
        yield f"slices {switch.slices}"
    for index, pool in enumerate(switch.pools):
        yield _pool(index, pool)


def _nic(nic: Nic) -> Iterator[str]:
    if nic.ring_bytes is not None:
        yield f"ring {nic.ring_bytes}"
    if nic.tx_queues > 1:
        yield f"tx_queues {nic.tx_queues}"
    if nic.pacer is not None:
        yield _pacer(nic.pacer)
    if nic.qcn is not None:
        rates = f"{nic.qcn.least_bps}bit {nic.qcn.active_bps}bit {nic.qcn.hyper_bps}bit"
        yield f"qcn {rates} {nic.qcn.cycle_bytes} {nic.qcn.cycle_ns}ns"
    if nic.roce is not None:
        yield from _roce(nic.roce)


def _pacer(pacer: Pacer) -> str:
    eta, probability = (f"{parts / 10_000:.4f}%" for parts in (pacer.eta_ppm, pacer.probability_ppm))
    return (
        f"pacer {pacer.bucket_bytes} interval {pacer.interval_ns}ns idle {pacer.idle_ns}ns eta {eta} beta {pacer.beta} "
        f"probability {probability}"
    )


ROCE_READS_OF_KERNEL = 16
"""ROCE_READS_DEFAULT of the kernel's `switch_port`."""


def _roce(roce: Roce) -> Iterator[str]:
    counts = f"{roce.mtu} {roce.window_packets or 0} {roce.ack_every} {roce.retries}"
    classes = f"{roce.dscp} {roce.ack_dscp} {roce.cnp_dscp}"
    yield f"roce {counts} {roce.timeout_ns}ns {roce.cnp_interval_ns}ns {classes}"
    if roce.selective:
        yield "selective"
    if roce.max_rd_atomic != ROCE_READS_OF_KERNEL:
        yield f"reads {roce.max_rd_atomic}"
    if roce.reorder_window:
        yield f"reorder {roce.reorder_window}"
    if roce.knows_trimmed:
        yield "trimmed"
    if roce.control is not None:
        yield f"control {roce.control.name} {','.join(roce.control.options.split()) or '-'}"


def _pool(index: int, pool: Pool) -> str:
    return f"memory {index} {pool.size_bytes}" + (f" {pool.headroom_bytes}" if pool.headroom_bytes else "")


def _slice(where: Slice) -> str:
    return f"slice {where.into} {where.out}"


def _trimming(trimming: Trimming) -> str:
    queue = "dynamic" if trimming.queue is None else trimming.queue
    return f"trimming {trimming.size_bytes} {trimming.dscp} {queue}"


def _maps(maps: QosMaps) -> Iterator[str]:
    for name in QosMaps.model_fields:
        values: tuple[int, ...] = getattr(maps, name)
        if values != getattr(_DEFAULT_MAPS, name):
            yield f"{name} {_listed(values)}"


def _pfc(pfc: Pfc) -> Iterator[str]:
    yield f"pfc {_listed(pfc.priorities)} quanta {pfc.quanta}"
    if pfc.reaction_ns:
        yield f"reaction {pfc.reaction_ns}ns"
    if pfc.watchdog is not None:
        yield f"watchdog {pfc.watchdog.detection_ns}ns {pfc.watchdog.restoration_ns}ns {pfc.watchdog.action}"


def _queue(queue: SwitchQueue, quanta: dict[int, int], pools: dict[str, int]) -> Iterator[str]:
    yield f"queue {queue.index}"
    yield from _account(queue.account, pools)
    yield from _scheduler(queue.scheduler, quanta.get(queue.index))
    if queue.wred is not None:
        yield from _wred(queue.wred)
    if queue.phantom is not None:
        yield f"phantom {queue.phantom.rate_bps}bit {queue.phantom.threshold_bytes}"
    if queue.voq_limit_bytes is not None:
        yield f"voq_limit {queue.voq_limit_bytes}"
    if queue.event_bytes is not None:
        yield f"event {queue.event_bytes}"
    if queue.qcn is not None:
        yield f"qcn {queue.qcn.set_point_bytes} {queue.qcn.sample_bytes} {queue.qcn.weight}"
    if queue.sharing is not None:
        yield _sharing(queue.sharing)
    if queue.trims:
        yield "trim"


def _sharing(sharing: Sharing) -> str:
    congested = "" if sharing.congested_bytes is None else f" congested {sharing.congested_bytes}"
    unscheduled = ""
    if sharing.unscheduled_classes:
        unscheduled = f" unscheduled {sharing.unscheduled_alpha_log} {_listed(sharing.unscheduled_classes)}"
    return f"sharing {sharing.policy} {sharing.interval_ns}ns{congested}{unscheduled}"


def _account(account: Account, pools: dict[str, int]) -> Iterator[str]:
    if account.pool is not None:
        yield f"pool {pools[account.pool]}"
    if account.reserved_bytes:
        yield f"reserved {account.reserved_bytes}"
    if account.alpha_log is not None:
        yield f"alpha {account.alpha_log}"
    elif account.limit_bytes is not None:
        yield f"limit {account.limit_bytes}"


def _scheduler(scheduler: Scheduler, quantum: int | None) -> Iterator[str]:
    yield "strict" if quantum is None else f"{scheduler.kind} {quantum}"
    if scheduler.cir_bps:
        yield f"cir {scheduler.cir_bps}bit {scheduler.cbs_bytes}"
    if scheduler.pir_bps:
        yield f"pir {scheduler.pir_bps}bit {scheduler.pbs_bytes}"


def _wred(wred: Wred) -> Iterator[str]:
    unit = "ns" if wred.unit == "ns" else ""
    yield f"wred {wred.min}{unit} {wred.max}{unit} {wred.probability_ppm / 10_000:.4f}%"
    if wred.weight_log:
        yield f"weight {wred.weight_log}"
    if wred.ecn:
        yield "ecn"
    if wred.non_ect == "queue":
        yield "keep_non_ect"


def _group(group: PriorityGroup, pools: dict[str, int]) -> Iterator[str]:
    yield f"group {group.index}"
    yield from _account(group.account, pools)
    if group.lossless is not None:
        yield f"lossless {group.lossless.headroom_bytes} {group.lossless.xon_bytes} {group.lossless.xon_offset_bytes}"
