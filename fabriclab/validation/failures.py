"""Whether somebody falls into a black hole after a link has failed: the links between switches fail one after the
other.

Only links without which everybody can still be reached. When there was time to recover, and before the link comes back,
every rack sends to every other over as many connections as lead over all paths; the link then comes back, and so must
what needs it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import polars as pl

from fabriclab.formats.plan.model import Event, Plan
from fabriclab.formats.plan.traffic import FlowsTraffic
from fabriclab.results import Results
from fabriclab.results.silence import waited_for
from fabriclab.units import format_duration
from fabriclab.validation.bench import MS, Bench, S, Setting, Stage, set_up, single_flows
from fabriclab.validation.finding import ValidationFinding, judged

_MOST_LINKS = 16
_FLOW_BYTES = 100
_FLOWS_A_PATH = 8
_PROBING_NS = 500 * MS
"""From the end of recovery until the link comes back. A lost SYN is sent again after a second: too late."""
_STATIC_REST_NS = 100 * MS
_BGP_REST_NS = 5 * S
"""From a link's return to the next failure: sessions come up, and find all routes again."""
_FIRST_NS = 100 * MS

_Link = tuple[str, str]


@dataclass(frozen=True)
class _Slot:
    """The failure of one link. `probe-N` are the flows while it is down."""

    number: int
    link: _Link
    down_ns: int
    up_ns: int


def failures_stage(bench: Bench) -> Stage | None:
    """Return the stage; None where no link between switches can be spared."""
    links = _spare_links(bench)
    if not links or len(bench.racks()) < 2:
        return None
    step = -(-len(links) // _MOST_LINKS)
    slots = list(_slots(bench, links[::step]))
    traffic = [flows for slot in slots for flows in _probes(bench, slot)]
    events = [event for slot in slots for event in _events(bench, slot)]
    plan = set_up(bench, "failures", Setting(traffic, slots[-1].up_ns, events=events, patience_ns=2 * S))
    skipped = len(links) - len(slots)
    return Stage("failures", plan, lambda results: [_judge(bench, slot, results, skipped) for slot in slots])


def _slots(bench: Bench, links: list[_Link]) -> Iterator[_Slot]:
    down_ns = _FIRST_NS
    for number, link in enumerate(links):
        up_ns = down_ns + bench.wanted.recovery_ns + _PROBING_NS
        yield _Slot(number, link, down_ns, up_ns)
        down_ns = up_ns + (_STATIC_REST_NS if bench.plan.bgp is None else _BGP_REST_NS)


def _events(bench: Bench, slot: _Slot) -> tuple[Event, Event]:
    action: Literal["blackhole", "down"] = "blackhole" if bench.wanted.failure_action == "blackhole" else "down"
    return (
        Event(name=f"fails-{slot.number}", at_ns=slot.down_ns, links=(slot.link,), action=action),
        Event(name=f"returns-{slot.number}", at_ns=slot.up_ns, links=(slot.link,), action="up"),
    )


def _probes(bench: Bench, slot: _Slot) -> Iterator[FlowsTraffic]:
    """Yield flows from every rack to every other; each rack's first host receives, its last one sends."""
    racks = list(bench.racks().values())
    count = max(1, math.ceil(_FLOWS_A_PATH * _widest(bench) / (len(racks) - 1)))
    start_ns = slot.down_ns + bench.wanted.recovery_ns
    for number, rack in enumerate(racks):
        senders = [other[-1] for index, other in enumerate(racks) if index != number]
        yield single_flows(f"probe-{slot.number}-{rack[0]}", senders, rack[0], _FLOW_BYTES, start_ns, count=count)


def _widest(bench: Bench) -> int:
    return max(
        (len(route.next_hops) for switch in bench.switches for route in bench.intended.node(switch.name).routes),
        default=1,
    )


def _spare_links(bench: Bench) -> list[_Link]:
    """Return the links between switches without which the switches still hang together, in the order of the plan."""
    links = _fabric_links(bench)
    return [link for link in links if _is_connected(bench.plan, [other for other in links if other != link])]


def _fabric_links(bench: Bench) -> list[_Link]:
    found: dict[frozenset[str], _Link] = {}
    for switch in bench.switches:
        for port in bench.fabric_ports(switch):
            link = (f"{switch.name}:{port.interface}", f"{port.peer_node}:{port.peer_interface}")
            found.setdefault(frozenset(link), link)
    return list(found.values())


def _is_connected(plan: Plan, links: list[_Link]) -> bool:
    names = [node.name for node in plan.nodes if node.role == "switch"]
    neighbours: dict[str, list[str]] = {name: [] for name in names}
    for one, other in links:
        a, b = one.partition(":")[0], other.partition(":")[0]
        neighbours[a].append(b)
        neighbours[b].append(a)
    reached, frontier = {names[0]}, [names[0]]
    while frontier:
        following = dict.fromkeys(near for name in frontier for near in neighbours[name] if near not in reached)
        reached.update(following)
        frontier = list(following)
    return len(reached) == len(names)


def _judge(bench: Bench, slot: _Slot, results: Results, skipped: int) -> ValidationFinding:
    flows = (
        results.flows.filter(pl.col("class").str.starts_with(f"probe-{slot.number}-"))
        .select("src", "dst", "status", "end_ns")
        .collect()
    )
    in_time = (pl.col("status") == "complete") & (pl.col("end_ns") <= slot.up_ns)
    lost = flows.filter(~in_time.fill_null(value=False))
    link = " - ".join(slot.link) + (f" (and {skipped} not tried)" if skipped and slot.number == 0 else "")
    recovery = format_duration(bench.wanted.recovery_ns)
    expected = f"{flows.height} of {flows.height} flows {recovery} after it is {_words(bench)}"
    measured = (
        f"{flows.height - lost.height} of "
        f"{flows.height}{_where_lost(lost)}{_followed(bench, results, slot)}{_still_away(bench, results, slot)}"
    )
    return judged("failure", link, expected, measured, holds=flows.height > 0 and lost.height == 0)


def _words(bench: Bench) -> str:
    return "silent" if bench.wanted.failure_action == "blackhole" else "down"


def _where_lost(lost: pl.DataFrame) -> str:
    pairs = [
        f"{row['src']} to {row['dst']}"
        for row in lost.select("src", "dst").unique(maintain_order=True).iter_rows(named=True)
    ]
    more = f" and {len(pairs) - 3} more pairs" if len(pairs) > 3 else ""
    return f"; not {', '.join(pairs[:3])}{more}" if pairs else ""


def _still_away(bench: Bench, results: Results, slot: _Slot) -> str:
    """Return that routing had not yet found back to the link that failed before: then two links are gone."""
    if (
        bench.plan.bgp is None
        or slot.number == 0
        or results.summary.get(f"reconvergence_ns[returns-{slot.number - 1}]") is not None
    ):
        return ""
    return (
        f"; routing was not yet back from the failure before, {format_duration(_BGP_REST_NS)} after that link's return"
    )


def _waits(bench: Bench, slot: _Slot) -> str:
    """Return what the routers of a silent link wait for, in parentheses; nothing where that is not known."""
    ends = [port.partition(":")[0] for port in slot.link]
    waits = waited_for(bench.plan, ends) if bench.wanted.failure_action == "blackhole" else ""
    return f" ({waits})" if waits else ""


def _followed(bench: Bench, results: Results, slot: _Slot) -> str:
    took_ns = results.summary.get(f"reconvergence_ns[fails-{slot.number}]")
    within_ns = results.summary.get(f"reconvergence_within_ns[fails-{slot.number}]")
    sooner = "" if within_ns is None else f" or up to {format_duration(within_ns, 2)} less"
    if (away_ns := results.summary.get(f"reconvergence_unsettled_ns[fails-{slot.number}]")) is not None:
        return f"; routing had not come to rest within {format_duration(away_ns, 3)}{_waits(bench, slot)}"
    return "" if took_ns is None else f"; routing took {format_duration(took_ns, 3)}{sooner}"
