"""Whether lossless classes lose nothing: in-casts of as much as the switch's memory holds twice, at once, class by
class.

Their windows are open from the start, so that the first round trip fills the buffer whatever ECN says later. All
connections are open before: a packet that opens one cannot be marked, and WRED drops what it cannot mark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from fabriclab.formats.plan.switch import CODEPOINTS, IDENTITY, SwitchPort
from fabriclab.formats.plan.traffic import Carrier, RoundsTraffic
from fabriclab.results import Results
from fabriclab.units import format_count
from fabriclab.validation.bench import MS, NO_PROBES, Bench, Setting, Stage, set_up
from fabriclab.validation.finding import ValidationFinding, judged, unmeasured
from fabriclab.validation.in_cast import InCast, in_casts

_LINES, _MOST_LINES = 2.0, 4.0
"""Senders to a receiver, in lines: of two only half of the burst is ever queued."""
_FILLS = 2
_LEAST_BYTES, _MOST_BYTES = 2_000_000, 64_000_000
"""The least and the largest burst, all its flows together: what fills a buffer,
and what a validation should take at most."""
_FLOW_BYTES = 64_000
"""The size of each flow: what its first window holds, for Linux offers 64 KB of receive window at first
(tcp_select_initial_window)."""
_WINDOW_SEGMENTS = 400
_INTERVAL_NS = MS
_SLACK = 3
"""The length of a slot, in multiples of the time that the line takes for the burst."""
_LEAST_SLOT_NS = 50 * MS


@dataclass(frozen=True)
class _Slot:
    """A burst of one class towards one receiver."""

    in_cast: InCast
    dscp: int
    flows: int
    """How many flows each sender sends."""
    start_ns: int
    stop_ns: int


def lossless_stage(bench: Bench) -> Stage | None:
    """Return the stage; None where no class is to be lossless, or no host can congest another's port."""
    dscps = lossless_dscps(bench)
    slots = _slots(bench, in_casts(bench, _LINES, _MOST_LINES), dscps)
    if not slots:
        return None
    traffic = [flows for number, slot in enumerate(slots) for flows in _burst(number, slot)]
    names = tuple(f"{node.name}:{port.interface}" for node, port in bench.shared_ports())
    probes = NO_PROBES.model_copy(update={"switch_interval_ns": _INTERVAL_NS, "switch_ports": names})
    transport = {"congestion_control": "cubic", "ecn": "on", "initial_window_segments": _WINDOW_SEGMENTS}
    plan = set_up(bench, "lossless", Setting(traffic, slots[-1].stop_ns, probes, transport=transport))
    return Stage("lossless", plan, lambda results: [_judge(bench, slot, results) for slot in slots], check="lossless")


def lossless_dscps(bench: Bench) -> tuple[int, ...]:
    """Return the DSCPs that should lose nothing: those that are wanted so, else one of each class that has a
    lossless group and PFC."""
    if bench.wanted.lossless is not None:
        return bench.wanted.lossless
    found: dict[int, int] = {}
    for _, port in bench.shared_ports():
        assert port.switch_port is not None
        for tc in _lossless_classes(port.switch_port):
            dscp = next((dscp for dscp in range(CODEPOINTS) if port.switch_port.maps.dscp_to_tc[dscp] == tc), None)
            if dscp is not None:
                found.setdefault(tc, dscp)
    return tuple(dscp for _, dscp in sorted(found.items()))


def _lossless_classes(port: SwitchPort) -> list[int]:
    if port.pfc is None:
        return []
    groups = {group.index for group in port.groups if group.lossless is not None}
    paused = {port.maps.priority_to_group[priority] for priority in port.pfc.priorities}
    return [tc for tc in IDENTITY if port.maps.tc_to_group[tc] in groups & paused]


def _slots(bench: Bench, places: list[InCast], dscps: tuple[int, ...]) -> list[_Slot]:
    slots: list[_Slot] = []
    start_ns = MS
    for place in places:
        flows = max(1, _burst_bytes(bench, place) // (_FLOW_BYTES * len(place.senders)))
        burst_ns = flows * len(place.senders) * _FLOW_BYTES * 8 * 10**9 // place.port.rate_bps
        for dscp in dscps:
            stop_ns = start_ns + max(_LEAST_SLOT_NS, -(-_SLACK * burst_ns // MS) * MS)
            slots.append(_Slot(place, dscp, flows, start_ns, stop_ns))
            start_ns = stop_ns
    return slots


def _burst_bytes(bench: Bench, place: InCast) -> int:
    switch = bench.plan.node(place.switch).switch
    memory_bytes = sum(pool.size_bytes + pool.headroom_bytes for pool in (switch.pools if switch else ()))
    return min(max(_FILLS * memory_bytes, _LEAST_BYTES), _MOST_BYTES)


def _burst(number: int, slot: _Slot) -> Iterator[RoundsTraffic]:
    for connection in range(slot.flows):
        yield RoundsTraffic(
            name=f"burst-{number}-{connection}",
            senders=slot.in_cast.senders,
            receiver=slot.in_cast.receiver,
            size_bytes=_FLOW_BYTES,
            rounds=1,
            start_ns=slot.start_ns,
            connection="kept",
            mode="push",
            carrier=Carrier(congestion_control="cubic", dscp=slot.dscp),
        )


def _judge(bench: Bench, slot: _Slot, results: Results) -> ValidationFinding:
    where = f"{slot.in_cast.name} DSCP {slot.dscp}"
    expected = f"{len(slot.in_cast.senders)} senders at once: nothing lost"
    return losses(bench, where, expected, (slot.start_ns, slot.stop_ns), results)


def losses(bench: Bench, where: str, expected: str, between: tuple[int, int], results: Results) -> ValidationFinding:
    """Return whether any queue dropped a packet between two instants, other than one that can't be marked."""
    queues, ports = results.switches.queues, results.switches.ports
    if queues is None or ports is None:
        return unmeasured("lossless", where, expected, "this engine has no PFC")
    every_drop = queues.with_columns(pl.sum_horizontal(pl.col("^dropped_.*$")).alias("dropped"))
    dropped = _grown(every_drop, "dropped", ["port", "queue"], between)
    by_wred = _grown(queues, "dropped_wred", ["port", "queue"], between)
    early = {place: count for place, count in by_wred.items() if _marks(bench, *place)}
    lost = {place: count - early.get(place, 0) for place, count in dropped.items()}
    told = f"{format_count(sum(_grown(ports, 'pauses_sent', ['port'], between).values()), 'pause')} sent"
    if sum(early.values()):
        told += f"; WRED dropped {format_count(sum(early.values()), 'packet')} without ECN"
    if sum(lost.values()):
        at = ", ".join(f"{count} at {port} queue {queue}" for (port, queue), count in sorted(lost.items()) if count)
        told = f"{format_count(sum(lost.values()), 'packet')} lost ({at}); {told}"
        return judged("lossless", where, expected, told, holds=False)
    return judged("lossless", where, expected, f"nothing lost; {told}", holds=True)


def _marks(bench: Bench, name: str, index: int) -> bool:
    """Return whether a queue marks: what WRED drops there cannot be marked (retransmissions, acknowledgements:
    RFC 3168, section 6.1)."""
    node, _, interface = name.partition(":")
    ports = [
        port.switch_port
        for port in bench.plan.node(node).ports
        if port.interface == interface and port.switch_port is not None
    ]
    return any(
        queue.index == index and queue.wred is not None and queue.wred.ecn for port in ports for queue in port.queues
    )


def _grown(table: pl.LazyFrame, column: str, by: list[str], between: tuple[int, int]) -> dict[Any, int]:
    """Return how much a counter grew between two instants, by place (port; or port and queue).

    A row holds until the next of its place.
    """
    at = pl.col("time_ns")
    until = table.select(*by, "time_ns", column).drop_nulls(column).group_by(by)
    value = pl.col(column)
    grown = until.agg(
        (value.filter(at <= between[1]).max().fill_null(0) - value.filter(at <= between[0]).max().fill_null(0)).alias(
            "grown"
        )
    )
    return {row[0] if len(by) == 1 else row[:-1]: int(row[-1]) for row in grown.sort(by).collect().iter_rows()}
