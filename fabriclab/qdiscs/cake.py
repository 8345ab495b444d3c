"""CAKE without its shaper: queues for flows and hosts, in tins by DSCP, each queue with COBALT (CoDel and BLUE).

Source: T. Hoeiland-Joergensen et al., "Piece of CAKE", LANMAN 2018; Linux net/sched/sch_cake.c; tc-cake(8). The port's
own line is its shaper here (`unlimited`), so it does not scale its target by the rate, and neither counts framing nor
filters acknowledgements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.keys.values import Word
from fabriclab.qdiscs.keys import Option, duration
from fabriclab.qdiscs.qdisc import Counter, Qdisc, Room, microseconds

_ISOLATION = Option(
    "isolation",
    Word(("flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate")),
)
_DIFFSERV = Option("diffserv", Word(("besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence")))
_MEMORY_FACTOR = 2
"""Its limit is of the kernel's memory, of which a full frame takes less than twice its length: the buffer's frames
fit."""


@dataclass(frozen=True, kw_only=True)
class Cake(Qdisc):
    """CAKE. It always marks what can be marked, and drops what cannot."""

    kind: Literal["cake"] = "cake"
    rtt_ns: Annotated[int, duration("rtt")] = 100_000_000
    """CAKE's interval; its target is a twentieth of this (tc-cake(8): `internet`; `datacentre` is 100 us)."""
    isolation: Annotated[str, _ISOLATION] = "triple-isolate"
    """The units among which the link is shared fairly: tc-cake(8), flow isolation."""
    diffserv: Annotated[str, _DIFFSERV] = "diffserv3"
    """The division into tins by DSCP: tc-cake(8), priority queue."""

    name: ClassVar[str] = "CAKE"
    counts_marks: ClassVar[tuple[Counter, ...]] = (Counter(within=(10, None, 8)),)
    """TCA_CAKE_STATS_TIN_STATS, each tin, TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS."""

    @property
    def marks(self) -> bool:
        """Return True: it has no option not to."""
        return True

    def tc(self, room: Room) -> str:
        """Return its words for tc."""
        memory = _MEMORY_FACTOR * room.packets * room.largest_frame_bytes
        return f"cake unlimited {self.diffserv} {self.isolation} rtt {microseconds(self.rtt_ns)} raw memlimit {memory}"
