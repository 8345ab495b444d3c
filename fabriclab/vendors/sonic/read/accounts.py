"""BUFFER_POOL and BUFFER_PROFILE: pools with their sizes, and what a queue or a priority group may take.

SAI (saibuffer.h) and the lab language count differently, so:

- A pool's size in the file holds all of it: reserved bytes and headroom, too. The lab language counts headroom apart.
  Memory that ports outside the lab reserve is taken off.
- Where the pool shares headroom (xoff of BUFFER_POOL), a profile's `size` is reserved and its `xoff` what one group may
  take of that. Else `size` holds the group's own headroom, its last xoff bytes.
- static_th 0 means no limit.
- Where the chip's pools hold only what nobody reserved (`read/chips.py`), nothing is taken off, and what ports of the
  lab reserve comes on top.
- Where the chip's memory is in slices, each of them has what the lab's ports reserve: in the machine, a queue or a
  group reserves in every slice; on the chip, a group does in those that its port's frames can be in.
- Where queues take from the one memory (`queues_take`), what they reserve comes off the ingress pool, in each slice,
  and egress pools have no more than what the ingress pool has then.
- Frames in a pool of type `both` count once. The machine's switch port counts a frame at both sides, so there are two
  pools of that size, NAME for the groups and NAME_egress for the queues, which always hold the same frames. So it is
  with a pool of one side that a profile of the other side names, as some shipped templates have it.
"""

from __future__ import annotations

import re
from typing import Literal

from fabriclab.formats.classes import QUEUES
from fabriclab.lab.reading.problems import Problems
from fabriclab.units import format_size
from fabriclab.vendors.common.sourced_values import Block, Figure
from fabriclab.vendors.sonic.read.config_db import BufferBinding, BufferPool, BufferProfile, ConfigDb

Side = Literal["ingress", "egress"]
MOST_POOLS = 4
UNSHARED = {"ingress": "unshared_ingress", "egress": "unshared_egress"}
"""Pools by which the export says that queues or groups have memory of their own; static_th bounds it."""
SIDES: tuple[Side, ...] = ("ingress", "egress")
_NAME = re.compile(r"[^A-Za-z0-9_-]")
_XOFF, _OWN, _OUTSIDE = "xoff", "the groups' own headroom", "memory reserved by ports outside the lab"
_SAID_BY_NAME = (_XOFF, _OWN)
"""Of these the file's reader finds the figures."""


class Accounts:
    """The memory of one switch of which some ports are in the lab."""

    def __init__(
        self, config: ConfigDb, ports: tuple[str, ...], problems: Problems, notes: dict[str, None] | None = None
    ) -> None:
        self._config = config
        self._ports = frozenset(ports)
        self._problems = problems
        self._notes = {} if notes is None else notes
        self._bad: set[str] = set()
        self._bound = self._bound_sides()
        self._chip = config.chip
        self._slices = 1 if config.chip.slices is None else config.chip.slices.count

    def pools(self) -> dict[str, Block]:
        """Return the pools of the lab language by name."""
        pools: dict[str, Block] = {}
        unused: list[str] = []
        for pool in self._config.pools.values():
            if pool.name in UNSHARED.values() or not self._is_whole(pool) or not self._holds_anything(pool):
                continue
            for side in self.sides(pool):
                name = self.pool_name(pool, side)
                if name in pools:
                    self._complain(
                        ("BUFFER_POOL", pool.name),
                        f"is called {name} in the lab, like another pool; rename one of the two",
                    )
                pools[name] = self._pool(pool, side)
                if not self.is_used(pool, side):
                    unused.append(name)
        self._leave_out(pools, unused)
        if len(pools) > MOST_POOLS:
            self._complain(
                ("BUFFER_POOL",), f"{len(pools)} pools, {', '.join(pools)}; a lab's switch has at most {MOST_POOLS}"
            )
        if not pools and not self._problems:
            self._complain(("BUFFER_POOL",), "missing, or empty; a lab's switch needs the size of its memory")
        return pools

    def _leave_out(self, pools: dict[str, Block], unused: list[str]) -> None:
        """Take off pools that no port of the lab uses, as many as a lab's switch has not."""
        spare = unused[max(0, len(unused) - max(0, len(pools) - MOST_POOLS)) :]
        for name in spare:
            del pools[name]
        if spare:
            self._note(f"BUFFER_POOL: {', '.join(spare)} left out: no queue and no group of a port in the lab uses it")

    def _holds_anything(self, pool: BufferPool) -> bool:
        """Return whether a pool is more than NVIDIA's pools of size 0, to which ports outside the lab are bound."""
        if pool.size == 0 and pool.name not in self._bound:
            self._note(f"BUFFER_POOL|{pool.name}: left out, because it has size 0, for ports that are not in use")
            return False
        return True

    def sides(self, pool: BufferPool) -> tuple[Side, ...]:
        """Return the sides at which a pool is seen: its own, and that of queues or groups which take from it."""
        named = {"both": {"ingress", "egress"}}.get(pool.kind or "", {pool.kind})
        return tuple(side for side in SIDES if side in named or side in self._bound.get(pool.name, ()))

    def is_used(self, pool: BufferPool, side: Side) -> bool:
        """Return whether a queue or a group of a port of the lab takes from a pool at a side."""
        return side in self._bound.get(pool.name, ())

    def _bound_sides(self) -> dict[str, set[Side]]:
        """Return the sides at which ports of the lab use each pool."""
        bound: dict[str, set[Side]] = {}
        for side, bindings in (("ingress", self._config.buffer_pgs), ("egress", self._config.buffer_queues)):
            for binding in bindings:
                if self._ports.isdisjoint(binding.ports) or binding.indices[0] >= QUEUES:
                    continue
                profile = None if binding.profile is None else self._config.profiles[binding.profile]
                computed = computed_pool(self._config)
                name = profile.pool if profile is not None else None if computed is None else computed.name
                if name is not None:
                    bound.setdefault(name, set()).add("egress" if side == "egress" else "ingress")
        return bound

    def pool_name(self, pool: BufferPool, side: Side) -> str:
        """Return a pool's name in the lab language."""
        name = _NAME.sub("_", pool.name)
        name = name if name[:1].isalpha() and name != "none" else f"pool_{name}"
        own = "egress" if pool.kind == "egress" else "ingress"
        return name if side == own else f"{name}_{side}"

    def memory_bytes(self) -> int:
        """Return the size of all the memory: what a queue may hold that no profile bounds."""
        sizes = {
            kind: sum(pool.size or 0 for pool in self._config.pools.values() if pool.kind == kind)
            for kind in ("ingress", "both", "egress")
        }
        return sizes["ingress"] + sizes["both"] or sizes["egress"]

    def _is_whole(self, pool: BufferPool) -> bool:
        path = ("BUFFER_POOL", pool.name)
        missing = [
            name for name, value in (("type", pool.kind), ("mode", pool.mode), ("size", pool.size)) if value is None
        ]
        for name in missing:
            self._complain((*path, name), "missing; a lab needs it (a size in bytes, not a percentage)")
        return not missing

    def _pool(self, pool: BufferPool, side: Side) -> Block:
        origin = f"BUFFER_POOL|{pool.name}|size" + (" (computed)" if pool.computed else "")
        size, changes = self._size(pool, side)
        if size <= 0:
            self._complain(
                ("BUFFER_POOL", pool.name, "size"),
                f"{pool.size} B {', '.join(changes) or 'are less than a byte'}: nothing is left",
            )
        block: dict[str, Figure | Block] = {
            "size": Figure(format_size(max(1, size)), origin + "".join(f", {one}" for one in changes))
        }
        if side == "ingress" and pool.xoff:
            block["headroom"] = Figure(format_size(pool.xoff), f"BUFFER_POOL|{pool.name}|xoff")
        return block

    def size_bytes(self, pool: BufferPool, side: Side) -> int:
        """Return a pool's size as the lab language counts it: what is reserved and what is shared, without headroom."""
        return self._size(pool, side)[0]

    def _size(self, pool: BufferPool, side: Side) -> tuple[int, list[str]]:
        """Return a pool's size in bytes, and in words what was taken off or added."""
        if self._chip.holds == "free" or (side == "egress" and self._is_clipped(pool)):
            over = 0 if self._chip.holds == "free" else (pool.size or 0) - self._left()
            less = f"less what the ingress pool does not leave, {over} B" if over else ""
            within = self._slices * self._reserved(pool, side, in_lab=True)
            more = f"with what ports of the lab reserve, {within} B" if within else ""
            return (pool.size or 0) - over + within, [text for text in (less, more) if text]
        taken = self._taken(pool, side)
        again = (self._slices - 1) * self._reserved(pool, side, in_lab=True)
        size = (pool.size or 0) - sum(taken.values()) + again
        changes = [f"less {text}" + ("" if text in _SAID_BY_NAME else f", {value} B") for text, value in taken.items()]
        if again:
            changes.append(f"with what ports of the lab reserve in the other slices, {again} B")
        return size, changes

    def _taken(self, pool: BufferPool, side: Side) -> dict[str, int]:
        """Return what of a pool's size is not its queues' or groups' of the lab, in bytes, by what it is."""
        taken = {_OUTSIDE: self._reserved(pool, side, in_lab=False)}
        if side == "ingress":
            shared = pool.xoff if self._chip.holds == "all" else 0
            queues = self._slices * self._queues_reserve() if self._chip.queues_take else 0
            taken = {_XOFF: shared, _OWN: self._own_headroom(pool), "what queues reserve": queues, **taken}
        return {text: value for text, value in taken.items() if value}

    def _is_clipped(self, pool: BufferPool) -> bool:
        """Return whether an egress pool has what the ingress pool leaves, and no more.

        Where queues share it; where each of them may take all of it, only the ingress side decides.
        """
        if not self._chip.queues_take or (pool.size or 0) < self._left():
            return False
        return any(one.pool == pool.name and one.dynamic_th is not None for one in self._config.profiles.values())

    def is_boundless(self, profile: BufferProfile, side: Side) -> bool:
        """Return whether a profile's queues may take more than there is, of a pool that is not all of the memory.

        So it is with lossless queues: frames that groups let into headroom find room there, whatever others have.
        """
        pool = self._config.pools.get(profile.pool or "")
        if side != "egress" or pool is None or not self._is_clipped(pool) or profile.dynamic_th is not None:
            return False
        return (profile.static_th or 0) >= (pool.size or 0)

    def _queues_reserve(self) -> int:
        """Return what queues of all ports reserve, once."""
        pools = self._config.pools.values()
        return sum(self._reserved(pool, "egress", in_lab=which) for pool in pools for which in (True, False))

    def _left(self) -> int:
        """Return what ingress pools have that nobody reserved."""
        return sum(
            (pool.size or 0) - sum(self._taken(pool, "ingress").values()) - self._reserved(pool, "ingress", in_lab=True)
            for pool in self._config.pools.values()
            if pool.kind == "ingress" and pool.size
        )

    def _own_headroom(self, pool: BufferPool) -> int:
        """Return the headroom that groups of all ports have to themselves."""
        return sum(
            count * self.headroom_in_size(profile) for _, count, profile in self._uses(pool, self._config.buffer_pgs)
        )

    def _reserved(self, pool: BufferPool, side: Side, *, in_lab: bool) -> int:
        """Return what ports in the lab, or those outside it, reserve in a pool."""
        bindings = self._config.buffer_queues if side == "egress" else self._config.buffer_pgs
        return sum(
            count * ((profile.size or 0) - self.headroom_in_size(profile))
            for port, count, profile in self._uses(pool, bindings)
            if (port in self._ports) is in_lab
        )

    def _uses(self, pool: BufferPool, bindings: tuple[BufferBinding, ...]) -> list[tuple[str, int, BufferProfile]]:
        """Return port, number of queues or groups, and profile of each binding to a pool."""
        profiles = self._config.profiles
        named = [(binding, profiles[binding.profile]) for binding in bindings if binding.profile is not None]
        return [
            (port, len(binding.indices), profile)
            for binding, profile in named
            if profile.pool == pool.name
            for port in binding.ports
        ]

    def headroom_in_size(self, profile: BufferProfile) -> int:
        """Return how much of a profile's size is headroom."""
        pool = self._config.pools.get(profile.pool or "")
        is_own = pool is not None and pool.xoff == 0
        return profile.xoff if is_own and profile.xoff <= (profile.size or 0) else 0

    def account(self, profile: BufferProfile, side: Side) -> dict[str, Figure | Block]:
        """Return `pool`, `reserved` and `alpha` or `limit` of a profile's queues or groups."""
        origin = f"BUFFER_PROFILE|{profile.name}"
        pool = self._config.pools.get(profile.pool or "")
        if pool is None or profile.size is None or not self._is_consistent(profile, pool, side):
            self._complain_incomplete(profile)
            return {}
        reserved = profile.size - self.headroom_in_size(profile)
        less = " less xoff" if reserved != profile.size else ""
        own = pool.name == UNSHARED[side] or self.is_boundless(profile, side)
        name = "none" if own else self.pool_name(pool, side)
        return {
            "pool": Figure(name, f"{origin}|pool"),
            "reserved": Figure(format_size(reserved), f"{origin}|size{less}"),
            **self._limit(profile, origin),
        }

    def _limit(self, profile: BufferProfile, origin: str) -> dict[str, Figure]:
        if profile.dynamic_th is not None:
            return {"alpha": Figure(alpha_text(profile.dynamic_th), f"{origin}|dynamic_th {profile.dynamic_th}")}
        if profile.static_th:
            return {"limit": Figure(format_size(profile.static_th), f"{origin}|static_th")}
        return {
            "limit": Figure(
                "none", f"{origin}|static_th 0: no limit" if profile.static_th == 0 else f"{origin}: neither threshold"
            )
        }

    def _is_consistent(self, profile: BufferProfile, pool: BufferPool, side: Side) -> bool:
        path = ("BUFFER_PROFILE", profile.name)
        if profile.name not in self._bad and profile.dynamic_th is not None and profile.static_th is not None:
            self._complain((*path, "static_th"), "conflicts with dynamic_th; keep one of the two")
            self._bad.add(profile.name)
        if pool.kind not in ("both", side, None):
            table = "BUFFER_QUEUE" if side == "egress" else "BUFFER_PG"
            self._note(
                f"BUFFER_PROFILE|{profile.name}: uses {pool.name}, an {pool.kind} pool, although {table} refers to "
                f"it; the lab uses {self.pool_name(pool, side)} of that size for it; the chip's SAI decides whether "
                "this is accepted"
            )
        return profile.name not in self._bad

    def _complain_incomplete(self, profile: BufferProfile) -> None:
        for name, value in (("pool", profile.pool), ("size", profile.size)):
            if value is None and profile.name not in self._bad:
                self._complain(("BUFFER_PROFILE", profile.name, name), "missing; write it, it is mandatory")
        self._bad.add(profile.name)

    def _note(self, sentence: str) -> None:
        self._notes[sentence] = None

    def _complain(self, path: tuple[str, ...], message: str) -> None:
        self._config.complain(self._problems, path, message)


def computed_pool(config: ConfigDb) -> BufferPool | None:
    """Return the pool of groups whose profile SONiC computes (NULL); None where it is unclear."""
    pools = [pool for pool in config.pools.values() if pool.kind in ("ingress", "both")]
    named = next((pool for pool in pools if pool.name == "ingress_lossless_pool"), None)
    return named or (pools[0] if len(pools) == 1 else None)


def alpha_text(log: int) -> str:
    """Return 2^log as the lab language writes it."""
    return str(2**log) if log >= 0 else f"1/{2**-log}"
