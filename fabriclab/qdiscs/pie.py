"""PIE: drops, or marks, what comes in with a probability that follows the queueing delay.

Source: RFC 8033; Linux net/sched/sch_pie.c; tc-pie(8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.qdiscs.keys import ECN, INTERVAL, TARGET
from fabriclab.qdiscs.qdisc import Counter, Qdisc, Room, ecn_word, microseconds


@dataclass(frozen=True, kw_only=True)
class Pie(Qdisc):
    """PIE for all packets of a port together."""

    kind: Literal["pie"] = "pie"
    target_ns: Annotated[int, TARGET] = 15_000_000
    """The target queueing delay (RFC 8033, section 4.2: QDELAY_REF; tc-pie(8))."""
    interval_ns: Annotated[int, INTERVAL] = 15_000_000
    """The time between two updates of the probability (RFC 8033, section 4.2: T_UPDATE)."""
    ecn: Annotated[bool, ECN] = False
    """Packets that can be marked are marked instead of dropped, up to a probability of 10 %."""

    name: ClassVar[str] = "PIE"
    counts_marks: ClassVar[tuple[Counter, ...]] = (Counter(36),)
    """`ecn_mark` of struct tc_pie_xstats."""

    def tc(self, room: Room) -> str:
        """Return its words for tc."""
        times = f"target {microseconds(self.target_ns)} tupdate {microseconds(self.interval_ns)}"
        return f"pie limit {room.packets} {times} {ecn_word(self.ecn)}"
