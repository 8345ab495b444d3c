"""The keys of RoCE in a host's NIC: its transport and DCQCN."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fabriclab.formats import ranges
from fabriclab.keys.mappings import Key, Keys
from fabriclab.keys.quantities import Factor, Number, Quantity
from fabriclab.keys.values import Word, or_none
from fabriclab.lab.reading.dscp import DSCP_VALUE
from fabriclab.units import DURATION, RATE, SIZE

_LIMITED_RATE = Quantity(RATE, *ranges.LIMITER_RATE)
_CYCLE = Quantity(DURATION, *ranges.CYCLE_TIME)
_MTUS = (256, 512, 1024, 2048, 4096)

DCQCN_GAIN = Key(
    "gain",
    Factor("a factor from 1/65536 to 1", Fraction(1, 65_536), Fraction(1)),
    "What one notification weighs in alpha, the estimate of how much of the traffic is marked: g of the paper.",
    default=Fraction(1, 256),
    source='Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015; so are the others, '
    "unless another source is given",
    examples=("1/256",),
)
DCQCN_RECOVERY_CYCLES = Key(
    "recovery_cycles",
    Number(*ranges.RECOVERY_CYCLES, why="of fast recovery"),
    "The number of cycles of fast recovery, in which the rate only returns towards its target: F of the paper.",
    default=5,
)
DCQCN_LEAST = Key(
    "least",
    _LIMITED_RATE,
    "The lowest rate of a queue pair.",
    default=1_000_000,
    source="NVIDIA's NICs: rpg_min_rate",
)
DCQCN_ACTIVE = Key(
    "active",
    _LIMITED_RATE,
    "How much each cycle adds to the target rate once one of the two counters has passed fast recovery: R_AI of the "
    "paper.",
    default=40_000_000,
)
DCQCN_HYPER = Key(
    "hyper",
    _LIMITED_RATE,
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

ROCE_MTU = Key(
    "mtu",
    Word[int](tuple(map(str, _MTUS)), meanings={str(mtu): mtu for mtu in _MTUS}),
    "The payload of a full packet, in bytes. A packet with its headers must fit into the link's MTU.",
    default=1024,
    source="The largest that fits into an MTU of 1,500 bytes (InfiniBand's path MTUs are powers of two)",
)
ROCE_WINDOW: Key[int | None] = Key(
    "window",
    or_none(Number(*ranges.ROCE_WINDOW, "a whole number of packets")),
    "The most packets of a queue pair that are not acknowledged.",
    default=None,
)
ROCE_ACK_EVERY = Key(
    "ack_every",
    Number(*ranges.ROCE_WINDOW, "a whole number of packets"),
    "The sender asks for an acknowledgement with every packet of this number, and with the last one of a message.",
    default=256,
    source="Linux: MLX5_IB_ACK_REQ_FREQ, drivers/infiniband/hw/mlx5/qp.c",
)
ROCE_RETRIES = Key(
    "retries",
    Number(*ranges.ROCE_RETRIES, why="three bits"),
    "A queue pair fails after this number of timeouts in a row and one more.",
    default=7,
    source="The most that InfiniBand allows; usual in programs",
)
ROCE_TIMEOUT = Key(
    "timeout",
    Quantity(DURATION, *ranges.ROCE_TIMEOUT, why="of retransmission"),
    "A queue pair that gets no acknowledgement for this time sends everything again from the oldest unacknowledged "
    "packet.",
    default=67_108_864,
    source="4.096 us x 2^14: DEF_QP_TIME of perftest",
    examples=("1 ms",),
)
ROCE_DSCP = Key(
    "dscp",
    DSCP_VALUE,
    "The DSCP of data packets, which selects their class at switches with a shared buffer.",
    default=26,
    source="NVIDIA: the lossless class of RoCE in Cumulus Linux; so is `cnp_dscp`",
    examples=("af31",),
)
ROCE_ACK_DSCP = Key(
    "ack_dscp",
    DSCP_VALUE,
    "The DSCP of acknowledgements.",
    unset="that of data packets, as InfiniBand's service level is a queue pair's",
    examples=("cs6",),
)
ROCE_CNP_DSCP = Key(
    "cnp_dscp",
    DSCP_VALUE,
    "The DSCP of congestion notification packets (CNPs).",
    default=48,
    examples=("cs6",),
)
ROCE_CNP_INTERVAL = Key(
    "cnp_interval",
    Quantity(DURATION, *ranges.CNP_INTERVAL, why="between two notifications of a queue pair"),
    "The receiver's NIC answers marked packets of a queue pair with one notification in this time: N of DCQCN's paper.",
    default=50_000,
    source="Zhu et al., SIGCOMM 2015",
)
ROCE_DCQCN: Key[Any] = Key(
    "dcqcn",
    or_none(DCQCN),
    "The congestion control of queue pairs. `none`: each sends at the line's rate, and only pauses hold it back.",
    unset="DCQCN with the defaults of its keys",
)
ROCE = Keys(
    "roce",
    "RoCEv2 in a host's NIC",
    (
        *(ROCE_MTU, ROCE_WINDOW, ROCE_ACK_EVERY, ROCE_RETRIES, ROCE_TIMEOUT, ROCE_DSCP, ROCE_ACK_DSCP),
        *(ROCE_CNP_DSCP, ROCE_CNP_INTERVAL, ROCE_DCQCN),
    ),
)
NIC_ROCE: Key[Any] = Key(
    "roce",
    or_none(ROCE),
    "RDMA over Converged Ethernet: the NIC sends and receives the messages of traffic with `transport: roce` itself. "
    "A mapping without keys, `{}`, has all defaults.",
    default=None,
)
