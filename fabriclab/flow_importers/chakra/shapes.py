"""The schedule of a collective, and what follows from it for each of its ranks.

A schedule is the same for all collectives of one operation, size and number of ranks, so it is made once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from fabriclab.workload.collective_schedules import Transfer, schedule


@dataclass(frozen=True)
class Shape:
    """A schedule; sets of places are numbers, whose bit p is place p."""

    transfers: tuple[Transfer, ...]
    needed: tuple[tuple[int, ...], ...]
    """By transfer: the transfers that it needs, by their numbers in `transfers`."""
    starts_itself: tuple[bool, ...]
    """By transfer: whether it has to wait for its sender's start, because what it needs does not imply that start."""
    completed_by: tuple[int, ...]
    """By place: whose starts make its part complete. A place that receives nothing is complete when what it sends has
    arrived."""
    receives: tuple[bool, ...]
    """By place."""
    sent: tuple[tuple[int, ...], ...]
    """By place: the transfers that it sends."""


@lru_cache(maxsize=256)
def shape_of(operation: str, algorithm: str, ranks: int, size_bytes: int, chunks: int, channels: int) -> Shape:
    """Return the shape of a collective. Raises ValueError where the algorithm can't have so many ranks."""
    transfers = schedule(operation, algorithm, ranks, size_bytes, chunks=chunks, channels=channels)
    arrived = {(one.dst, one.tag): number for number, one in enumerate(transfers)}
    needed = tuple(tuple(arrived[one.src, tag] for tag in one.needs) for one in transfers)
    starters: list[int] = []
    implied: list[bool] = []
    received, sent_by = [0] * ranks, [0] * ranks
    sent: list[list[int]] = [[] for _ in range(ranks)]
    for number, one in enumerate(transfers):
        before = 0
        for other in needed[number]:
            before |= starters[other]
        mine = before | 1 << one.src
        starters.append(mine)
        implied.append(bool(before >> one.src & 1))
        received[one.dst] |= mine
        sent_by[one.src] |= mine
        sent[one.src].append(number)
    completed_by = tuple(received[place] or sent_by[place] or 1 << place for place in range(ranks))
    return Shape(
        tuple(transfers),
        needed,
        tuple(not one for one in implied),
        completed_by,
        tuple(bool(one) for one in received),
        tuple(tuple(one) for one in sent),
    )
