"""A port's queue out of stock qdiscs: line rate, propagation delay, buffer with its drop or mark rule.

    tbf 1:  the line rate; preamble, FCS and inter-frame gap count
     └ netem 2:  the propagation delay, when there is one
        └ bfifo 3:, red 3:, or a qdisc of `fabriclab.qdiscs` 3:   the buffer; the sampler reads this one

A port whose buffer changes while the lab runs has a RED that marks nothing in place of the bfifo, and a bfifo 4: of its
own below RED: so both a threshold and a limit can change and what is queued stays queued.

tbf peeks its child, so the delay line stands before the buffer: the same for a path, and one qdisc less than an own
delay stage. A token bucket lets a packet that finds the line idle leave at once; it is the packets behind it that wait.
So an idle line's serialisation time is not part of a packet's delay, a busy line's is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from fabriclab.formats.framing import FRAMING_BYTES, HEADER_BYTES, LEAST_ON_LINE_BYTES
from fabriclab.formats.plan.node import Port, Queue
from fabriclab.qdiscs import Room
from fabriclab.resolve.changed_nodes import LONGEST_BUFFER_BYTES

DELAY_LINE_PACKETS = 1_000_000
"""The delay line stands for a cable: it never drops. A host may send a whole window into it at once."""

LEAF_HANDLE = "3:"
"""The handle of the qdisc whose backlog is the port's queue."""

_FIFO_HANDLE = "4:"
"""The handle of what holds RED's packets where its limit can change: RED's own child has none, and can't be named."""

_RED_PACKET_BYTES = 1000
_RED_LARGEST_RATE_BPS = (2**32 - 1) * 8
"""tc has 32 bits for the bytes per second that RED forgets by while it is idle (iproute2, lib/utils.c, get_rate). Above
34 Gbps it forgets more slowly than the line is fast: half of the average each avpkt at 34 Gbps, some 0.2 us."""


def compile_queue(port: Port, queue: Queue, *, impaired: bool = False, adjusted: bool = False) -> list[str]:
    """Return the `tc -batch` lines of a port.

    One that is `impaired` later has a delay line even for no delay: it is what loses packets. `adjusted`: its threshold
    or limit may change.
    """
    lines, parent = compile_line(port, queue.limit_bytes, impaired=impaired)
    device = f"qdisc add dev {port.interface}"
    if not adjusted or not _is_adjustable(queue):
        return [*lines, f"{device} parent {parent} handle {LEAF_HANDLE} {buffer_words(queue, port)}"]
    return [
        *lines,
        f"{device} parent {parent} handle {LEAF_HANDLE} {_red_of(queue, port, queue.limit_bytes)}",
        f"{device} parent {LEAF_HANDLE}1 handle {_FIFO_HANDLE} bfifo limit {queue.limit_bytes}",
    ]


def compile_queue_change(before: tuple[Port, Queue], after: tuple[Port, Queue], *, impaired: bool) -> list[str]:
    """Return the lines that make of an `adjusted` port's queue another one, of the same qdisc; what is queued stays."""
    (old_port, old), (port, new) = before, after
    device = f"qdisc change dev {port.interface}"
    leaf = f"{device} parent {'2:1' if impaired or port.delay_ns else '1:1'} handle {LEAF_HANDLE}"
    if new.aqm is not None:
        words = buffer_words(new, port)
        return [f"{leaf} {words}"] if words != buffer_words(old, old_port) else []
    # RED with a limit would throw its queue away (__red_change in net/sched/sch_red.c); 0 leaves it.
    words = _red_of(new, port, 0)
    lines = [f"{leaf} {words}"] if words != _red_of(old, old_port, 0) else []
    if old.limit_bytes != new.limit_bytes:
        lines.append(f"{device} parent {LEAF_HANDLE}1 handle {_FIFO_HANDLE} bfifo limit {new.limit_bytes}")
    return lines


def _is_adjustable(queue: Queue) -> bool:
    return queue.aqm is None and queue.limit_bytes < LONGEST_BUFFER_BYTES


def _red_of(queue: Queue, port: Port, limit_bytes: int) -> str:
    """Return RED for a queue with or without a threshold: above its limit it is never."""
    threshold = queue.limit_bytes + 1 if queue.ecn_threshold_bytes is None else queue.ecn_threshold_bytes
    keeps = queue.ecn_threshold_bytes is None or queue.non_ect == "queue"
    flags = ["ecn", *(["nodrop"] if keeps else [])]
    return red(limit_bytes, (threshold, threshold + 1), "1", port.rate_bps, flags)


def compile_line(port: Port, limit_bytes: int, *, impaired: bool) -> tuple[list[str], str]:
    """Return the lines of a port's rate and delay, and the parent of what is to stand below them."""
    device = f"qdisc add dev {port.interface}"
    lines = [f"{device} root handle 1: {_line_rate(port, limit_bytes)}"]
    if port.delay_ns == 0 and not impaired:
        return lines, "1:1"
    return [*lines, f"{device} parent 1:1 handle 2: {_delay_line(port.delay_ns, port.loss_ppm)}"], "2:1"


def compile_rate_change(port: Port, limit_bytes: int) -> str:
    """Return the line that gives the port's line the rate that `port` says; what is queued stays."""
    return f"qdisc change dev {port.interface} root handle 1: {_line_rate(port, limit_bytes)}"


def compile_delay_change(port: Port, loss_ppm: int) -> str:
    """Return the line that changes the delay line of an impaired port; packets on their way keep their time."""
    return f"qdisc change dev {port.interface} parent 1:1 handle 2: {_delay_line(port.delay_ns, loss_ppm)}"


def loss_percent(ppm: int) -> str:
    """Return a share in millionths as tc reads it."""
    return f"{ppm / 10_000:.4f}%"


def frame_bytes(port: Port) -> int:
    """Return the length of the port's largest frame as the kernel counts it."""
    return port.mtu + HEADER_BYTES


def wire_bytes(port: Port) -> int:
    """Return the room on the wire of the port's largest frame."""
    return frame_bytes(port) + FRAMING_BYTES


def shaper(rate_bps: int, burst_bytes: int, limit_bytes: int) -> str:
    """Return a token bucket that counts what a line counts."""
    return (
        f"tbf rate {rate_bps}bit burst {burst_bytes} limit {limit_bytes} overhead {FRAMING_BYTES} mpu "
        f"{LEAST_ON_LINE_BYTES}"
    )


def _delay_line(delay_ns: int, loss_ppm: int) -> str:
    loss = f" loss {loss_percent(loss_ppm)}" if loss_ppm else ""
    return f"netem limit {DELAY_LINE_PACKETS} delay {delay_ns}ns{loss}"


def _line_rate(port: Port, limit_bytes: int) -> str:
    # The bucket holds one frame, the least with which every packet passes: a larger one would let a burst leave above
    # the line rate. tbf's own limit belongs to a child that the next line replaces; a change sets that of a bfifo
    # child.
    return shaper(port.rate_bps, frame_bytes(port), limit_bytes)


def buffer_words(queue: Queue, port: Port) -> str:
    """Return the words of the qdisc that a queue is."""
    if queue.aqm is not None:
        return queue.aqm.tc(Room(queue.limit_bytes, frame_bytes(port)))
    if queue.ecn_threshold_bytes is None:
        return f"bfifo limit {queue.limit_bytes}"
    return _red_of(queue, port, queue.limit_bytes)


def red(limit_bytes: int, thresholds: tuple[int, int], probability: str, rate_bps: int, flags: Sequence[str]) -> str:
    """Return RED whose average is as instantaneous as tc allows: the newest length weighs 1/2."""
    low, high = thresholds
    average_packet, burst = red_average(low)
    words = f"red limit {limit_bytes} min {low} max {high} probability {probability}"
    return " ".join(
        [words, f"avpkt {average_packet} burst {burst} bandwidth {min(rate_bps, _RED_LARGEST_RATE_BPS)}bit", *flags]
    )


def red_average(threshold_bytes: int) -> tuple[int, int]:
    """Return RED's `avpkt` (bytes) and `burst` (packets) for which tc weighs the newest sample most: W = 1/2.

    tc takes the smallest n >= 1 with `burst + 1 - min / avpkt <= (1 - (1 - W)^burst) / W`, W = 2^-n (iproute2,
    tc/tc_red.c). With `burst` packets of `avpkt` bytes just filling the threshold the left side is about 1, and n is 1.
    """
    burst = max(1, threshold_bytes // _RED_PACKET_BYTES)
    return math.ceil(threshold_bytes / burst), burst
