"""DX's arithmetic (net/ipv4/dx.h, ours) against its equations in exact numbers."""

from __future__ import annotations

import ctypes
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from user_space import compiled

HEADER = Path(__file__).parents[2] / "images/machine/kernel/tree/net/ipv4/dx.h"
LINUX = """
#include <stdint.h>
typedef uint32_t u32;
typedef uint64_t u64;
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define mul_u64_u64_div_u64(a, b, c) ((u64)((unsigned __int128)(a) * (b) / (c)))
"""
CALL = """
u64 next_window(u64 window, u64 queue_ns, u64 base_rtt_ns) { return dx_next_window(window, queue_ns, base_rtt_ns); }
u32 packets(u64 window) { return dx_packets(window); }
"""
ONE = 1024


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    directory = tmp_path_factory.mktemp("dx")
    lines = [line for line in HEADER.read_text().splitlines() if not line.startswith("#include")]
    (directory / "dx.c").write_text(LINUX + "\n".join(lines) + CALL)
    built = compiled(directory / "dx.c", directory)
    built.next_window.restype = ctypes.c_uint64
    built.next_window.argtypes = [ctypes.c_uint64] * 3
    built.packets.argtypes = [ctypes.c_uint64]
    return built


@given(st.integers(ONE, 10**6 * ONE), st.integers(0, 10**9), st.integers(1_000, 10**9))
def test_the_next_window_is_the_equations(library: ctypes.CDLL, window: int, queue_ns: int, rtt_ns: int) -> None:
    packets = Fraction(window, ONE)
    exact = packets + 1
    if queue_ns and packets > 1:
        v = Fraction(rtt_ns) * packets / (packets - 1)
        exact = packets * (1 - queue_ns / v) + 1
    found = Fraction(library.next_window(window, queue_ns, rtt_ns), ONE)
    assert abs(found - max(exact, Fraction(1))) <= Fraction(1, ONE)


@given(st.integers(2, 1_000), st.integers(1, 100))
def test_a_queue_of_a_packet_a_flow_stands_still(library: ctypes.CDLL, window: int, flows: int) -> None:
    """N flows of W - 1 packets fill the link: N (W - 1) = C R. With one more each the queue is Q = N / C."""
    packet_ns = 1_230
    rtt_ns = flows * (window - 1) * packet_ns
    assert library.next_window(window * ONE, flows * packet_ns, rtt_ns) == window * ONE


def test_a_window_is_the_nearest_number_of_packets(library: ctypes.CDLL) -> None:
    assert [library.packets(parts) for parts in (ONE, ONE + 511, ONE + 512, 3 * ONE)] == [1, 1, 2, 3]
