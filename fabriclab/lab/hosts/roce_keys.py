"""The keys of RoCE in a host's NIC: its transport. Those of its congestion controls are in `roce_control_keys.py`."""

from __future__ import annotations

from typing import Any

from fabriclab.formats import ranges
from fabriclab.keys.mappings import Key, Keys
from fabriclab.keys.quantities import Number, Quantity
from fabriclab.keys.values import Word, or_none
from fabriclab.lab.hosts.roce_control_keys import (
    CREDIT,
    DCQCN,
    HPCC,
    ROCE_CONGESTION_CONTROL,
    ROCE_OPTIONS,
    SWIFT,
    TIMELY,
)
from fabriclab.lab.reading.dscp import DSCP_VALUE
from fabriclab.units import DURATION

_MTUS = (256, 512, 1024, 2048, 4096)

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
    "The sender asks for an acknowledgement with every packet of this number, and with the last one of a message. With "
    "`congestion_control: hpcc` and `swift` it asks with every packet.",
    unset="256 (Linux: MLX5_IB_ACK_REQ_FREQ, drivers/infiniband/hw/mlx5/qp.c); 16 with `timely`, whose segments have "
    "16 KB or more",
)
ROCE_LOSS_RECOVERY = Key(
    "loss_recovery",
    Word[str](("go-back-n", "selective-repeat")),
    "What is sent again after a loss: everything from the lost packet on, or only the packets that are missing. "
    "Selective repeat follows IRN and has a window of 4,096 packets at most; it has no READ (`mode: read`).",
    default="go-back-n",
    source='InfiniBand; selective repeat: R. Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018',
)
ROCE_REORDER_WINDOW = Key(
    "reorder_window",
    Number(*ranges.ROCE_REORDER, "a whole number of packets"),
    "With selective repeat, a packet is sent again only when one that is more than this many packets behind it has "
    "come, or after the timeout. For switches that spread a flow's packets over several paths.",
    default=0,
    source="A packet that was overtaken is lost (IRN, section 3.1)",
    examples=(64,),
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
ROCE_MAX_RD_ATOMIC = Key(
    "max_rd_atomic",
    Number(*ranges.ROCE_READS, why="eight bits"),
    "The most READs of a queue pair whose data have not all come (`max_rd_atomic` of libibverbs). Further ones wait.",
    default=16,
    source="What NVIDIA's NICs have: max_qp_rd_atom of ConnectX",
)
ROCE_TRIMMED = Key(
    "trimmed",
    Word[str](("drop", "nack")),
    "What the NIC does with packets that a switch has trimmed. `nack`: it asks for each of them again at once. `drop`: "
    "it does not know them, and they are lost.",
    default="drop",
    source="NICs without trimming; `nack`: Ultra Ethernet, NVIDIA's BlueField",
)
ROCE_DCQCN: Key[Any] = Key("dcqcn", DCQCN, "The parameters of `congestion_control: dcqcn`.")
ROCE_HPCC: Key[Any] = Key("hpcc", HPCC, "The parameters of `congestion_control: hpcc`.")
ROCE_TIMELY: Key[Any] = Key("timely", TIMELY, "The parameters of `congestion_control: timely`.")
ROCE_SWIFT: Key[Any] = Key("swift", SWIFT, "The parameters of `congestion_control: swift`.")
ROCE_CREDIT: Key[Any] = Key("credit", CREDIT, "The parameters of `congestion_control: credit`.")
ROCE = Keys(
    "roce",
    "RoCEv2 in a host's NIC",
    (
        *(
            ROCE_MTU,
            ROCE_WINDOW,
            ROCE_ACK_EVERY,
            ROCE_LOSS_RECOVERY,
            ROCE_REORDER_WINDOW,
            ROCE_RETRIES,
            ROCE_TIMEOUT,
            ROCE_DSCP,
            ROCE_ACK_DSCP,
        ),
        *(ROCE_CNP_DSCP, ROCE_CNP_INTERVAL, ROCE_MAX_RD_ATOMIC, ROCE_TRIMMED),
        *(ROCE_CONGESTION_CONTROL, ROCE_OPTIONS),
        *(ROCE_DCQCN, ROCE_HPCC, ROCE_TIMELY, ROCE_SWIFT, ROCE_CREDIT),
    ),
)
NIC_ROCE: Key[Any] = Key(
    "roce",
    or_none(ROCE),
    "RDMA over Converged Ethernet: the NIC sends and receives the messages of traffic with `transport: roce` itself. "
    "A mapping without keys, `{}`, has all defaults.",
    default=None,
)
