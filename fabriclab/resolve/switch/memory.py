"""How long queues and priority groups can get in a switch's memory.

A dynamic limit admits a frame while the account is below alpha x (free cells of the pool); with N accounts that are
always full each holds

    alpha B / (1 + alpha N)

of the B cells that nobody has reserved (A. K. Choudhury and E. L. Hahne, "Dynamic Queue Length Thresholds for
Shared-Memory Packet Switches", IEEE/ACM ToN 6(2), 1998). By ABM a queue's alpha is divided by the number of full queues
of its priority, and each holds

    alpha B / ((1 + alpha) N)

(Addanki et al., "ABM: Active Buffer Management in Datacenters", SIGCOMM 2022), or more if queues count as congested by
what they hold of a length. Everything is computed in cells, as the kernel does, and told in bytes of full frames.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from fabriclab.formats.plan.switch import Account, Lossless, Pool, Sharing, Switch
from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.headroom import cells


def alpha(account: Account) -> Fraction | None:
    """Return a dynamic limit's share of the free memory; None for a static limit."""
    return None if account.alpha_log is None else Fraction(2) ** account.alpha_log


def is_calculable(sharing: Sharing | None) -> bool:
    """Return whether it is known what a queue may hold: by a policy in a C file of the user's own it is not."""
    return sharing is None or sharing.policy == _ABM


_ABM = "abm"


class Memory:
    """The pools of a switch with what its ports reserve of them."""

    def __init__(self, switch: Switch, ports: Sequence[CheckedPort]) -> None:
        """Sum up what is reserved."""
        self.cell_bytes = switch.cell_bytes
        self.slices = switch.slices
        self._most_in_a_slice = _most_in_a_slice(switch, ports)
        self.pools: dict[str, Pool] = {pool.name: pool for pool in switch.pools}
        self._reserved = dict.fromkeys(self.pools, 0)
        for account in _accounts(ports):
            if account.pool in self._reserved:
                self._reserved[account.pool] += cells(account.reserved_bytes, self.cell_bytes)

    def reserved_bytes(self, pool: str) -> int:
        """Return what is reserved of a pool, in whole cells: of each slice the same."""
        return self._reserved[pool] * self.cell_bytes * self.slices

    def free_cells(self, pool: str) -> int:
        """Return the cells that nobody has reserved, of one slice: what a limit looks at."""
        return max(0, self.pools[pool].size_bytes // (self.cell_bytes * self.slices) - self._reserved[pool])

    def headroom_bytes(self, account: Account, lossless: Lossless, groups: int) -> int:
        """Return the headroom that so many groups alike can fill together: their own,
        or what their pool has for them."""
        own = groups * lossless.headroom_bytes
        shared = 0 if account.pool is None else self.pools[account.pool].headroom_bytes // self.slices
        return min(own, shared) if shared else own

    def share_cells(self, account: Account, busy: int, sharing: Sharing | None = None) -> Fraction:
        """Return what an account holds beyond its reserved cells while `busy` alike are full, by the queue's policy
        where it has one, which is calculable.

        Of a memory in slices: what it holds in one, which as many of them share as there are ports for it.
        """
        busy = min(busy, self._most_in_a_slice)
        limit = None if account.limit_bytes is None else account.limit_bytes // self.cell_bytes
        free = None if account.pool is None else self.free_cells(account.pool)
        if sharing is not None and free is not None and account.alpha_log is not None:
            length = None if sharing.congested_bytes is None else cells(sharing.congested_bytes, self.cell_bytes)
            return _share_by_abm(free, Fraction(2) ** account.alpha_log, busy, length)
        return _share(free, limit, account.alpha_log, busy)

    def holds_bytes(self, account: Account, busy: int, frame_bytes: int, sharing: Sharing | None = None) -> int:
        """Return the bytes of frames of that size in an account while `busy` alike are full."""
        held = cells(account.reserved_bytes, self.cell_bytes) + self.share_cells(account, busy, sharing)
        return held.numerator * frame_bytes // (held.denominator * cells(frame_bytes, self.cell_bytes))


def _most_in_a_slice(switch: Switch, ports: Sequence[CheckedPort]) -> int:
    """Return how many ports' queues, or ports' groups, one slice can have frames of: all in a memory of one piece."""
    if switch.slices == 1 or not ports:
        return sys.maxsize
    into, out = (Counter(getattr(port.port.slice, name) for port in ports) for name in ("into", "out"))
    return max(*into.values(), *out.values())


@lru_cache(maxsize=1 << 12)
def _share(free: int | None, limit: int | None, alpha_log: int | None, busy: int) -> Fraction:
    """Return the cells of `Memory.share_cells`; a fabric asks for the same of every port."""
    if free is None:
        return Fraction(limit or 0)
    if alpha_log is not None:
        share = Fraction(2) ** alpha_log
        return share * free / (1 + share * busy)
    fair = Fraction(free, busy)
    return fair if limit is None else min(Fraction(limit), fair)


@lru_cache(maxsize=1 << 12)
def _share_by_abm(free: int, alpha: Fraction, busy: int, length: int | None) -> Fraction:
    """Return what each of `busy` queues holds where the threshold is alpha / n times what they leave free.

    n is their number, or with a length the part of it that they hold, at least 1.
    """
    all_count = alpha * free / (busy * (1 + alpha))
    if length is None or all_count >= length:
        return all_count
    one_counts = alpha * free / (1 + alpha * busy)
    if busy * one_counts <= length:
        return one_counts
    # q = alpha / (busy q / length) (free - busy q), in whole cells.
    part = alpha * length
    return (isqrt(int(part**2 + 4 * part * free / busy)) - part) / 2


def _accounts(ports: Iterable[CheckedPort]) -> Iterable[Account]:
    for port in ports:
        yield from (queue.account for queue in port.port.queues)
        yield from (group.account for group in port.port.groups)
