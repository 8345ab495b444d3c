"""Rules of BUFFER_POOL and BUFFER_PROFILE.

A profile with static_th on a dynamic pool is none of them: shipped templates have it (Arista 7050CX3,
ingress_lossy_profile: static_th as large as its pool), and it means that nothing but the pool bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.finding import Severity
from fabriclab.lab.reading.problems import Problems
from fabriclab.resolve.switch.headroom import cells
from fabriclab.resolve.switch.notes import size
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.switch import group_profiles
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.read.accounts import UNSHARED, Accounts
from fabriclab.vendors.sonic.read.config_db import BufferBinding, BufferPool, BufferProfile

_FAR_ABOVE = 2
"""Egress pools of shipped configurations are at most 1.2 times what can come in."""


def mandatory(bindings: Bindings) -> Iterator[SonicFinding]:
    """What the YANG models call mandatory stands there."""
    for pool in bindings.config.pools.values():
        yield from _missing(("BUFFER_POOL", pool.name), {"type": pool.kind, "mode": pool.mode})
    for profile in bindings.config.profiles.values():
        yield from _missing(("BUFFER_PROFILE", profile.name), {"pool": profile.pool, "size": profile.size})


def _missing(path: tuple[str, str], values: Mapping[str, object]) -> Iterator[SonicFinding]:
    for name, value in values.items():
        if value is None:
            yield finding(
                "malformed", (*path, name), None, "missing, and mandatory", "SONiC refuses the entry", "write it"
            )


def thresholds(bindings: Bindings) -> Iterator[SonicFinding]:
    """A profile has exactly one threshold."""
    for profile in bindings.config.profiles.values():
        path = ("BUFFER_PROFILE", profile.name)
        if profile.static_th is not None and profile.dynamic_th is not None:
            bound = f"beside dynamic_th {profile.dynamic_th}"
            fate = "the platform decides which of the two is used"
            yield finding("two-thresholds", (*path, "static_th"), profile.static_th, bound, fate, "keep one of the two")
        elif profile.static_th is None and profile.dynamic_th is None:
            bound, fate = (
                "neither static_th nor dynamic_th",
                "only the size of the pool limits what one port takes of it",
            )
            yield finding("no-threshold", path, None, bound, fate, "write dynamic_th, or a static_th in bytes")


def directions(bindings: Bindings) -> Iterator[SonicFinding]:
    """Priority groups take from ingress pools, queues from egress pools."""
    config = bindings.config
    for table, side, every in (
        ("BUFFER_PG", "ingress", config.buffer_pgs),
        ("BUFFER_QUEUE", "egress", config.buffer_queues),
    ):
        for binding in every:
            pool = _pool(bindings, binding)
            if pool is not None and pool.kind not in (side, "both", None):
                bound = f"of {pool.name}, an {pool.kind} pool"
                fate = "SAI refuses the binding, and the port is left without a limit there"
                remedy = f"bind a profile of an {side} pool"
                yield finding(
                    "pool-direction",
                    (table, binding.key, "profile"),
                    binding.profile,
                    bound,
                    fate,
                    remedy,
                    binding.ports,
                )


def _pool(bindings: Bindings, binding: BufferBinding) -> BufferPool | None:
    profile = bindings.config.profiles.get(binding.profile or "")
    return None if profile is None else bindings.config.pools.get(profile.pool or "")


def percentages(bindings: Bindings) -> Iterator[SonicFinding]:
    """A percentage is for the dynamic buffer model, and stands without a size."""
    device = entries(bindings.config, "DEVICE_METADATA").get("localhost", {})
    for key, values in entries(bindings.config, "BUFFER_POOL").items():
        path, value = ("BUFFER_POOL", key, "percentage"), values.get("percentage")
        if value is not None and "size" in values:
            yield finding(
                "pool-percentage", path, value, "beside a size", "the YANG models refuse it", "keep one of the two"
            )
        elif value is not None and device.get("buffer_model") != "dynamic":
            fate = "the YANG models refuse it, and the pool has no size"
            remedy = "write size, or set DEVICE_METADATA|localhost|buffer_model"
            yield finding("pool-percentage", path, value, "without buffer_model dynamic", fate, remedy)


def memory(bindings: Bindings) -> Iterator[SonicFinding]:
    """A pool fits into the chip's memory; of an unknown chip, egress pools are not far above what can come in."""
    config = bindings.config
    ingress = sum((pool.size or 0) + pool.xoff for pool in config.pools.values() if pool.kind in ("ingress", "both"))
    most, what = config.chip.memory_bytes, f"the whole memory of {config.chip.name}"
    if not most and config.chip.holds == "free":
        return  # what ports reserve is not in the ingress pools
    if not most:
        most, what = _FAR_ABOVE * ingress, f"{_FAR_ABOVE} times the size of all ingress pools"
    for pool in config.pools.values():
        if pool.size is not None and most and pool.size > most:
            path, fate = (
                ("BUFFER_POOL", pool.name, "size"),
                "thresholds are shares of memory that does not exist, so none takes effect",
            )
            severity: Severity = "error" if config.chip.memory_bytes else "warning"
            bound = f"above {what}, {most} B"
            yield finding("pool-above-memory", path, f"{pool.size} B", bound, fate, "write less", severity=severity)


def reserved(bindings: Bindings, cell_bytes: int) -> Iterator[SonicFinding]:
    """What is reserved, the groups' own headroom and the shared one fit into their pool."""
    accounts = Accounts(bindings.config, tuple(bindings.config.ports), Problems())
    for pool in bindings.config.pools.values():
        if pool.size is None or pool.name in UNSHARED.values():
            continue
        groups = group_profiles(bindings, pool.name)
        headroom = sum(accounts.headroom_in_size(profile) for profile in groups)
        # Of a pool of type both each frame counts once (SAI), whichever side reserves it.
        own = sum(
            _reserved(accounts, profile, cell_bytes) for profile in [*groups, *_queue_profiles(bindings, pool.name)]
        )
        needed = own + headroom + pool.xoff
        if needed > pool.size:
            parts = [
                f"{size(value)} {what}"
                for value, what in ((own, "reserved"), (headroom, "own headroom"), (pool.xoff, "xoff"))
                if value
            ]
            bound = f"less than {needed} B: {' + '.join(parts)} of {len(bindings.config.ports)} ports"
            fate = "orchagent cannot create the last of them, and these ports keep the chip's defaults"
            yield finding(
                "reserved-above-pool",
                ("BUFFER_POOL", pool.name, "size"),
                f"{pool.size} B",
                bound,
                fate,
                "write smaller sizes",
            )


def _reserved(accounts: Accounts, profile: BufferProfile, cell_bytes: int) -> int:
    return cells((profile.size or 0) - accounts.headroom_in_size(profile), cell_bytes) * cell_bytes


def _queue_profiles(bindings: Bindings, pool: str) -> list[BufferProfile]:
    profiles = (bindings.queue_profile(port, index) for port in bindings.buffers for index in range(QUEUES))
    return [profile for profile in profiles if profile is not None and profile.pool == pool]
