"""The choice among next hops (net/ipv4/load_balancing.h, ours): its generator, bands and flowlets, in exact numbers."""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from user_space import compiled

HEADER = Path(__file__).parents[2] / "images/machine/kernel/tree/net/ipv4/load_balancing.h"
LINUX = """
#include <stdbool.h>
#include <stdint.h>
typedef uint32_t u32;
typedef uint64_t u64;
"""
CALL = """
u32 draw(u64 *state) { return lb_draw(state); }
u32 below(u64 *state, u32 bound) { return lb_below(state, bound); }
u32 band(u64 load, u64 least, u64 most) { return lb_band(load, least, most); }
u32 best(u64 *state, u32 members, const u32 *bands)
{
	struct lb_best best = {};
	u32 member;

	for (member = 0; member < members; member++)
		lb_offer(&best, state, member, bands[member]);
	return best.member;
}
u32 flowlets(u32 packets, const u64 *times, u64 idle_ns)
{
	struct lb_flowlet flowlet = {};
	u32 packet, begun = 0;

	for (packet = 0; packet < packets; packet++)
		begun += !lb_flowlet_goes_on(&flowlet, times[packet], idle_ns);
	return begun;
}
"""
CHI_SQUARE_3_1E6 = 30.7
"""Above it a sum of squares with three degrees of freedom is in one of a million cases."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    directory = tmp_path_factory.mktemp("load-balancing")
    (directory / "load_balancing.c").write_text(f'{LINUX}#include "{HEADER}"\n{CALL}')
    # As in the kernel: numbers of the generator wrap around.
    built = compiled(directory / "load_balancing.c", directory)
    for name in ("draw", "below", "band", "best", "flowlets"):
        getattr(built, name).restype = ctypes.c_uint32
    built.below.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    built.band.argtypes = [ctypes.c_uint64] * 3
    built.flowlets.argtypes = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint64]
    return built


def state(seed: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(seed)


def test_the_generator_is_split_mix(library: ctypes.CDLL) -> None:
    """The first numbers of SplitMix64 from 1234567, as its authors' Java and others' test vectors have them."""
    now = state(1234567)
    whole = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [library.draw(ctypes.byref(now)) for _ in whole] == [number >> 32 for number in whole]


def test_what_has_one_outcome_is_not_drawn(library: ctypes.CDLL) -> None:
    now = state(5)
    assert library.below(ctypes.byref(now), 1) == 0
    assert now.value == 5


def exact_band(load: int, least: int, most: int) -> int:
    if load <= least:
        return 0
    return 7 if load > most else math.ceil(Fraction(6 * (load - least), most - least))


@given(st.integers(0, 2**32 - 2), st.integers(1, 2**32 - 1), st.integers(0, 2**40))
def test_a_band_is_the_definition(library: ctypes.CDLL, least: int, width: int, load: int) -> None:
    assert library.band(load, least, least + width) == exact_band(load, least, least + width)


def test_a_band_of_the_default_is_a_frame(library: ctypes.CDLL) -> None:
    frame = 1514
    loads = [0, 1, frame, frame + 1, 6 * frame, 6 * frame + 1]
    assert [library.band(load, 0, 6 * frame) for load in loads] == [0, 1, 1, 2, 6, 7]


@given(st.lists(st.integers(0, 7), min_size=1, max_size=64), st.integers(0, 2**64 - 1))
def test_the_best_is_of_the_lowest_band(library: ctypes.CDLL, bands: list[int], seed: int) -> None:
    now = state(seed)
    chosen = library.best(ctypes.byref(now), len(bands), (ctypes.c_uint32 * len(bands))(*bands))
    assert bands[chosen] == min(bands)
    if bands.count(min(bands)) == 1 and min(bands[: chosen + 1]) == bands[0] == bands[chosen]:
        assert now.value == seed, "nothing was drawn where one was the best all along"


def test_members_alike_are_as_likely(library: ctypes.CDLL) -> None:
    now, bands = state(1), [3, 1, 1, 5, 1, 1]
    given_bands = (ctypes.c_uint32 * len(bands))(*bands)
    chosen = Counter(library.best(ctypes.byref(now), len(bands), given_bands) for _ in range(40_000))
    assert set(chosen) == {1, 2, 4, 5}
    assert sum((count - 10_000) ** 2 / 10_000 for count in chosen.values()) < CHI_SQUARE_3_1E6


@given(st.lists(st.integers(1, 1_000), min_size=1, max_size=50), st.integers(1, 1_000))
def test_a_flowlet_ends_with_a_longer_pause(library: ctypes.CDLL, gaps: list[int], idle_ns: int) -> None:
    times = [sum(gaps[: number + 1]) for number in range(len(gaps))]
    begun = 1 + sum(gap > idle_ns for gap in gaps[1:])
    assert library.flowlets(len(times), (ctypes.c_uint64 * len(times))(*times), idle_ns) == begun
