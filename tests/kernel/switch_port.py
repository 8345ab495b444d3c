"""The netlink interface of the qdisc switch_port (uapi/switch_port.h): options as bytes, statistics from bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NO_POOL = 255
POOLS = 4
UNLIMITED = 2**64 - 1
STRICT, DWRR, WRR = range(3)
ECN, KEEP_NON_ECT, BY_DELAY = 1, 2, 4
STORM_DROP, STORM_FORWARD = range(2)
DROPS = ("queue_limit", "queue_pool", "ingress", "voq", "wred", "storm", "reset")
MARKS = ("wred", "phantom")
PACER, QCN, SLICE, ROCE = 18, 19, 20, 21
TELEMETRY, TRIMMING = 24, 25
BY_CLASS = 255
_NESTED = 0x8000
_RTM_NEWQDISC, _RTM_NEWTCLASS = 36, 40
_TCA_OPTIONS, _TCA_STATS2, _TCA_STATS_APP = 2, 7, 4


def attribute(kind: int, payload: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def nest(kind: int, *parts: bytes) -> bytes:
    return attribute(kind | _NESTED, b"".join(parts))


def u8(value: int) -> bytes:
    return struct.pack("=B", value)


def u32(value: int) -> bytes:
    return struct.pack("=I", value)


def u64(value: int) -> bytes:
    return struct.pack("=Q", value)


@dataclass(frozen=True)
class Account:
    """struct tc_switch_account, bytes."""

    pool: int = NO_POOL
    reserved: int = 0
    limit: int = UNLIMITED
    alpha_log: int | None = None

    def pack(self) -> bytes:
        return struct.pack(
            "=QQBBb5x", self.reserved, self.limit, self.pool, self.alpha_log is not None, self.alpha_log or 0
        )


@dataclass(frozen=True)
class Wred:
    """struct tc_switch_wred."""

    min: int
    max: int
    probability: float = 1.0
    weight_log: int = 0
    flags: int = ECN

    def pack(self) -> bytes:
        return struct.pack(
            "=QQIBBH", self.min, self.max, round(self.probability * (2**32 - 1)), self.weight_log, self.flags, 0
        )


@dataclass(frozen=True)
class Sharing:
    """struct tc_switch_sharing."""

    policy: str = "abm"
    interval_ns: int = 80_000
    unscheduled_alpha_log: int = 0
    unscheduled_classes: int = 0
    congested: int = 0

    def pack(self) -> bytes:
        unscheduled = (self.unscheduled_alpha_log, self.unscheduled_classes)
        return struct.pack("=16sIbB2xI", self.policy.encode(), self.interval_ns, *unscheduled, self.congested)


@dataclass(frozen=True)
class Queue:
    index: int
    account: Account = Account()
    scheduling: int = STRICT
    quantum: int = 1
    cir: tuple[int, int] = (0, 0)
    pir: tuple[int, int] = (0, 0)
    wred: Wred | None = None
    phantom: tuple[int, int] | None = None
    voq_limit: int | None = None
    event: int | None = None
    qcn: tuple[int, int, int] | None = None
    """Set point and bytes from sample to sample, weight."""
    sharing: Sharing | None = None
    trims: bool = False

    def pack(self) -> bytes:
        scheduler = struct.pack("=QQQQIB3x", *self.cir, *self.pir, self.quantum, self.scheduling)
        parts = [attribute(2, u8(self.index)), attribute(3, scheduler), attribute(4, self.account.pack())]
        if self.wred:
            parts.append(attribute(5, self.wred.pack()))
        if self.phantom:
            parts.append(attribute(6, struct.pack("=QQ", *self.phantom)))
        if self.voq_limit is not None:
            parts.append(attribute(7, u64(self.voq_limit)))
        if self.event is not None:
            parts.append(attribute(8, u64(self.event)))
        if self.qcn:
            parts.append(attribute(9, struct.pack("=QQII", *self.qcn, 0)))
        if self.sharing:
            parts.append(attribute(10, self.sharing.pack()))
        if self.trims:
            parts.append(attribute(11, b""))
        return nest(14, *parts)


@dataclass(frozen=True)
class Group:
    """A priority group; lossless: (headroom, xon, xon_offset)."""

    index: int
    account: Account = Account()
    lossless: tuple[int, int, int] | None = None

    def pack(self) -> bytes:
        parts = [attribute(2, u8(self.index)), attribute(3, self.account.pack())]
        if self.lossless:
            parts.append(attribute(4, struct.pack("=QQQ", *self.lossless)))
        return nest(15, *parts)


@dataclass(frozen=True)
class Pfc:
    priorities: int
    quanta: int = 0xFFFF
    reaction_ns: int = 0
    detection_ns: int = 0
    restoration_ns: int = 0
    storm_action: int = STORM_DROP

    def pack(self) -> bytes:
        times = (self.reaction_ns, self.detection_ns, self.restoration_ns)
        return struct.pack("=QQQHBBI", *times, self.quanta, self.priorities, self.storm_action, 0)


@dataclass(frozen=True)
class Pacer:
    """struct tc_switch_pacer: bytes, ns, parts of one."""

    bucket: int = 3_000
    interval_ns: int = 64_000
    idle_ns: int = 10_000_000
    eta: float = 0.125
    beta: int = 16
    probability: float = 0.125

    def pack(self) -> bytes:
        eta, probability = (round(part * (2**32 - 1)) for part in (self.eta, self.probability))
        return struct.pack("=QQQIIII", self.bucket, self.interval_ns, self.idle_ns, eta, self.beta, probability, 0)


@dataclass(frozen=True)
class Limiter:
    """struct tc_switch_qcn_limiter: bits a second, bytes, ns."""

    least_bps: int = 5_000_000
    active_bps: int = 5_000_000
    hyper_bps: int = 50_000_000
    cycle_bytes: int = 150_000
    cycle_ns: int = 15_000_000

    def pack(self) -> bytes:
        return struct.pack("=QQQQQ", self.least_bps, self.active_bps, self.hyper_bps, self.cycle_bytes, self.cycle_ns)


@dataclass(frozen=True)
class Roce:
    """struct tc_switch_roce, in packets and ns, and a congestion control: its name and its options."""

    mtu: int = 1024
    window: int = 0
    ack_every: int = 1
    retries: int = 7
    timeout_ns: int = 4_000_000
    notify_ns: int = 50_000
    dscp: int = 26
    ack_dscp: int = 26
    notify_dscp: int = 48
    control: str = ""
    options: str = ""
    selective: bool = False
    reads: int = 0
    trimmed: bool = False
    reorder: int = 0

    def pack(self) -> bytes:
        transport = (self.mtu, self.window, self.ack_every, self.retries, self.timeout_ns, self.notify_ns)
        classes = (self.dscp, self.ack_dscp, self.notify_dscp)
        rest = (self.selective, self.reads, self.trimmed, self.reorder)
        return struct.pack("=IIIIQQBBBBBBH", *transport, *classes, *rest)

    def control_attributes(self) -> list[bytes]:
        texts = (self.control, self.options) if self.control else ()
        return [attribute(ROCE + 1 + place, f"{text}\0".encode()) for place, text in enumerate(texts)]


@dataclass(frozen=True)
class Trimming:
    """struct tc_switch_trimming: bytes that remain of a frame, its DSCP and its queue."""

    size: int = 256
    dscp: int = 48
    queue: int = BY_CLASS

    def pack(self) -> bytes:
        return struct.pack("=IBB2x", self.size, self.dscp, self.queue)


@dataclass(frozen=True)
class Port:
    """The options of one port. None: not in the message."""

    rate_bps: int | None = 1_000_000_000
    delay_ns: int | None = None
    overhead: int | None = None
    mpu: int | None = None
    loss: int | None = None
    maps: Mapping[int, Sequence[int]] = field(default_factory=dict)
    pfc: Pfc | None = None
    pacer: Pacer | None = None
    limiter: Limiter | None = None
    roce: Roce | None = None
    telemetry: bool = False
    trimming: Trimming | None = None
    cell: int | None = None
    slices: int | None = None
    """Of the whole memory."""
    slice: tuple[int, int] | None = None
    """In, out."""
    pools: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    queues: Sequence[Queue] = ()
    groups: Sequence[Group] = ()

    def pack(self) -> bytes:
        parts = []
        for kind, pack, value in (
            (2, u64, self.rate_bps),
            (3, u64, self.delay_ns),
            (4, u32, self.overhead),
            (5, u32, self.mpu),
            (6, u32, self.loss),
        ):
            if value is not None:
                parts.append(attribute(kind, pack(value)))
        parts += [attribute(kind, bytes(entries)) for kind, entries in self.maps.items()]
        if self.pfc:
            parts.append(attribute(12, self.pfc.pack()))
        if self.pacer:
            parts.append(attribute(PACER, self.pacer.pack()))
        if self.limiter:
            parts.append(attribute(QCN, self.limiter.pack()))
        if self.roce:
            parts += [attribute(ROCE, self.roce.pack()), *self.roce.control_attributes()]
        parts += [attribute(TELEMETRY, b"")] if self.telemetry else []
        parts += [] if self.trimming is None else [attribute(TRIMMING, self.trimming.pack())]
        if self.slice is not None:
            parts.append(attribute(SLICE, bytes([*self.slice, 0, 0])))
        if self.cell is not None or self.slices is not None or self.pools:
            pools = [
                attribute(2, struct.pack("=QQII", size, headroom, index, 0))
                for index, (size, headroom) in self.pools.items()
            ]
            whole = [(kind, value) for kind, value in ((1, self.cell), (3, self.slices)) if value is not None]
            parts.append(nest(13, *(attribute(kind, u32(value)) for kind, value in whole), *pools))
        return b"".join([*parts, *(queue.pack() for queue in self.queues), *(group.pack() for group in self.groups)])


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        yield kind & 0x3FFF, data[at + 4 : at + length]
        at += length + -length % 4


def _named(names: Sequence[str], values: Sequence[int]) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))


_POOL = ("size", "reserved", "used", "watermark", "headroom", "headroom_watermark")
_PACER = ("bytes", "packets", "rate_bps", "flows", "taken_in", "passed", "held", "watermark_bytes")
_QCN = ("bytes", "packets", "flows", "rate_bps", "notifications", "cycles")
_ROCE = (
    *("pairs", "limited", "rate_bps", "sent_packets", "sent_bytes", "sent_again", "received_packets", "received_bytes"),
    *("out_of_sequence", "duplicates", "acks_sent", "acks_received", "naks_sent", "naks_received", "timeouts"),
    *("ce_received", "notifications_sent", "notifications_received", "strays"),
    *("read_requests_sent", "read_requests_received", "implied_naks", "trimmed_received"),
    *("credits_sent", "credits_received"),
)
_PORT = ("marks", "drops", "pauses_sent", "pauses_received", "wire_frames", "lost", "ports")
_QUEUE = ("bytes", "packets", "cells", "watermark_bytes", "sent_bytes", "sent_packets")
_GROUP = (
    "bytes",
    "headroom_bytes",
    "watermark_bytes",
    "received_bytes",
    "received_packets",
    "discards",
    "xoffs",
    "xoff_ns",
)


def port_stats(words: Sequence[int]) -> dict[str, Any]:
    end = len(_PORT) + POOLS * len(_POOL)
    pools = [_named(_POOL, words[start : start + len(_POOL)]) for start in range(len(_PORT), end, len(_POOL))]
    stats: dict[str, Any] = {"pools": pools}
    for name, fields in (("pacer", _PACER), ("qcn", _QCN), ("roce", _ROCE)):
        stats[name] = _named(fields, words[end : end + len(fields)])
        end += len(fields)
    assert end == len(words)
    return {**_named(_PORT, words[: len(_PORT)]), **stats}


def queue_stats(words: Sequence[int]) -> dict[str, Any]:
    stats = _named(_QUEUE, words[: len(_QUEUE)])
    drops, rest = words[len(_QUEUE) : len(_QUEUE) + len(DROPS)], words[len(_QUEUE) + len(DROPS) :]
    stats |= {"drops": _named(DROPS, drops), "marks": _named(MARKS, rest[: len(MARKS)])}
    others = (
        *("pauses_received", "paused_ns", "storms", "samples", "notifications"),
        *("trimmed_packets", "trimmed_bytes", "trimmed_drops"),
    )
    return {**stats, **_named(others, rest[len(MARKS) :])}


@dataclass(frozen=True)
class Shown:
    """What `port-tool show` told of a port."""

    port: dict[str, Any]
    backlog: dict[str, int]
    queues: dict[int, dict[str, Any]]
    groups: dict[int, dict[str, Any]]
    options: bytes


def read_shown(text: str) -> Shown:
    port: dict[str, Any] = {}
    backlog: dict[str, int] = {}
    options = b""
    queues, groups = {}, {}
    for line in text.splitlines():
        message = bytes.fromhex(line)
        kind, handle = struct.unpack_from("=H", message, 4)[0], struct.unpack_from("=I", message, 24)[0]
        found = dict(attributes(message[36:]))
        stats = dict(attributes(found[_TCA_STATS2]))
        words = struct.unpack(f"={len(stats[_TCA_STATS_APP]) // 8}Q", stats[_TCA_STATS_APP])
        minor = handle & 0xFFFF
        if kind == _RTM_NEWQDISC:
            port = port_stats(words)
            options = found[_TCA_OPTIONS]
            backlog = _named(("qlen", "backlog", "drops", "requeues", "overlimits"), struct.unpack("=IIIII", stats[3]))
        elif kind == _RTM_NEWTCLASS and minor < 0x11:
            queues[minor - 1] = queue_stats(words)
        elif kind == _RTM_NEWTCLASS:
            groups[minor - 0x11] = _named(_GROUP, words)
    return Shown(port, backlog, queues, groups, options)


def read_event(line: str) -> dict[int, int | dict[int, int]]:
    """An event's attributes by number; 9 (ingress): bytes by interface index."""
    event: dict[int, int | dict[int, int]] = {}
    ingress: dict[int, int] = {}
    for kind, payload in attributes(bytes.fromhex(line)[20:]):
        if kind == 8:
            inner = dict(attributes(payload))
            ingress[struct.unpack("=I", inner[9])[0]] = struct.unpack("=Q", inner[10])[0]
        elif payload:
            event[kind] = int.from_bytes(payload, "little")
    return {**event, 8: ingress}
