"""Fewer routes for the same way of every packet: neighbouring networks with the same next hops become one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from fabriclab.formats.family import AnyNetwork
from fabriclab.resolve.addressing import network_from

NextHops = tuple[tuple[str, str], ...]


def aggregate(routes: Iterable[tuple[AnyNetwork, NextHops]]) -> list[tuple[AnyNetwork, NextHops]]:
    """Merge the two halves of a network, again and again, where both have the same next hops. No two of `routes` may
    overlap; all are of one family.

    No destination is added: what had no route has none. So a network that a node is on is never covered, and a packet
    to a host whose link is down finds no route back up, as it would with a shorter prefix. A merged route stands where
    the earlier of its two stood.
    """
    # By the length of the prefix, then by the network as a number; with the place in the result.
    found: dict[int, dict[int, tuple[int, NextHops]]] = defaultdict(dict)
    every = list(routes)
    if not every:
        return []
    some = every[0][0]
    for place, (network, next_hops) in enumerate(every):
        found[network.prefixlen][int(network.network_address)] = (place, next_hops)
    # From the longest up: what becomes of two networks may be half of another one.
    for length in range(max(found), 0, -1):
        _merge_halves(found[length], found[length - 1], 1 << (some.max_prefixlen - length))
    kept = [
        (place, start, length, next_hops) for length, at in found.items() for start, (place, next_hops) in at.items()
    ]
    kept.sort()
    return [(_network(start, length, every[place][0]), next_hops) for place, start, length, next_hops in kept]


def _network(start: int, length: int, part: AnyNetwork) -> AnyNetwork:
    """Return the network that `part` became a part of; most are still themselves."""
    return part if part.prefixlen == length else network_from(start, length, of=part)


def _merge_halves(halves: dict[int, tuple[int, NextHops]], wholes: dict[int, tuple[int, NextHops]], size: int) -> None:
    """Move each two of `halves`, networks of `size` addresses, that make up a whole and lead the
    same way to `wholes`."""
    for start in [start for start in halves if not start & size and start + size in halves]:
        if halves[start][1] == halves[start + size][1]:
            wholes[start] = min(halves.pop(start), halves.pop(start + size))
