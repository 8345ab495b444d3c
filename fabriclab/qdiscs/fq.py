"""fq: a queue for each flow, served in turn, that keeps each packet until its sender wants it to leave (pacing).

Source: Linux net/sched/sch_fq.c; tc-fq(8). As a host's own queue it paces TCP in TCP's place, as with
`net.core.default_qdisc = fq`. On a switch, whose packets' time is past, it is a fair queue. It drops at its limits
alone and marks nothing. A packet's DSCP puts it in one of three bands with weights of 9, 3 and 1, as ever in Linux; the
limit of the queue is each band's.

In slow start Linux paces at twice the window a round trip (net.ipv4.tcp_pacing_ss_ratio), in bursts of two segments at
least. Of 40 segments that a host of 10 Gbps with a NIC sends into a line of 1 Gbps within a round trip of 2.4 ms, 7
stand in the switch's queue at the peak, 34 without fq (`tests/vm/test_host_card.py`). Over a shorter round trip TCP
small queues hold a part of the window back until the first frames have arrived, with fq and without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.keys.quantities import Flag, Number, Quantity
from fabriclab.qdiscs.keys import LARGEST_NUMBER, Option
from fabriclab.qdiscs.qdisc import Counter, Qdisc, Room
from fabriclab.units import SIZE

_QUANTUM_FRAMES = 2


@dataclass(frozen=True, kw_only=True)
class Fq(Qdisc):
    """fq, whose limit of packets is the port's buffer."""

    kind: Literal["fq"] = "fq"
    flow_limit_packets: Annotated[int, Option("flow_limit", Number(1, LARGEST_NUMBER))] = 100
    """The largest number of packets of a flow (tc-fq(8))."""
    quantum_bytes: Annotated[int | None, Option("quantum", Quantity(SIZE, 1, 2**20))] = None
    """The bytes that a flow may send in its turn; by default two full frames (tc-fq(8))."""
    pacing: Annotated[bool, Option("pacing", Flag())] = True
    """Whether a socket's flows are paced (tc-fq(8))."""

    name: ClassVar[str] = "fq"
    counts_marks: ClassVar[tuple[Counter, ...]] = ()

    def tc(self, room: Room) -> str:
        """Return its words for tc."""
        quantum = self.quantum_bytes or _QUANTUM_FRAMES * room.largest_frame_bytes
        pacing = "pacing" if self.pacing else "nopacing"
        return f"fq limit {room.packets} flow_limit {self.flow_limit_packets} quantum {quantum} {pacing}"
