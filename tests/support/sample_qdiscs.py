"""What is known of each stock qdisc that a port's queue can be, a row a kind: its words for tc,
and where four long flows make it stand."""

from __future__ import annotations

from typing import NamedTuple

from fabriclab.qdiscs import KINDS, Qdisc
from fabriclab.qdiscs.cake import Cake
from fabriclab.qdiscs.codel import Codel
from fabriclab.qdiscs.dualpi2 import DualPi2
from fabriclab.qdiscs.fq import Fq
from fabriclab.qdiscs.fq_codel import FqCodel
from fabriclab.qdiscs.fq_pie import FqPie
from fabriclab.qdiscs.pie import Pie

GBPS = 10**9
TARGET_NS = 500_000
TARGET_BYTES = GBPS * TARGET_NS // (8 * 10**9)
MS = 1_000_000


class KnownQdisc(NamedTuple):
    """A kind of qdisc and what is known of it."""

    told: Qdisc
    words: str
    """For tc, where it has 100 KB and frames of 1514 bytes."""
    standing: Qdisc
    """One that stands at a length that is known."""
    stands_at_bytes: int = TARGET_BYTES
    """Where four CUBIC flows make it stand at 1 Gbps, on average, within a factor of 2."""
    marks: bool = True
    """Whether it marks their packets where these are ECN-capable, and it is told to."""
    drops: bool = False
    """Whether it drops some even where it marks."""


KNOWN = (
    KnownQdisc(
        Codel(ecn=True),
        "codel limit 66 target 5000us interval 100000us ecn",
        Codel(target_ns=TARGET_NS, interval_ns=10 * MS),
    ),
    KnownQdisc(
        FqCodel(target_ns=50_000, interval_ns=MS),
        "fq_codel limit 66 memory_limit 400000 target 50us interval 1000us noecn",
        FqCodel(target_ns=TARGET_NS, interval_ns=10 * MS),
    ),
    # What overflows in slow start is lost while PIE's probability is still next to nothing.
    KnownQdisc(
        Pie(), "pie limit 66 target 15000us tupdate 15000us noecn", Pie(target_ns=TARGET_NS, interval_ns=MS), drops=True
    ),
    KnownQdisc(
        FqPie(target_ns=50_000, interval_ns=MS, ecn=True),
        "fq_pie limit 66 memory_limit 400000 target 50us tupdate 1000us ecn",
        FqPie(target_ns=TARGET_NS, interval_ns=MS),
        drops=True,
    ),
    # Each flow's queue is full: 100 frames.
    KnownQdisc(
        Fq(flow_limit_packets=50, pacing=False),
        "fq limit 66 flow_limit 50 quantum 3028 nopacing",
        Fq(),
        stands_at_bytes=4 * 100 * 1514,
        marks=False,
        drops=True,
    ),
    KnownQdisc(
        Cake(rtt_ns=MS, isolation="flows", diffserv="besteffort"),
        "cake unlimited besteffort flows rtt 1000us raw memlimit 199848",
        Cake(rtt_ns=10 * MS),
    ),
    # In its classic queue, whose flows it marks: they send ECT(0).
    KnownQdisc(
        DualPi2(),
        "dualpi2 limit 66 memlimit 400000 target 15000us tupdate 15000us alpha 0.150000 beta 3.000000 "
        "step_thresh 1000us coupling_factor 2 classic_protection 10% l4s_ect",
        DualPi2(target_ns=TARGET_NS, max_rtt_ns=3 * MS, step_ns=100_000),
    ),
)
assert {type(row.told) for row in KNOWN} == set(KINDS.values()), "each kind of qdisc has its row here"
