"""DualPI2: two queues that share a line, one of low latency for scalable congestion controls, coupled by PI2.

Source: RFC 9332, its appendix A for the parameters; Linux net/sched/sch_dualpi2.c; tc-dualpi2(8). Linux has it from
6.17 on, so it needs a newer kernel than the machine's usual one (docs/l4s.md). Where Linux is not as the appendix: the
low-latency queue is marked above a step of its delay, not on a ramp, and the coupled probability spares both queues
while they hold less than two frames together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from fabriclab.keys.quantities import Number
from fabriclab.keys.values import Word
from fabriclab.qdiscs.keys import TARGET, Option, duration
from fabriclab.qdiscs.qdisc import Counter, Qdisc, Room, Said, microseconds

_NS_PER_S = 10**9
_L4S_WORDS: Mapping[str, str] = {"ect1": "l4s_ect", "ect": "any_ect"}
"""What is taken for the low-latency queue, and tc's word for it."""


@dataclass(frozen=True, kw_only=True)
class DualPi2(Qdisc):
    """DualPI2, whose two queues share the port's buffer. It always marks what can be marked, and drops what cannot."""

    kind: Literal["dualpi2"] = "dualpi2"
    target_ns: Annotated[int, TARGET] = 15_000_000
    """The target queueing delay of the classic queue (RFC 9332, appendix A.1: target)."""
    max_rtt_ns: Annotated[int, duration("max_rtt")] = 100_000_000
    """The longest round-trip time for which it must be stable; its gains and its interval follow from it (RTT_max
    in the RFC)."""
    step_ns: Annotated[int, duration("step")] = 1_000_000
    """The queueing delay above which all packets of the low-latency queue are marked (tc-dualpi2(8): step_thresh)."""
    coupling: Annotated[int, Option("coupling", Number(1, 255))] = 2
    """The factor between the marking probability of that queue and the root of the classic queue's probability (k
    in the RFC)."""
    classic_share: Annotated[int, Option("classic_share", Number(0, 100))] = 10
    """The percentage of the link that the classic queue gets even if the other queue is busy (tc-dualpi2(8):
    classic_protection)."""
    l4s: Annotated[str, Option("l4s", Word(tuple(_L4S_WORDS)))] = "ect1"
    """The packets that go to the low-latency queue: ECT(1) (RFC 9331), or any ECT, as DCTCP sends it, if no other
    sender uses ECT."""

    name: ClassVar[str] = "DualPI2"
    counts_marks: ClassVar[tuple[Counter, ...]] = (Counter(24),)
    """`ecn_mark` of struct tc_dualpi2_xstats, those of the step among them."""

    @property
    def marks(self) -> bool:
        """Return True: it has no option not to."""
        return True

    @property
    def interval_ns(self) -> int:
        """From one update of the probability to the next (RFC 9332, figure 2, line 12: Tupdate)."""
        return max(1_000, min(self.target_ns, self.max_rtt_ns // 3))

    @property
    def integral_gain_hz(self) -> Fraction:
        """What a second of delay too much adds to the probability in an update (there, line 13: alpha)."""
        return Fraction(self.interval_ns * _NS_PER_S, 10 * self.max_rtt_ns**2)

    @property
    def proportional_gain_hz(self) -> Fraction:
        """What a second of delay more than at the last update adds to it (there, line 14: beta)."""
        return Fraction(3 * _NS_PER_S, 10 * self.max_rtt_ns)

    def tc(self, room: Room) -> str:
        """Return its words for tc."""
        times = f"target {microseconds(self.target_ns)} tupdate {microseconds(self.interval_ns)}"
        gains = f"alpha {_hertz(self.integral_gain_hz)} beta {_hertz(self.proportional_gain_hz)}"
        return (
            f"dualpi2 limit {room.packets} memlimit {room.memory_bytes} {times} {gains} "
            f"step_thresh {microseconds(self.step_ns)} coupling_factor {self.coupling} "
            f"classic_protection {self.classic_share}% {_L4S_WORDS[self.l4s]}"
        )

    @classmethod
    def contradictions(cls, written: Mapping[str, Said]) -> Iterator[tuple[str, str]]:
        """Yield a step that is no lower than the classic queue's target: then low latency would be none."""
        step, target = written.get("step"), written.get("target")
        least = target.value if target else cls.target_ns
        if step and step.value >= least:
            yield (
                "step",
                "is not below target, the classic queue's delay; the low-latency queue's must be the lower one",
            )


def _hertz(gain: Fraction) -> str:
    """Return a gain as tc reads it; the kernel has it in parts of 1/256 Hz, at least one."""
    return f"{float(max(gain, Fraction(1, 256))):.6f}"
