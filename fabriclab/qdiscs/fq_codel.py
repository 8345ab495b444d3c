"""FQ-CoDel: a queue for each flow, served in turn (deficit round robin, new flows first), and CoDel for each queue.

Source: RFC 8290; Linux net/sched/sch_fq_codel.c; tc-fq_codel(8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.qdiscs.keys import ECN, INTERVAL, TARGET
from fabriclab.qdiscs.qdisc import Counter, Qdisc, Room, Said, ecn_word, microseconds, not_below_interval


@dataclass(frozen=True, kw_only=True)
class FqCodel(Qdisc):
    """FQ-CoDel with Linux's 1024 queues."""

    kind: Literal["fq_codel"] = "fq_codel"
    target_ns: Annotated[int, TARGET] = 5_000_000
    """The target queueing delay of each queue (RFC 8290, section 5.2.2)."""
    interval_ns: Annotated[int, INTERVAL] = 100_000_000
    """The time in which the delay must fall below the target at least once (RFC 8290, section 5.2.1)."""
    ecn: Annotated[bool, ECN] = False
    """Packets that can be marked are marked instead of dropped (Linux's own default is to mark)."""

    name: ClassVar[str] = "FQ-CoDel"
    counts_marks: ClassVar[tuple[Counter, ...]] = (Counter(12), Counter(28))
    """`ecn_mark` and `ce_mark` of struct tc_fq_codel_qd_stats, behind the type."""

    def tc(self, room: Room) -> str:
        """Return its words for tc; only the bound of packets is to count, not that of memory,
        32 MB unless told otherwise."""
        times = f"target {microseconds(self.target_ns)} interval {microseconds(self.interval_ns)}"
        return f"fq_codel limit {room.packets} memory_limit {room.memory_bytes} {times} {ecn_word(self.ecn)}"

    @classmethod
    def contradictions(cls, written: Mapping[str, Said]) -> Iterable[tuple[str, str]]:
        """Yield a target that is not below its interval."""
        return not_below_interval(written)
