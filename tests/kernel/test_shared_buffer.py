"""The shared buffer: thresholds, reserved cells, headroom, and that nothing is lost or counted twice."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from switch_algorithms import ADMIT, ADMIT_HEADROOM, REFUSE_LIMIT, REFUSE_POOL, Buffer


@pytest.mark.parametrize("queues", [1, 2, 3, 8, 31])
@pytest.mark.parametrize("alpha_log", [-8, -3, 0, 3, 7])
def test_saturated_queues_hold_what_choudhury_and_hahne_say(
    algorithms: ctypes.CDLL, queues: int, alpha_log: int
) -> None:
    size, cells = 131_072, 6
    alpha = 2.0**alpha_log
    with Buffer(algorithms, size) as buffer:
        accounts = [buffer.account(alpha_log=alpha_log) for _ in range(queues)]
        admitted = True
        while admitted:
            admitted = sum(buffer.arrive(account, cells) == ADMIT for account in accounts) > 0
        share = alpha * size / (1 + alpha * queues)
        for account in accounts:
            # The last frame may step over the threshold, by less than itself; one account's step lowers the others'
            # threshold.
            assert abs(buffer.used(account) - share) <= cells * max(1, alpha)


def test_a_static_limit_is_never_exceeded(algorithms: ctypes.CDLL) -> None:
    with Buffer(algorithms, 1000) as buffer:
        account = buffer.account(limit=100)
        assert [buffer.arrive(account, 30) for _ in range(4)] == [ADMIT, ADMIT, ADMIT, REFUSE_LIMIT]
        assert buffer.arrive(account, 10) == ADMIT
        assert buffer.used(account) == 100


def test_an_account_without_a_pool_has_its_limit_alone(algorithms: ctypes.CDLL) -> None:
    with Buffer(algorithms, 0) as buffer:
        account = buffer.account(limit=64)
        assert [buffer.arrive(account, 32) for _ in range(3)] == [ADMIT, ADMIT, REFUSE_LIMIT]


def test_reserved_cells_are_there_when_the_pool_is_full(algorithms: ctypes.CDLL) -> None:
    with Buffer(algorithms, 100) as buffer:
        modest, greedy = buffer.account(reserved=20, limit=0), buffer.account()
        assert [buffer.arrive(greedy, 40) for _ in range(3)] == [ADMIT, ADMIT, REFUSE_POOL]
        assert [buffer.arrive(modest, 10) for _ in range(3)] == [ADMIT, ADMIT, REFUSE_POOL]
        assert buffer.pool_free() == 0


def test_headroom_takes_what_comes_after_the_limit_and_drains_first(algorithms: ctypes.CDLL) -> None:
    with Buffer(algorithms, 100) as buffer:
        group = buffer.account(limit=10, headroom=4)
        arrivals = [buffer.arrive(group) for _ in range(15)]
        assert arrivals == [ADMIT] * 10 + [ADMIT_HEADROOM] * 4 + [REFUSE_LIMIT]
        buffer.leave(group, 3)
        assert (buffer.used(group), buffer.used_headroom(group)) == (10, 1)
        buffer.leave(group, 2)
        assert (buffer.used(group), buffer.used_headroom(group)) == (9, 0)


def test_shared_headroom_is_shared(algorithms: ctypes.CDLL) -> None:
    with Buffer(algorithms, 100, headroom=6) as buffer:
        first, second = (buffer.account(limit=0, headroom=4) for _ in range(2))
        assert [buffer.arrive(first) for _ in range(5)] == [ADMIT_HEADROOM] * 4 + [REFUSE_LIMIT]
        assert [buffer.arrive(second) for _ in range(3)] == [ADMIT_HEADROOM] * 2 + [REFUSE_LIMIT]
        buffer.leave(first)
        assert buffer.arrive(second) == ADMIT_HEADROOM
        assert buffer.pool_headroom() == 6


@pytest.mark.parametrize(
    ("xon", "xon_offset", "resumes_at"),
    [(4, 0, 4), (4, 3, 7), (8, 3, 8), (0, 0, 0), (0, 20, 0)],
)
def test_a_group_goes_on_at_the_greater_of_xon_and_limit_less_offset(
    algorithms: ctypes.CDLL, xon: int, xon_offset: int, resumes_at: int
) -> None:
    with Buffer(algorithms, 100) as buffer:
        group = buffer.account(limit=10, headroom=4)
        while buffer.arrive(group) != REFUSE_LIMIT:
            pass
        while not buffer.may_resume(group, xon, xon_offset):
            buffer.leave(group)
        assert (buffer.used(group), buffer.used_headroom(group)) == (resumes_at, 0)


ACCOUNTS = st.lists(
    st.fixed_dictionaries(
        {"reserved": st.integers(0, 10), "headroom": st.integers(0, 20)},
        optional={"alpha_log": st.integers(-8, 7), "limit": st.integers(0, 200)},
    ),
    min_size=1,
    max_size=6,
)
STEPS = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 12), st.booleans()), max_size=120)


@given(size=st.integers(60, 300), shared_headroom=st.integers(0, 30), accounts=ACCOUNTS, steps=STEPS)
def test_books_always_balance(
    algorithms: ctypes.CDLL,
    size: int,
    shared_headroom: int,
    accounts: list[dict[str, int]],
    steps: list[tuple[int, int, bool]],
) -> None:
    with Buffer(algorithms, size, shared_headroom) as buffer:
        numbers = [buffer.account(**account) for account in accounts]
        inside: list[list[int]] = [[] for _ in numbers]
        reserved = [account["reserved"] for account in accounts]
        for which, cells, arrives in steps:
            number = which % len(numbers)
            if arrives and buffer.arrive(number, cells) in (ADMIT, ADMIT_HEADROOM):
                inside[number].append(cells)
            elif not arrives and inside[number]:
                buffer.leave(number, inside[number].pop(0))
            for other in numbers:
                assert buffer.used(other) + buffer.used_headroom(other) == sum(inside[other])
                assert buffer.used_headroom(other) <= accounts[other]["headroom"]
            assert buffer.pool_shared() == sum(max(0, buffer.used(other) - reserved[other]) for other in numbers)
            assert buffer.pool_shared() + sum(reserved) <= size
            assert buffer.pool_headroom() == sum(buffer.used_headroom(other) for other in numbers)
            assert not shared_headroom or buffer.pool_headroom() <= shared_headroom
        for number in numbers:
            buffer.leave(number, sum(inside[number]))
        assert (buffer.pool_shared(), buffer.pool_headroom(), buffer.pool_free()) == (0, 0, size - sum(reserved))


@pytest.mark.parametrize(
    ("size", "cell", "cells"), [(0, 208, 0), (1, 208, 1), (208, 208, 1), (209, 208, 2), (1514, 1, 1514)]
)
def test_a_frame_takes_whole_cells(algorithms: ctypes.CDLL, size: int, cell: int, cells: int) -> None:
    assert algorithms.cells(size, cell) == cells
