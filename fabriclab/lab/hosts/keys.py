"""The keys of hosts: their TCP, their MPTCP, their NIC, the queue of their own ports."""

from __future__ import annotations

from typing import Any

from fabriclab.formats import ranges
from fabriclab.keys.mappings import Key, Keys, Named
from fabriclab.keys.quantities import FALSE_WORDS, TRUE_WORDS, Flag, Number, Percent, Quantity
from fabriclab.keys.values import NONE_WORD, Either, Text, Word, or_none
from fabriclab.lab.ports.keys import AQM, BUFFER_BYTES, OWN_QDISC
from fabriclab.units import DURATION, RATE, SIZE

CONGESTION_CONTROLS = (
    *("reno", "cubic", "dctcp", "htcp", "bic", "bbr", "vegas", "westwood", "nv"),
    *("cdg", "yeah", "illinois", "veno", "scalable", "highspeed", "hybla", "lp", "lia", "dx"),
)
"""The congestion controls of the machine's kernel (net/ipv4/Kconfig), and ours: `lia` (net/mptcp/lia.c), `dx`
(net/ipv4/tcp_dx.c)."""
MOST_ENDPOINTS = ranges.ENDPOINTS.most
"""MPTCP_PM_ADDR_MAX, net/mptcp/protocol.h: endpoints of a host, and the largest of its limits."""
_US, _MS = 10**3, 10**6
_OFF: Word[None] = Word(("off",), meanings={"off": None})
_LIMITED_RATE = Quantity(RATE, *ranges.LIMITER_RATE)
_SOCKET_BUFFER = Quantity(SIZE, *ranges.SOCKET_BUFFER_BYTES)

CONGESTION_CONTROL_NAME: Either[str] = Either(
    (
        Word(CONGESTION_CONTROLS),
        Text(
            "a C file beside the lab, such as `./mine.c`",
            r".+\.c",
            "One of Linux's congestion controls is wanted here, or a C file beside the lab, such as ./mine.c.",
        ),
    )
)

MPTCP_SUBFLOWS = Key(
    "subflows",
    Number(1, MOST_ENDPOINTS, why="of a connection, the first one included; the kernel has 8 endpoints"),
    "How many subflows a connection of this host may have, the first one included. The host has as many addresses.",
    default=8,
    source='What a fat-tree needs (C. Raiciu et al., "Improving Datacenter Performance and Robustness with Multipath '
    'TCP", SIGCOMM 2011)',
)
MPTCP_SCHEDULER = Key(
    "scheduler",
    Word[str](("default",)),
    "Which subflow takes the next data. Linux 6.12 has this one only.",
    default="default",
    source="Linux: net.mptcp.scheduler, Documentation/networking/mptcp-sysctl.rst",
)
MPTCP_PATH_MANAGER = Key(
    "path_manager",
    Word[str](("subflow", "fullmesh", "signal")),
    "Who opens subflows between which addresses, in Linux's words for endpoints (ip-mptcp(8)).",
    default="subflow",
)
MPTCP_ADD_ADDR_ACCEPTED = Key(
    "add_addr_accepted",
    Number(0, MOST_ENDPOINTS, why="addresses that the peer announces"),
    "How many of the addresses that the peer announces a connection uses.",
    default=8,
    source="The most that Linux takes. Its own default is 0; but who has a host announce its addresses wants them used",
)
MPTCP = Keys(
    "mptcp",
    "MPTCP of a host",
    (MPTCP_SUBFLOWS, MPTCP_SCHEDULER, MPTCP_PATH_MANAGER, MPTCP_ADD_ADDR_ACCEPTED),
)

PACER_BUCKET = Key(
    "bucket",
    Quantity(SIZE, *ranges.BUCKET_BYTES),
    "What may leave at once, in bytes on the line. A larger frame waits until the bucket is full.",
    default=3_000,
    source="24 kbit; HULL (NSDI 2012, section 5), as the five that follow",
)
PACER_INTERVAL = Key(
    "interval",
    Quantity(DURATION, *ranges.PACER_INTERVAL, why="from one rate to the next"),
    "From one rate to the next: T_r of the paper.",
    default=64_000,
)
PACER_ETA = Key("eta", Percent(*ranges.PPM), "What the newest measured rate weighs.", default=125_000)
PACER_BETA = Key(
    "beta",
    Number(*ranges.BETA, why="a second"),
    "What each bit that waits adds to the rate, in bits a second, with each interval.",
    default=16,
)
PACER_PROBABILITY = Key(
    "probability",
    Percent(*ranges.PPM),
    "That an acknowledgement with ECE (an echoed mark) has its flow paced from then on.",
    default=125_000,
)
PACER_IDLE = Key(
    "idle",
    Quantity(DURATION, *ranges.PACER_IDLE, why="without a frame of the flow"),
    "A flow that sends nothing for so long is paced no longer: T_i.",
    default=10_000_000,
)
PACER = Keys(
    "pacer",
    "The pacer of a NIC",
    (PACER_BUCKET, PACER_INTERVAL, PACER_ETA, PACER_BETA, PACER_PROBABILITY, PACER_IDLE),
)

QCN_LEAST = Key(
    "least",
    _LIMITED_RATE,
    "The slowest that a limiter gets.",
    default=5_000_000,
    source="ieee8021CnRpgMinRate",
)
QCN_ACTIVE = Key(
    "active",
    _LIMITED_RATE,
    "What each cycle adds to the target once one of the two counters has passed five cycles.",
    default=5_000_000,
    source="ieee8021CnRpgAiRate",
)
QCN_HYPER = Key(
    "hyper",
    _LIMITED_RATE,
    "What it adds once both have, times the cycles since then.",
    default=50_000_000,
    source="ieee8021CnRpgHaiRate",
)
QCN_CYCLE_BYTES = Key(
    "cycle_bytes",
    Quantity(SIZE, *ranges.CYCLE_BYTES),
    "What the flow sends in a cycle of the byte counter, on the line; half of it after five cycles.",
    default=150_000,
    source="ieee8021CnRpgByteReset",
)
QCN_CYCLE_TIME = Key(
    "cycle_time",
    Quantity(DURATION, *ranges.CYCLE_TIME, why="of the timer"),
    "How long a cycle of the timer takes; half of it after five cycles.",
    default=15_000_000,
    source="ieee8021CnRpgTimeReset",
)
LIMITER = Keys(
    "limiter",
    "The reaction point of a host's card",
    (QCN_LEAST, QCN_ACTIVE, QCN_HYPER, QCN_CYCLE_BYTES, QCN_CYCLE_TIME),
)

NIC_TSO: Key[int | None] = Key(
    "tso",
    Either((Quantity(SIZE, *ranges.TSO_BYTES, why="from about two full segments on"), _OFF)),
    "The largest burst that TCP hands the card at once, in bytes of payload. The card cuts it into frames, "
    "which leave back to back at the line's rate (TCP segmentation offload). `off`: full frames, one by one.",
    default=65_536,
    source="GSO_MAX_SIZE of Linux's cards, include/linux/netdevice.h",
    examples=("64 KB", "off"),
)
NIC_GRO = Key(
    "gro",
    Flag(),
    "Whether segments that came in together are merged before TCP sees them (generic receive offload). It "
    "then acknowledges the whole, as real hosts do.",
    default=False,
)
NIC_INTERRUPT_DELAY = Key(
    "interrupt_delay",
    Quantity(
        DURATION,
        ranges.INTERRUPT_DELAY_US.least * _US,
        ranges.INTERRUPT_DELAY_US.most * _US,
        why="from a frame to its interrupt",
        step=_US,
        why_step="in which a NIC is told (rx-usecs)",
    ),
    "From the first frame received to the interrupt that tells of it and of those behind it, in whole "
    "microseconds (`ethtool -C rx-usecs`). It needs `gro: on`.",
    default=0,
    examples=("20 us",),
)
NIC_QUEUES = Key(
    "queues",
    Number(*ranges.TX_QUEUES, why="queues of the card"),
    "How many queues the card sends from. Flows are spread over them by a hash; the card serves them in turn, "
    "frame by frame.",
    default=1,
)
NIC_PACING = Key(
    "pacing",
    Word[str](("fq", "off")),
    "`fq`: Linux's fq stands in front of the card and paces each flow. `aqm` of the host puts other qdiscs there.",
    default="off",
)
NIC_RING = Key(
    "ring",
    BUFFER_BYTES,
    "A queue of the card takes of the qdisc in front of it while it holds less than this (byte queue limits); "
    "so one burst may stand above it. Without a qdisc there, the card's queue is the host's `queue`.",
    default=24_000,
    source="Some 16 full frames. Byte queue limits come to the least with which a card is never idle while there is "
    "something to send (lib/dynamic_queue_limits.c); one burst may always stand above it",
    examples=("24 KB",),
)
NIC_PACER: Key[Any] = Key(
    "pacer",
    or_none(PACER),
    "HULL's hardware pacer: frames of flows that had marks wait behind the segmentation for tokens, whose rate "
    "follows what these flows send; all other frames pass by.",
    default=None,
)
NIC_QCN: Key[Any] = Key(
    "qcn",
    or_none(LIMITER),
    "QCN's reaction point (IEEE 802.1Qau): a flow of which a congestion notification comes has a rate of its "
    "own until it is as fast as the line again.",
    default=None,
)
NIC = Keys(
    "nic",
    "The NIC of a host",
    (NIC_TSO, NIC_GRO, NIC_INTERRUPT_DELAY, NIC_QUEUES, NIC_PACING, NIC_RING, NIC_PACER, NIC_QCN),
)

CONGESTION_CONTROL = Key(
    "congestion_control",
    CONGESTION_CONTROL_NAME,
    "The congestion control of the connections that the host opens. Where nobody wrote one, a host answers the "
    "flows of a host with `dctcp` by `dctcp`. A file is [an algorithm of your "
    "own](../your-own-algorithm.md); a kernel of your own may have more names.",
    default="cubic",
    source="Linux: CONFIG_DEFAULT_TCP_CONG, net/ipv4/Kconfig",
)
ECN = Key(
    "ecn",
    Word[str](
        ("off", "on", "accept", "accurate"),
        aliases={**dict.fromkeys(TRUE_WORDS, "on"), **dict.fromkeys(FALSE_WORDS, "off")},
    ),
    "Whether the host's TCP negotiates ECN: never, always, where the other end asks for it, or always and with "
    "the feedback of [accurate ECN](../l4s.md) where the other end has it, too (RFC 9768; Linux 7.0 or later). "
    "`dctcp` implies `on`.",
    default="accept",
    source="Linux: net.ipv4.tcp_ecn = 2, Documentation/networking/ip-sysctl.rst",
)
RTO_MIN = Key(
    "rto_min",
    Quantity(
        DURATION,
        ranges.RTO_US.least * _US,
        ranges.RTO_US.most * _US,
        why="the timer ticks once a millisecond; Linux's RTO never exceeds 120 s",
        step=_MS,
        why_step="in which the kernel's timer ticks",
    ),
    "The shortest retransmission timeout, in whole milliseconds. In-casts in a data centre hang on it.",
    default=200_000_000,
    source="Linux: TCP_RTO_MIN, include/net/tcp.h",
    examples=("10 ms",),
)
DELAYED_ACK = Key(
    "delayed_ack",
    Flag(),
    "Whether the receiver may delay acknowledgements.",
    default=True,
    source="Linux delays acknowledgements by 40 ms to 200 ms (TCP_DELACK_MIN, TCP_DELACK_MAX)",
)
INITIAL_WINDOW = Key(
    "initial_window",
    Number(*ranges.SEGMENTS, "a whole number of segments", why="segments"),
    "How many segments a new connection sends before the first acknowledgement.",
    default=10,
    source="Linux: TCP_INIT_CWND; RFC 6928",
)
WINDOW_LIMIT: Key[int | None] = Key(
    "window_limit",
    or_none(Number(1, 10**9 - 1, "a whole number of segments")),
    "How many segments of the full size a connection of this host has in flight at most. Its receivers offer "
    "no larger window, so the congestion window may still grow beyond it.",
    default=None,
)
RECEIVE_BUFFER = Key(
    "receive_buffer",
    _SOCKET_BUFFER,
    "The most that autotuning takes for a socket's receive buffer. It bounds the window.",
    default=6 * 2**20,
    source="Linux: the largest value of net.ipv4.tcp_rmem on a machine with enough memory, "
    "Documentation/networking/ip-sysctl.rst",
)
SEND_BUFFER = Key(
    "send_buffer",
    _SOCKET_BUFFER,
    "The most that autotuning takes for a socket's send buffer.",
    default=4 * 2**20,
    source="Linux: the same of net.ipv4.tcp_wmem",
)
QUEUE = Key(
    "queue",
    BUFFER_BYTES,
    "The host's own queue before its line. It must hold one frame at least.",
    default=15_000_000,
    source="A host's own queue before its line: 10,000 full frames, the limit of Linux's fq (tc-fq(8)); never the "
    "bottleneck",
)
HOST_AQM: Key[Any] = Key(
    "aqm",
    Either((AQM, OWN_QDISC, NONE_WORD)),
    "What manages that queue, with the words of a switch's `aqm`.",
    default=None,
)
HOST_MPTCP: Key[Any] = Key(
    "mptcp",
    or_none(MPTCP),
    "MPTCP for the traffic with `transport: mptcp`; the host's other flows are plain TCP.",
    default=None,
)
TIMESTAMP_ERROR = Key(
    "timestamp_error",
    Quantity(DURATION, *ranges.TIMESTAMP_ERROR, why="of delays that are measured"),
    "How far each delay is off that the host measures for senders with `congestion_control: dx`: anything "
    "from minus to plus this, evenly.",
    default=0,
    source="The machine has one clock of 1 ns",
    examples=("0.5 us",),
)
HOST_NIC: Key[Any] = Key(
    "nic",
    or_none(NIC),
    "A network interface card: each frame takes its exact time to be sent, on an idle line too. `none`: a "
    "token bucket, which lets a frame that finds the line idle leave at once.",
    unset="a card with the defaults of its keys",
)
HOST = Keys(
    "host",
    "A host's TCP and its own queue",
    (
        *(CONGESTION_CONTROL, ECN, RTO_MIN, DELAYED_ACK, INITIAL_WINDOW, WINDOW_LIMIT, RECEIVE_BUFFER),
        *(SEND_BUFFER, QUEUE, HOST_AQM, HOST_MPTCP, TIMESTAMP_ERROR, HOST_NIC),
    ),
)

HOSTS = Named(
    HOST,
    "a mapping of `default`, hosts, ranges such as `h1..h4`, groups",
    fixed={"default": HOST},
    source="hosts",
    about={"default": "What holds for every host, unless its name, a range or a group says otherwise."},
)
