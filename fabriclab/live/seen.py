"""What a look into a live lab saw, as records: a port and its queues, the packets in them, a switch's memory,
connections.

Counters count from when the machine was switched on. None: the kernel does not count it, or knows none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, TypeVar


class _Dataclass(Protocol):
    """Any dataclass, as `fields` wants one."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


_T = TypeVar("_T", bound=_Dataclass)


@dataclass(frozen=True)
class Packet:
    """A frame that stands in a queue."""

    src: str | None
    """Address and port, `10.0.0.1:40000`; the address alone where the protocol has no ports, None where none."""
    dst: str | None
    protocol: str
    """`tcp`, `udp`, `icmp`, `arp`, `pause`; `ip-132` for a protocol without a name here, `0x88b5` for an EtherType."""
    flow: int | None
    """Its flow of the lab, while one of the ends has the connection; of a kept connection its first flow."""
    bytes: int
    """With the Ethernet header."""
    seq: int | None
    """TCP's sequence number as it is on the wire, absolute."""
    ack: int | None
    flags: str | None
    """TCP's, such as `PSH ACK`."""
    ecn: str | None
    """`not-ECT`, `ECT(0)`, `ECT(1)` or `CE`."""
    waited_ns: int | None
    """Since it was queued. Stock qdiscs but CoDel do not write that down."""


@dataclass(frozen=True)
class QueueState:
    """A queue of a port."""

    queue: int
    bytes: int
    packets: int
    drops: int
    marks: int | None
    sent_bytes: int
    sent_packets: int
    watermark_bytes: int | None
    """The most that it held."""
    limit_bytes: int | None
    """What it may have beyond the reserved bytes now; it moves where it is dynamic. None: nothing of its own bounds it,
    or its qdisc does not tell."""
    reserved_bytes: int | None
    pauses_received: int | None
    """How often the other end stopped it."""
    paused_ns: int | None
    standing: tuple[Packet, ...]
    """In the order of departure; no more than 2,000 of all that was asked for. A qdisc that keeps queues of its own
    (FQ, FQ-CoDel, FQ-PIE, CAKE) does not show them."""


@dataclass(frozen=True)
class PriorityGroup:
    """What came in by a port and is in the switch's memory, of one priority group."""

    group: int
    bytes: int
    headroom_bytes: int
    """Of these, in headroom."""
    watermark_bytes: int
    limit_bytes: int | None
    reserved_bytes: int
    discards: int
    xoff: bool
    """Whether the other end is told to pause."""
    xoffs: int
    xoff_ns: int


@dataclass(frozen=True)
class PortState:
    """A port."""

    node: str
    interface: str
    up: bool
    rate_bps: int | None
    paused: tuple[int, ...]
    """The priorities that the other end has paused."""
    pausing: tuple[int, ...]
    """The priorities that the other end is told to pause."""
    tx_bytes: int | None
    tx_packets: int | None
    rx_bytes: int | None
    rx_packets: int | None
    drops: int | None
    marks: int | None
    pauses_sent: int | None
    pauses_received: int | None
    queues: tuple[QueueState, ...]
    groups: tuple[PriorityGroup, ...]

    @property
    def name(self) -> str:
        """`s1:eth49`."""
        return f"{self.node}:{self.interface}"

    @property
    def bytes(self) -> int:
        """What stands in all its queues."""
        return sum(queue.bytes for queue in self.queues)

    @property
    def packets(self) -> int:
        """How many packets stand in all its queues."""
        return sum(queue.packets for queue in self.queues)


@dataclass(frozen=True)
class Pool:
    """A pool of a switch's memory."""

    pool: int
    size_bytes: int
    reserved_bytes: int
    """Of the size, promised to queues and groups."""
    used_bytes: int
    """Taken beyond what is reserved."""
    watermark_bytes: int
    headroom_bytes: int
    """Taken of its groups' headroom."""
    headroom_watermark_bytes: int


@dataclass(frozen=True)
class SwitchMemory:
    """The memory that the ports of a switch share."""

    node: str
    shared_bytes: int
    """Taken of all pools beyond what is reserved."""
    shared_limit_bytes: int
    """What could be taken: the pools' sizes without what is reserved."""
    headroom_bytes: int
    pools: tuple[Pool, ...]


@dataclass(frozen=True)
class Inspection:
    """What was looked at, at one instant."""

    now_ns: int
    """Virtual time, from the lab's epoch."""
    ports: tuple[PortState, ...]
    memory: SwitchMemory | None
    """None: the node's ports have buffers of their own."""


@dataclass(frozen=True)
class ConnectionState:
    """A TCP connection's end, as `ss -ti` shows it. What a listener or a closed one has not is None."""

    local: str
    remote: str
    state: str
    flow: int | None
    """The lab's flow; of a kept connection its first one. The accepting end learns it with the flow's first bytes."""
    congestion_control: str | None = None
    own: Mapping[str, float] | None = None
    """What the congestion control says of itself: DCTCP `alpha`, BBR `bandwidth_bps`, gains."""
    ca_state: str | None = None
    """`open`, `disorder`, `cwr`, `recovery` or `loss`."""
    cwnd_segments: int | None = None
    cwnd_bytes: int | None = None
    ssthresh_segments: int | None = None
    """None: slow start has not ended."""
    mss_bytes: int | None = None
    srtt_ns: int | None = None
    rttvar_ns: int | None = None
    min_rtt_ns: int | None = None
    rto_ns: int | None = None
    unacked: int | None = None
    """Segments in flight; so are `sacked`, `lost` and `retrans`, of these."""
    sacked: int | None = None
    lost: int | None = None
    retrans: int | None = None
    retransmitted: int | None = None
    """Segments since it began."""
    timeouts: int | None = None
    """Retransmission timeouts since it began; `retransmits`: of the segment that is waited for, one after another."""
    retransmits: int | None = None
    backoff: int | None = None
    delivered: int | None = None
    """Segments, since it began; `delivered_ce`: acknowledged with ECE."""
    delivered_ce: int | None = None
    pacing_bps: int | None = None
    delivery_bps: int | None = None
    bytes_sent: int | None = None
    bytes_acked: int | None = None
    bytes_retransmitted: int | None = None
    bytes_received: int | None = None
    send_queue_bytes: int | None = None
    """Written and not acknowledged; `unsent_bytes` of them were not sent yet."""
    unsent_bytes: int | None = None
    receive_queue_bytes: int | None = None
    """Come and not read."""
    send_window_bytes: int | None = None
    receive_window_bytes: int | None = None
    seq_unacked: int | None = None
    """Sequence numbers, absolute: the first that is not acknowledged, the next to send, the next to come."""
    seq_next: int | None = None
    seq_to_come: int | None = None
    options: tuple[str, ...] = ()


def inspection(answer: Mapping[str, Any]) -> Inspection:
    """Return what an answer to `look` says."""
    memory = [_record(SwitchMemory, each, pools=_all(Pool, each["pools"])) for each in answer["switches"]]
    return Inspection(answer["now_ns"], tuple(map(_port, answer["ports"])), memory[0] if memory else None)


def connections(answer: Mapping[str, Any]) -> tuple[ConnectionState, ...]:
    """Return what an answer to `connections` says."""
    return tuple(
        _record(ConnectionState, each, options=tuple(each.get("options", ()))) for each in answer["connections"]
    )


def _port(answer: Mapping[str, Any]) -> PortState:
    return _record(
        PortState,
        answer,
        paused=tuple(answer["paused"]),
        pausing=tuple(answer["pausing"]),
        queues=tuple(
            _record(QueueState, queue, standing=_all(Packet, queue.get("standing", ()))) for queue in answer["queues"]
        ),
        groups=_all(PriorityGroup, answer.get("groups", ())),
    )


def _all(kind: type[_T], answers: Sequence[Mapping[str, Any]]) -> tuple[_T, ...]:
    return tuple(_record(kind, answer) for answer in answers)


def _record(kind: type[_T], answer: Mapping[str, Any], **ready: Any) -> _T:
    """Return a record of what an answer says: what it leaves out is None, what it has besides is left out."""
    names = [field.name for field in fields(kind)]
    return kind(**{**{name: answer.get(name) for name in names}, **ready})
