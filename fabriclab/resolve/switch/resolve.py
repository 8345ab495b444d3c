"""From what is written of a switch with a shared buffer to `Switch` and its ports' `SwitchPort`, every default
explicit.

What holds where nothing is written:

- A queue takes from the first pool with alpha 1 (so every queue is bounded), and is served by DWRR of weight 1 (by WRR
  on a switch that has it).
- The queue of a lossless class has memory of its own, as much as the whole switch: only the ingress side decides, as
  with SONiC's egress_lossless_pool. Otherwise each of its frames would count twice in one pool, and be lost at the
  egress before anybody pauses.
- A priority group that is not written has no limit; the queues alone decide. One that is written takes from the first
  pool with alpha 1.
- A lossless group lets its neighbour go on at its limit less three full frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, cast

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.plan.switch import (
    CODEPOINTS,
    Account,
    Pfc,
    Pool,
    PriorityGroup,
    QosMaps,
    Slice,
    Switch,
    SwitchPort,
    Trimming,
    Watchdog,
)
from fabriclab.lab.network.keys import DEFAULT_MTU_BYTES
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written, value_or
from fabriclab.lab.switch.keys import PFC_QUANTA, PFC_REACTION, TRIMMING_QUEUE, TRIMMING_SIZE, WATCHDOG_ACTION
from fabriclab.lab.switch.trimming import trims_of
from fabriclab.lab.switch.written import WrittenMaps, WrittenPfc, WrittenSwitch, WrittenTrimming, WrittenWatchdog
from fabriclab.resolve.switch.accounts import ALPHA_LOG
from fabriclab.resolve.switch.groups import GroupResolver
from fabriclab.resolve.switch.headroom import Line
from fabriclab.resolve.switch.notes import Notes
from fabriclab.resolve.switch.queues import QueueResolver
from fabriclab.resolve.switch.scale import Scale

_RESTORATION_FACTOR = 2
"""How many times its detection time the watchdog waits before it restores a queue: sonic-utilities, pfcwd/main.py,
where no restoration time is given."""


@dataclass(frozen=True)
class ResolvedSwitch:
    """A switch and its ports by interface."""

    switch: Switch
    ports: Mapping[str, SwitchPort]


def resolve_switch(written: WrittenSwitch, lines: Mapping[str, Line], problems: Problems) -> ResolvedSwitch:
    """Return the switch whose ports have these lines (by interface); what cannot be is recorded."""
    notes = Notes()
    scale = Scale(written, sum(line.out_rate_bps for line in lines.values()), notes)
    cell_bytes = written.buffer.cell.value if written.buffer.cell is not None else 1
    # Ports alike are one value: a fabric has hundreds.
    alike = {interface: _Alike(written.variant_of.get(interface, ""), line) for interface, line in lines.items()}
    groups_of: dict[_Alike, tuple[PriorityGroup, ...]] = {}
    for ports in dict.fromkeys(alike.values()):
        variant = ports.of(written)
        pfc = resolve_pfc(variant.buffer.pfc)
        groups = GroupResolver(variant, scale, notes, cell_bytes, _first_pool(written), pfc, problems)
        groups_of[ports] = groups.resolve(ports.line)
    pools = _pools(written, scale, cell_bytes, [(ports, groups_of[ports]) for ports in alike.values()])
    memory = _memory(pools, [groups_of[ports] for ports in alike.values()])
    resolved = {ports: _port(ports, written, groups_of, memory, scale, problems) for ports in groups_of}
    for one in (written, *written.variants.values()):
        for group in one.dormant_groups:
            notes.add(
                "priority group",
                group,
                "lossless in the profile, but lossy here, because no PFC priority of this switch belongs to it",
            )
    if _trims_nothing(written):
        notes.add("trimming", None, "nothing is trimmed, because no queue has discard: trim")
    profile = written.profile
    if profile is not None and profile.hardware:
        notes.add("chip", None, profile.hardware)
    switch = Switch(
        profile=profile.name if profile is not None else "",
        title=profile.title if profile is not None else "",
        cell_bytes=cell_bytes,
        slices=_slices(written),
        pools=pools,
        notes=notes.sentences(),
    )
    return ResolvedSwitch(switch, {interface: resolved[ports] for interface, ports in alike.items()})


@dataclass(frozen=True)
class _Alike:
    """Ports that are one value: of one line, and of one variant of the switch (empty: as most are)."""

    variant: str
    line: Line

    def of(self, written: WrittenSwitch) -> WrittenSwitch:
        """Return the switch as these ports have it."""
        return written.variants[self.variant] if self.variant else written


def _first_pool(written: WrittenSwitch) -> str | None:
    return next(iter(written.buffer.pools), None)


def _port(
    ports: _Alike,
    written: WrittenSwitch,
    groups_of: Mapping[_Alike, tuple[PriorityGroup, ...]],
    memory: int,
    scale: Scale,
    problems: Problems,
) -> SwitchPort:
    """Return ports alike; their groups are resolved already."""
    variant = ports.of(written)
    maps = resolve_maps(variant.buffer.maps)
    same = [groups for other, groups in groups_of.items() if other.variant == ports.variant]
    queues = QueueResolver(variant, scale, _class_accounts(maps, same, _first_pool(written), memory), problems)
    pfc = resolve_pfc(variant.buffer.pfc)
    return SwitchPort(
        queues=queues.resolve(ports.line),
        groups=groups_of[ports],
        maps=maps,
        pfc=pfc,
        slice=_slice(variant, _slices(written), problems),
        trimming=_trimming(variant.buffer.trimming),
    )


def _trims_nothing(written: WrittenSwitch) -> bool:
    every = [one.buffer for one in (written, *written.variants.values())]
    is_told = any(one.trimming is not None and not one.trimming.is_none for one in every)
    return is_told and not any(trims_of(queue) for one in every for queue in one.queues.values())


def _trimming(written: WrittenTrimming | None) -> Trimming | None:
    if written is None or written.is_none or written.dscp is None:
        return None
    return Trimming(
        size_bytes=TRIMMING_SIZE.or_default(written.size),
        dscp=written.dscp.value,
        queue=TRIMMING_QUEUE.or_default(written.queue),
    )


def _slices(written: WrittenSwitch) -> int:
    return value_or(written.buffer.slices, 1)


def _slice(written: WrittenSwitch, slices: int, problems: Problems) -> Slice:
    """Return where frames of a port are; a slice that the memory does not have is recorded."""
    said = written.buffer.slice
    for one in (said.into, said.out):
        if one is not None and one.value >= slices:
            there = (
                "not divided; write slices: 2 or 4 beside its pools" if slices == 1 else f"in slices 0 to {slices - 1}"
            )
            one.complain(problems, f"the switch's memory is {there}")
            return Slice()
    return Slice(into=value_or(said.into, 0), out=value_or(said.out, 0))


def resolve_maps(written: WrittenMaps) -> QosMaps:
    """Return the maps: class selector to class, and the same number in all others, where nothing is written."""
    default = QosMaps()

    def filled(base: tuple[int, ...], entries: Mapping[int, Written[int]]) -> tuple[int, ...]:
        return tuple(entries[index].value if index in entries else value for index, value in enumerate(base))

    return QosMaps(
        dscp_to_tc=filled(default.dscp_to_tc, written.dscp_to_tc),
        tc_to_queue=filled(default.tc_to_queue, written.tc_to_queue),
        tc_to_group=filled(default.tc_to_group, written.tc_to_group),
        priority_to_queue=filled(default.priority_to_queue, written.priority_to_queue),
        priority_to_group=filled(default.priority_to_group, written.priority_to_group),
    )


def resolve_pfc(written: WrittenPfc | None) -> Pfc | None:
    """Return a port's PFC; None without a priority."""
    if written is None or written.is_none or written.priorities is None or not written.priorities.value:
        return None
    return Pfc(
        priorities=tuple(sorted(written.priorities.value)),
        quanta=PFC_QUANTA.or_default(written.quanta),
        reaction_ns=PFC_REACTION.or_default(written.reaction),
        watchdog=_watchdog(written.watchdog),
    )


def _watchdog(written: WrittenWatchdog | None) -> Watchdog | None:
    if written is None or written.is_none or written.detection is None:
        return None
    detection_ns = written.detection.value
    return Watchdog(
        detection_ns=detection_ns,
        restoration_ns=value_or(written.restoration, _RESTORATION_FACTOR * detection_ns),
        action=cast(Literal["drop", "forward"], WATCHDOG_ACTION.or_default(written.action)),
    )


def reachable_queues(maps: QosMaps) -> tuple[int, ...]:
    """Return the queues that frames can get to."""
    classes = {maps.dscp_to_tc[codepoint] for codepoint in range(CODEPOINTS)}
    return tuple(queue for queue in range(QUEUES) if any(maps.tc_to_queue[tc] == queue for tc in classes))


_PortGroups = Sequence[tuple[_Alike, tuple[PriorityGroup, ...]]]


def _pools(written: WrittenSwitch, scale: Scale, cell_bytes: int, ports: _PortGroups) -> tuple[Pool, ...]:
    frame_bytes = max((one.line.frame_bytes for one, _ in ports), default=DEFAULT_MTU_BYTES)
    pools = []
    for name, pool in written.buffer.pools.items():
        if pool.size is None:
            raise AssertionError(f"{written.key}: pool {name} has no size, which reading the lab refuses")
        size_bytes = scale.pool_bytes(name, pool.size, cell_bytes, frame_bytes)
        headroom = (
            0 if pool.headroom is None else _shared_headroom(written, name, pool.headroom, scale, cell_bytes, ports)
        )
        pools.append(Pool(name=name, size_bytes=size_bytes, headroom_bytes=headroom))
    return tuple(pools)


def _shared_headroom(
    written: WrittenSwitch, pool: str, shared: Written[int], scale: Scale, cell_bytes: int, ports: _PortGroups
) -> int:
    """Return a pool's headroom; `raised` is what its groups have over what the profile's figures come
    to at the lab's rates."""
    own = [
        (one, group.index, group.lossless.headroom_bytes)
        for one, groups in ports
        for group in groups
        if group.lossless is not None and group.account.pool == pool
    ]
    before = Fraction(0)
    for one, index, headroom_bytes in own:
        said = one.of(written).buffer.groups[index].headroom
        figure = None if said is None or said.value is None else Written(said.value, said.key, said.text, said.place)
        before += headroom_bytes if figure is None else scale.scaled(figure, one.line.in_rate_bps)
    raised = sum(headroom_bytes for *_, headroom_bytes in own) / before if before else Fraction(1)
    return scale.pool_headroom_bytes(
        pool, shared, cell_bytes, max((each for *_, each in own), default=0), max(raised, Fraction(1))
    )


def _memory(pools: tuple[Pool, ...], groups_of_ports: list[tuple[PriorityGroup, ...]]) -> int:
    """Return all bytes that frames can have come in to."""
    shared = {pool.name for pool in pools if pool.headroom_bytes}
    own = sum(
        (group.account.limit_bytes or 0) + group.account.reserved_bytes if group.account.pool is None else 0
        for groups in groups_of_ports
        for group in groups
    )
    headrooms = sum(
        group.lossless.headroom_bytes
        for groups in groups_of_ports
        for group in groups
        if group.lossless is not None and group.account.pool not in shared
    )
    return sum(pool.size_bytes + pool.headroom_bytes for pool in pools) + own + headrooms


def _class_accounts(
    maps: QosMaps, groups_of_ports: Sequence[tuple[PriorityGroup, ...]], first_pool: str | None, memory: int
) -> Mapping[int, Account]:
    """Return the account of each queue that frames can get to, of which nothing is written."""
    lossless = {group.index for groups in groups_of_ports for group in groups if group.lossless is not None}
    accounts = {}
    for queue in reachable_queues(maps):
        classes = [tc for tc in range(QUEUES) if maps.tc_to_queue[tc] == queue]
        if any(maps.tc_to_group[tc] in lossless for tc in classes):
            accounts[queue] = Account(pool=None, limit_bytes=memory)
        else:
            accounts[queue] = Account(pool=first_pool, alpha_log=ALPHA_LOG)
    return accounts
