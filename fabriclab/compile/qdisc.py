"""A port's queue as traffic control: line rate, propagation delay, buffer with its drop or mark rule.

    tbf 1:  the line rate; preamble, FCS and inter-frame gap count
     └ netem 2:  the propagation delay, when there is one
        └ bfifo 3:  or  red 3:   the buffer; the sampler reads this one

tbf peeks its child, so the delay line stands before the buffer: the same for a path, and one qdisc less than an own delay stage.
A token bucket lets a packet that finds the line idle leave at once; it is the packets behind it that wait. So an idle line's
serialisation time is not part of a packet's delay, a busy line's is.
"""

from __future__ import annotations

import math

from fabriclab.plan.model import Port, Queue

ETHERNET_HEADER_BYTES = 14
"""What a packet's length in the kernel has on top of the MTU."""

FRAMING_BYTES = 24
"""Preamble 8, frame check sequence 4, inter-frame gap 12 (IEEE 802.3, clauses 3 and 4): on the wire, not in the packet's length."""

MINIMUM_FRAME_BYTES = 84
"""The shortest frame, 64 bytes, with preamble and gap."""

DELAY_LINE_PACKETS = 1_000_000
"""The delay line stands for a cable: it never drops. A host may send a whole window into it at once."""

LEAF_HANDLE = "3:"
"""The handle of the qdisc whose backlog is the port's queue."""

_RED_PACKET_BYTES = 1000


def compile_tc(port: Port, *, impaired: bool = False) -> list[str]:
    """Return the `tc -batch` lines of a port. One that is `impaired` later has a delay line even for no delay: it is what loses packets."""
    device = f"qdisc add dev {port.interface}"
    lines = [f"{device} root handle 1: {_line_rate(port)}"]
    parent = "1:1"
    if port.delay_ns > 0 or impaired:
        lines.append(f"{device} parent {parent} handle 2: {_delay_line(port.delay_ns)}")
        parent = "2:1"
    lines.append(f"{device} parent {parent} handle {LEAF_HANDLE} {_buffer(port.queue, port.rate_bps)}")
    return lines


def compile_rate_change(port: Port) -> str:
    """Return the line that gives the port's line the rate that `port` says; what is queued stays."""
    return f"qdisc change dev {port.interface} root handle 1: {_line_rate(port)}"


def compile_delay_change(port: Port, loss_ppm: int) -> str:
    """Return the line that changes the delay line of an impaired port; packets on their way keep their time."""
    loss = f" loss {loss_ppm / 10_000:.4f}%" if loss_ppm else ""
    return f"qdisc change dev {port.interface} parent 1:1 handle 2: {_delay_line(port.delay_ns)}{loss}"


def _delay_line(delay_ns: int) -> str:
    return f"netem limit {DELAY_LINE_PACKETS} delay {delay_ns}ns"


def _line_rate(port: Port) -> str:
    # The bucket holds one frame, the least with which every packet passes: a larger one would let a burst leave above the line rate.
    # tbf's own limit belongs to a child that the next line replaces.
    burst = port.mtu + ETHERNET_HEADER_BYTES
    return f"tbf rate {port.rate_bps}bit burst {burst} limit {port.queue.limit_bytes} overhead {FRAMING_BYTES} mpu {MINIMUM_FRAME_BYTES}"


def _buffer(queue: Queue, rate_bps: int) -> str:
    if queue.ecn_threshold_bytes is None:
        return f"bfifo limit {queue.limit_bytes}"
    threshold = queue.ecn_threshold_bytes
    average_packet, burst = red_average(threshold)
    words = [
        f"red limit {queue.limit_bytes} min {threshold} max {threshold + 1} probability 1",
        f"avpkt {average_packet} burst {burst} bandwidth {rate_bps}bit ecn",
    ]
    if queue.non_ect == "queue":
        words.append("nodrop")
    return " ".join(words)


def red_average(threshold_bytes: int) -> tuple[int, int]:
    """Return RED's `avpkt` (bytes) and `burst` (packets) for which tc weighs the newest sample most: W = 1/2.

    tc takes the smallest n >= 1 with `burst + 1 - min / avpkt <= (1 - (1 - W)^burst) / W`, W = 2^-n (iproute2, tc/tc_red.c).
    With `burst` packets of `avpkt` bytes just filling the threshold the left side is about 1, and n is 1.
    """
    burst = max(1, threshold_bytes // _RED_PACKET_BYTES)
    return math.ceil(threshold_bytes / burst), burst
