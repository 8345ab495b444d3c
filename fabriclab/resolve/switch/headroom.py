"""Headroom: what a lossless priority group must be able to take after it has told its neighbour to pause, so that
nothing is lost.

The group pauses when a frame does not fit below its limit (`pfc.h` of the kernel's `switch_port`); that frame is the
first in headroom. Then, with out = from us to the neighbour, in = from the neighbour to us:

    1. the frame that we are sending is finished first              one full frame out
    2. pauses of our other priorities may be ahead of this one      84 B out each
    3. the pause itself                                             84 B out
    4. it travels                                                   delay out
    5. the neighbour reacts                                         reaction
    6. what it sent until then is still to come                     delay in

In that time, T, the neighbour sends without a gap, and it finishes the frame that it has begun when the pause takes
effect:

    headroom = frame that did not fit + T x rate in x worst + frame begun last

`worst` is memory in whole cells over bytes on the wire, for the worst size of frame: 1514 / 1538 with cells of one
byte, 256 / 84 with cells of 256 bytes, where a frame of 64 bytes takes a cell. Frames of any sizes together take no
more.

IEEE 802.1Qbb (annex O, "Buffer requirements for PFC") has the same terms: a frame at each end, the pause, cable and
interface delay both ways, reaction; interfaces here have no delay of their own. SONiC (sonic-swss,
cfgmgr/buffer_headroom_mellanox.lua) computes

    xoff = lossless_mtu
         + (port_mtu + bytes_on_cable + 2 bytes_on_gearbox + mac_phy_delay + peer_response) x cell_occupancy

lossless_mtu is the first frame, port_mtu 1, bytes_on_cable 4 and 6, peer_response 5 with the frame begun last,
cell_occupancy `worst` (by default it too takes all frames for small: small_packet_percentage 100).

With frames of one size, nothing sent against them, and a single priority, 1 + ceil((84 B + 2 delay x rate) / frame)
frames are enough, as the kernel's README derives: `full_frames_headroom`. Fewer lose with full frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from fabriclab.formats.framing import FRAMING_BYTES, HEADER_BYTES, LEAST_ON_LINE_BYTES
from fabriclab.formats.plan.switch import Pfc

_NS_PER_S = 10**9


class Direction(Protocol):
    """One direction of a link: of a plan's port, or of a lab that is being resolved."""

    @property
    def rate_bps(self) -> int:
        """Bits on the line in a second."""

    @property
    def delay_ns(self) -> int:
        """Nanoseconds from one end to the other."""

    @property
    def mtu(self) -> int:
        """Bytes of an IP packet."""


@dataclass(frozen=True)
class Line:
    """A port's link: what leaves here (`out`), and what comes from the neighbour (`in`)."""

    out_rate_bps: int
    out_delay_ns: int
    in_rate_bps: int
    in_delay_ns: int
    mtu: int
    """Bytes of an IP packet, both ways."""
    honoured: tuple[int, ...] = ()
    """Priorities for which the neighbour stops when it is told to."""
    reaction_ns: int = 0
    """What the neighbour takes from a pause's arrival to its effect."""

    @classmethod
    def between(cls, out: Direction, back: Direction, neighbour: Pfc | None) -> Line:
        """Return the link whose two directions these are; the neighbour has this PFC, or none."""
        return cls(
            out_rate_bps=out.rate_bps,
            out_delay_ns=out.delay_ns,
            in_rate_bps=back.rate_bps,
            in_delay_ns=back.delay_ns,
            mtu=out.mtu,
            honoured=() if neighbour is None else neighbour.priorities,
            reaction_ns=0 if neighbour is None else neighbour.reaction_ns,
        )

    @property
    def frame_bytes(self) -> int:
        """The largest frame as a buffer counts it."""
        return self.mtu + HEADER_BYTES


def wire_bytes(frame_bytes: int) -> int:
    """Return what a frame takes of the line."""
    return max(LEAST_ON_LINE_BYTES, frame_bytes + FRAMING_BYTES)


def cells(size_bytes: int, cell_bytes: int) -> int:
    """Return the whole cells that hold so many bytes."""
    return -(-size_bytes // cell_bytes)


def headroom_bytes(line: Line, cell_bytes: int, priorities: int) -> int:
    """Return what a group needs to lose nothing, whatever the sizes of frames and whatever is sent against them.

    `priorities` are those that the port sends pauses for. The result is in whole cells.
    """
    out_bytes = wire_bytes(line.frame_bytes) + LEAST_ON_LINE_BYTES * max(1, priorities)
    exposed = Fraction(out_bytes * line.in_rate_bps, line.out_rate_bps) + _in_flight_bytes(line)
    ends = 2 * cells(line.frame_bytes, cell_bytes)
    return (ends + int(exposed * _worst_occupancy(line.frame_bytes, cell_bytes))) * cell_bytes


def full_frames_headroom(line: Line, cell_bytes: int) -> int:
    """Return what a group needs where all frames have full size and nothing is sent against them: with less, a busy
    sender loses.

    A frame that would start at the very time at which the pause takes effect still goes (`switch_chip_lock` serves
    first), hence floor + 1.
    """
    exposed = Fraction(LEAST_ON_LINE_BYTES * line.in_rate_bps, line.out_rate_bps) + _in_flight_bytes(line)
    frames = 1 + int(exposed / wire_bytes(line.frame_bytes)) + 1
    return frames * cells(line.frame_bytes, cell_bytes) * cell_bytes


def _in_flight_bytes(line: Line) -> Fraction:
    """Return what the neighbour sends while the pause travels, takes effect, and the wire to us empties."""
    return Fraction((line.out_delay_ns + line.reaction_ns + line.in_delay_ns) * line.in_rate_bps, 8 * _NS_PER_S)


@lru_cache
def _worst_occupancy(frame_bytes: int, cell_bytes: int) -> Fraction:
    """Return the most cells that a byte on the wire can take: of the frames of n cells the shortest is the
    worst, and the full frame."""
    most = cells(frame_bytes, cell_bytes)
    shortest = (Fraction(count, wire_bytes((count - 1) * cell_bytes + 1)) for count in range(1, most + 1))
    return max(shortest)
