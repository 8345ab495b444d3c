"""The transfers of collective operations: which rank sends what to which, and what it waits for.

A schedule knows ranks by their places, bytes and order; no hosts and no times. The algorithms are those of collective
libraries:

  ring               NCCL's ring (src/device/all_reduce.h); P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce
                     algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69(2), 2009: a share of
                     size / ranks goes around once to be reduced and once to be gathered
  halving-doubling   R. Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004: recursive halving,
                     then doubling; the ranks are a power of two
  tree               NCCL's double binary tree (src/graph/trees.cc), after P. Sanders, J. Speck, J. L. Traeff, "Two-tree
                     algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009
  direct             every rank sends to every other one at once, beginning with the next (NCCL's grouped send and
                     recv), or only from or to the root

The ring of a broadcast and of a reduction is a chain from the root and to it (NCCL's src/device/broadcast.h, reduce.h).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from fabriclab.formats.plan.traffic.collective import ALGORITHMS
from fabriclab.formats.trace import SMALLEST_BYTES


class Transfer(NamedTuple):
    """What one rank sends another in one piece."""

    src: int
    dst: int
    size_bytes: int
    channel: int
    tag: str
    """The name of what arrives, unique among what `dst` receives."""
    needs: tuple[str, ...] = ()
    """The tags of what `src` must have received before; empty: it starts with the operation."""


class _Part(NamedTuple):
    """A piece of the data that has transfers of its own."""

    channel: int
    chunk: int
    size_bytes: int


class _Step(NamedTuple):
    """A transfer of a part, and how many steps of the algorithm are before it."""

    level: int
    src: int
    dst: int
    size_bytes: int
    tag: str
    needs: tuple[str, ...] = ()


_Algorithm = Callable[[int, int], Iterator[_Step]]
"""From the number of ranks and a part's bytes to its transfers."""


def schedule(
    operation: str, algorithm: str, ranks: int, size_bytes: int, *, chunks: int = 1, channels: int = 1
) -> list[Transfer]:
    """Return the transfers of one operation, each behind those that it needs.

    `size_bytes` is what nccl-tests call the size: the buffer of each rank in an all-reduce, a broadcast and a reduce,
    the whole result of an all-gather and a gather, the input of each rank in a reduce-scatter and an all-to-all, and of
    the root in a scatter. The data are cut into channels x chunks, which flow independently; the chunks of a channel
    take turns at each step. Rank 0 is the root of a broadcast, a reduce, a gather and a scatter. Raises ValueError for
    an algorithm that the operation has not, for ranks that an algorithm can't have, and for shares of fewer than 4
    bytes.
    """
    if (operation, algorithm) not in _ALGORITHMS:
        raise ValueError(f"{operation} has no algorithm {algorithm}")
    if algorithm == "halving-doubling" and ranks & (ranks - 1):
        raise ValueError(f"halving-doubling needs a power of two ranks, and there are {ranks}")
    if ranks < 2:
        return []
    make = _ALGORITHMS[operation, algorithm]
    steps = [
        (step.level, part.chunk, part.channel, step)
        for part in _parts(size_bytes, chunks, channels)
        for step in make(ranks, part.size_bytes)
    ]
    steps.sort(key=lambda one: one[:3])
    return [_transfer(channel, chunk, step) for _, chunk, channel, step in steps]


def exchange(sizes: Sequence[Sequence[int]], *, channels: int = 1) -> list[Transfer]:
    """Return the transfers of an all-to-all of unequal parts: `sizes[src][dst]` bytes, of which the diagonal stays
    where it is. Parts of fewer than 4 bytes for each channel are left out."""
    ranks = len(sizes)
    return [
        Transfer(src, dst, share, channel, f"{channel}.0.{src}")
        for distance in range(1, ranks)
        for channel in range(channels)
        for src in range(ranks)
        if (share := split(sizes[src][dst := (src + distance) % ranks], channels)[channel]) >= SMALLEST_BYTES
    ]


def split(size_bytes: int, shares: int) -> list[int]:
    """Return whole numbers of bytes that differ by one at most and add up to the size, the larger ones first."""
    least, larger = divmod(size_bytes, shares)
    return [least + 1] * larger + [least] * (shares - larger)


def tree_parent(rank: int, ranks: int, *, is_second: bool) -> int | None:
    """Return the parent of a rank in one of the two trees; None for the root.

    The first one is NCCL's: the lowest bit that is set is moved up by one. The second is its mirror image, or, of an
    odd number of ranks, shifted by one: so the leaves of one are mostly inner nodes of the other.
    """
    if not is_second:
        return _parent(rank, ranks)
    if ranks % 2 == 0:
        up = _parent(ranks - 1 - rank, ranks)
        return None if up is None else ranks - 1 - up
    up = _parent((rank - 1) % ranks, ranks)
    return None if up is None else (up + 1) % ranks


def _parent(rank: int, ranks: int) -> int | None:
    if rank == 0:
        return None
    lowest = rank & -rank
    up = (rank ^ lowest) | lowest << 1
    return up if up < ranks else rank ^ lowest


def _transfer(channel: int, chunk: int, step: _Step) -> Transfer:
    prefix = f"{channel}.{chunk}."
    needs = tuple(prefix + need for need in step.needs)
    return Transfer(step.src, step.dst, step.size_bytes, channel, prefix + step.tag, needs)


def _parts(size_bytes: int, chunks: int, channels: int) -> Iterator[_Part]:
    for channel, of_channel in enumerate(split(size_bytes, channels)):
        for chunk, share in enumerate(split(of_channel, chunks)):
            yield _Part(channel, chunk, share)


def _shares(size_bytes: int, ranks: int) -> list[int]:
    shares = split(size_bytes, ranks)
    if shares[-1] < SMALLEST_BYTES:
        raise ValueError(f"{size_bytes} bytes can't be divided among {ranks} ranks in shares of {SMALLEST_BYTES} bytes")
    return shares


def _around(ranks: int, shares: Sequence[int], first: int, steps: int, lead: int) -> Iterator[_Step]:
    """Yield steps of a ring; in the first, which is number `first`, rank r sends share r + lead."""
    for step in range(steps):
        needs = (str(first + step - 1),) if first + step else ()
        for rank in range(ranks):
            share = shares[(rank + lead - step) % ranks]
            yield _Step(first + step, rank, (rank + 1) % ranks, share, str(first + step), needs)


def _ring_reduce_scatter(ranks: int, size_bytes: int) -> Iterator[_Step]:
    yield from _around(ranks, _shares(size_bytes, ranks), 0, ranks - 1, 0)


def _ring_all_gather(ranks: int, size_bytes: int) -> Iterator[_Step]:
    yield from _around(ranks, _shares(size_bytes, ranks), 0, ranks - 1, 0)


def _ring_all_reduce(ranks: int, size_bytes: int) -> Iterator[_Step]:
    shares = _shares(size_bytes, ranks)
    yield from _around(ranks, shares, 0, ranks - 1, 0)
    # What rank r has reduced by then is share r + 1.
    yield from _around(ranks, shares, ranks - 1, ranks - 1, 1)


def _halving(ranks: int, shares: Sequence[int], distances: Sequence[int], first: int) -> Iterator[_Step]:
    """Yield exchanges with the rank at each distance: of the half of `2 x distance` shares in which that one is."""
    for level, distance in enumerate(distances, start=first):
        needs = _levels(level)
        for rank in range(ranks):
            partner = rank ^ distance
            begin = partner // distance * distance
            yield _Step(level, rank, partner, sum(shares[begin : begin + distance]), str(level), needs)


def _doubling(ranks: int, shares: Sequence[int], distances: Sequence[int], first: int) -> Iterator[_Step]:
    """Yield exchanges with the rank at each distance: of the `distance` shares that the rank has by then."""
    for level, distance in enumerate(distances, start=first):
        needs = _levels(level)
        for rank in range(ranks):
            begin = rank // distance * distance
            yield _Step(level, rank, rank ^ distance, sum(shares[begin : begin + distance]), str(level), needs)


def _levels(before: int) -> tuple[str, ...]:
    """Return the tags of all levels before one: each is with another rank, and may come earlier than the one before."""
    return tuple(map(str, range(before)))


def _distances(ranks: int) -> list[int]:
    return [1 << bit for bit in range(ranks.bit_length() - 1)]


def _halving_reduce_scatter(ranks: int, size_bytes: int) -> Iterator[_Step]:
    yield from _halving(ranks, _shares(size_bytes, ranks), _distances(ranks)[::-1], 0)


def _doubling_all_gather(ranks: int, size_bytes: int) -> Iterator[_Step]:
    yield from _doubling(ranks, _shares(size_bytes, ranks), _distances(ranks), 0)


def _halving_doubling(ranks: int, size_bytes: int) -> Iterator[_Step]:
    shares, distances = _shares(size_bytes, ranks), _distances(ranks)
    yield from _halving(ranks, shares, distances[::-1], 0)
    yield from _doubling(ranks, shares, distances, len(distances))


def _trees(ranks: int, size_bytes: int) -> Iterator[_Step]:
    for number, half in enumerate(_shares(size_bytes, 2)):
        parents = [tree_parent(rank, ranks, is_second=bool(number)) for rank in range(ranks)]
        yield from _tree(parents, half, number)


def _tree(parents: Sequence[int | None], size_bytes: int, number: int) -> Iterator[_Step]:
    """Yield how one half is reduced up a tree and comes down again."""
    children = {rank: [child for child, up in enumerate(parents) if up == rank] for rank in range(len(parents))}
    depths = [_depth(rank, parents) for rank in range(len(parents))]
    lowest = max(depths)
    for rank in sorted(range(len(parents)), key=lambda one: -depths[one]):
        up, reduced = parents[rank], tuple(f"{number}u{child}" for child in children[rank])
        if up is not None:
            yield _Step(lowest - depths[rank], rank, up, size_bytes, f"{number}u{rank}", reduced)
    for rank in sorted(range(len(parents)), key=lambda one: depths[one]):
        reduced = tuple(f"{number}u{child}" for child in children[rank])
        needs = reduced if parents[rank] is None else (f"{number}d",)
        for child in children[rank]:
            yield _Step(lowest + depths[rank], rank, child, size_bytes, f"{number}d", needs)


def _depth(rank: int, parents: Sequence[int | None]) -> int:
    depth, up = 0, parents[rank]
    while up is not None:
        depth, up = depth + 1, parents[up]
    return depth


def _direct_exchange(ranks: int, size_bytes: int) -> Iterator[_Step]:
    shares = _shares(size_bytes, ranks)
    for distance in range(1, ranks):
        for rank in range(ranks):
            peer = (rank + distance) % ranks
            yield _Step(distance, rank, peer, shares[peer], str(rank))


def _chain_broadcast(ranks: int, size_bytes: int) -> Iterator[_Step]:
    _shares(size_bytes, 1)
    for rank, following in pairwise(range(ranks)):
        yield _Step(rank, rank, following, size_bytes, "b", ("b",) if rank else ())


def _direct_broadcast(ranks: int, size_bytes: int) -> Iterator[_Step]:
    _shares(size_bytes, 1)
    for rank in range(1, ranks):
        yield _Step(0, 0, rank, size_bytes, "b")


def _chain_reduce(ranks: int, size_bytes: int) -> Iterator[_Step]:
    _shares(size_bytes, 1)
    for rank in range(ranks - 1, 0, -1):
        yield _Step(ranks - 1 - rank, rank, rank - 1, size_bytes, "r", ("r",) if rank < ranks - 1 else ())


def _direct_reduce(ranks: int, size_bytes: int) -> Iterator[_Step]:
    _shares(size_bytes, 1)
    for rank in range(1, ranks):
        yield _Step(0, rank, 0, size_bytes, str(rank))


def _direct_gather(ranks: int, size_bytes: int) -> Iterator[_Step]:
    for rank, share in enumerate(_shares(size_bytes, ranks)[1:], start=1):
        yield _Step(0, rank, 0, share, str(rank))


def _direct_scatter(ranks: int, size_bytes: int) -> Iterator[_Step]:
    for rank, share in enumerate(_shares(size_bytes, ranks)[1:], start=1):
        yield _Step(0, 0, rank, share, "s")


_ALGORITHMS: Mapping[tuple[str, str], _Algorithm] = {
    ("all-reduce", "ring"): _ring_all_reduce,
    ("all-reduce", "halving-doubling"): _halving_doubling,
    ("all-reduce", "tree"): _trees,
    ("all-gather", "ring"): _ring_all_gather,
    ("all-gather", "halving-doubling"): _doubling_all_gather,
    ("reduce-scatter", "ring"): _ring_reduce_scatter,
    ("reduce-scatter", "halving-doubling"): _halving_reduce_scatter,
    ("all-to-all", "direct"): _direct_exchange,
    ("broadcast", "ring"): _chain_broadcast,
    ("broadcast", "direct"): _direct_broadcast,
    ("reduce", "ring"): _chain_reduce,
    ("reduce", "direct"): _direct_reduce,
    ("gather", "direct"): _direct_gather,
    ("scatter", "direct"): _direct_scatter,
}
ROOTED = ("broadcast", "reduce", "gather", "scatter")
"""The operations whose rank 0 has what the others get, or gets what they have."""
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    operation: known
    for operation, algorithms in ALGORITHMS.items()
    if (known := tuple(name for name in algorithms if (operation, name) in _ALGORITHMS))
}
"""The algorithms of each operation that have a schedule, the default first."""
