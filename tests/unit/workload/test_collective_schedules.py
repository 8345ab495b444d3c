"""Collective operations: what each rank has at the end, and how much crosses the network."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab.workload.collective_schedules import OPERATIONS, Transfer, exchange, schedule, split, tree_parent

SIZE = 1_000_003
PAIRS = [(operation, algorithm) for operation, algorithms in OPERATIONS.items() for algorithm in algorithms]


class Got(NamedTuple):
    """What a rank received, and from whom."""

    src: int
    size_bytes: int


def followed(transfers: list[Transfer]) -> dict[int, list[Got]]:
    """Return what each rank receives; fails where a transfer needs what its sender has not received before."""
    arrived: set[tuple[int, str]] = set()
    received: dict[int, list[Got]] = defaultdict(list)
    for one in transfers:
        assert one.src != one.dst
        assert (one.dst, one.tag) not in arrived, "a tag is unique at its receiver"
        assert all((one.src, need) in arrived for need in one.needs)
        arrived.add((one.dst, one.tag))
        received[one.dst].append(Got(one.src, one.size_bytes))
    return received


def influences(transfers: list[Transfer], ranks: int) -> list[set[int]]:
    """Return whose data reach each rank, if each transfer carries all that its sender has by what it needs."""
    tags: dict[tuple[int, str], set[int]] = {}
    reach = [{rank} for rank in range(ranks)]
    for one in transfers:
        carried = {one.src}.union(*(tags[one.src, need] for need in one.needs))
        tags[one.dst, one.tag] = carried
        reach[one.dst] |= carried
    return reach


@given(
    pair=st.sampled_from(PAIRS),
    ranks=st.integers(2, 17),
    chunks=st.integers(1, 3),
    channels=st.integers(1, 3),
)
def test_every_transfer_is_behind_what_it_needs_and_all_data_arrive(
    pair: tuple[str, str], ranks: int, chunks: int, channels: int
) -> None:
    operation, algorithm = pair
    if algorithm == "halving-doubling":
        ranks = 1 << ranks.bit_length() - 1
    transfers = schedule(operation, algorithm, ranks, SIZE, chunks=chunks, channels=channels)
    followed(transfers)
    everyone = set(range(ranks))
    for rank, reached in enumerate(influences(transfers, ranks)):
        if operation in ("broadcast", "scatter"):
            assert reached >= {0, rank}
        elif rank == 0 or operation not in ("reduce", "gather"):
            assert reached >= everyone


@pytest.mark.parametrize(
    ("operation", "algorithm", "factor"),
    [
        ("all-reduce", "ring", 2 * 7 / 8),
        ("all-reduce", "halving-doubling", 2 * 7 / 8),
        ("all-gather", "ring", 7 / 8),
        ("all-gather", "halving-doubling", 7 / 8),
        ("reduce-scatter", "ring", 7 / 8),
        ("reduce-scatter", "halving-doubling", 7 / 8),
        ("all-to-all", "direct", 7 / 8),
        ("broadcast", "ring", 1),
    ],
)
def test_each_rank_receives_the_least_that_it_must(operation: str, algorithm: str, factor: float) -> None:
    """The bounds by which nccl-tests count the bus bandwidth."""
    received = followed(schedule(operation, algorithm, 8, 8_000_000))
    totals = {rank: sum(got.size_bytes for got in gots) for rank, gots in received.items()}
    assert set(totals.values()) == {round(factor * 8_000_000)}
    assert len(totals) == (7 if operation == "broadcast" else 8)


@pytest.mark.parametrize(
    ("operation", "algorithm", "of_root", "of_another"),
    [
        ("reduce", "ring", (0, 8000), (8000, 8000)),
        ("reduce", "direct", (0, 7 * 8000), (8000, 0)),
        ("gather", "direct", (0, 7 * 1000), (1000, 0)),
        ("scatter", "direct", (7 * 1000, 0), (0, 1000)),
    ],
)
def test_a_root_gives_or_gets(
    operation: str, algorithm: str, of_root: tuple[int, int], of_another: tuple[int, int]
) -> None:
    """What rank 0 and rank 3 of eight send and receive."""
    transfers = schedule(operation, algorithm, 8, 8000)

    def both(rank: int) -> tuple[int, int]:
        sent = sum(one.size_bytes for one in transfers if one.src == rank)
        return sent, sum(one.size_bytes for one in transfers if one.dst == rank)

    assert (both(0), both(3)) == (of_root, of_another)


def test_a_ring_hands_each_share_once_around() -> None:
    transfers = schedule("all-reduce", "ring", 4, 4000)
    assert all(one.dst == (one.src + 1) % 4 and one.size_bytes == 1000 for one in transfers)
    assert len(transfers) == 2 * 3 * 4
    assert [one.needs for one in transfers[:5]] == [(), (), (), (), ("0.0.0",)]


def test_halving_halves_and_doubling_doubles() -> None:
    of_first = [one for one in schedule("all-reduce", "halving-doubling", 8, 8000) if one.src == 0]
    assert [(one.dst, one.size_bytes) for one in of_first] == [
        (4, 4000),
        (2, 2000),
        (1, 1000),
        (1, 1000),
        (2, 2000),
        (4, 4000),
    ]


def test_the_trees_are_those_of_nccl() -> None:
    """The picture in NCCL's src/graph/trees.cc, of 14 ranks."""
    parents = [tree_parent(rank, 14, is_second=False) for rank in range(14)]
    assert parents == [None, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12]
    for ranks in range(2, 33):
        trees = [[tree_parent(rank, ranks, is_second=second) for rank in range(ranks)] for second in (False, True)]
        # No rank has children in both trees, but for one that has a single child in one of them.
        inner = [set(tree) - {None} for tree in trees]
        children = [max(tree.count(rank) for rank in range(ranks)) for tree in trees]
        assert max(children) <= 2
        assert len(inner[0] & inner[1]) <= 1 + ranks % 2


def test_chunks_of_a_channel_take_turns_at_each_step() -> None:
    transfers = [one for one in schedule("all-gather", "ring", 3, 600, chunks=2, channels=2) if one.src == 0]
    assert [(one.channel, one.tag) for one in transfers[:4]] == [(0, "0.0.0"), (1, "1.0.0"), (0, "0.1.0"), (1, "1.1.0")]
    assert sum(one.size_bytes for one in transfers) == 400


def test_an_exchange_has_what_each_has_for_each() -> None:
    sizes = [[9, 10, 20], [30, 9, 0], [50, 3, 9]]
    transfers = exchange(sizes)
    assert {(one.src, one.dst): one.size_bytes for one in transfers} == {(0, 1): 10, (0, 2): 20, (1, 0): 30, (2, 0): 50}
    assert sum(one.size_bytes for one in exchange(sizes, channels=2)) == 110


def test_what_cannot_be_is_said() -> None:
    for words, arguments in (
        ("no algorithm tree", ("all-gather", "tree", 4, 100)),
        ("needs a power of two ranks, and there are 6", ("all-reduce", "halving-doubling", 6, 100)),
        ("15 bytes can't be divided among 4 ranks", ("all-reduce", "ring", 4, 15)),
    ):
        with pytest.raises(ValueError, match=words):
            schedule(*arguments)
    assert schedule("all-reduce", "ring", 1, 100) == []


@given(size=st.integers(0, 10**6), shares=st.integers(1, 50))
def test_a_split_adds_up(size: int, shares: int) -> None:
    parts = split(size, shares)
    assert sum(parts) == size
    assert max(parts) - min(parts) <= 1
