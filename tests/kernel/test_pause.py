"""PFC frames, pause times, the pause watchdog."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from switch_algorithms import QUEUES, u8, u64


def encode(library: ctypes.CDLL, priorities: int, quanta: list[int]) -> bytes:
    body = (ctypes.c_uint8 * 20)()
    library.pause_encode(ctypes.c_uint8(priorities), (ctypes.c_uint16 * QUEUES)(*quanta), body)
    return bytes(body)


def decode(library: ctypes.CDLL, body: bytes) -> tuple[int, list[int]]:
    quanta = (ctypes.c_uint16 * QUEUES)()
    priorities = library.pause_decode(body, ctypes.c_size_t(len(body)), quanta)
    return int(priorities), list(quanta)


def test_a_pause_frame_has_the_standards_layout(algorithms: ctypes.CDLL) -> None:
    body = encode(algorithms, 0b0001_1000, [0, 0, 0, 0xFFFF, 1, 0, 0, 0])
    assert body.hex() == "0101" + "0018" + "0000" * 3 + "ffff" + "0001" + "0000" * 3


@given(st.integers(0, 255), st.lists(st.integers(0, 65_535), min_size=QUEUES, max_size=QUEUES), st.binary(max_size=30))
def test_a_pause_frame_says_what_was_meant(
    algorithms: ctypes.CDLL, priorities: int, quanta: list[int], padding: bytes
) -> None:
    assert decode(algorithms, encode(algorithms, priorities, quanta) + padding) == (priorities, quanta)


@pytest.mark.parametrize("body", [b"", b"\x01\x01" + b"\0" * 17, b"\x00\x01" + b"\0" * 44])
def test_what_is_short_or_a_plain_pause_is_none(algorithms: ctypes.CDLL, body: bytes) -> None:
    assert decode(algorithms, body)[0] == -1


@pytest.mark.parametrize(
    ("quanta", "rate_bps", "time"), [(0xFFFF, 10**9, 33_553_920), (1, 100 * 10**9, 5), (2, 10**9, 1024), (0, 10**9, 0)]
)
def test_a_quantum_is_512_bit_times(algorithms: ctypes.CDLL, quanta: int, rate_bps: int, time: int) -> None:
    assert algorithms.pause_ns(ctypes.c_uint16(quanta), ctypes.c_uint64(rate_bps)) == time


def turns(
    library: ctypes.CDLL, changes: list[tuple[int, bool, bool]], *, detection: int = 100, restoration: int = 50
) -> list[int]:
    """When storms begin and end, in turn, until 10,000 ns; changes are (time, paused, backlogged)."""
    found = u64([0] * 1000)
    count = library.watchdog_run(
        ctypes.c_uint64(detection),
        ctypes.c_uint64(restoration),
        len(changes),
        u64([time for time, _, _ in changes]),
        u8([paused for _, paused, _ in changes]),
        u8([backlogged for _, _, backlogged in changes]),
        ctypes.c_uint64(10_000),
        found,
    )
    return list(found[:count])


def test_a_storm_begins_after_detection_and_ends_after_restoration(algorithms: ctypes.CDLL) -> None:
    assert turns(algorithms, [(10, True, True), (500, False, True)]) == [110, 550]


def test_a_queue_that_gets_a_word_in_is_in_no_storm(algorithms: ctypes.CDLL) -> None:
    assert (
        turns(
            algorithms,
            [
                (10, True, True),
                (105, False, True),
                (106, True, True),
                (205, True, False),
                (206, True, True),
                (305, False, True),
            ],
        )
        == []
    )


def test_an_empty_queue_may_be_paused_for_ever(algorithms: ctypes.CDLL) -> None:
    assert turns(algorithms, [(10, True, False)]) == []


def test_a_new_pause_prolongs_a_storm(algorithms: ctypes.CDLL) -> None:
    changes = [(0, True, True), (300, False, False), (340, True, False), (400, False, False)]
    assert turns(algorithms, changes) == [100, 450]


def test_without_detection_time_there_is_no_watchdog(algorithms: ctypes.CDLL) -> None:
    assert turns(algorithms, [(10, True, True)], detection=0) == []
