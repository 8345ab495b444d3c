"""The audit of every frame at the end of a run: what was sent has been received, was dropped by a queue that the plan
knows, or is still on its way. What is missing fails the run, and the message names the place.

The kernel counts each frame that it frees before its end, with its node, its device and the reason
(`images/machine/README.md`, "The audit of every frame"). A reason is of one of three kinds: a queue's, which must have
counted the same number itself; a node's own rule, of which the manifest tells; anything else is what one kernel has
once for all nodes, or what nobody counts, and fails the run. (Where connections end, frames without a reason do not.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.compile.cut import Cut
from fabriclab.compile.qdisc import frame_bytes
from fabriclab.formats.audit import LOST, AuditError, Counted, Counters, Place, audit_files, read_counters
from fabriclab.formats.framing import LEAST_ON_LINE_BYTES
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Port

_OF_QUEUES = ("QDISC_DROP", "FQ_BAND_LIMIT", "FQ_HORIZON_LIMIT", "FQ_FLOW_LIMIT")
_PURGE = "QUEUE_PURGE"
"""Of a socket that is closed before all was read, or of a queue whose link goes down."""
_UNNAMED = "NOT_SPECIFIED"

_OWN_RULES = {
    "IP_INNOROUTES": "no route leads to where they are addressed",
    "IP_OUTNOROUTES": "no route leads to where they are addressed",
    **dict.fromkeys(
        ("IP_INADDRERRORS", "IP_INVALID_SOURCE", "IP_INVALID_DEST", "IP_LOCAL_SOURCE", "IP_LOCALNET"),
        "the address is none that a frame may have here",
    ),
    "IP_RPFILTER": "the source is not where they came from (rp_filter)",
    "PKT_TOO_BIG": "they are longer than the next link's MTU",
    "NEIGH_FAILED": "the neighbour did not answer",
    "NEIGH_DEAD": "the neighbour was forgotten",
    "NEIGH_QUEUEFULL": "too many waited for the neighbour's answer (unres_qlen_bytes)",
    "SOCKET_RCVBUFF": "the socket's receive buffer is full",
    "SOCKET_BACKLOG": "the socket's backlog is full",
    "TCP_LISTEN_OVERFLOW": "the listening socket has no room for another connection",
    "IPV6DISABLED": "the device has no IPv6",
    "OTHERHOST": "they were for another host",
    "DEV_READY": "the device is down",
    "NO_TX_TARGET": "no port leads there",
    **dict.fromkeys(("TCP_CSUM", "UDP_CSUM", "IP_CSUM", "ICMP_CSUM", "SKB_CSUM"), "the checksum is wrong"),
}
"""Reasons that a user may want to know of, and what they say."""
_PROTOCOLS_WORK = (
    *(
        "NO_SOCKET",
        "SOCKET_CLOSE",
        "SOCKET_FILTER",
        "UNICAST_IN_L2_MULTICAST",
        "IP_NOPROTO",
        "UNHANDLED_PROTO",
        "INVALID_PROTO",
    ),
    *("PKT_TOO_SMALL", "IP_INHDR"),
    *("TCP_FLAGS", "TCP_ABORT_ON_DATA", "TCP_ZEROWINDOW", "TCP_OLD_DATA", "TCP_OVERWINDOW", "TCP_OFOMERGE"),
    *("TCP_RFC7323_PAWS", "TCP_OLD_SEQUENCE", "TCP_INVALID_SEQUENCE", "TCP_INVALID_ACK_SEQUENCE", "TCP_RESET"),
    *("TCP_RFC7323_PAWS_ACK", "TCP_RFC7323_TW_PAWS", "TCP_RFC7323_TSECR", "TCP_INVALID_END_SEQUENCE"),
    *("TCP_INVALID_SYN", "TCP_CLOSE", "TCP_FASTOPEN", "TCP_OLD_ACK", "TCP_TOO_OLD_ACK", "TCP_ACK_UNSENT_DATA"),
    *("TCP_OFO_QUEUE_PRUNE", "TCP_OFO_DROP", "TCP_MINTTL", "DUP_FRAG", "FRAG_REASM_TIMEOUT", "FRAG_TOO_FAR"),
    *("IPV6_BAD_EXTHDR", "IPV6_NDISC_FRAG", "IPV6_NDISC_HOP_LIMIT", "IPV6_NDISC_BAD_CODE", "IPV6_NDISC_BAD_OPTIONS"),
    *("IPV6_NDISC_NS_OTHERHOST", "VXLAN_INVALID_HDR", "VXLAN_VNI_NOT_FOUND", "VXLAN_ENTRY_EXISTS", "IP_TUNNEL_ECN"),
    *("MAC_INVALID_SOURCE", "LOCAL_MAC", "TC_INGRESS", "TC_EGRESS", "PACKET_SOCK_ERROR"),
    *("BRIDGE_INGRESS_STP_STATE", "MAC_IEEE_MAC_CONTROL", "IPV6_TOO_MANY_EXTHDRS"),
)
"""Reasons of protocols and of nodes' own filters that need no words: a segment that was received twice and the like."""

_KNOWN = {*_OF_QUEUES, *_OWN_RULES, *_PROTOCOLS_WORK, _PURGE, _UNNAMED}
_SENTENCES_SHOWN = 8


@dataclass
class Audit:
    """What the audit came to."""

    why_not: str = ""
    """Why there was none; empty: there was."""
    missing: list[str] = field(default_factory=list)
    """What fails the run, a sentence each."""
    told: list[str] = field(default_factory=list)
    """What nodes refused by their own rules, and a user may want to know of."""
    lost: dict[str, dict[str, int]] = field(default_factory=dict)
    """Frames by place and reason."""

    def figures(self) -> Mapping[str, Any]:
        """Return what the manifest says."""
        balanced = None if self.why_not else not self.missing
        return {"audit": {"balanced": balanced, "why_not": self.why_not, "missing": self.missing, "lost": self.lost}}

    def message(self) -> str:
        """Return what to say of it at the end of a run; empty when there is nothing."""
        return "\n".join([*_first(self.missing), *_first(self.told)])


def _first(sentences: Sequence[str]) -> list[str]:
    more = len(sentences) - _SENTENCES_SHOWN
    rest = [f"and {more} more places (manifest.json, audit)"] if more > 0 else []
    return [*sentences[:_SENTENCES_SHOWN], *rest]


def audit_run(plan: Plan, directory: Path, cut: Cut | None) -> Audit:
    """Judge the counters of a run that has ended. `cut`: it was in so many virtual machines."""
    parts = None if cut is None or len(cut.parts) == 1 else len(cut.parts)
    try:
        counters = read_counters(audit_files(directory, parts))
    except AuditError as error:
        return Audit(missing=[f"the counters of frames can't be read: {error}"])
    if counters.why_not:
        return Audit(why_not=counters.why_not)
    return judge(counters, plan)


def judge(counters: Counters, plan: Plan) -> Audit:
    """Compare what was counted with what the plan lets happen."""
    lost = _lost(counters)
    audit = Audit(lost={str(place): reasons for place, reasons in lost.items()})
    forwarding = _only_forwarding(plan)
    for place, reasons in lost.items():
        named = reasons if place.node in forwarding or not place.node else _named(reasons)
        audit.missing += _unknown(place, named, counters)
        audit.told += [
            f"{place} refused {frames} frames: {_OWN_RULES[reason]} ({reason})"
            for reason, frames in reasons.items()
            if reason in _OWN_RULES
        ]
    if unplaced := counters.grown(Place("", ""), "without_room"):
        audit.missing.append(f"{unplaced} lost frames had no room in the kernel's table (LOST_LOG, lost_frames.c)")
    ports = [(Place(node.name, port.interface), port) for node in plan.nodes for port in node.ports]
    for place, port in ports:
        # A cable that goes down loses at its ends what is on it, as the plan says.
        if not plan.events:
            audit.missing += _at_device(place, counters)
        audit.missing += _at_queue(place, counters, changes=bool(plan.events))
        audit.missing += _on_cable(place, port, counters, most_under_way(plan, port, place))
    return audit


def _only_forwarding(plan: Plan) -> set[str]:
    """Return the switches at which no connection ends. Where one ends, Linux frees some frames without a reason, which
    the protocol needs no more."""
    if plan.bgp is not None or plan.configured is not None:
        return set()
    programs = {name for traffic in plan.traffic for name in traffic.program_nodes()}
    return {node.name for node in plan.nodes if node.role == "switch" and node.setup is None} - programs


def _named(reasons: Mapping[str, int]) -> Mapping[str, int]:
    return {reason: frames for reason, frames in reasons.items() if reason != _UNNAMED}


def _lost(counters: Counters) -> dict[Place, dict[str, int]]:
    lost: dict[Place, dict[str, int]] = {}
    for place, counter in sorted(counters.end):
        if counter.startswith(LOST) and (frames := counters.grown(place, counter)):
            lost.setdefault(place, {})[counter.removeprefix(LOST)] = frames
    return lost


def _unknown(place: Place, reasons: Mapping[str, int], counters: Counters) -> Iterator[str]:
    """Yield what neither a queue nor a rule of the node accounts for."""
    for reason, frames in reasons.items():
        if reason == _UNNAMED:
            # What the device dropped has a sentence of its own; Linux names no reason for what some qdiscs drop.
            frames -= _dropped_by_device(place, counters) + max(
                0, _dropped_by_queue(place, counters) - _freed(place, counters)
            )
            if frames > 0:
                yield f"{place} lost {frames} frames that nobody counted: the kernel gave no reason ({reason})"
        elif reason not in _KNOWN:
            yield f"{place} lost {frames} frames for what all nodes share in one kernel: {reason}"


def _at_device(place: Place, counters: Counters) -> Iterator[str]:
    """Yield what the device at an end of a link dropped: the other end was down, or takes no frames of that length."""
    if dropped := _dropped_by_device(place, counters):
        yield f"{place}: the link's device dropped {dropped} frames"


def _dropped_by_device(place: Place, counters: Counters) -> int:
    return counters.grown(place, "receive_dropped", "send_dropped")


def _dropped_by_queue(place: Place, counters: Counters) -> int:
    return counters.grown(place, "queue_dropped", "queue_lost")


def _freed(place: Place, counters: Counters) -> int:
    """Return what the kernel freed for a queue's reasons."""
    return counters.grown(place, *(LOST + reason for reason in _OF_QUEUES))


def _at_queue(place: Place, counters: Counters, *, changes: bool) -> Iterator[str]:
    """Yield where a port's queue and what left or was dropped there differ. `changes`: queues may be replaced."""
    if Counted(place, "queue_sent") not in counters.end:
        return
    dropped = _dropped_by_queue(place, counters)
    given = counters.grown(place, "queue_sent")
    if changes and (dropped < 0 or given < 0 or Counted(place, "queue_sent") not in counters.begin):
        # An event put another queue there, which counts anew.
        return
    freed = _freed(place, counters)
    others = counters.grown(place, LOST + _PURGE, LOST + _UNNAMED)
    # A port that is down has a queue of Linux's own (noop), which counts nothing.
    if dropped > freed + others or (dropped < freed and not changes):
        yield f"{place}: the kernel freed {freed} frames as dropped by the queue, and the queue counted {dropped}"
    passed = counters.grown(place, "sent", "send_dropped")
    waiting = max(side[Counted(place, "queue_waiting")] for side in (counters.begin, counters.end))
    # A program may send around the queue (PACKET_QDISC_BYPASS), as a pause storm's does; then the device sent more.
    if given - passed > waiting:
        yield f"{place}: the queue gave {given} frames to the device, which sent or dropped {passed}"


def most_under_way(plan: Plan, port: Port, here: Place) -> int:
    """Return how many frames a cable may hold that a port has sent, whatever events make of its line.

    A port with a token bucket lets a full bucket leave at once, which is a frame of the link's MTU or many short ones.
    """
    name = str(here)
    changes = [event for event in plan.events if any(name in link for link in event.links)]
    set_later = [
        one
        for event in plan.events
        for node in event.nodes
        if node.name == here.node
        for one in node.ports
        if one.interface == port.interface
    ]
    delays = [port.delay_ns, *(one.delay_ns for one in set_later), *(one.delay_ns or 0 for one in changes)]
    rates = [port.rate_bps, *(one.rate_bps for one in set_later), *(one.rate_bps or 0 for one in changes)]
    bucket = 0 if port.switch_port is not None else frame_bytes(port) // LEAST_ON_LINE_BYTES
    return max(delays) * max(rates) // (8 * LEAST_ON_LINE_BYTES * 10**9) + 1 + bucket


def _on_cable(here: Place, port: Port, counters: Counters, under_way: int) -> Iterator[str]:
    """Yield where more is missing between a cable's ends than can be on its way."""
    there = Place(port.peer_node, port.peer_interface)
    sent = counters.grown(here, "sent")
    arrived = counters.grown(there, "received", "receive_dropped")
    if abs(sent - arrived) > under_way:
        yield (
            f"{here}: {sent} frames left for {there}, where {arrived} arrived; {under_way} at most can be on their way"
        )
