"""FQ-PIE: a queue for each flow, served in turn as FQ-CoDel's, and PIE for each queue.

Source: RFC 8033; Linux net/sched/sch_fq_pie.c; tc-fq_pie(8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.qdiscs.keys import ECN, INTERVAL, TARGET
from fabriclab.qdiscs.qdisc import Counter, Qdisc, Room, ecn_word, microseconds


@dataclass(frozen=True, kw_only=True)
class FqPie(Qdisc):
    """FQ-PIE with Linux's 1024 queues."""

    kind: Literal["fq_pie"] = "fq_pie"
    target_ns: Annotated[int, TARGET] = 15_000_000
    """The target queueing delay of each queue (RFC 8033, section 4.2: QDELAY_REF; tc-fq_pie(8))."""
    interval_ns: Annotated[int, INTERVAL] = 15_000_000
    """The time between two updates of the probabilities (RFC 8033, section 4.2: T_UPDATE)."""
    ecn: Annotated[bool, ECN] = False
    """Packets that can be marked are marked instead of dropped, up to a probability of 10 %."""

    name: ClassVar[str] = "FQ-PIE"
    counts_marks: ClassVar[tuple[Counter, ...]] = (Counter(16),)
    """`ecn_mark` of struct tc_fq_pie_xstats."""

    def tc(self, room: Room) -> str:
        """Return its words for tc; only the bound of packets is to count, not that of memory,
        32 MB unless told otherwise."""
        times = f"target {microseconds(self.target_ns)} tupdate {microseconds(self.interval_ns)}"
        return f"fq_pie limit {room.packets} memory_limit {room.memory_bytes} {times} {ecn_word(self.ecn)}"
