"""CoDel: drops, or marks, at the head while what leaves has waited longer than a target for a whole interval, ever more
often.

Source: RFC 8289; Linux net/sched/sch_codel.c; tc-codel(8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.qdiscs.keys import ECN, INTERVAL, TARGET
from fabriclab.qdiscs.qdisc import Counter, Qdisc, Room, Said, ecn_word, microseconds, not_below_interval


@dataclass(frozen=True, kw_only=True)
class Codel(Qdisc):
    """CoDel for all packets of a port together."""

    kind: Literal["codel"] = "codel"
    target_ns: Annotated[int, TARGET] = 5_000_000
    """The target queueing delay (RFC 8289, section 4.4; tc-codel(8))."""
    interval_ns: Annotated[int, INTERVAL] = 100_000_000
    """The time in which the delay must fall below the target at least once (RFC 8289, section 4.3)."""
    ecn: Annotated[bool, ECN] = False
    """Packets that can be marked are marked instead of dropped."""

    name: ClassVar[str] = "CoDel"
    counts_marks: ClassVar[tuple[Counter, ...]] = (Counter(24), Counter(32))
    """`ecn_mark` and `ce_mark` of struct tc_codel_xstats."""

    def tc(self, room: Room) -> str:
        """Return its words for tc."""
        times = f"target {microseconds(self.target_ns)} interval {microseconds(self.interval_ns)}"
        return f"codel limit {room.packets} {times} {ecn_word(self.ecn)}"

    @classmethod
    def contradictions(cls, written: Mapping[str, Said]) -> Iterable[tuple[str, str]]:
        """Yield a target that is not below its interval."""
        return not_below_interval(written)
