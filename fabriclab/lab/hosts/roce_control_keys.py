"""The keys of the congestion controls of a RoCE NIC.

Each name of a control's key is the word that the kernel reads (`net/sched/switch_port/roce/control_*.c`), but for the
conversions of `resolve/roce.py`.
"""

from __future__ import annotations

from fractions import Fraction

from fabriclab.constraints import Within
from fabriclab.formats import ranges
from fabriclab.keys.mappings import Key, Keys
from fabriclab.keys.quantities import Factor, Number, Percent, Quantity
from fabriclab.keys.values import Either, Text, Word
from fabriclab.units import DURATION, RATE, SIZE

ROCE_CONTROLS = ("dcqcn", "hpcc", "timely", "swift", "credit", "none")
_RATE = Quantity(RATE, *ranges.LIMITER_RATE)
_CYCLE = Quantity(DURATION, *ranges.CYCLE_TIME)
_DELAY = Quantity(DURATION, *ranges.ROCE_DELAY)
_PART = Percent(*ranges.CONTROL_PPM)


def _paper(source: str) -> str:
    """Return the source of a control's first key, which is that of the others too."""
    return f"{source}; so are the others, unless another source is given"


def _least(default: int, source: str) -> Key[int]:
    return Key("least", _RATE, "The lowest rate of a queue pair.", default=default, source=source)


def _steps(name: str, within: Within, why: str, meaning: str) -> Key[int]:
    return Key(name, Number(*within, why=why), meaning, default=5)


DCQCN_GAIN = Key(
    "gain",
    Factor("a factor from 1/65536 to 1", Fraction(1, 65_536), Fraction(1)),
    "What one notification weighs in alpha, the estimate of how much of the traffic is marked: g of the paper.",
    default=Fraction(1, 256),
    source=_paper('Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015'),
    examples=("1/256",),
)
DCQCN_RECOVERY_CYCLES = _steps(
    "recovery_cycles",
    ranges.RECOVERY_CYCLES,
    "of fast recovery",
    "The number of cycles of fast recovery, in which the rate only returns towards its target: F of the paper.",
)
DCQCN_LEAST = _least(1_000_000, "NVIDIA's NICs: rpg_min_rate")
DCQCN_ACTIVE = Key(
    "active",
    _RATE,
    "How much each cycle adds to the target rate once one of the two counters has passed fast recovery: R_AI of the "
    "paper.",
    default=40_000_000,
)
DCQCN_HYPER = Key(
    "hyper",
    _RATE,
    "How much each cycle adds once both counters have passed it: R_HAI.",
    default=400_000_000,
    source="Ten times `active`, as in the simulation of HPCC (Y. Li et al., SIGCOMM 2019); the paper gives no value",
)
DCQCN_CYCLE_BYTES = Key(
    "cycle_bytes",
    Quantity(SIZE, *ranges.CYCLE_BYTES),
    "The length of a cycle of the byte counter, in bytes on the link: B of the paper.",
    default=10_000_000,
)
DCQCN_CYCLE_TIME = Key("cycle_time", _CYCLE, "The length of a cycle of the timer: T of the paper.", default=55_000)
DCQCN_ALPHA_TIME = Key(
    "alpha_time", _CYCLE, "Without a notification for this time alpha falls: K of the paper.", default=55_000
)
DCQCN = Keys(
    "dcqcn",
    "DCQCN of a RoCE NIC",
    (
        *(DCQCN_GAIN, DCQCN_RECOVERY_CYCLES, DCQCN_LEAST, DCQCN_ACTIVE, DCQCN_HYPER),
        *(DCQCN_CYCLE_BYTES, DCQCN_CYCLE_TIME, DCQCN_ALPHA_TIME),
    ),
)

HPCC_ETA = Key(
    "eta",
    _PART,
    "How much of the busiest link is to be used.",
    default=950_000,
    source=_paper('Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 5.1'),
    examples=("95 %",),
)
HPCC_STAGES = _steps(
    "stages",
    ranges.HPCC_STAGES,
    "of additive increase",
    "The number of additive increases in a row after which the rate follows the link's use again: maxStage.",
)
HPCC_INCREASE = Key(
    "increase",
    _RATE,
    "How much each adjustment adds to the rate, so that flows come to equal rates: W_AI as a rate.",
    default=40_000_000,
    source="The authors' simulation at 100 Gbps (simulation/run.py: 10 Mbps for each 25 Gbps)",
)
HPCC_LEAST = _least(100_000_000, "The authors' simulation (simulation/mix/config.txt)")
HPCC_BASE_RTT = Key(
    "base_rtt",
    Quantity(DURATION, *ranges.HPCC_BASE_RTT),
    "The round-trip time of the fabric without queues: T. The window is what the rate sends in this time.",
    default=13_000,
    examples=("9 us",),
)
HPCC = Keys("hpcc", "HPCC of a RoCE NIC", (HPCC_ETA, HPCC_STAGES, HPCC_INCREASE, HPCC_LEAST, HPCC_BASE_RTT))

TIMELY_LOW = Key(
    "low",
    _DELAY,
    "Below this round-trip time the rate always rises: T_low.",
    default=50_000,
    source=_paper('R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015'),
)
TIMELY_HIGH = Key("high", _DELAY, "Above this round-trip time the rate always falls: T_high.", default=500_000)
TIMELY_LEAST_RTT = Key(
    "least_rtt",
    Quantity(DURATION, *ranges.HPCC_BASE_RTT),
    "The round-trip time of the fabric without queues, by which gradients are divided: minRTT.",
    default=20_000,
)
TIMELY_WEIGHT = Key(
    "weight",
    _PART,
    "What the newest difference of two round-trip times weighs: alpha.",
    default=875_000,
    source='Y. Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016, table 2',
)
TIMELY_DECREASE = Key("decrease", _PART, "How strongly the rate falls: beta.", default=800_000)
TIMELY_INCREASE = Key("increase", _RATE, "How much a step adds to the rate: delta.", default=10_000_000)
TIMELY_LEAST = _least(10_000_000, "One step, as the paper names none")
TIMELY = Keys(
    "timely",
    "TIMELY of a RoCE NIC",
    (
        *(TIMELY_LOW, TIMELY_HIGH, TIMELY_LEAST_RTT, TIMELY_WEIGHT, TIMELY_DECREASE, TIMELY_INCREASE),
        TIMELY_LEAST,
    ),
)

SWIFT_BASE = Key(
    "base",
    _DELAY,
    "The target of a packet's delay, before routers and small windows are added: base_target.",
    default=25_000,
    source=_paper(
        'G. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020'
    ),
)
SWIFT_HOP = Key("hop", _DELAY, "What each router of the path adds to the target: h-bar.", default=1_000)
SWIFT_RANGE = Key(
    "range",
    _DELAY,
    "What a window of a tenth of a packet adds to the target, one of 100 packets nothing: fs_range.",
    default=100_000,
    source="Four times the base, as in csg-htsim",
)
SWIFT_INCREASE = Key(
    "increase",
    Factor("a number of packets from 1/100 to 100", Fraction(1, 100), Fraction(100)),
    "How many packets a round-trip time below the target adds to the window: ai.",
    default=Fraction(1),
)
SWIFT_DECREASE = Key("decrease", _PART, "How strongly the window falls above the target: beta.", default=800_000)
SWIFT_MOST_DECREASE = Key(
    "most_decrease",
    Percent(ranges.CONTROL_PPM.least, ranges.CONTROL_PPM.most - 1),
    "The largest part of the window that is taken at once: max_mdf.",
    default=500_000,
)
SWIFT_MOST = Key(
    "most",
    Number(*ranges.ROCE_WINDOW, "a whole number of packets"),
    "The largest window, with which a queue pair begins.",
    default=256,
    source="csg-htsim has no bound; 256 KB fill 100 Gbps for 21 us",
)
SWIFT = Keys(
    "swift",
    "Swift of a RoCE NIC",
    (SWIFT_BASE, SWIFT_HOP, SWIFT_RANGE, SWIFT_INCREASE, SWIFT_DECREASE, SWIFT_MOST_DECREASE, SWIFT_MOST),
)

CREDIT_FIRST = Key(
    "first",
    Quantity(SIZE, *ranges.CREDIT_FIRST),
    "How much a queue pair sends at the line's rate before it needs credit: about a bandwidth-delay product.",
    default=16_384,
    source="16 packets of 1,024 B: 13 us at 10 Gbps; NDP's first window is a bandwidth-delay product, too (M. Handley "
    "et al., SIGCOMM 2017)",
    examples=("32 KB",),
)
CREDIT_RATE = Key(
    "rate",
    _PART,
    "At which part of its line's rate a receiver lets packets come.",
    default=1_000_000,
    source="NDP: the line's rate",
)
CREDIT = Keys("credit", "Credit of receivers, for a RoCE NIC", (CREDIT_FIRST, CREDIT_RATE))

ROCE_CONGESTION_CONTROL: Key[str] = Key(
    "congestion_control",
    Either(
        (
            Word(ROCE_CONTROLS),
            Text(
                "a C file beside the lab, such as `./mine.c`",
                r".+\.c",
                "Write one of the NIC's congestion controls, or a C file beside the lab, such as ./mine.c.",
            ),
        )
    ),
    "The congestion control of queue pairs. With `none` each sends at the line's rate, and only pauses hold it back. A "
    "C file adds [your own algorithm](../your-own-algorithm.md#a-congestion-control-of-a-roce-nic).",
    default="dcqcn",
)
ROCE_OPTIONS = Key(
    "options",
    Text("words and values", r"[A-Za-z0-9_ ]*", "Write words and values."),
    "The options of a congestion control of your own. Its file defines their meaning.",
    unset="nothing",
    examples=("step 40000",),
)
