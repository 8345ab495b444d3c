"""Headroom: against a sender that is simulated frame by frame, whatever its frames and whatever
is sent against them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fabriclab.formats.framing import LEAST_ON_LINE_BYTES
from fabriclab.resolve.switch.headroom import Line, cells, full_frames_headroom, headroom_bytes, wire_bytes

GBPS = 10**9
CELLS = st.sampled_from([1, 80, 208, 256, 1000])
LINES = st.builds(
    Line,
    out_rate_bps=st.sampled_from([10**8, GBPS, 10 * GBPS, 25 * GBPS]),
    out_delay_ns=st.integers(0, 30_000),
    in_rate_bps=st.sampled_from([10**8, GBPS, 10 * GBPS, 25 * GBPS]),
    in_delay_ns=st.integers(0, 30_000),
    mtu=st.sampled_from([576, 1500, 9000]),
    honoured=st.just((3,)),
    reaction_ns=st.integers(0, 20_000),
)


def line(delay_ns: int = 5_000, mtu: int = 1500, reaction_ns: int = 0) -> Line:
    return Line(GBPS, delay_ns, GBPS, delay_ns, mtu, (3,), reaction_ns)


def time_ns(frame_bytes: int, rate_bps: int) -> Fraction:
    """What a frame takes of the line."""
    return Fraction(wire_bytes(frame_bytes) * 8 * 10**9, rate_bps)


def arrives_in_headroom(line: Line, cell_bytes: int, sizes: list[int], ahead: Fraction) -> int:
    """Bytes that come in to headroom: the first of `sizes` does not fit at time 0, and then they come back to back,
    over and over.

    `ahead` is how long the pause waits until our line is free for it. The neighbour starts no frame after the pause has
    taken effect.
    """
    stopped = ahead + time_ns(64 - 4, line.out_rate_bps) + line.out_delay_ns + line.reaction_ns
    start = Fraction(-line.in_delay_ns)
    taken = cells(sizes[0], cell_bytes)
    for frame_bytes in itertools.islice(itertools.cycle(sizes), 1, None):
        if start > stopped:
            return taken * cell_bytes
        taken += cells(frame_bytes, cell_bytes)
        start += time_ns(frame_bytes, line.in_rate_bps)
    raise AssertionError("the frames have no end")


@settings(deadline=None)
@given(line=LINES, cell_bytes=CELLS, priorities=st.integers(1, 8), data=st.data())
def test_nothing_is_lost_whatever_the_frames_and_whatever_is_sent_against_them(
    line: Line, cell_bytes: int, priorities: int, data: st.DataObject
) -> None:
    size = st.one_of(st.just(line.frame_bytes), st.integers(42, line.frame_bytes))
    sizes = data.draw(st.lists(size, min_size=1, max_size=12))
    in_service = data.draw(st.integers(0, line.frame_bytes))
    other_pauses = data.draw(st.integers(0, priorities - 1)) * Fraction(
        LEAST_ON_LINE_BYTES * 8 * 10**9, line.out_rate_bps
    )
    ahead = (time_ns(in_service, line.out_rate_bps) if in_service else 0) + other_pauses
    needed = headroom_bytes(line, cell_bytes, priorities)
    assert arrives_in_headroom(line, cell_bytes, sizes, ahead) <= needed
    assert needed % cell_bytes == 0


@settings(deadline=None)
@given(line=LINES, cell_bytes=CELLS)
@example(line=Line(GBPS, 5_816, GBPS, 5_816, 1500, (3,)), cell_bytes=1)
def test_full_frames_alone_take_exactly_what_is_said(line: Line, cell_bytes: int) -> None:
    """The example: the pause takes effect at the very nanosecond at which the second frame would
    start; it still goes."""
    taken = arrives_in_headroom(line, cell_bytes, [line.frame_bytes], Fraction(0))
    assert full_frames_headroom(line, cell_bytes) == taken


@settings(deadline=None)
@given(line=LINES)
def test_of_what_is_computed_at_most_two_frames_are_too_many(line: Line) -> None:
    """Full frames against a full line back, with cells of a byte: what is not needed then is for
    frames of other sizes."""
    taken = arrives_in_headroom(line, 1, [line.frame_bytes], time_ns(line.frame_bytes, line.out_rate_bps))
    assert taken <= headroom_bytes(line, 1, 1) <= taken + 2 * line.frame_bytes


def test_the_kernels_formula() -> None:
    """README of the kernel's switch: 1 + ceil((84 B + 2 delay x rate) / frame); 1 Gbps, 5 us and 50 us of cable."""
    assert full_frames_headroom(line(), 1) == 2 * 1514
    assert full_frames_headroom(line(50_000), 1) == (1 + 9) * 1514
    assert full_frames_headroom(line(reaction_ns=3 * 12_304), 1) == (2 + 3) * 1514


def test_by_hand() -> None:
    """1 Gbps, 5 us: 1538 + 84 B out, 1250 B in flight, and a frame at each end.

    With cells of 256 bytes a frame of 64 bytes takes one.
    """
    exposed = 1538 + 84 + 1250
    assert headroom_bytes(line(), 1, 1) == 2 * 1514 + int(Fraction(exposed * 1514, 1538))
    assert headroom_bytes(line(), 256, 1) == (2 * 6 + int(Fraction(exposed, 84))) * 256
    assert headroom_bytes(line(), 1, 3) == 2 * 1514 + int(Fraction((exposed + 2 * 84) * 1514, 1538))


@pytest.mark.parametrize("change", [{"delay_ns": 6_000}, {"mtu": 9000}, {"reaction_ns": 1_000}])
def test_longer_cables_larger_frames_and_slower_neighbours_need_more(change: dict[str, int]) -> None:
    assert headroom_bytes(line(**change), 1, 1) > headroom_bytes(line(), 1, 1)
    assert headroom_bytes(line(**change), 256, 1) > headroom_bytes(line(), 256, 1)
