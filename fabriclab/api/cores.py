"""Whether a lab is worth being cut into parts that run at once, each on a core of its own (docs/cores.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabriclab.compile import compiled_flows, machine_memory_bytes
from fabriclab.compile.cut import MOST_PARTS, Cut, cut_plan, one_part
from fabriclab.compile.wires import indivisible, unmet_waits
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import CollectiveTraffic, RoundsTraffic, ShuffleTraffic, TraceTraffic
from fabriclab.runs.parts import Parts, several_memory_bytes
from fabriclab.units import SIZE, format_count, format_duration, format_quantity

_PACKET_BITS = 1538 * 8
_PACKET_NS = 1_500
"""What a packet takes of a processor at each port that it leaves by, measured on several hosts: 0.8 to 2 us."""
_BUSY = 0.5
"""How busy links are taken to be."""
_PAYING_NS = 40_000
"""Machines that wait for each other each so long of work, or more, lose less by it than they gain."""


def paying_cut(plan: Plan, most: int = MOST_PARTS) -> Cut | None:
    """Return the cut into most parts with which a lab still runs faster the more there are; None where one machine is
    as fast."""
    if _whole_for(plan) or any(isinstance(traffic, RoundsTraffic | ShuffleTraffic) for traffic in plan.traffic):
        return None  # Whose flows wait for each other; they are hardly ever between hosts of one part.
    found: Cut | None = None
    for cut in _cuts(plan, most):
        if _work_ns(plan, cut) / len(cut.parts) < _PAYING_NS:
            break
        found = cut
    return found


def paying_parts(plan: Plan, cores: int, lab_directory: Path) -> Parts:
    """Return the cut by which a lab gains most on so many cores.

    The bits are the same for each. Raises TraceError.
    """
    whole = one_part(plan)
    if reason := _whole_for(plan):
        return Parts(whole, f"cores: not divided: {reason}")
    best = paying_cut(plan)
    if best is None:
        return Parts(whole, "cores: not divided: its parts would lose more by waiting for each other than they gain")
    fitting = list(_cuts(plan, len(best.parts)))
    if any(isinstance(traffic, TraceTraffic | CollectiveTraffic) for traffic in plan.traffic):
        # Of all other flows none wait, or the lab is in one part: to make them takes long, and the run does it, too.
        flows = compiled_flows(plan, lab_directory)
        fitting = [cut for cut in fitting if not unmet_waits(cut, plan, flows)]
    if not fitting:
        return Parts(whole, "cores: not divided: flows that wait for others are in several parts")
    chosen = next((cut for cut in reversed(fitting) if len(cut.parts) <= cores), whole)
    return Parts(chosen, f"cores: {format_count(len(chosen.parts), 'part')}; up to {len(fitting[-1].parts)} pay")


def _whole_for(plan: Plan) -> str:
    """Return why a lab is not divided unless somebody asks for it; empty where it may be."""
    if plan.algorithms:
        # What nodes share in such code is shared by those of one machine, so the bits would follow the host.
        return "an algorithm of your own may share something between nodes"
    if any(traffic.program_nodes() for traffic in plan.traffic):
        return "what programs have to do is not known beforehand"
    return next(iter(indivisible(plan)), "")


def _cuts(plan: Plan, most: int) -> Iterator[Cut]:
    for count in (2, 4, 8, 16, 32):
        cut = cut_plan(plan, count) if count <= most else None
        if cut is None:
            return
        yield cut


def _work_ns(plan: Plan, cut: Cut) -> float:
    """Return what all machines together have to do while none of them can run further ahead."""
    rate_bps = sum(port.rate_bps for node in plan.nodes for port in node.ports)
    return rate_bps * _BUSY * cut.least_delay_ns / 10**9 / _PACKET_BITS * _PACKET_NS


def cores_line(plan: Plan) -> str:
    """Return on how many cores a lab runs faster, in words; nothing where it does not."""
    cut = paying_cut(plan)
    if cut is None:
        return ""
    count = len(cut.parts)
    sizes = " + ".join(str(len(part)) for part in cut.parts[:4]) + (" + ..." if count > 4 else "")
    memory = format_quantity(float(several_memory_bytes(machine_memory_bytes(plan), count)), SIZE, digits=3)
    return (
        f"cores: up to {count} pay: {sizes} nodes, {format_count(cut.links, 'link')} of "
        f"{format_duration(cut.least_delay_ns)} or more between them; at most {memory} of memory"
    )
