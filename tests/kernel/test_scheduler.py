"""Strict priority, DWRR, WRR."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from switch_algorithms import DWRR, QUEUES, STRICT, WRR, schedule

ALL = 0xFF
SIZES = st.integers(64, 9_240)


def served_bytes(frames: list[list[int]], served: list[int | None]) -> list[int]:
    """Bytes served of each queue."""
    taken = [0] * len(frames)
    total = [0] * len(frames)
    for queue in served:
        assert queue is not None
        total[queue] += frames[queue][taken[queue]]
        taken[queue] += 1
    return total


@pytest.mark.parametrize(
    "quanta", [(1500, 1500), (1500, 3000), (14 * 1024, 15 * 1024, 30 * 1024), (100, 900), (64, 64, 128)]
)
def test_dwrr_shares_are_the_quanta_whatever_the_sizes(algorithms: ctypes.CDLL, quanta: tuple[int, ...]) -> None:
    sizes = (1538, 84, 9_240)
    frames = [[sizes[queue]] * (20_000_000 // sizes[queue]) for queue in range(len(quanta))]
    steps = 6_000
    total = served_bytes(frames, schedule(algorithms, [(DWRR, quantum) for quantum in quanta], frames, [ALL] * steps))
    largest = max(size + quantum for size, quantum in zip(sizes, quanta, strict=False))
    for queue, quantum in enumerate(quanta):
        assert abs(total[queue] - sum(total) * quantum / sum(quanta)) <= 2 * largest * len(quanta)
    if quanta[0] <= 3000:
        assert all(abs(total[q] / sum(total) - quanta[q] / sum(quanta)) < 0.01 for q in range(len(quanta)))


@given(
    st.lists(st.tuples(st.integers(64, 20_000), st.lists(SIZES, min_size=1, max_size=20)), min_size=1, max_size=QUEUES)
)
def test_dwrr_serves_all_and_nothing_twice(algorithms: ctypes.CDLL, queues: list[tuple[int, list[int]]]) -> None:
    frames = [sizes for _, sizes in queues]
    steps = sum(map(len, frames))
    served = schedule(algorithms, [(DWRR, quantum) for quantum, _ in queues], frames, [ALL] * (steps + 1))
    assert [served.count(queue) for queue in range(len(frames))] == [len(sizes) for sizes in frames]
    assert served[-1] is None


@given(st.lists(st.tuples(st.integers(64, 9_000), SIZES), min_size=2, max_size=QUEUES))
def test_while_backlogged_two_queues_differ_by_a_round_at_most(
    algorithms: ctypes.CDLL, queues: list[tuple[int, int]]
) -> None:
    """Shreedhar and Varghese, theorem: normalised service of two backlogged queues differs by less than 1 +
    (a frame each)/quantum."""
    frames = [[size] * 400 for _, size in queues]
    total = [0] * len(queues)
    for queue in schedule(algorithms, [(DWRR, quantum) for quantum, _ in queues], frames, [ALL] * 400):
        assert queue is not None
        total[queue] += queues[queue][1]
        rounds = [total[number] / quantum for number, (quantum, _) in enumerate(queues)]
        slack = [1 + size / quantum for quantum, size in queues]
        assert all(
            a - b <= slack_a + slack_b
            for a, slack_a in zip(rounds, slack, strict=True)
            for b, slack_b in zip(rounds, slack, strict=True)
        )


def test_wrr_counts_frames(algorithms: ctypes.CDLL) -> None:
    frames = [[84] * 1000, [9_240] * 1000]
    served = schedule(algorithms, [(WRR, 3), (WRR, 1)], frames, [ALL] * 8)
    assert served == [0, 0, 0, 1, 0, 0, 0, 1]


def test_strict_goes_first_and_the_highest_of_them(algorithms: ctypes.CDLL) -> None:
    frames = [[1500] * 2, [1500] * 2, [1500] * 2, [1500] * 2]
    served = schedule(algorithms, [(DWRR, 1500), (STRICT, 1), (DWRR, 1500), (STRICT, 1)], frames, [ALL] * 8)
    assert served == [3, 3, 1, 1, 0, 2, 0, 2]


def test_a_queue_that_must_not_send_keeps_its_place(algorithms: ctypes.CDLL) -> None:
    frames = [[1500] * 10, [1500] * 10]
    masks = [0b11, 0b10, 0b10, 0b00, 0b11, 0b11]
    assert schedule(algorithms, [(DWRR, 1500), (DWRR, 1500)], frames, masks) == [0, 1, 1, None, 0, 1]


def test_quanta_far_below_a_frame_still_divide_by_weight(algorithms: ctypes.CDLL) -> None:
    frames = [[9_000] * 90, [9_000] * 90]
    served = schedule(algorithms, [(DWRR, 1), (DWRR, 2)], frames, [ALL] * 60)
    assert (served.count(0), served.count(1)) == (20, 40)
