"""The keys of queues and priority groups of a port with a shared buffer: what each takes of the memory, marks, drops,
pauses."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fabriclab.formats import ranges
from fabriclab.formats.classes import QUEUES
from fabriclab.keys.mappings import Key, Keys
from fabriclab.keys.quantities import Factor, Flag, Number, Percent, Quantity
from fabriclab.keys.values import Either, OutOfRangeError, Plain, Scalar, Schema, Several, Text, Word, or_none
from fabriclab.keys.wording import shown
from fabriclab.lab.ports.keys import NON_ECT_WORDS
from fabriclab.lab.switch.written import Threshold
from fabriclab.units import DURATION, RATE, SIZE, format_fraction

LARGEST_BYTES = 10**12
"""The largest size of a memory that may be written: far above any switch's, far below what the kernel counts in."""
SLOWEST_BPS = 8_000
_LENGTH = ranges.LENGTH.most


class Length(Either[Threshold]):
    """A length of a queue: a size, or a time that its last frame waits."""

    def parse(self, text: str) -> Threshold:
        """Return bytes of a size or nanoseconds of a duration. Raises ValueError."""
        number: Any = super().parse(text)
        return Threshold(number, "ns" if self.values[0].canonical(text) is None else "bytes")


@dataclass(frozen=True)
class PowerOfTwo(Plain[int]):
    """The factor of a dynamic threshold, read as its binary logarithm: `1/8` is -3.

    SAI's dynamic_th (saibuffer.h; SONiC's sonic-buffer-profile.yang).
    """

    _least, _most = (Fraction(2) ** log for log in ranges.ALPHA_LOG)
    _factor = Factor("a power of two from 1/256 to 128", _least, _most)

    def schema(self) -> Schema:
        """Return its JSON schema."""
        return self._factor.schema()

    def told(self) -> str:
        """Return its bounds."""
        return self._factor.told()

    @property
    def wanted(self) -> str:
        """Its bounds with an example."""
        return self._factor.wanted

    def parse(self, text: str) -> int:
        """Return the binary logarithm. Raises ValueError."""
        alpha = self._factor.parse(text)
        below = max(
            log for log in range(ranges.ALPHA_LOG.least, ranges.ALPHA_LOG.most + 1) if Fraction(2) ** log <= alpha
        )
        if Fraction(2) ** below != alpha:
            neighbours = " or ".join(format_fraction(Fraction(2) ** log) for log in (below, below + 1))
            raise OutOfRangeError(f"{shown(text)} is not a power of two, which switches need; write {neighbours}")
        return below

    def written(self, value: int) -> Scalar:
        """Return the factor of a logarithm."""
        return format_fraction(Fraction(2) ** value)

    def is_one(self, value: object) -> bool:
        """Return whether it is a whole number."""
        return isinstance(value, int)

    def canonical(self, text: str) -> Scalar | None:
        """Return the shortened fraction."""
        return self._factor.canonical(text)


def _length(least: int) -> Length:
    sizes, times = (Quantity(dimension, least, _LENGTH) for dimension in (SIZE, DURATION))
    return Length((sizes, times), "is neither a size such as '30 KB' nor a duration such as '50 us'")


SIZE_OF_MEMORY = Quantity(SIZE, 0, LARGEST_BYTES)
_OPTIONAL_SIZE: Either[int | None] = or_none(Quantity(SIZE, 1, LARGEST_BYTES))
_BURST = Quantity(SIZE, 1, ranges.BURST_BYTES.most)
RATE_OF_A_PORT = Quantity(RATE, SLOWEST_BPS, ranges.SERVED_RATE.most)

ACCOUNT_POOL: Key[str | None] = Key(
    "pool",
    or_none(Text("a pool's name")),
    "The pool whose memory the queue or group uses. `none`: memory of its own, of size `limit`.",
    unset="the first pool",
)
ACCOUNT_RESERVED = Key(
    "reserved", SIZE_OF_MEMORY, "Bytes of the pool that are reserved for this queue or group.", default=0
)
ACCOUNT_ALPHA = Key(
    "alpha",
    PowerOfTwo(),
    "A dynamic limit: alpha times the pool's free memory. It replaces `limit`.",
    default=0,
    examples=("1/8", 8),
)
ACCOUNT_LIMIT: Key[int | None] = Key(
    "limit", _OPTIONAL_SIZE, "A static limit; `none`: the whole pool. It replaces `alpha`."
)
POLICIES = ("abm",)
"""The policies of the machine's kernel."""
SHARING_WORD: Word[str] = Word(("dynamic", "complete", *POLICIES))
QUEUE_SHARING = Key(
    "sharing",
    Either(
        (
            SHARING_WORD,
            Text(
                "a C file beside the lab, such as `./share_mine.c`",
                r".+\.c",
                "Write dynamic, complete or abm, or a C file beside the lab, such as ./share_mine.c.",
            ),
        )
    ),
    "How queues share their pool. `dynamic`: each up to its `alpha` or `limit`. `complete`: each up to the whole pool. "
    "`abm`: alpha also by congested queues and drain rate. A C file: "
    "[your own policy](../your-own-algorithm.md#a-sharing-policy).",
    default="dynamic",
)
QUEUE_SHARING_INTERVAL = Key(
    "sharing_interval",
    Quantity(DURATION, *ranges.DRAIN_INTERVAL),
    "`abm` and a C file: the time in which a queue's drain rate is measured.",
    default=80_000,
    source="One round-trip time of ABM's evaluation (Addanki et al., SIGCOMM 2022)",
)
QUEUE_SHARING_CONGESTED = Key(
    "sharing_congested",
    Quantity(SIZE, *ranges.CONGESTED_BYTES),
    "`abm` and a C file: the length from which a queue counts as congested; a shorter one counts as the part that it "
    "holds of it.",
    unset="nine tenths of the queue's threshold, and a shorter one does not count",
    examples=("28000 B",),
)
QUEUE_UNSCHEDULED_CLASSES = Key(
    "unscheduled_classes",
    Several(Number(0, QUEUES - 1, "a traffic class"), f"classes from 0 to {QUEUES - 1}, a list or one", is_set=True),
    "`abm` and a C file: the traffic classes with packets of flows' first round-trip time, for `unscheduled_alpha`.",
    unset="no class",
    examples=(("1", "2"),),
)
QUEUE_UNSCHEDULED_ALPHA = Key(
    "unscheduled_alpha",
    PowerOfTwo(),
    "`abm` and a C file: the alpha of these classes.",
    default=6,
    source="ABM (Addanki et al., SIGCOMM 2022): 64; its authors' code has 1,024",
    examples=(64,),
)
_SHARING = (
    QUEUE_SHARING,
    QUEUE_SHARING_INTERVAL,
    QUEUE_SHARING_CONGESTED,
    QUEUE_UNSCHEDULED_CLASSES,
    QUEUE_UNSCHEDULED_ALPHA,
)
_ACCOUNT = (ACCOUNT_POOL, ACCOUNT_RESERVED, ACCOUNT_ALPHA, ACCOUNT_LIMIT)

WRED_MIN = Key(
    "min",
    _length(0),
    "The length, or the time in the queue, from which packets are marked or dropped.",
    examples=("30 KB", "50 us"),
)
WRED_MAX = Key(
    "max",
    _length(0),
    "The length, or the time in the queue, above which all packets are marked or dropped.",
    unset="`min`: a step",
)
WRED_PROBABILITY = Key(
    "probability",
    Percent(*ranges.PPM),
    "The probability just below `max`; it rises linearly from `min`.",
    default=1_000_000,
    source="sonic-wred-profile.yang: drop probability 100 %",
)
WRED_WEIGHT = Key(
    "weight",
    Number(*ranges.WEIGHT_LOG, why="the newest length has the weight 2^-weight; 0 is the instantaneous length"),
    "The length is a moving average; the newest sample has the weight 2^-weight.",
    default=0,
    source="The instantaneous queue length, as DCTCP requires (RFC 8257, section 4.1)",
)
WRED_ECN = Key("ecn", Flag(), "Whether packets that can be marked are marked instead of dropped.", default=True)
WRED_NON_ECT = Key(
    "non_ect",
    NON_ECT_WORDS,
    "What happens to packets that would be marked, but cannot be.",
    default="drop",
    source="Above the threshold, RED hardware drops packets that it cannot mark (RFC 8257, section 4.4)",
)
WRED = Keys(
    "wred",
    "Marks and drops by the queue's length",
    (WRED_MIN, WRED_MAX, WRED_PROBABILITY, WRED_WEIGHT, WRED_ECN, WRED_NON_ECT),
)

PHANTOM_RATE = Key(
    "rate",
    Percent(1, ranges.PPM.most, why="of the link's rate"),
    "The share of the link's rate at which the virtual queue drains.",
    default=950_000,
    source="HULL's gamma (M. Alizadeh et al., \"Less is More: Trading a little Bandwidth for Ultra-Low Latency in the "
    'Data Center", NSDI 2012)',
)
PHANTOM_THRESHOLD = Key(
    "threshold", _BURST, "The length of the virtual queue above which packets are marked.", examples=("3 KB",)
)
PHANTOM = Keys(
    "phantom",
    "A virtual queue that marks (HULL)",
    (
        PHANTOM_RATE,
        PHANTOM_THRESHOLD,
    ),
)

QCN_SET_POINT = Key(
    "set_point",
    Quantity(SIZE, *ranges.SET_POINT_BYTES),
    "The target length of the queue.",
    default=26_000,
    source="ieee8021CnCpQueueSizeSetPoint of IEEE8021-CN-MIB, like the names of the next seven",
)
QCN_SAMPLE = Key(
    "sample",
    Quantity(SIZE, *ranges.SAMPLE_BYTES),
    "The bytes between two samples, plus or minus 15 %, while there is nothing to report; up to eight times fewer if "
    "there is.",
    default=150_000,
    source="ieee8021CnCpMinSampleBase",
)
QCN_WEIGHT = Key(
    "weight",
    Number(*ranges.QCN_WEIGHT, why="the weight of the queue's change"),
    "The weight of the queue's change since the last sample, relative to its distance from the set point.",
    default=2,
    source="ieee8021CnCpFeedbackWeight, 1: 2^1",
)
CONGESTION_POINT = Keys(
    "point",
    "A queue that notifies the sources of its frames (QCN, IEEE 802.1Qau)",
    (
        QCN_SET_POINT,
        QCN_SAMPLE,
        QCN_WEIGHT,
    ),
)

QUEUE_SCHEDULER = Key(
    "scheduler",
    Word[str](("strict", "dwrr", "wrr")),
    "`strict` serves the higher number first, `dwrr` shares by bytes, `wrr` by frames; the last two cannot be mixed "
    "on a port.",
    default="dwrr",
)
QUEUE_WEIGHT = Key(
    "weight",
    Number(*ranges.WEIGHT, why="the queue's weight in the scheduler"),
    "The queue's weight in the scheduler.",
    default=1,
)
QUEUE_CIR = Key("cir", RATE_OF_A_PORT, "A rate that is guaranteed to the queue.")
QUEUE_CBS = Key("cbs", _BURST, "The burst of the guaranteed rate.")
QUEUE_PIR = Key("pir", RATE_OF_A_PORT, "The peak rate, to which the queue is shaped.")
QUEUE_PBS = Key("pbs", _BURST, "The burst of the peak rate.")
QUEUE_WRED = Key("wred", or_none(WRED), "Marks and drops by the queue's length.", default=None)
QUEUE_PHANTOM = Key(
    "phantom", or_none(PHANTOM), "A virtual queue that marks before a real queue builds up (HULL).", default=None
)
QUEUE_QCN = Key(
    "qcn",
    or_none(CONGESTION_POINT),
    "A congestion point: it samples frames and notifies their hosts, whose `nic.qcn` then limits the flow.",
    default=None,
)
QUEUE_VOQ_LIMIT = Key(
    "voq_limit",
    or_none(_length(1), "is neither a size such as '12 MB' nor a duration such as '5 ms', nor 'none'"),
    "The largest amount from one ingress port, as in deep switches with virtual output queues: a size, or a time at "
    "the link's rate.",
    default=None,
    examples=("5 ms",),
)
QUEUE_DISCARD = Key(
    "discard",
    Word[str](("drop", "trim")),
    "What happens to packets that there is no room for. `trim`: they go on without their payload, as the switch's "
    "`trimming` says.",
    default="drop",
    source="SONiC: packet_discard_action of BUFFER_PROFILE",
)
QUEUE_EVENT = Key("event", _OPTIONAL_SIZE, "The length at which a congestion event begins.", default=None)
QUEUE = Keys(
    "queue",
    "A queue of a port with a shared buffer",
    (
        *_ACCOUNT,
        *_SHARING,
        *(QUEUE_SCHEDULER, QUEUE_WEIGHT, QUEUE_CIR, QUEUE_CBS, QUEUE_PIR, QUEUE_PBS, QUEUE_WRED, QUEUE_PHANTOM),
        *(QUEUE_QCN, QUEUE_VOQ_LIMIT, QUEUE_EVENT, QUEUE_DISCARD),
    ),
)

GROUP_ALPHA = Key(
    "alpha",
    PowerOfTwo(),
    "A dynamic limit, as for a queue.",
    unset="no limit",
)
GROUP_LOSSLESS = Key("lossless", Flag(), "Whether the group pauses its sender instead of losing frames.", default=False)
GROUP_HEADROOM = Key(
    "headroom",
    Either(
        (
            Quantity(SIZE, 1, LARGEST_BYTES, why="a lossless group needs some"),
            Word[None](("auto",), meanings={"auto": None}),
        )
    ),
    "Memory for frames that still arrive after a pause frame was sent. `auto` computes it from rates, link delay, "
    "MTU and reaction time.",
    default=None,
)
GROUP_XON = Key("xon", SIZE_OF_MEMORY, "The length below which the neighbour may send again.", default=0)
GROUP_XON_OFFSET = Key(
    "xon_offset",
    SIZE_OF_MEMORY,
    "The neighbour may send again at max(xon, limit - xon_offset).",
    unset="three frames",
)
GROUP = Keys(
    "priority-group",
    "Memory of the frames that came in at a port",
    (
        *(key for key in _ACCOUNT if key.name != "alpha"),
        GROUP_ALPHA,
        GROUP_LOSSLESS,
        GROUP_HEADROOM,
        GROUP_XON,
        GROUP_XON_OFFSET,
    ),
)
