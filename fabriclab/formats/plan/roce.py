"""What a host's NIC says of RoCEv2: its transport and its congestion control."""

from __future__ import annotations

from typing import Annotated, Literal

from fabriclab.formats import ranges
from fabriclab.formats.record import Frozen

RoceMtu = Literal[256, 512, 1024, 2048, 4096]
"""Bytes of payload of a packet: what an InfiniBand path may have as its MTU."""


class Dcqcn(Frozen):
    """A NIC's reaction point: a queue pair of which a notification comes has a rate of its own (Zhu et al., SIGCOMM
    2015)."""

    gain_ppb: Annotated[int, ranges.GAIN_PPB]
    """g, in parts of a billion: what a notification weighs in alpha."""
    recovery_cycles: Annotated[int, ranges.RECOVERY_CYCLES]
    """F: cycles of fast recovery."""
    least_bps: Annotated[int, ranges.LIMITER_RATE]
    active_bps: Annotated[int, ranges.LIMITER_RATE]
    """R_AI."""
    hyper_bps: Annotated[int, ranges.LIMITER_RATE]
    """R_HAI."""
    cycle_bytes: Annotated[int, ranges.CYCLE_BYTES]
    """B, of the byte counter."""
    cycle_ns: Annotated[int, ranges.CYCLE_TIME]
    """T, of the timer."""
    alpha_ns: Annotated[int, ranges.CYCLE_TIME]
    """K: without a notification for so long alpha decays."""


class Roce(Frozen):
    """The transport of RoCEv2 in a NIC: reliable connections, go-back-N."""

    mtu: RoceMtu
    window_packets: Annotated[int, ranges.ROCE_WINDOW] | None
    """Most packets of a queue pair in flight; None: as many as their numbers can tell apart."""
    ack_every: Annotated[int, ranges.ROCE_WINDOW]
    """Packets from one request for an acknowledgement to the next."""
    retries: Annotated[int, ranges.ROCE_RETRIES]
    """Timeouts without progress after which a queue pair fails."""
    timeout_ns: Annotated[int, ranges.ROCE_TIMEOUT]
    dscp: Annotated[int, ranges.DSCP]
    ack_dscp: Annotated[int, ranges.DSCP]
    cnp_dscp: Annotated[int, ranges.DSCP]
    cnp_interval_ns: Annotated[int, ranges.CNP_INTERVAL]
    """Least time from one notification of a queue pair to the next."""
    dcqcn: Dcqcn | None
    """None: each queue pair sends at the line's rate; PFC and the window alone hold it back."""
