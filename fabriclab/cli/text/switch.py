"""Switches with a shared buffer in words: pools, queues with their thresholds, priority groups, maps, PFC,
how figures came about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.switch import (
    Account,
    PriorityGroup,
    QosMaps,
    Scheduler,
    Sharing,
    Switch,
    SwitchPort,
    SwitchQueue,
    Wred,
)
from fabriclab.lab.switch.port_keys import port_key
from fabriclab.resolve.switch.findings import CheckedPort, checked_ports
from fabriclab.resolve.switch.memory import Memory, alpha, is_calculable
from fabriclab.resolve.switch.notes import number_ranges, size
from fabriclab.units import format_duration, format_rate


def switch_lines(plan: Plan) -> list[str]:
    """Return the lines of all switches with a shared buffer, those that are alike together;
    none when there is no such switch."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for node in plan.nodes:
        if node.switch is not None:
            alike.setdefault(tuple(_switch(node.switch, checked_ports(node, plan))), []).append(node.name)
    return [
        line
        for lines, names in alike.items()
        for line in (f"{', '.join(names)}: {lines[0]}", *(f"  {line}" for line in lines[1:]))
    ]


def _switch(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[str]:
    title = f": {switch.title}" if switch.title else ""
    name = f"profile {switch.profile}{title}" if switch.profile else "pools of its own"
    yield f"{name}, {len(ports)} ports"
    cells = f", cells of {switch.cell_bytes} B" if switch.cell_bytes > 1 else ""
    cells += f", in {switch.slices} slices" if switch.slices > 1 else ""
    for pool in switch.pools:
        headroom = f", shared headroom {size(pool.headroom_bytes)} beside it" if pool.headroom_bytes else ""
        yield f"pool {pool.name}: {size(pool.size_bytes)}{cells}{headroom}"
    memory = Memory(switch, ports)
    for members in _alike(ports):
        names = port_key((port.name for port in members), [port.name for port in ports])
        yield f"{names} ({format_rate(members[0].line.out_rate_bps)}):"
        yield from _port(members[0], memory, len(ports))
    yield from (f"note: {note}" for note in switch.notes)


def _alike(ports: Sequence[CheckedPort]) -> list[list[CheckedPort]]:
    """Return the ports in sets that say the same."""
    sets: dict[tuple[SwitchPort, int, int], list[CheckedPort]] = {}
    for port in ports:
        sets.setdefault((port.port, port.line.out_rate_bps, port.line.frame_bytes), []).append(port)
    return list(sets.values())


def _port(first: CheckedPort, memory: Memory, ports: int) -> Iterator[str]:
    """Yield what holds for a port and those like it."""
    port = first.port
    if memory.slices > 1:
        yield f"  memory: slice {port.slice.into} for frames that come in, OR {port.slice.out} for frames that leave"
    yield from _numbered("queue", [(queue.index, _queue(queue, first, memory, ports)) for queue in port.queues])
    yield from _numbered(
        "priority group", [(group.index, _group(group, first, memory, ports)) for group in port.groups]
    )
    yield from _maps(port.maps)
    if port.pfc is not None:
        dog = port.pfc.watchdog
        reaction = f", reaction {format_duration(port.pfc.reaction_ns)}" if port.pfc.reaction_ns else ""
        ends = (
            f"after {format_duration(dog.detection_ns)}: {dog.action}, until {format_duration(dog.restoration_ns)}"
            if dog
            else "none"
        )
        yield (
            f"  PFC of priorities {number_ranges(port.pfc.priorities)}: {port.pfc.quanta:,} quanta{reaction}; "
            f"watchdog: {ends}"
        )


def _numbered(noun: str, texts: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Yield one line for all numbers of which the same holds."""
    alike: dict[str, list[int]] = {}
    for number, text in texts:
        alike.setdefault(text, []).append(number)
    for text, numbers in alike.items():
        yield f"  {noun}{'s' if len(numbers) > 1 else ''} {number_ranges(numbers)}: {text}"


def _queue(queue: SwitchQueue, port: CheckedPort, memory: Memory, ports: int) -> str:
    parts = [_account(queue.account, port, memory, ports, queue.sharing), _scheduler(queue.scheduler)]
    if queue.wred is not None:
        parts.append(_wred(queue.wred))
    if queue.phantom is not None:
        parts.append(
            f"phantom queue of {format_rate(queue.phantom.rate_bps)} marks above {size(queue.phantom.threshold_bytes)}"
        )
    if queue.qcn is not None:
        parts.append(
            f"QCN with set point {size(queue.qcn.set_point_bytes)}, a sample every {size(queue.qcn.sample_bytes)}"
        )
    if queue.voq_limit_bytes is not None:
        parts.append(f"at most {size(queue.voq_limit_bytes)} from one port")
    if queue.event_bytes is not None:
        parts.append(f"congestion events begin at {size(queue.event_bytes)}")
    return "; ".join(parts)


def _account(account: Account, port: CheckedPort, memory: Memory, ports: int, sharing: Sharing | None = None) -> str:
    """Say what an account may take, and what that comes to."""
    reserved = f"{size(account.reserved_bytes)} reserved, " if account.reserved_bytes else ""
    share = alpha(account)
    if account.pool is None:
        return f"{reserved}{size(account.limit_bytes or 0)} of its own"
    if share is None:
        limit = "all of it" if account.limit_bytes is None else f"at most {size(account.limit_bytes)}"
        return f"{reserved}pool {account.pool}, {limit}"
    policy = "" if sharing is None else f" by {sharing.policy}"
    if sharing is not None and sharing.congested_bytes is not None:
        policy += f" congested from {size(sharing.congested_bytes)}"
    if not is_calculable(sharing):
        return f"{reserved}pool {account.pool}, alpha {share}{policy}"
    alone, busy = (size(memory.holds_bytes(account, count, port.line.frame_bytes, sharing)) for count in (1, ports))
    return f"{reserved}pool {account.pool}, alpha {share}{policy} ({alone} alone, {busy} with {ports} busy)"


def _scheduler(scheduler: Scheduler) -> str:
    weight = "" if scheduler.kind == "strict" else f" weight {scheduler.weight}"
    cir = (
        f", at least {format_rate(scheduler.cir_bps)} (burst {size(scheduler.cbs_bytes)})" if scheduler.cir_bps else ""
    )
    pir = f", at most {format_rate(scheduler.pir_bps)} (burst {size(scheduler.pbs_bytes)})" if scheduler.pir_bps else ""
    return f"{scheduler.kind}{weight}{cir}{pir}"


def _wred(wred: Wred) -> str:
    show = size if wred.unit == "bytes" else format_duration
    what = f"marks (non-ECT: {wred.non_ect})" if wred.ecn else "drops"
    span = f"from {show(wred.min)} on" if wred.min == wred.max else f"{show(wred.min)} to {show(wred.max)}"
    probability = "" if wred.min == wred.max else f", up to {wred.probability_ppm / 10_000:g} %"
    average = f", average of weight 2^-{wred.weight_log}" if wred.weight_log else ""
    return f"WRED {what} {span}{probability}{average}"


def _group(group: PriorityGroup, port: CheckedPort, memory: Memory, ports: int) -> str:
    text = _account(group.account, port, memory, ports)
    if group.lossless is None:
        return f"{text}; lossy"
    lossless = group.lossless
    xon = f"at {size(lossless.xon_bytes)}"
    if lossless.xon_offset_bytes:
        least = f" ({size(lossless.xon_bytes)} at least)" if lossless.xon_bytes else ""
        xon = f"{size(lossless.xon_offset_bytes)} below the limit{least}"
    return f"{text}; lossless: headroom {size(lossless.headroom_bytes)}, continues {xon}"


def _maps(maps: QosMaps) -> Iterator[str]:
    """Yield the maps that are not the default ones: that of DSCPs as a whole, of the others what differs."""
    default = QosMaps()
    for name in QosMaps.model_fields:
        here, usual = getattr(maps, name), getattr(default, name)
        targets: dict[int, list[int]] = {}
        for index, (value, before) in enumerate(zip(here, usual, strict=True)):
            if value != before or (name == "dscp_to_tc" and here != usual):
                targets.setdefault(value, []).append(index)
        if targets:
            yield (
                f"  {name}: "
                f"{'; '.join(f'{number_ranges(indices)} to {value}' for value, indices in sorted(targets.items()))}"
            )
