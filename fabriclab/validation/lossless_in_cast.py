"""Whether a lossless class works under its worst in-cast: all hosts that can, into the port with the worst ratio.

They send as the lab's hosts do: over RoCE where all their NICs have it, else over TCP with the congestion control of
that class. They begin one after the other, so that the queue grows slowly enough to see what acts first. Meanwhile
short messages go from senders to hosts whose ports nobody congests: the victims, if there are any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from fabriclab.formats.plan.roce import Roce
from fabriclab.formats.plan.traffic import Carrier, FlowsTraffic, LongTraffic, Traffic
from fabriclab.results import Results
from fabriclab.validation.bench import MS, NO_PROBES, Bench, Setting, Stage, set_up, single_flows
from fabriclab.validation.finding import ValidationFinding
from fabriclab.validation.in_cast import InCast, worst_in_cast
from fabriclab.validation.lossless import lossless_dscps
from fabriclab.validation.lossless_slot import LosslessSlot, victim_name
from fabriclab.validation.lossless_verdicts import judge_slot
from fabriclab.validation.victims import Victim, victims_of

INTERVAL_NS = 10_000
"""From one sample to the next: what is first is told to that."""
MESSAGE_BYTES = 64_000
"""Of a victim: what Linux's first receive window lets pass without a pause."""
_STAGGER_NS = 100_000
_SETTLE_NS = 5 * MS
"""From the last sender's start to the first message of a victim."""
_MESSAGES = 40
_SPACE = 10
"""From one message to the next, in times that one takes on the line."""
_LEAST_STEADY_NS = 10 * MS
_REST_NS = 20 * MS
"""From the end of one class's in-cast to the next one: what is queued leaves."""


def lossless_in_cast_stage(bench: Bench) -> Stage | None:
    """Return the stage; None where no class is to be lossless, or no host can congest another's port."""
    place = worst_in_cast(bench)
    slots = list(_slots(bench, place)) if place is not None else []
    if not slots:
        return None
    names = tuple(
        f"{node.name}:{port.interface}" for node in bench.plan.nodes for port in node.ports if port.switch_port
    )
    probes = NO_PROBES.model_copy(update={"switch_interval_ns": INTERVAL_NS, "switch_ports": names})
    traffic = [each for slot in slots for each in _traffic(slot)]
    setting = Setting(traffic, slots[-1].stop_ns, probes, transport={"ecn": "on"}, patience_ns=200 * MS)
    plan = set_up(bench, "worst in-cast of lossless classes", setting)

    def judge(results: Results) -> list[ValidationFinding]:
        return [finding for slot in slots for finding in judge_slot(bench, slot, results)]

    return Stage("lossless-in-cast", plan, judge, check="lossless", part_of="lossless")


def _slots(bench: Bench, place: InCast) -> Iterator[LosslessSlot]:
    start_ns = MS
    for number, (dscp, carrier) in enumerate(_classes(bench, place)):
        victims = tuple(victims_of(bench, place))
        settled_ns = start_ns + len(place.senders) * _STAGGER_NS + _SETTLE_NS
        stop_ns = settled_ns + max(_LEAST_STEADY_NS, (_MESSAGES + 1) * _space_ns(place))
        yield LosslessSlot(number, place, carrier, dscp, victims, start_ns, settled_ns, stop_ns)
        start_ns = stop_ns + _REST_NS


def _space_ns(place: InCast) -> int:
    return _SPACE * MESSAGE_BYTES * 8 * 10**9 // place.port.rate_bps


def _classes(bench: Bench, place: InCast) -> Iterator[tuple[int, Carrier]]:
    """Yield the DSCPs that should lose nothing, and what carries them. The class of the hosts' RoCE is one of them,
    unless the lab says that nothing is to be lossless: a loss makes RoCE send all again that was behind it."""
    dscps = lossless_dscps(bench)
    maps = place.switch_port.maps
    roce = roce_of(bench, (*place.senders, place.receiver))
    if roce is not None and bench.wanted.lossless != ():
        yield roce.dscp, Carrier(transport="roce")
        dscps = tuple(dscp for dscp in dscps if maps.dscp_to_tc[dscp] != maps.dscp_to_tc[roce.dscp])
    for dscp in dscps:
        yield dscp, Carrier(congestion_control=_congestion_control(bench, maps.dscp_to_tc, dscp), dscp=dscp)


def roce_of(bench: Bench, hosts: Sequence[str]) -> Roce | None:
    """Return the RoCE of hosts' NICs; None where one has none, or another class."""
    nics = [bench.plan.node(host).ports[0].nic for host in hosts]
    found = [nic.roce for nic in nics if nic is not None and nic.roce is not None]
    alike = len(found) == len(nics) and all(one.dscp == other.dscp for one, other in pairwise(found))
    return found[0] if alike else None


def _congestion_control(bench: Bench, dscp_to_tc: Sequence[int], dscp: int) -> str | None:
    """Return what the lab's own traffic of that class runs; None: the hosts' own."""
    found = (
        each.carried_by.congestion_control
        for each in bench.plan.traffic
        if dscp_to_tc[each.carried_by.dscp] == dscp_to_tc[dscp]
    )
    return next((one for one in found if one is not None), None)


def _traffic(slot: LosslessSlot) -> Iterator[Traffic]:
    yield LongTraffic(
        name=f"in-cast-{slot.number}",
        senders=slot.in_cast.senders,
        receiver=slot.in_cast.receiver,
        start_ns=slot.start_ns,
        stop_ns=slot.stop_ns,
        stagger_ns=_STAGGER_NS,
        carrier=slot.carrier,
    )
    yield from (_messages(slot, number, victim) for number, victim in enumerate(slot.victims))


def _messages(slot: LosslessSlot, number: int, victim: Victim) -> FlowsTraffic:
    # Not all at the same instants: one victim would be another's.
    start_ns = slot.settled_ns + number * _space_ns(slot.in_cast) // len(slot.victims)
    return single_flows(
        victim_name(slot, number),
        [victim.source],
        victim.receiver,
        MESSAGE_BYTES,
        start_ns,
        count=_MESSAGES,
        interval_ns=_space_ns(slot.in_cast),
        carrier=slot.carrier,
    )
