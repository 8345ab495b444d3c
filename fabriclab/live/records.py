"""The records of a look as what they say: ports, queues, connections, as the answers of a lab's server have them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fabriclab.formats.live_look import (
    GROUP,
    POOL_WORDS,
    POOLS,
    PORT,
    QDISC,
    QUEUE,
    RECORD,
    SWITCH_PORT,
    UNKNOWN,
    Record,
)
from fabriclab.qdiscs import STOCK
from fabriclab.qdiscs.qdisc import Counter

_HEAD = struct.Struct(RECORD)
_PORT, _SWITCH_PORT = struct.Struct(PORT), struct.Struct(SWITCH_PORT)
_QUEUE, _GROUP, _QDISC = struct.Struct(QUEUE), struct.Struct(GROUP), struct.Struct(QDISC)
_ATTRIBUTE = struct.Struct("=HH")
_TYPE_MASK = 0x3FFF
_PRIORITIES = 8
_DROPS = slice(9, 16)
_MARKS = slice(16, 18)

Answer = dict[str, Any]
"""A part of an answer: what becomes JSON."""


class Raw(NamedTuple):
    """A record: its kind, its number, what it holds."""

    kind: int
    number: int
    body: memoryview


def split(records: bytes) -> Iterator[Raw]:
    """Yield the records of a look. Raises ValueError for what is none."""
    view, at = memoryview(records), 0
    while at < len(view):
        kind, length, number = _HEAD.unpack_from(view, at)
        if length < _HEAD.size or at + length > len(view):
            raise ValueError(f"a record has {length} bytes, but only {len(view) - at} are left")
        yield Raw(kind, number, view[at + _HEAD.size : at + length])
        at += length


@dataclass
class Port:
    """A port's records, one after the other."""

    raw: Raw
    switch_port: Raw | None = None
    queues: list[Raw] = field(default_factory=list)
    groups: list[Raw] = field(default_factory=list)
    qdiscs: list[Raw] = field(default_factory=list)
    frames: dict[int, list[Raw]] = field(default_factory=dict)


def ports_of(records: bytes) -> Iterator[Port]:
    """Yield the ports of a look, in the order in which they were asked for."""
    port: Port | None = None
    for raw in split(records):
        if raw.kind == Record.PORT:
            if port is not None:
                yield port
            port = Port(raw)
        elif port is not None:
            _add(port, raw)
    if port is not None:
        yield port


def _add(port: Port, raw: Raw) -> None:
    match raw.kind:
        case Record.SWITCH_PORT:
            port.switch_port = raw
        case Record.QUEUE:
            port.queues.append(raw)
        case Record.GROUP:
            port.groups.append(raw)
        case Record.QDISC:
            port.qdiscs.append(raw)
        case Record.FRAME:
            port.frames.setdefault(raw.number, []).append(raw)


# -- Ports -------------------------------------------------------------------------------------------------------------


def port_answer(port: Port) -> Answer:
    """Return what there is to say of a port, but for its name; `standing` is not among it."""
    tx_bytes, tx_packets, rx_bytes, rx_packets, exists, up = _PORT.unpack_from(port.raw.body)
    answer: Answer = {"up": bool(up), "rate_bps": None, "paused": [], "pausing": []}
    counted = (tx_bytes, tx_packets, rx_bytes, rx_packets) if exists else (None,) * 4
    answer |= zip(("tx_bytes", "tx_packets", "rx_bytes", "rx_packets"), counted, strict=True)
    answer |= dict.fromkeys(("drops", "marks", "pauses_sent", "pauses_received"))
    answer["queues"] = []
    if port.switch_port is not None:
        _add_switch_port(answer, port)
    elif port.qdiscs:
        _add_qdiscs(answer, [_qdisc(raw) for raw in port.qdiscs])
    return answer


def _add_switch_port(answer: Answer, port: Port) -> None:
    assert port.switch_port is not None, "only of switch ports"
    rate_bps, paused, pausing, marks, drops, sent, received, *_ = _SWITCH_PORT.unpack_from(port.switch_port.body)
    answer |= {"rate_bps": rate_bps, "paused": _bits(paused), "pausing": _bits(pausing)}
    answer |= {"drops": drops, "marks": marks, "pauses_sent": sent, "pauses_received": received}
    answer["queues"] = [_queue_answer(raw) for raw in port.queues]
    answer["groups"] = [_group_answer(raw) for raw in port.groups]


def _bits(mask: int) -> list[int]:
    return [number for number in range(_PRIORITIES) if mask >> number & 1]


def known(value: int) -> int | None:
    """Return a number of the kernel's; None where it does not know one, or none bounds it."""
    return None if value == UNKNOWN else int(value)


def _queue_answer(raw: Raw) -> Answer:
    words = _QUEUE.unpack_from(raw.body)
    limit, reserved, _, size, packets, _, watermark, sent_bytes, sent_packets = words[:9]
    pauses, paused_ns, storms = words[18:]
    return {
        **{"queue": raw.number, "bytes": size, "packets": packets},
        **{"drops": sum(words[_DROPS]), "marks": sum(words[_MARKS])},
        **{"sent_bytes": sent_bytes, "sent_packets": sent_packets, "watermark_bytes": watermark},
        **{"limit_bytes": known(limit), "reserved_bytes": reserved},
        **{"pauses_received": pauses, "paused_ns": paused_ns, "storms": storms},
    }


def _group_answer(raw: Raw) -> Answer:
    limit, reserved, xoff, size, headroom, watermark, _, _, discards, xoffs, xoff_ns = _GROUP.unpack_from(raw.body)
    return {
        **{"group": raw.number, "bytes": size, "headroom_bytes": headroom, "watermark_bytes": watermark},
        **{"limit_bytes": known(limit), "reserved_bytes": reserved},
        **{"discards": discards, "xoff": bool(xoff), "xoffs": xoffs, "xoff_ns": xoff_ns},
    }


def pools_answer(port: Port) -> list[Answer]:
    """Return the pools of the switch that a port belongs to; none where it has no shared memory."""
    if port.switch_port is None:
        return []
    words = _SWITCH_PORT.unpack_from(port.switch_port.body)[10:]
    found = []
    for number in range(POOLS):
        size, reserved, used, watermark, headroom, headroom_watermark = words[number * POOL_WORDS :][:POOL_WORDS]
        if size:
            found.append(
                {
                    **{"pool": number, "size_bytes": size, "reserved_bytes": reserved, "used_bytes": used},
                    **{"watermark_bytes": watermark, "headroom_bytes": headroom},
                    **{"headroom_watermark_bytes": headroom_watermark},
                }
            )
    return found


# -- Stock qdiscs ------------------------------------------------------------------------------------------------------


class _Qdisc(NamedTuple):
    """A stock qdisc of a port."""

    handle: int
    kind: str
    parent: int
    packets: int
    bytes: int
    drops: int
    sent_bytes: int
    sent_packets: int
    rate_bps: int
    statistics: memoryview


_LINE = ("tbf", "netem")
"""What a port's line is made of: rate, delay. The queue is below."""
_RED = "red"


def _qdisc(raw: Raw) -> _Qdisc:
    kind, parent, packets, size, drops, _, sent_bytes, sent_packets, rate_bps = _QDISC.unpack_from(raw.body)
    rest = raw.body[_QDISC.size :]
    name = kind.rstrip(b"\0").decode()
    return _Qdisc(raw.number, name, parent, packets, size, drops, sent_bytes, sent_packets, rate_bps, rest)


def _add_qdiscs(answer: Answer, qdiscs: Sequence[_Qdisc]) -> None:
    by_parent: dict[int, list[_Qdisc]] = {}
    for qdisc in qdiscs[1:]:
        by_parent.setdefault(qdisc.parent >> 16, []).append(qdisc)
    queue = qdiscs[0]
    while queue.kind in _LINE:
        answer["rate_bps"] = known(queue.rate_bps) or answer["rate_bps"]
        below = by_parent.get(queue.handle >> 16)
        if not below:
            break
        queue = below[0]
    bands = sorted(by_parent.get(queue.handle >> 16, []), key=lambda each: each.parent)
    answer["drops"] = queue.drops
    # RED counts, and the queue within it holds the packets.
    within = {
        each.handle: by_parent[each.handle >> 16][0].handle for each in (queue, *bands) if _holds(each, by_parent)
    }
    if queue.handle in within or not bands:
        answer["queues"] = [_stock_queue(queue, 0, within)]
    else:
        answer["queues"] = [_stock_queue(band, (band.parent & 0xFFFF) - 1, within) for band in bands]
    marks = [each["marks"] for each in answer["queues"]]
    answer["marks"] = None if None in marks else sum(marks)


def _holds(qdisc: _Qdisc, by_parent: Mapping[int, Sequence[_Qdisc]]) -> bool:
    return qdisc.kind == _RED and qdisc.handle >> 16 in by_parent


def _stock_queue(qdisc: _Qdisc, number: int, within: Mapping[int, int]) -> Answer:
    return {
        **{"queue": number, "bytes": qdisc.bytes, "packets": qdisc.packets},
        **{"drops": qdisc.drops, "marks": _marks(qdisc)},
        **{"sent_bytes": qdisc.sent_bytes, "sent_packets": qdisc.sent_packets},
        **{"kind": qdisc.kind, "handle": within.get(qdisc.handle, qdisc.handle)},
    }


def _marks(qdisc: _Qdisc) -> int | None:
    """Return the packets that a qdisc marked; None where it does not count them."""
    stock = STOCK.get(qdisc.kind)
    if stock is None or stock.marks is None:
        return None
    return sum(_counted(qdisc.statistics, counter, counter.within) for counter in stock.marks)


def _counted(data: memoryview, counter: Counter, within: Sequence[int | None]) -> int:
    if not within:
        return int.from_bytes(data[counter.at : counter.at + counter.bytes], "little")
    return sum(_counted(value, counter, within[1:]) for kind, value in _attributes(data) if within[0] in (None, kind))


def _attributes(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    at = 0
    while at + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, at)
        if length < _ATTRIBUTE.size:
            return
        yield kind & _TYPE_MASK, data[at + _ATTRIBUTE.size : at + length]
        at += (length + 3) & ~3
