"""Whether ECN marks begin where they should: each marking queue is filled by flows that are ECN-capable, one after the
other.

The queue's length is sampled every few packets. The last sample without a mark and the first one with a mark enclose
the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from fabriclab.formats.framing import AROUND_MTU_BYTES, HEADER_BYTES
from fabriclab.formats.plan.switch import CODEPOINTS, SwitchPort, SwitchQueue, Wred
from fabriclab.formats.plan.traffic import Carrier, LongTraffic
from fabriclab.results import Results
from fabriclab.results.idle_path import path_table, syn_wire_bytes
from fabriclab.units import format_count, format_size
from fabriclab.validation.bench import MS, NO_PROBES, Bench, Setting, Stage, set_up
from fabriclab.validation.finding import ValidationFinding, judged, numbers_text, unmeasured
from fabriclab.validation.in_cast import InCast, in_casts

_LINES = 2.0
"""Senders to a receiver, in lines: slow start fills the queue within some round trips. So reno:
what else there is leaves it early."""
_INTERVAL_NS = 10_000
_DIGITS = 4
_ROUND_TRIPS = 30
"""The round trips that a slot has for windows to double until their flows fill the line. That is from 10 segments to a
hundred million in 24."""
_FILLS = 4
"""The part of a slot for the queue to fill, in multiples of the time that the line takes to fill the
queue up to its threshold."""
_AVERAGES = 4
"""The part of a slot for averages, in multiples of the time that an average over the queue's
length takes to follow it."""
_LEAST_SLOT_NS = 2 * MS
_MOST_PAUSE_NS = 10 * MS
"""Between two slots: what is queued leaves."""


@dataclass(frozen=True)
class _Slot:
    """A queue that is filled."""

    in_cast: InCast
    queue: SwitchQueue
    dscp: int
    begin_bytes: int
    """Marks begin at this length at the earliest, and every packet is marked from `full_bytes` on."""
    full_bytes: int
    start_ns: int
    stop_ns: int
    over_ns: int
    """When what was queued has left."""

    @property
    def where(self) -> str:
        return f"{self.in_cast.name} queue {self.queue.index}"

    @property
    def expected(self) -> str:
        certain = f", of all packets from {_size(self.full_bytes)} on" if self.full_bytes > self.begin_bytes else ""
        return f"marks from {_size(self.begin_bytes)} on{certain}"


@dataclass(frozen=True)
class _Begin:
    """The lengths of a queue between which its first packet was marked."""

    unmarked_bytes: int
    """The longest that was seen before."""
    with_mark_bytes: int | None
    """The longest when the first mark was seen; None: there was none."""
    drops: int


def marks_stage(bench: Bench) -> Stage | None:
    """Return the stage; None where no switch marks and nobody wants it to."""
    places = in_casts(bench, _LINES)
    slots = _slots(bench, places)
    if not slots:
        return None
    traffic = [
        LongTraffic(
            name=f"fill-{number}",
            senders=slot.in_cast.senders,
            receiver=slot.in_cast.receiver,
            start_ns=slot.start_ns,
            stop_ns=slot.stop_ns,
            stagger_ns=0,
            carrier=Carrier(congestion_control="reno", dscp=slot.dscp),
        )
        for number, slot in enumerate(slots)
    ]
    names = tuple(dict.fromkeys(slot.in_cast.name for slot in slots))
    probes = NO_PROBES.model_copy(update={"switch_interval_ns": _INTERVAL_NS, "switch_ports": names})
    setting = Setting(traffic, slots[-1].stop_ns, probes, transport={"congestion_control": "reno", "ecn": "on"})
    return Stage("marks", set_up(bench, "marks", setting), lambda results: _judge(slots, results), check="marks")


def _slots(bench: Bench, places: list[InCast]) -> list[_Slot]:
    slots: list[_Slot] = []
    start_ns = MS
    for place in places:
        round_trip_ns, pause_ns = _round_trip_ns(bench, place), _pause_ns(bench, place)
        for queue, dscp, begin_bytes, full_bytes in _marking(bench, place):
            filling_ns = _FILLS * _sending_ns(place, full_bytes) + _AVERAGES * _averaging_ns(place, queue)
            stop_ns = start_ns + max(_LEAST_SLOT_NS, _ROUND_TRIPS * round_trip_ns + filling_ns)
            slots.append(_Slot(place, queue, dscp, begin_bytes, full_bytes, start_ns, stop_ns, stop_ns + pause_ns))
            start_ns = stop_ns + pause_ns
    return slots


def _sending_ns(place: InCast, size_bytes: int) -> int:
    return size_bytes * 8 * 10**9 // place.port.rate_bps


def _round_trip_ns(bench: Bench, place: InCast) -> int:
    """Return the longest time from a full frame's departure to its acknowledgement where nothing is queued."""
    pairs = [(sender, place.receiver) for sender in place.senders]
    paths = path_table(bench.plan, pairs)
    there = pl.col("delay_ns") + (pl.col("mtu") + AROUND_MTU_BYTES) * (pl.col("head_ns") + pl.col("tail_ns"))
    back = pl.col("return_delay_ns") + syn_wire_bytes(bench.plan.families[0]) * pl.col("return_stored_ns")
    longest = paths.select((there + back).max()).collect().item()
    return 0 if longest is None else round(longest)


def _averaging_ns(place: InCast, queue: SwitchQueue) -> int:
    """Return how long the line sends as many full frames as an average of the queue's length is over."""
    frames = 2**queue.wred.weight_log if queue.wred is not None and queue.wred.weight_log > 0 else 0
    return _sending_ns(place, frames * (place.port.mtu + AROUND_MTU_BYTES))


def _pause_ns(bench: Bench, place: InCast) -> int:
    """Return how long the line takes for all that the switch's memory can hold of it."""
    switch = bench.plan.node(place.switch).switch
    pools = switch.pools if switch is not None else ()
    most_bytes = max((pool.size_bytes + pool.headroom_bytes for pool in pools), default=0)
    return min(_MOST_PAUSE_NS, MS + _sending_ns(place, most_bytes)) if most_bytes else _MOST_PAUSE_NS


def _marking(bench: Bench, place: InCast) -> Iterator[tuple[SwitchQueue, int, int, int]]:
    """Yield the queues of a port that should mark: with a DSCP that leads there,
    and where marks begin and are certain, in bytes."""
    of_queue = _dscps(place.switch_port)
    wanted = {_queue_of(place.switch_port, dscp): threshold for dscp, threshold in bench.wanted.thresholds.items()}
    queues = {queue.index: queue for queue in place.switch_port.queues}
    for index, dscp in sorted(of_queue.items()):
        queue = queues.get(index, SwitchQueue(index=index))
        dscp = next((one for one in bench.wanted.thresholds if _queue_of(place.switch_port, one) == index), dscp)
        wred = queue.wred if queue.wred is not None and queue.wred.ecn else None
        begin, full = (
            (0, 0) if wred is None else (_bytes(wred, length, place.port.rate_bps) for length in (wred.min, wred.max))
        )
        if index in wanted:
            # A curve that rises from there on has its first mark by chance.
            yield queue, dscp, wanted[index], max(wanted[index], full) if begin <= wanted[index] else wanted[index]
        elif wred is not None:
            yield queue, dscp, begin, full


def _dscps(port: SwitchPort) -> dict[int, int]:
    """Return the least DSCP that leads to each queue."""
    found: dict[int, int] = {}
    for dscp in range(CODEPOINTS):
        found.setdefault(_queue_of(port, dscp), dscp)
    return found


def _queue_of(port: SwitchPort, dscp: int) -> int:
    return port.maps.tc_to_queue[port.maps.dscp_to_tc[dscp]]


def _bytes(wred: Wred, length: int, rate_bps: int) -> int:
    """Return a length of the curve in bytes; of a delay, what the line sends meanwhile."""
    return length if wred.unit == "bytes" else length * rate_bps // (8 * 10**9)


def _judge(slots: Sequence[_Slot], results: Results) -> list[ValidationFinding]:
    """Return a line for each queue that does not mark as it should, and one for those of a port that do, alike."""
    queues = results.switches.queues
    if queues is None:
        return [
            unmeasured("marks", slot.where, slot.expected, "this engine has no queues to count in") for slot in slots
        ]
    marks, drops = pl.col("marked_wred") + pl.col("marked_phantom"), pl.sum_horizontal(pl.col("^dropped_.*$"))
    rows = queues.with_columns(marks.alias("marks"), drops.alias("drops")).sort("time_ns").collect()
    found = [(slot, _begin(slot, rows)) for slot in slots]
    wrong = [_fault(slot, begin) for slot, begin in found if not _is_right(slot, begin)]
    alike: dict[tuple[str, str], list[tuple[_Slot, _Begin]]] = {}
    for slot, begin in found:
        if _is_right(slot, begin):
            alike.setdefault((slot.in_cast.name, slot.expected), []).append((slot, begin))
    return wrong + [_right(name, expected, those) for (name, expected), those in alike.items()]


def _begin(slot: _Slot, rows: pl.DataFrame) -> _Begin:
    """Return how long the queue was when marks began.

    A sample's watermark is the longest so far: no length between samples is missed.
    """
    of_queue = rows.filter((pl.col("port") == slot.in_cast.name) & (pl.col("queue") == slot.queue.index))
    before = of_queue.filter(pl.col("time_ns") < slot.start_ns)
    during = of_queue.filter((pl.col("time_ns") >= slot.start_ns) & (pl.col("time_ns") <= slot.over_ns))
    marked = during.filter(pl.col("marks") > _most(before, "marks"))
    drops = max(0, _most(during, "drops") - _most(before, "drops"))
    if not marked.height:
        return _Begin(_most(during, "watermark_bytes"), None, drops)
    unmarked = during.filter(pl.col("time_ns") < marked["time_ns"][0])
    return _Begin(_most(unmarked, "watermark_bytes"), int(marked["watermark_bytes"][0]), drops)


def _is_right(slot: _Slot, begin: _Begin) -> bool:
    if begin.with_mark_bytes is None or begin.with_mark_bytes < slot.begin_bytes:
        return False
    # An average lags behind the queue: where it is used, marks may begin later.
    lags = slot.queue.wred is not None and slot.queue.wred.weight_log > 0
    return lags or begin.unmarked_bytes <= slot.full_bytes + slot.in_cast.port.mtu + HEADER_BYTES


def _fault(slot: _Slot, begin: _Begin) -> ValidationFinding:
    if begin.with_mark_bytes is not None:
        return judged(
            "marks", slot.where, slot.expected, _between(begin.unmarked_bytes, begin.with_mark_bytes), holds=False
        )
    dropped = f", {format_count(begin.drops, 'packet')} dropped" if begin.drops else ""
    return judged("marks", slot.where, slot.expected, f"none up to {_size(begin.unmarked_bytes)}{dropped}", holds=False)


def _right(name: str, expected: str, those: Sequence[tuple[_Slot, _Begin]]) -> ValidationFinding:
    queues = [slot.queue.index for slot, _ in those]
    least = min(begin.unmarked_bytes for _, begin in those)
    most = max(begin.with_mark_bytes or 0 for _, begin in those)
    where = f"{name} {'queue' if len(queues) == 1 else 'queues'} {numbers_text(queues)}"
    return judged("marks", where, expected, _between(least, most), holds=True)


def _between(unmarked_bytes: int, with_mark_bytes: int) -> str:
    return f"the first between {_size(unmarked_bytes)} and {_size(with_mark_bytes)}"


def _size(size_bytes: int) -> str:
    return format_size(size_bytes, _DIGITS)


def _most(rows: pl.DataFrame, column: str) -> int:
    value = rows[column].max() if rows.height else 0
    return value if isinstance(value, int) else 0
