"""ABM in user space: its threshold in exact fractions, how a queue's drain is measured, and what saturated queues of
several priorities hold."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from user_space import compiled

HERE = Path(__file__).parent
HEADERS = HERE.parents[1] / "images/machine/kernel/tree/net/sched/switch_port"
CELLS = st.integers(0, 2**40)
ALPHA_LOGS = st.integers(-8, 7)
PARTS = 1024
"""Of a congested queue, in which they are counted: SWITCH_ABM_PARTS."""
QUEUES = st.integers(0, 2_048 * PARTS)
TIMES = st.integers(0, 10**9)


@pytest.fixture(scope="module")
def abm(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = compiled(HERE / "sharing_algorithms.c", tmp_path_factory.mktemp("sharing"), f"-I{HEADERS}")
    for name in ("abm_threshold", "abm_limit", "abm_used", "abm_shared"):
        getattr(library, name).restype = ctypes.c_uint64
    for name in ("abm_congested", "abm_arrive", "abm_is_congested"):
        getattr(library, name).restype = ctypes.c_bool
    library.abm_new.restype = ctypes.c_void_p
    return library


def threshold(abm: ctypes.CDLL, free: int, alpha_log: int, parts: int, served: int, waiting: int) -> int:
    numbers = (ctypes.c_uint64(free), ctypes.c_int8(alpha_log), ctypes.c_uint32(parts))
    return int(abm.abm_threshold(*numbers, ctypes.c_uint64(served), ctypes.c_uint64(waiting)))


@given(CELLS, ALPHA_LOGS, QUEUES, TIMES, TIMES)
def test_the_threshold_is_the_formula_rounded_down_once(
    abm: ctypes.CDLL, free: int, alpha_log: int, congested: int, served: int, waiting: int
) -> None:
    drain = min(Fraction(served, waiting), Fraction(1)) if waiting else Fraction(1)
    exact = Fraction(2) ** alpha_log / max(Fraction(congested, PARTS), Fraction(1)) * free * drain
    assert threshold(abm, free, alpha_log, congested, served, waiting) == exact.__floor__()


@given(CELLS, CELLS, ALPHA_LOGS, QUEUES, TIMES, TIMES, TIMES)
def test_a_threshold_grows_with_free_memory_and_drain_and_falls_with_congested_queues(
    abm: ctypes.CDLL, free: int, more: int, alpha_log: int, congested: int, served: int, longer: int, waiting: int
) -> None:
    here = threshold(abm, free, alpha_log, congested, served, waiting)
    assert threshold(abm, free + more, alpha_log, congested, served, waiting) >= here
    assert threshold(abm, free, alpha_log, congested, served + longer, waiting) >= here
    assert threshold(abm, free, alpha_log, congested + 1, served, waiting) <= here
    if waiting:
        assert threshold(abm, free, alpha_log, congested, served, waiting + longer) <= here


@given(CELLS, CELLS)
def test_a_queue_is_congested_at_nine_tenths_of_its_threshold(abm: ctypes.CDLL, cells: int, limit: int) -> None:
    is_congested = abm.abm_congested(ctypes.c_uint64(cells), ctypes.c_uint64(limit))
    assert is_congested == (cells > 0 and Fraction(cells) >= Fraction(9, 10) * limit)


@given(st.integers(0, 2**40), st.integers(1, 10**9))
def test_by_a_length_a_queue_is_as_congested_as_it_fills_it(abm: ctypes.CDLL, cells: int, length: int) -> None:
    parts = abm.abm_filled(ctypes.c_uint64(cells), ctypes.c_uint32(length))
    assert parts == (PARTS * min(Fraction(cells, length), Fraction(1))).__floor__()


@dataclass
class Shared:
    """Queues that share a pool: an alpha's logarithm and a priority each."""

    abm: ctypes.CDLL
    size: int
    queues: Sequence[tuple[int, int]]
    handle: ctypes.c_void_p = field(default_factory=ctypes.c_void_p)

    def __enter__(self) -> Shared:
        count = len(self.queues)
        alphas = (ctypes.c_int8 * count)(*(alpha_log for alpha_log, _ in self.queues))
        priorities = (ctypes.c_uint8 * count)(*(priority for _, priority in self.queues))
        self.handle = ctypes.c_void_p(self.abm.abm_new(ctypes.c_uint64(self.size), count, alphas, priorities))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abm.abm_free(self.handle)

    def arrive(self, queue: int, cells: int = 1) -> bool:
        return bool(self.abm.abm_arrive(self.handle, queue, ctypes.c_uint64(cells)))

    def leave(self, queue: int, cells: int = 1) -> None:
        self.abm.abm_leave(self.handle, queue, ctypes.c_uint64(cells))

    def used(self, queue: int) -> int:
        return int(self.abm.abm_used(self.handle, queue))


@pytest.mark.parametrize(
    ("alphas", "counts"),
    [((0,), (1,)), ((-1,), (5,)), ((0, 0), (1, 4)), ((-1, -1), (2, 9)), ((-1, 1, -3), (3, 2, 1)), ((3, -3), (4, 4))],
)
def test_a_priority_holds_alpha_b_over_one_plus_all_alphas_however_many_its_queues(
    abm: ctypes.CDLL, alphas: tuple[int, ...], counts: tuple[int, ...]
) -> None:
    """The paper's isolation: the T of n queues of priority p are alpha_p / n (B - Q), so Q = B sum / (1 + sum)."""
    size, cells = 20_000, 8
    queues = [(log, priority) for priority, log in enumerate(alphas) for _ in range(counts[priority])]
    total = sum(Fraction(2) ** log for log in alphas)
    with Shared(abm, size, queues) as shared:
        for _ in range(3_000):
            for queue in range(len(queues)):
                if shared.used(queue):
                    shared.leave(queue, cells)
                while shared.arrive(queue, cells):
                    pass
        for queue, (log, priority) in enumerate(queues):
            share = Fraction(2) ** log * size / (1 + total) / counts[priority]
            assert abs(shared.used(queue) - share) <= cells * max(1, 2**log) + 1
        assert [shared.abm.abm_congested_queues(shared.handle, p) for p in range(len(alphas))] == list(counts)


@given(
    st.integers(1, 5_000),
    st.lists(st.tuples(ALPHA_LOGS, st.integers(0, 7)), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(1, 9), st.booleans()), max_size=200),
)
def test_the_pool_is_never_exceeded_and_congested_queues_are_counted_once(
    abm: ctypes.CDLL, size: int, queues: list[tuple[int, int]], events: list[tuple[int, int, bool]]
) -> None:
    with Shared(abm, size, queues) as shared:
        for number, cells, comes in events:
            queue = number % len(queues)
            if comes:
                shared.arrive(queue, cells)
            elif shared.used(queue) >= cells:
                shared.leave(queue, cells)
            held = sum(shared.used(one) for one in range(len(queues)))
            assert held == abm.abm_shared(shared.handle) <= size
            flags = [abm.abm_is_congested(shared.handle, one) for one in range(len(queues))]
            for priority in range(8):
                here = [flag for flag, (_, its) in zip(flags, queues, strict=True) if its == priority]
                assert abm.abm_congested_queues(shared.handle, priority) == sum(here)
                # Queues that are counted share what one queue of their priority could have.
                limits = [
                    abm.abm_limit(shared.handle, one)
                    for one, (_, its) in enumerate(queues)
                    if its == priority and flags[one]
                ]
                most = max((log for log, its in queues if its == priority), default=0)
                assert sum(limits) <= Fraction(2) ** most * (size - held)


def reference_drain(events: list[tuple[int, bool, int]], interval: int) -> list[tuple[int, int]]:
    """Sum up each interval from the list of events: an interval ends with the first event after its length."""
    start, begun, told = 0, 0, (0, 0)
    results = []
    for index, (now, _, _) in enumerate(events):
        if now - start >= interval:
            spans = [(events[one][0], events[one + 1][0]) for one in range(begun, index) if events[one][1]]
            waiting = sum(end - max(first, start) for first, end in spans)
            idle = index == 0 or not events[index - 1][1]
            if idle and now - start >= 2 * interval:
                waiting = 0
            told = (sum(served for _, _, served in events[begun:index]), waiting)
            start, begun = now, index
        results.append(told)
    return results


@given(
    st.lists(st.tuples(st.integers(0, 60), st.booleans(), st.integers(0, 20)), min_size=1, max_size=60),
    st.integers(1, 100),
)
def test_the_drain_of_an_interval_is_the_sum_of_its_events(
    abm: ctypes.CDLL, gaps: list[tuple[int, bool, int]], interval: int
) -> None:
    events, now = [], 0
    for gap, waits, served in gaps:
        now += gap
        events.append((now, waits, served))
    count = len(events)
    last_served, last_waiting = (ctypes.c_uint64 * count)(), (ctypes.c_uint64 * count)()
    abm.drain_run(
        count,
        (ctypes.c_uint64 * count)(*(at for at, _, _ in events)),
        (ctypes.c_uint8 * count)(*(waits for _, waits, _ in events)),
        (ctypes.c_uint64 * count)(*(served for _, _, served in events)),
        ctypes.c_uint64(interval),
        last_served,
        last_waiting,
    )
    assert list(zip(last_served, last_waiting, strict=True)) == reference_drain(events, interval)
