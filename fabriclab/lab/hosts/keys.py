"""The keys of hosts: their TCP, their MPTCP, their NIC, the queue of their own ports."""

from __future__ import annotations

from typing import Any, Literal

from fabriclab.formats import ranges
from fabriclab.keys.mappings import Key, Keys, Named
from fabriclab.keys.quantities import FALSE_WORDS, TRUE_WORDS, Flag, Number, Percent, Quantity
from fabriclab.keys.values import NONE_WORD, Either, Text, Word, or_none
from fabriclab.lab.hosts.rdma_keys import RDMA, RDMA_DSCP
from fabriclab.lab.hosts.roce_keys import NIC_ROCE
from fabriclab.lab.ports.keys import AQM, BUFFER_BYTES, OWN_QDISC
from fabriclab.units import DURATION, RATE, SIZE, TOLERANCE

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
            "Write one of Linux's congestion controls, or a C file beside the lab, such as ./mine.c.",
        ),
    )
)

MPTCP_SUBFLOWS = Key(
    "subflows",
    Number(1, MOST_ENDPOINTS, why="of a connection, including the first one; the kernel has 8 endpoints"),
    "The largest number of subflows of a connection of this host, including the first one. The host has as many "
    "addresses.",
    default=8,
    source='The number that a fat-tree needs (C. Raiciu et al., "Improving Datacenter Performance and Robustness '
    'with Multipath TCP", SIGCOMM 2011)',
)
MPTCP_SCHEDULER = Key(
    "scheduler",
    Word[str](("default",)),
    "The scheduler chooses the subflow that sends the next data. Linux 6.12 has only this one.",
    default="default",
    source="Linux: net.mptcp.scheduler, Documentation/networking/mptcp-sysctl.rst",
)
MPTCP_PATH_MANAGER = Key(
    "path_manager",
    Word[str](("subflow", "fullmesh", "signal")),
    "Which end opens subflows between which addresses, in Linux's terms for endpoints (ip-mptcp(8)).",
    default="subflow",
)
MPTCP_ADD_ADDR_ACCEPTED = Key(
    "add_addr_accepted",
    Number(0, MOST_ENDPOINTS, why="addresses that the peer announces"),
    "The number of announced addresses of the peer that a connection uses.",
    default=8,
    source="The most that Linux accepts. Linux's own default is 0, with which announced addresses would not be used",
)
MPTCP = Keys(
    "mptcp",
    "MPTCP of a host",
    (MPTCP_SUBFLOWS, MPTCP_SCHEDULER, MPTCP_PATH_MANAGER, MPTCP_ADD_ADDR_ACCEPTED),
)

PACER_BUCKET = Key(
    "bucket",
    Quantity(SIZE, *ranges.BUCKET_BYTES),
    "The largest burst, in bytes on the link. A larger frame waits until the bucket is full.",
    default=3_000,
    source="24 kbit; HULL (NSDI 2012, section 5); so are the next five",
)
PACER_INTERVAL = Key(
    "interval",
    Quantity(DURATION, *ranges.PACER_INTERVAL, why="from one rate to the next"),
    "The time between two updates of the rate: T_r of the paper.",
    default=64_000,
)
PACER_ETA = Key("eta", Percent(*ranges.PPM), "The weight of the newest measured rate.", default=125_000)
PACER_BETA = Key(
    "beta",
    Number(*ranges.BETA, why="a second"),
    "How much each waiting bit adds to the rate in each interval, in bits per second.",
    default=16,
)
PACER_PROBABILITY = Key(
    "probability",
    Percent(*ranges.PPM),
    "The probability that an acknowledgement with ECE (an echoed mark) starts the pacing of its flow.",
    default=125_000,
)
PACER_IDLE = Key(
    "idle",
    Quantity(DURATION, *ranges.PACER_IDLE, why="without a frame of the flow"),
    "The pacing of a flow ends when it has sent nothing for this time: T_i of the paper.",
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
    "The lowest rate of a limiter.",
    default=5_000_000,
    source="ieee8021CnRpgMinRate",
)
QCN_ACTIVE = Key(
    "active",
    _LIMITED_RATE,
    "How much each cycle adds to the target rate once one of the two counters has passed five cycles.",
    default=5_000_000,
    source="ieee8021CnRpgAiRate",
)
QCN_HYPER = Key(
    "hyper",
    _LIMITED_RATE,
    "How much each cycle adds once both counters have passed five cycles, times the cycles since then.",
    default=50_000_000,
    source="ieee8021CnRpgHaiRate",
)
QCN_CYCLE_BYTES = Key(
    "cycle_bytes",
    Quantity(SIZE, *ranges.CYCLE_BYTES),
    "The length of a cycle of the byte counter, in bytes on the link; half of it after five cycles.",
    default=150_000,
    source="ieee8021CnRpgByteReset",
)
QCN_CYCLE_TIME = Key(
    "cycle_time",
    Quantity(DURATION, *ranges.CYCLE_TIME, why="of the timer"),
    "The length of a cycle of the timer; half of it after five cycles.",
    default=15_000_000,
    source="ieee8021CnRpgTimeReset",
)
LIMITER = Keys(
    "limiter",
    "The reaction point of a host's NIC",
    (QCN_LEAST, QCN_ACTIVE, QCN_HYPER, QCN_CYCLE_BYTES, QCN_CYCLE_TIME),
)

NIC_TSO: Key[int | None] = Key(
    "tso",
    Either((Quantity(SIZE, *ranges.TSO_BYTES, why="from about two full segments on"), _OFF)),
    "The largest burst that TCP hands the NIC at once, in bytes of payload. The NIC cuts it into frames, which leave "
    "back to back at the link's rate (TCP segmentation offload). `off`: full frames, one by one.",
    default=65_536,
    source="Linux: GSO_MAX_SIZE, include/linux/netdevice.h",
    examples=("64 KB", "off"),
)
NIC_GRO = Key(
    "gro",
    Flag(),
    "Whether segments that came in together are merged before TCP sees them (generic receive offload). TCP then "
    "acknowledges them together, as real hosts do. `off`: TCP sees each frame when it comes in.",
    default=True,
    source="Linux: NETIF_F_SOFT_FEATURES, include/linux/netdev_features.h",
)
NIC_INTERRUPT_DELAY: Key[int | Literal["adaptive"]] = Key(
    "interrupt_delay",
    Either(
        (
            Quantity(
                DURATION,
                ranges.INTERRUPT_DELAY_US.least * _US,
                ranges.INTERRUPT_DELAY_US.most * _US,
                why="from a frame to its interrupt",
                step=_US,
                why_step="in which a NIC is configured (rx-usecs)",
            ),
            Word(("adaptive",)),
        )
    ),
    "The time from the first received frame to the interrupt, in whole microseconds (`ethtool -C rx-usecs`). "
    "`adaptive` (`adaptive-rx on`): Linux's DIM chooses the time from one interrupt to the next, 2 to 126 us. Both "
    "need `gro: on`; with `gro: off` it is 0 s.",
    default="adaptive",
    source="Linux: drivers/net/ethernet/intel/ice adapts unless told otherwise",
    examples=("20 us", "adaptive"),
)
NIC_RECEIVE_QUEUES = Key(
    "receive_queues",
    Number(*ranges.RECEIVE_QUEUES, why="queues that a NIC has"),
    "The number of receive queues of the NIC. A hash spreads flows over them, and each has interrupts of its own "
    "(receive-side scaling, RSS), so a short flow seldom waits for the interrupt of a long one.",
    default=8,
    source="Linux: netif_get_num_default_rss_queues(), net/core/dev.c, for a server with 16 cores",
)
NIC_QUEUES = Key(
    "queues",
    Number(*ranges.TX_QUEUES, why="queues of the NIC"),
    "The number of transmit queues of the NIC. A hash spreads flows over them; the NIC serves them in turn, frame by "
    "frame.",
    default=1,
)
NIC_PACING = Key(
    "pacing",
    Word[str](("fq", "off")),
    "`fq`: Linux's fq is in front of the NIC and paces each flow. The host's `aqm` puts other qdiscs there.",
    default="off",
)
NIC_RING = Key(
    "ring",
    BUFFER_BYTES,
    "A queue of the NIC takes frames from the qdisc in front of it while it holds less than this (byte queue "
    "limits), so one burst may exceed it. Without a qdisc there, the NIC's queue is the host's `queue`.",
    default=24_000,
    source="About 16 full frames. Byte queue limits converge to the smallest value with which a NIC is never idle "
    "while there is something to send (lib/dynamic_queue_limits.c); one burst may always exceed it",
    examples=("24 KB",),
)
NIC_PACER: Key[Any] = Key(
    "pacer",
    or_none(PACER),
    "HULL's hardware pacer. Frames of flows that had marks wait behind the segmentation for tokens; the token rate "
    "follows the rate of these flows. All other frames overtake them.",
    default=None,
)
NIC_QCN: Key[Any] = Key(
    "qcn",
    or_none(LIMITER),
    "QCN's reaction point (IEEE 802.1Qau): a flow that gets a congestion notification has a rate of its own until it "
    "reaches the link's rate again.",
    default=None,
)
NIC_CLOCK_ERROR = Key(
    "clock_error",
    Quantity(TOLERANCE, 0, ranges.CLOCK_PPB.most, why="as IEEE 802.3 allows"),
    "The NIC's clock is off by up to this, to either side; the seed draws how far. Frames take so much shorter or "
    "longer. `0 ppm`: the clock of every NIC and switch is the same.",
    default=50_000,
    source="Oscillators of NICs are usually specified with 30 to 50 ppm; IEEE 802.3 allows 100 ppm",
    examples=("50 ppm",),
)
NIC = Keys(
    "nic",
    "The NIC of a host",
    (
        NIC_TSO,
        NIC_GRO,
        NIC_INTERRUPT_DELAY,
        NIC_RECEIVE_QUEUES,
        NIC_QUEUES,
        NIC_PACING,
        NIC_RING,
        NIC_CLOCK_ERROR,
        NIC_PACER,
        NIC_QCN,
        NIC_ROCE,
    ),
)

CONGESTION_CONTROL = Key(
    "congestion_control",
    CONGESTION_CONTROL_NAME,
    "The congestion control of the connections that the host opens. If none is written, a host uses `dctcp` at its "
    "end of flows from a host with `dctcp`. A C file adds [your own algorithm](../your-own-algorithm.md). A kernel "
    "of your own may have more names.",
    default="cubic",
    source="Linux: CONFIG_DEFAULT_TCP_CONG, net/ipv4/Kconfig",
)
ECN = Key(
    "ecn",
    Word[str](
        ("off", "on", "accept", "accurate"),
        aliases={**dict.fromkeys(TRUE_WORDS, "on"), **dict.fromkeys(FALSE_WORDS, "off")},
    ),
    "Whether the host's TCP negotiates ECN: never, always, if the other end asks for it, or always, with the "
    "feedback of [accurate ECN](../l4s.md) if the other end supports it (RFC 9768; Linux 7.0 or later). `dctcp` "
    "implies `on`.",
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
    "The shortest retransmission timeout, in whole milliseconds. In-cast performance in a data centre depends on it.",
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
SACK = Key(
    "sack",
    Flag(),
    "Whether the host's TCP negotiates selective acknowledgements. Without them it recovers from a loss as NewReno "
    "does (RFC 6582), one segment a round-trip time.",
    default=True,
    source="Linux: net.ipv4.tcp_sack, Documentation/networking/ip-sysctl.rst",
)
INITIAL_WINDOW = Key(
    "initial_window",
    Number(*ranges.SEGMENTS, "a whole number of segments", why="segments"),
    "The number of segments that a new connection sends before the first acknowledgement.",
    default=10,
    source="Linux: TCP_INIT_CWND; RFC 6928",
)
WINDOW_LIMIT: Key[int | None] = Key(
    "window_limit",
    or_none(Number(1, 10**9 - 1, "a whole number of segments")),
    "The largest number of full-size segments that a connection of this host has in flight. Its receivers offer no "
    "larger window, so the congestion window may still grow beyond it.",
    default=None,
)
RECEIVE_BUFFER = Key(
    "receive_buffer",
    _SOCKET_BUFFER,
    "The largest receive buffer that autotuning gives to a socket. It limits the window.",
    default=6 * 2**20,
    source="Linux: the largest value of net.ipv4.tcp_rmem on a machine with enough memory, "
    "Documentation/networking/ip-sysctl.rst",
)
SEND_BUFFER = Key(
    "send_buffer",
    _SOCKET_BUFFER,
    "The largest send buffer that autotuning gives to a socket.",
    default=4 * 2**20,
    source="Linux: the largest value of net.ipv4.tcp_wmem",
)
QUEUE = Key(
    "queue",
    BUFFER_BYTES,
    "The host's own queue before its link. It must hold at least one frame.",
    default=15_000_000,
    source="10,000 full frames, the limit of Linux's fq (tc-fq(8)), so that it is never the bottleneck",
)
HOST_AQM: Key[Any] = Key(
    "aqm",
    Either((AQM, OWN_QDISC, NONE_WORD)),
    "The queue management of that queue, with the keys of a switch's `aqm`.",
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
    Quantity(DURATION, *ranges.TIMESTAMP_ERROR, why="of measured delays"),
    "The error of each delay that the host measures for senders with `congestion_control: dx`: uniform between minus "
    "and plus this value.",
    default=0,
    source="The virtual machine has one clock, with a resolution of 1 ns",
    examples=("0.5 us",),
)
HOST_NIC: Key[Any] = Key(
    "nic",
    NIC,
    "The network interface card (NIC). Each frame takes exactly its transmission time, on an idle link too.",
    unset="a NIC with the defaults of its keys",
)
HOST = Keys(
    "host",
    "A host's TCP and its own queue",
    (
        *(CONGESTION_CONTROL, ECN, RTO_MIN, DELAYED_ACK, SACK, INITIAL_WINDOW, WINDOW_LIMIT, RECEIVE_BUFFER),
        *(SEND_BUFFER, QUEUE, HOST_AQM, HOST_MPTCP, TIMESTAMP_ERROR, HOST_NIC, RDMA, RDMA_DSCP),
    ),
)

HOSTS = Named(
    HOST,
    "a mapping of `default`, hosts, ranges such as `h1..h4`, groups",
    fixed={"default": HOST},
    source="hosts",
    about={"default": "Settings for every host. A name, a range or a group overrides them."},
)
