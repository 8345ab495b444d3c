"""Pools of the dynamic buffer model on NVIDIA's chips: the file says no size, SONiC computes it of ports and profiles.

As sonic-swss does it (cfgmgr/buffer_pool_mellanox.lua, buffer_headroom_mellanox.lua), with what STATE_DB has of a chip
(sonic-buildimage, platform/mellanox/asic_table.j2). The size of the chip's memory is the file's egress_lossless_pool,
as there where the SAI says nothing. Ports that are down count as without groups and queues.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fabriclab.vendors.sonic.read.chips import Chip
from fabriclab.vendors.sonic.read.config_db import BufferBinding, BufferPool, BufferProfile, Port

_KIB = 1024
_LARGEST_PIPE_LANES = 8
"""Ports of so many lanes have two pipelines' latency."""
_PRIVATE_HEADROOM = 10 * _KIB
_MANAGEMENT_POOL = 256 * _KIB
_EGRESS_MIRROR = 10 * _KIB
_DESCRIPTORS = 32 * 2**20
"""Spectrum-6 keeps that much for modification descriptors, and nothing for egress mirrors."""
_LEAST_SHARED_HEADROOM = 655_360
_SMALLEST_FRAME = 64
_NS_A_METRE = 10**9 / 198_000_000
_PAUSE_QUANTA = {
    800_000: 905,
    400_000: 905,
    200_000: 453,
    100_000: 394,
    50_000: 147,
    40_000: 118,
    25_000: 80,
    10_000: 67,
    1_000: 2,
    100: 1,
}
"""How long a neighbour takes to stop, by Mbit/s, in quanta of 512 bits (IEEE 802.3, 31B.3.7)."""
_PEER_RESPONSE = 3.8 * _KIB
_MAC_AND_PHY = 0.8 * _KIB
_SMALL_PER_CENT, _LOSSLESS_MTU = 100, 1024
"""Where LOSSLESS_TRAFFIC_PATTERN says nothing."""
_SPECTRUM_6_HEADROOM = 18 * _KIB


@dataclass(frozen=True)
class Traffic:
    """LOSSLESS_TRAFFIC_PATTERN, and how many times headroom is promised (over_subscribe_ratio; 0: once, to each)."""

    mtu: int = _LOSSLESS_MTU
    small_per_cent: int = _SMALL_PER_CENT
    oversubscription: int = 0


@dataclass(frozen=True)
class BoundMemory:
    """What a file binds: groups, queues, and the profiles of whole ports (BUFFER_PORT_..._PROFILE_LIST)."""

    groups: Sequence[BufferBinding]
    queues: Sequence[BufferBinding]
    of_ports: Sequence[tuple[str, str]]
    """Port and profile."""


@dataclass(frozen=True)
class _Chip:
    """What STATE_DB says of a chip."""

    generation: int
    cell_bytes: int

    @property
    def latency_bytes(self) -> int:
        return (42 if self.generation >= 6 else 19) * _KIB

    def latency_of(self, port: Port) -> int:
        """Return what a lossy group of a port takes beside its profile."""
        return 2 * self.latency_bytes - _KIB if port.lanes == _LARGEST_PIPE_LANES else self.latency_bytes


def with_sizes(
    pools: Mapping[str, BufferPool],
    switch_chip: Chip,
    ports: Mapping[str, Port],
    metres: Mapping[str, int],
    profiles: Mapping[str, BufferProfile],
    bound: BoundMemory,
    traffic: Traffic,
    percentages: Mapping[str, int],
) -> dict[str, BufferPool]:
    """Return the pools with the sizes that SONiC computes; unchanged where it cannot be known (another vendor's chip,
    no size of the memory)."""
    generation, memory = switch_chip.spectrum, pools.get("egress_lossless_pool")
    missing = [pool for pool in pools.values() if pool.size is None]
    if generation is None or memory is None or memory.size is None or not missing:
        return dict(pools)
    chip = _Chip(generation, switch_chip.cell_bytes)
    lossless = pools.get("ingress_lossless_pool")
    account = _Occupied(chip, ports, metres, profiles, pools, traffic, 0 if lossless is None else lossless.xoff)
    shared = account.count(bound)
    free = memory.size - account.bytes - shared
    ingress = sum(pool.kind == "ingress" for pool in missing)
    most = memory.size // chip.cell_bytes * chip.cell_bytes
    share = min(free if ingress == 1 else free / 2, most)
    sized = dict(pools)
    for pool in missing:
        of_free = percentages.get(pool.name)
        size = math.ceil(share if of_free is None else free * of_free / 100)
        xoff = math.ceil(shared) if pool.name == "ingress_lossless_pool" else pool.xoff
        sized[pool.name] = replace(pool, size=max(0, size), xoff=xoff, computed=True)
    return sized


class _Occupied:
    """Adds up what is taken of a chip's memory before pools get theirs."""

    def __init__(
        self,
        chip: _Chip,
        ports: Mapping[str, Port],
        metres: Mapping[str, int],
        profiles: Mapping[str, BufferProfile],
        pools: Mapping[str, BufferPool],
        traffic: Traffic,
        shared_headroom: int,
    ) -> None:
        self._chip, self._ports, self._metres, self._traffic = chip, ports, metres, traffic
        self._profiles, self._pools = profiles, pools
        self._written_headroom = shared_headroom
        self._shares = shared_headroom > 0 or traffic.oversubscription > 0
        self._xoff = 0.0
        self.bytes = 0.0
        """Without the headroom that groups share."""

    def count(self, bound: BoundMemory) -> float:
        """Add up everything; return the bytes of headroom that groups share."""
        lossless_ports = set()
        for binding in bound.groups:
            for port in self._up(binding):
                if self._group(port, binding):
                    lossless_ports.add(port.name)
        for binding in bound.queues:
            for _ in self._up(binding):
                profile = self._profiles.get(binding.profile or "")
                self.bytes += len(binding.indices) * ((profile.size or 0) if profile is not None else 0)
        for name, named in bound.of_ports:
            profile = self._profiles.get(named)
            if profile is not None and name in self._ports and not self._is_lossy_group(profile):
                self.bytes += profile.size or 0
        up = [port for port in self._ports.values() if port.up]
        newest = self._chip.generation >= 6
        self.bytes += sum(self._chip.latency_of(port) + (0 if newest else _EGRESS_MIRROR) for port in up)
        self.bytes += _MANAGEMENT_POOL + (_DESCRIPTORS if newest else 0)
        return self._shared(len(lossless_ports))

    def _shared(self, lossless_ports: int) -> float:
        """Return the headroom that groups share, after adding what of it is a port's own."""
        forced = self._xoff > 0 and not self._shares
        if not self._shares and not forced:
            return 0
        self.bytes += lossless_ports * _PRIVATE_HEADROOM
        if self._written_headroom or forced:
            return self._written_headroom or _LEAST_SHARED_HEADROOM
        needed = max(0.0, self._xoff - lossless_ports * _PRIVATE_HEADROOM)
        return math.ceil(needed / self._traffic.oversubscription) or _LEAST_SHARED_HEADROOM

    def _up(self, binding: BufferBinding) -> list[Port]:
        return [port for name in binding.ports if (port := self._ports.get(name)) is not None and port.up]

    def _is_lossy_group(self, profile: BufferProfile) -> bool:
        pool = self._pools.get(profile.pool or "")
        return pool is not None and pool.kind == "ingress" and not profile.xoff

    def _group(self, port: Port, binding: BufferBinding) -> bool:
        """Add the groups of a binding at one port; return whether they are lossless."""
        profile = self._profiles.get(binding.profile or "")
        if profile is None:
            xon, xoff, size = self._headroom(port)
        else:
            xon, xoff, size = profile.xon, profile.xoff, profile.size or 0
        if profile is not None and not xoff:
            size += self._chip.latency_of(port)
        elif not self._written_headroom:
            self._xoff += max(0, xon + xoff - size) * len(binding.indices)
        self.bytes += size * len(binding.indices)
        return bool(xoff)

    def _headroom(self, port: Port) -> tuple[int, int, int]:
        """Return xon, xoff and size of a profile that SONiC computes for a port (profile NULL)."""
        speed, mtu, chip = port.speed_mbps or 0, port.mtu or 9100, self._chip
        wide = port.lanes == _LARGEST_PIPE_LANES
        xon = chip.latency_bytes * (2 if wide else 1)
        cell = chip.cell_bytes
        worst = math.ceil(cell / _SMALLEST_FRAME if cell > 2 * _SMALLEST_FRAME else 2 * cell / (1 + cell))
        small = self._traffic.small_per_cent
        mean = (small * _SMALLEST_FRAME + (100 - small) * self._traffic.mtu) / 100
        of_bytes = 100 * _SMALLEST_FRAME / mean
        occupancy = (100 - of_bytes + of_bytes * worst) / 100
        quanta = _PAUSE_QUANTA.get(speed)
        on_tile = speed / 1000 * 120 / 8 if chip.generation in (4, 5) else 0
        cable = 2 * self._metres.get(port.name, 0) * speed * _NS_A_METRE / 8000
        response = _PEER_RESPONSE if quanta is None else quanta * 512 / 8
        delay = mtu + cable + _MAC_AND_PHY + response + on_tile
        xoff = _in_kib(self._traffic.mtu + delay * occupancy)
        xoff += _SPECTRUM_6_HEADROOM if chip.generation == 6 else 0
        if not self._shares and small != _SMALL_PER_CENT:
            full = _in_kib(self._traffic.mtu + delay * worst)
            xoff += 2 * _KIB if xoff + 2 * _KIB < full else 0
        size = xon if self._shares else _in_kib(xoff + xon + (mtu if wide else 0))
        return _in_kib(xon), xoff, _in_kib(size)


def _in_kib(size: float) -> int:
    return math.ceil(size / _KIB) * _KIB
