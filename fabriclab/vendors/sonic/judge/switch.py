"""The switch that a config_db.json describes, as the checks of `resolve/switch/checks.py` take it: no lab, no scaling,
all ports.

It is the switch that `fabriclab sonic import` makes (`read/accounts.py` says how CONFIG_DB counts), but what a lab
refuses or mends is kept here: a lossless group without PFC stays one. Neighbours are taken to stop for the priorities
that this switch stops for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.plan.switch import (
    Account,
    Lossless,
    Pfc,
    Pool,
    PriorityGroup,
    QosMaps,
    Scheduler,
    Slice,
    Switch,
    SwitchPort,
    SwitchQueue,
    Wred,
)
from fabriclab.lab.reading.problems import Problems
from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.headroom import Line, headroom_bytes
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.read.accounts import MOST_POOLS, UNSHARED, Accounts
from fabriclab.vendors.sonic.read.config_db import BufferPool, BufferProfile, Port
from fabriclab.vendors.sonic.read.neighbours import DEFAULT_MTU, NS_A_METRE
from fabriclab.vendors.sonic.read.qos_tables import MAP_OF_FIELD, MAP_TABLES
from fabriclab.vendors.sonic.read.traffic_classes import Classes, in_eight

_MBPS = 10**6
_BITS = 8
_PPM_A_PER_CENT = 10_000
_NO_HOLE = 3
"""Full frames: a computed group lets its neighbour go on so far below its limit, as `switch_groups` has it."""
_Side = Literal["ingress", "egress"]


@dataclass(frozen=True)
class ConfiguredSwitch:
    """The switch with its ports, and which BUFFER_POOL a pool is."""

    switch: Switch
    ports: tuple[CheckedPort, ...]
    busy: tuple[CheckedPort, ...]
    """Those that can be busy at the same time: all that are up; all there are, if none is."""
    pool_keys: Mapping[str, str]


class SwitchBuilder:
    """Makes the switch of a file whose tables are sound: every reference resolved,
    no value missing that is mandatory."""

    def __init__(self, bindings: Bindings, cell_bytes: int) -> None:
        """Take what one file binds to its ports, and the size of its switch's cells in bytes."""
        self._bindings = bindings
        self._config = bindings.config
        self._cell_bytes = cell_bytes
        self._accounts = Accounts(self._config, tuple(self._config.ports), Problems())
        self._memory_bytes = max(1, self._accounts.memory_bytes())

    def build(self) -> ConfiguredSwitch:
        """Return the switch; its ports are the front-panel ports, up or down, for all of them reserve memory."""
        pools, keys = self._pools()
        slices = self._config.chip.slices
        switch = Switch(
            profile=self._config.file,
            cell_bytes=self._cell_bytes,
            slices=1 if slices is None else slices.count,
            pools=tuple(pools.values()),
        )
        ports = tuple(self._port(port) for port in self._config.ports.values() if port.role == "Ext")
        up = tuple(port for port in ports if self._config.ports[port.name].up)
        return ConfiguredSwitch(switch, ports, up or ports, keys)

    @property
    def pool_count(self) -> int:
        """How many pools there are that the switch would have."""
        return len(self._pools()[0])

    def _pools(self) -> tuple[dict[str, Pool], dict[str, str]]:
        """Return the pools by name, and which BUFFER_POOL each is; of too many, unused ones are left out."""
        pools: dict[str, Pool] = {}
        keys: dict[str, str] = {}
        unused: list[str] = []
        for pool in self._config.pools.values():
            for side in self._sides(pool):
                name = self._accounts.pool_name(pool, side)
                pools[name], keys[name] = self._pool(name, pool, side), pool.name
                if not self._accounts.is_used(pool, side):
                    unused.append(name)
        while len(pools) > MOST_POOLS and unused:
            name = unused.pop()
            del pools[name], keys[name]
        return pools, keys

    def _sides(self, pool: BufferPool) -> tuple[_Side, ...]:
        if pool.name in UNSHARED.values() or pool.size is None:
            return ()
        return self._accounts.sides(pool)

    def _pool(self, name: str, pool: BufferPool, side: _Side) -> Pool:
        sizes = max(1, self._accounts.size_bytes(pool, side)), pool.xoff if side == "ingress" else 0
        size, headroom = (bytes_ // self._cell_bytes * self._cell_bytes for bytes_ in sizes)
        return Pool(name=name, size_bytes=max(1, size), headroom_bytes=headroom)

    def _port(self, port: Port) -> CheckedPort:
        maps, pfc = self._maps(port.name), self._pfc(port.name)
        line = self._line(port, pfc)
        groups = tuple(
            self._group(port.name, index, line, pfc) for index in sorted(self._bindings.groups.get(port.name, {}))
        )
        return CheckedPort(
            port.name,
            line,
            SwitchPort(
                queues=self._queues(port.name, maps), groups=groups, maps=maps, pfc=pfc, slice=self._slice(port)
            ),
        )

    def _slice(self, port: Port) -> Slice:
        slices = self._config.chip.slices
        into, out = (0, 0) if slices is None else slices.of(port.first_lane or 1)
        return Slice(into=into, out=out)

    def _line(self, port: Port, pfc: Pfc | None) -> Line:
        rate_bps = (port.speed_mbps or 1) * _MBPS
        delay_ns = self._config.cable_metres.get(port.name, 0) * NS_A_METRE
        mtu = DEFAULT_MTU if port.mtu is None else port.mtu
        return Line(rate_bps, delay_ns, rate_bps, delay_ns, mtu, () if pfc is None else pfc.priorities)

    def _queues(self, port: str, maps: QosMaps) -> tuple[SwitchQueue, ...]:
        reached = {maps.tc_to_queue[tc] for tc in maps.dscp_to_tc}
        wanted = {*self._bindings.buffers.get(port, {}), *self._bindings.queues.get(port, {}), *reached}
        return tuple(
            SwitchQueue(
                index=index,
                account=self._queue_account(port, index),
                scheduler=self._scheduler(port, index),
                wred=self._wred(port, index),
            )
            for index in sorted(wanted)
        )

    def _queue_account(self, port: str, index: int) -> Account:
        profile = self._bindings.queue_profile(port, index)
        return Account(limit_bytes=self._memory_bytes) if profile is None else self._account(profile, "egress")

    def _account(self, profile: BufferProfile, side: _Side) -> Account:
        pool = self._config.pools[profile.pool or ""]
        reserved = (profile.size or 0) - self._accounts.headroom_in_size(profile)
        limit = None if profile.dynamic_th is not None else profile.static_th or None
        if pool.name == UNSHARED[side] or self._accounts.is_boundless(profile, side):
            return Account(reserved_bytes=reserved, limit_bytes=limit or self._memory_bytes)
        return Account(
            pool=self._accounts.pool_name(pool, side),
            reserved_bytes=reserved,
            limit_bytes=limit,
            alpha_log=profile.dynamic_th,
        )

    def _scheduler(self, port: str, index: int) -> Scheduler:
        written = self._bindings.scheduler(port, index)
        if written is None:
            return Scheduler(kind="dwrr")
        kind = cast(Literal["strict", "dwrr", "wrr"], written.kind.lower())
        counts_bytes = written.meter_type == "bytes"
        cir, pir = ((rate or 0) * _BITS if counts_bytes else 0 for rate in (written.cir, written.pir))
        cbs, pbs = (written.cbs or 0 if cir else 0), (written.pbs or 0 if pir else 0)
        return Scheduler(kind=kind, weight=written.weight, cir_bps=cir, cbs_bytes=cbs, pir_bps=pir, pbs_bytes=pbs)

    def _wred(self, port: str, index: int) -> Wred | None:
        written = self._bindings.wred(port, index)
        if written is None or not written.enabled or written.min_threshold is None or not written.max_threshold:
            return None
        high = max(written.min_threshold, written.max_threshold)
        return Wred(
            min=written.min_threshold,
            max=high,
            probability_ppm=written.drop_probability * _PPM_A_PER_CENT,
            ecn=written.marks,
        )

    def _group(self, port: str, index: int, line: Line, pfc: Pfc | None) -> PriorityGroup:
        profile = self._bindings.group_profile(port, index)
        if profile is None:
            return self._computed_group(index, line, pfc)
        lossless = (
            Lossless(headroom_bytes=profile.xoff, xon_bytes=profile.xon, xon_offset_bytes=profile.xon_offset)
            if profile.xoff
            else None
        )
        return PriorityGroup(index=index, account=self._account(profile, "ingress"), lossless=lossless)

    def _computed_group(self, index: int, line: Line, pfc: Pfc | None) -> PriorityGroup:
        """Return a group with profile NULL: lossless, its headroom computed."""
        pools = [pool for pool in self._config.pools.values() if pool.kind in ("ingress", "both")]
        pool = next((pool for pool in pools if pool.name == "ingress_lossless_pool"), pools[0] if pools else None)
        defaults = self._config.lossless_defaults
        log = defaults.dynamic_th if defaults is not None and defaults.dynamic_th is not None else 0
        account = (
            Account(limit_bytes=self._memory_bytes)
            if pool is None
            else Account(pool=self._accounts.pool_name(pool, "ingress"), alpha_log=log)
        )
        headroom = headroom_bytes(line, self._cell_bytes, 0 if pfc is None else len(pfc.priorities))
        lossless = Lossless(headroom_bytes=headroom, xon_bytes=0, xon_offset_bytes=_NO_HOLE * line.frame_bytes)
        return PriorityGroup(index=index, account=account, lossless=lossless)

    def _maps(self, port: str) -> QosMaps:
        said = Classes(*(self._map(port, field) for field in ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map")))
        classes = in_eight(said, lambda _: None, lambda *_: None)
        return QosMaps(
            dscp_to_tc=classes.dscp_to_tc,
            tc_to_queue=classes.tc_to_queue,
            tc_to_group=classes.tc_to_group,
            priority_to_queue=self._map(port, "pfc_to_queue_map"),
            priority_to_group=self._map(port, "pfc_to_pg_map"),
        )

    def _map(self, port: str, field: str) -> tuple[int, ...]:
        """Return a map by index: what is not in it is 0 (SAI), but for priorities, which keep their numbers."""
        table = MAP_OF_FIELD[field]
        size = MAP_TABLES[table][0]
        holder = self._bindings.map_holder(port, field)
        written = {} if holder is None else self._config.maps[table][holder.maps[field]]
        return tuple(written.get(index, index if field.startswith("pfc_") else 0) for index in range(size))

    def _pfc(self, port: str) -> Pfc | None:
        qos = self._bindings.qos(port)
        return Pfc(priorities=qos.pfc_enable) if qos is not None and qos.pfc_enable else None


def group_profiles(bindings: Bindings, pool: str) -> list[BufferProfile]:
    """Return the profile of each priority group that takes from a pool."""
    profiles = (bindings.group_profile(port, index) for port in bindings.groups for index in range(QUEUES))
    return [profile for profile in profiles if profile is not None and profile.pool == pool]
