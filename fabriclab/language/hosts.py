"""Hosts: their TCP, their MPTCP, their socket buffers, the queue of their own ports."""

from __future__ import annotations

from fabriclab.lab.hosts.limiter import (
    FASTEST_LIMIT_BPS,
    LEAST_CYCLE_BYTES,
    LONGEST_CYCLE_NS,
    MOST_CYCLE_BYTES,
    SHORTEST_CYCLE_NS,
    SLOWEST_LIMIT_BPS,
)
from fabriclab.lab.hosts.mptcp import MOST_ADDRESSES, PATH_MANAGERS, SCHEDULERS
from fabriclab.lab.hosts.nic import (
    LEAST_TSO_BYTES,
    LONGEST_INTERRUPT_DELAY_NS,
    MOST_TSO_BYTES,
    MOST_TX_QUEUES,
    OFF,
    PACING,
)
from fabriclab.lab.hosts.pacer import (
    LARGEST_BETA,
    LARGEST_BUCKET_BYTES,
    LONGEST_IDLE_NS,
    LONGEST_INTERVAL_NS,
    SHORTEST_INTERVAL_NS,
    WHOLE_PPM,
)
from fabriclab.lab.hosts.transport import (
    CONGESTION_CONTROLS,
    ECN_ALIASES,
    ECN_WORDS,
    LARGEST_TIMESTAMP_ERROR_NS,
    LONGEST_RTO_NS,
    MOST_INITIAL_SEGMENTS,
    SHORTEST_RTO_NS,
    SMALLEST_SOCKET_BUFFER,
)
from fabriclab.lab.ports.buffer import LARGEST_BUFFER_BYTES
from fabriclab.language.keys import Key, Keys, Named
from fabriclab.language.ports import AQM, OWN_QDISC
from fabriclab.language.sources import constant, plain, words
from fabriclab.language.values import NONE, Either, Flag, Number, Percent, Quantity, Text, Word, or_none
from fabriclab.units import DURATION, RATE, SIZE

_SOCKET_BUFFER = Quantity(SIZE, SMALLEST_SOCKET_BUFFER, LARGEST_BUFFER_BYTES)

CONGESTION_CONTROL = Either(
    (
        Word(CONGESTION_CONTROLS),
        Text(
            "a C file beside the lab, such as `./mine.c`",
            r".+\.c",
            "One of Linux's congestion controls is wanted here, or a C file beside the lab, such as ./mine.c.",
        ),
    )
)

MPTCP = Keys(
    "mptcp",
    "MPTCP of a host",
    (
        Key(
            "subflows",
            Number(1, MOST_ADDRESSES),
            "How many subflows a connection of this host may have, the first one included. The host has as many "
            "addresses.",
            constant("MPTCP_SUBFLOWS"),
        ),
        Key(
            "scheduler",
            Word(SCHEDULERS),
            "Which subflow takes the next data. Linux 6.12 has this one only.",
            constant("MPTCP_SCHEDULER"),
        ),
        Key(
            "path_manager",
            Word(PATH_MANAGERS),
            "Who opens subflows between which addresses, in Linux's words for endpoints (ip-mptcp(8)).",
            constant("MPTCP_PATH_MANAGER"),
        ),
        Key(
            "add_addr_accepted",
            Number(0, MOST_ADDRESSES),
            "How many of the addresses that the peer announces a connection uses.",
            constant("MPTCP_ADD_ADDR_ACCEPTED"),
        ),
    ),
)

PACER = Keys(
    "pacer",
    "The pacer of a NIC",
    (
        Key(
            "bucket",
            Quantity(SIZE, 1, LARGEST_BUCKET_BYTES),
            "What may leave at once, in bytes on the line. A larger frame waits until the bucket is full.",
            constant("PACER_BUCKET_BYTES"),
        ),
        Key(
            "interval",
            Quantity(DURATION, SHORTEST_INTERVAL_NS, LONGEST_INTERVAL_NS),
            "From one rate to the next: T_r of the paper.",
            constant("PACER_INTERVAL_NS"),
        ),
        Key("eta", Percent(0, WHOLE_PPM), "What the newest measured rate weighs.", constant("PACER_ETA_PPM")),
        Key(
            "beta",
            Number(0, LARGEST_BETA),
            "What each bit that waits adds to the rate, in bits a second, with each interval.",
            constant("PACER_BETA"),
        ),
        Key(
            "probability",
            Percent(0, WHOLE_PPM),
            "That an acknowledgement with ECE (an echoed mark) has its flow paced from then on.",
            constant("PACER_PROBABILITY_PPM"),
        ),
        Key(
            "idle",
            Quantity(DURATION, 0, LONGEST_IDLE_NS),
            "A flow that sends nothing for so long is paced no longer: T_i.",
            constant("PACER_IDLE_NS"),
        ),
    ),
)

LIMITER = Keys(
    "limiter",
    "The reaction point of a host's card",
    (
        Key(
            "least",
            Quantity(RATE, SLOWEST_LIMIT_BPS, FASTEST_LIMIT_BPS),
            "The slowest that a limiter gets.",
            constant("QCN_LEAST_BPS"),
        ),
        Key(
            "active",
            Quantity(RATE, SLOWEST_LIMIT_BPS, FASTEST_LIMIT_BPS),
            "What each cycle adds to the target once one of the two counters has passed five cycles.",
            constant("QCN_ACTIVE_BPS"),
        ),
        Key(
            "hyper",
            Quantity(RATE, SLOWEST_LIMIT_BPS, FASTEST_LIMIT_BPS),
            "What it adds once both have, times the cycles since then.",
            constant("QCN_HYPER_BPS"),
        ),
        Key(
            "cycle_bytes",
            Quantity(SIZE, LEAST_CYCLE_BYTES, MOST_CYCLE_BYTES),
            "What the flow sends in a cycle of the byte counter, on the line; half of it after five cycles.",
            constant("QCN_CYCLE_BYTES"),
        ),
        Key(
            "cycle_time",
            Quantity(DURATION, SHORTEST_CYCLE_NS, LONGEST_CYCLE_NS),
            "How long a cycle of the timer takes; half of it after five cycles.",
            constant("QCN_CYCLE_NS"),
        ),
    ),
)

NIC = Keys(
    "nic",
    "The NIC of a host",
    (
        Key(
            "tso",
            Either((Quantity(SIZE, LEAST_TSO_BYTES, MOST_TSO_BYTES), Word((OFF,)))),
            "The largest burst that TCP hands the card at once, in bytes of payload. The card cuts it into frames, "
            "which leave back to back at the line's rate (TCP segmentation offload). `off`: full frames, one by one.",
            constant("TSO_BYTES"),
            ("64 KB", "off"),
        ),
        Key(
            "gro",
            Flag(),
            "Whether segments that came in together are merged before TCP sees them (generic receive offload). It "
            "then acknowledges the whole, as real hosts do.",
            constant("GRO"),
        ),
        Key(
            "interrupt_delay",
            Quantity(DURATION, 0, LONGEST_INTERRUPT_DELAY_NS),
            "From the first frame received to the interrupt that tells of it and of those behind it, in whole "
            "microseconds (`ethtool -C rx-usecs`). It needs `gro: on`.",
            constant("INTERRUPT_DELAY_NS"),
            ("20 us",),
        ),
        Key(
            "queues",
            Number(1, MOST_TX_QUEUES),
            "How many queues the card sends from. Flows are spread over them by a hash; the card serves them in turn, "
            "frame by frame.",
            constant("TX_QUEUES"),
        ),
        Key(
            "pacing",
            Word(PACING),
            "`fq`: Linux's fq stands in front of the card and paces each flow. `aqm` of the host puts other qdiscs "
            "there.",
            constant("PACING"),
        ),
        Key(
            "ring",
            Quantity(SIZE, 1, LARGEST_BUFFER_BYTES),
            "A queue of the card takes of the qdisc in front of it while it holds less than this (byte queue limits); "
            "so one burst may stand above it. Without a qdisc there, the card's queue is the host's `queue`.",
            constant("RING_BYTES"),
            ("24 KB",),
        ),
        Key(
            "pacer",
            or_none(PACER),
            "HULL's hardware pacer: frames of flows that had marks wait behind the segmentation for tokens, whose rate "
            "follows what these flows send; all other frames pass by.",
            plain("none"),
        ),
        Key(
            "qcn",
            or_none(LIMITER),
            "QCN's reaction point (IEEE 802.1Qau): a flow of which a congestion notification comes has a rate of its "
            "own until it is as fast as the line again.",
            plain("none"),
        ),
    ),
)

HOST = Keys(
    "host",
    "A host's TCP and its own queue",
    (
        Key(
            "congestion_control",
            CONGESTION_CONTROL,
            "The congestion control of the connections that the host opens. Where nobody wrote one, a host answers the "
            "flows of a host with `dctcp` by `dctcp`. A file is [an algorithm of your "
            "own](../your-own-algorithm.md); a kernel of your own may have more names.",
            constant("CONGESTION_CONTROL"),
        ),
        Key(
            "ecn",
            Word(ECN_WORDS, tuple(ECN_ALIASES)),
            "Whether the host's TCP negotiates ECN: never, always, where the other end asks for it, or always and with "
            "the feedback of [accurate ECN](../l4s.md) where the other end has it, too (RFC 9768; Linux 7.0 or later). "
            "`dctcp` implies `on`.",
            constant("ECN"),
        ),
        Key(
            "rto_min",
            Quantity(DURATION, SHORTEST_RTO_NS, LONGEST_RTO_NS),
            "The shortest retransmission timeout, in whole milliseconds. In-casts in a data centre hang on it.",
            constant("RTO_MIN_NS"),
            ("10 ms",),
        ),
        Key("delayed_ack", Flag(), "Whether the receiver may delay acknowledgements.", constant("DELAYED_ACK")),
        Key(
            "initial_window",
            Number(1, MOST_INITIAL_SEGMENTS, "a whole number of segments"),
            "How many segments a new connection sends before the first acknowledgement.",
            constant("INITIAL_WINDOW_SEGMENTS"),
        ),
        Key(
            "window_limit",
            or_none(Number(1, 10**9 - 1, "a whole number of segments")),
            "How many segments of the full size a connection of this host has in flight at most. Its receivers offer "
            "no larger window, so the congestion window may still grow beyond it.",
            plain("none"),
        ),
        Key(
            "receive_buffer",
            _SOCKET_BUFFER,
            "The most that autotuning takes for a socket's receive buffer. It bounds the window.",
            constant("RECEIVE_BUFFER_BYTES"),
        ),
        Key(
            "send_buffer",
            _SOCKET_BUFFER,
            "The most that autotuning takes for a socket's send buffer.",
            constant("SEND_BUFFER_BYTES"),
        ),
        Key(
            "queue",
            Quantity(SIZE, 1, LARGEST_BUFFER_BYTES),
            "The host's own queue before its line. It must hold one frame at least.",
            constant("HOST_QUEUE_BYTES"),
        ),
        Key(
            "aqm",
            Either((AQM, OWN_QDISC, NONE)),
            "What manages that queue, with the words of a switch's `aqm`.",
            plain("none"),
        ),
        Key(
            "mptcp",
            or_none(MPTCP),
            "MPTCP for the traffic with `transport: mptcp`; the host's other flows are plain TCP.",
            plain("none"),
        ),
        Key(
            "timestamp_error",
            Quantity(DURATION, 0, LARGEST_TIMESTAMP_ERROR_NS),
            "How far each delay is off that the host measures for senders with `congestion_control: dx`: anything "
            "from minus to plus this, evenly.",
            constant("TIMESTAMP_ERROR_NS"),
            ("0.5 us",),
        ),
        Key(
            "nic",
            or_none(NIC),
            "A network interface card: each frame takes its exact time to be sent, on an idle line too. `none`: a "
            "token bucket, which lets a frame that finds the line idle leave at once.",
            words("a card with the defaults of its keys"),
        ),
    ),
)

HOSTS = Named(
    HOST,
    "a mapping of `default`, hosts, ranges such as `h1..h4`, groups",
    fixed={"default": HOST},
    about={"default": "What holds for every host, unless its name, a range or a group says otherwise."},
)
