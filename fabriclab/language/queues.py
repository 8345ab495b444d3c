"""Queues and priority groups of a port with a shared buffer: what each takes of the memory, marks, drops, pauses."""

from __future__ import annotations

from fabriclab.lab.ports.buffer import NON_ECT_WORDS
from fabriclab.lab.reading.percent import WHOLE_PPM
from fabriclab.lab.switch.account import LARGEST_BYTES
from fabriclab.lab.switch.priority_groups import AUTO
from fabriclab.lab.switch.queues import (
    FASTEST_BPS,
    LARGEST_BURST_BYTES,
    LARGEST_LENGTH,
    LARGEST_QCN_WEIGHT,
    LARGEST_SET_POINT_BYTES,
    LARGEST_WEIGHT,
    LARGEST_WEIGHT_LOG,
    LEAST_SAMPLE_BYTES,
    MOST_SAMPLE_BYTES,
    SCHEDULERS,
    SLOWEST_BPS,
)
from fabriclab.language.keys import Key, Keys
from fabriclab.language.sources import constant, plain, words
from fabriclab.language.values import (
    Either,
    Factor,
    Flag,
    Number,
    Percent,
    Quantity,
    Text,
    Word,
    or_none,
)
from fabriclab.units import DURATION, RATE, SIZE

SIZE_OF_MEMORY = Quantity(SIZE, 0, LARGEST_BYTES)
_OPTIONAL_SIZE = or_none(Quantity(SIZE, 1, LARGEST_BYTES))
_BURST = Quantity(SIZE, 1, LARGEST_BURST_BYTES)
RATE_OF_A_PORT = Quantity(RATE, SLOWEST_BPS, FASTEST_BPS)
_LENGTH = Either((Quantity(SIZE, 0, LARGEST_LENGTH), Quantity(DURATION, 0, LARGEST_LENGTH)))

_ACCOUNT = (
    Key(
        "pool",
        or_none(Text("a pool's name")),
        "Whose memory it takes; `none`: its own, of `limit`.",
        words("the first pool"),
    ),
    Key("reserved", SIZE_OF_MEMORY, "Bytes of the pool that are its alone.", plain("0 B")),
    Key(
        "alpha",
        Factor("a power of two from 1/256 to 128"),
        "A dynamic limit: below alpha times the pool's free memory. It stands in place of `limit`.",
        plain(1),
        ("1/8", 8),
    ),
    Key("limit", _OPTIONAL_SIZE, "A static limit; `none`: all of the pool. It stands in place of `alpha`."),
)

WRED = Keys(
    "wred",
    "Marks and drops by the queue's length",
    (
        Key(
            "min",
            _LENGTH,
            "The length, or the time in the queue, from which packets are marked or dropped.",
            examples=("30 KB", "50 us"),
        ),
        Key("max", _LENGTH, "The length, or the time in the queue, above which all are.", words("`min`: a step")),
        Key(
            "probability",
            Percent(0, WHOLE_PPM),
            "The probability just below `max`, up to which a line leads from `min`.",
            constant("WRED_PROBABILITY_PPM"),
        ),
        Key(
            "weight",
            Number(0, LARGEST_WEIGHT_LOG),
            "The length is an average in which the newest one weighs 2^-weight.",
            constant("WRED_WEIGHT_LOG"),
        ),
        Key("ecn", Flag(), "Whether packets that can be marked are marked instead of dropped.", constant("WRED_ECN")),
        Key(
            "non_ect",
            Word(NON_ECT_WORDS),
            "What becomes of packets that would be marked, but cannot be.",
            constant("NON_ECT"),
        ),
    ),
)

PHANTOM = Keys(
    "phantom",
    "A virtual queue that marks (HULL)",
    (
        Key(
            "rate",
            Percent(1, WHOLE_PPM),
            "The share of the line's rate at which the virtual queue drains.",
            constant("PHANTOM_RATE_PPM"),
        ),
        Key("threshold", _BURST, "The length of the virtual queue above which packets are marked.", examples=("3 KB",)),
    ),
)

CONGESTION_POINT = Keys(
    "point",
    "A queue that tells the sources of its frames (QCN, IEEE 802.1Qau)",
    (
        Key(
            "set_point",
            Quantity(SIZE, 1, LARGEST_SET_POINT_BYTES),
            "The length that the queue is to have.",
            constant("QCN_SET_POINT_BYTES"),
        ),
        Key(
            "sample",
            Quantity(SIZE, LEAST_SAMPLE_BYTES, MOST_SAMPLE_BYTES),
            "From one sample to the next, give or take 15 %, while there is nothing to tell; up to eight times less "
            "where there is.",
            constant("QCN_SAMPLE_BYTES"),
        ),
        Key(
            "weight",
            Number(0, LARGEST_QCN_WEIGHT),
            "How much the queue's change since the last sample counts beside its distance from the set point.",
            constant("QCN_WEIGHT"),
        ),
    ),
)

QUEUE = Keys(
    "queue",
    "A queue of a port with a shared buffer",
    (
        *_ACCOUNT,
        Key(
            "scheduler",
            Word(SCHEDULERS),
            "`strict` serves the higher number first, `dwrr` shares by bytes, `wrr` by frames; these two do not mix on "
            "a port.",
            plain("dwrr"),
        ),
        Key("weight", Number(1, LARGEST_WEIGHT), "Its share of what the scheduler gives.", plain(1)),
        Key("cir", RATE_OF_A_PORT, "A rate that is guaranteed to the queue."),
        Key("cbs", _BURST, "The burst of the guaranteed rate."),
        Key("pir", RATE_OF_A_PORT, "The peak rate, to which the queue is shaped."),
        Key("pbs", _BURST, "The burst of the peak rate."),
        Key("wred", or_none(WRED), "Marks and drops by the queue's length.", plain("none")),
        Key("phantom", or_none(PHANTOM), "A virtual queue that marks before a real one stands (HULL).", plain("none")),
        Key(
            "qcn",
            or_none(CONGESTION_POINT),
            "A congestion point: it samples frames and tells their hosts, whose `nic.qcn` then limits the flow.",
            plain("none"),
        ),
        Key(
            "voq_limit",
            or_none(_LENGTH),
            "The most from one ingress port, as deep switches with virtual output queues have it: a size, or a time at "
            "the line's rate.",
            plain("none"),
            ("5 ms",),
        ),
        Key("event", _OPTIONAL_SIZE, "The length at which a congestion event begins.", plain("none")),
    ),
)

GROUP = Keys(
    "priority-group",
    "Memory of the frames that came in at a port",
    (
        *(key for key in _ACCOUNT if key.name != "alpha"),
        Key(
            "alpha",
            Factor("a power of two from 1/256 to 128"),
            "A dynamic limit, as a queue's.",
            words("no limit"),
        ),
        Key("lossless", Flag(), "Whether the group pauses its sender in place of losing frames.", plain(False)),
        Key(
            "headroom",
            Either((Quantity(SIZE, 1, LARGEST_BYTES), Word((AUTO,)))),
            "Memory for what still comes in after a pause was sent. `auto` computes it from rates, cable, MTU and "
            "reaction time.",
            plain(AUTO),
        ),
        Key("xon", SIZE_OF_MEMORY, "The length below which the neighbour may go on.", plain("0 B")),
        Key(
            "xon_offset",
            SIZE_OF_MEMORY,
            "The neighbour may go on at max(xon, limit - xon_offset).",
            words("three frames"),
        ),
    ),
)
