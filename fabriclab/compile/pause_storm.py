"""Pause storms: a host whose broken NIC pauses its switch without a break,
played by `replay pause-storm` (`traffic/README.md`)."""

from __future__ import annotations

from fabriclab.formats.job import Program
from fabriclab.formats.plan.model import PauseStorm, Plan

_QUANTA = 65_535
"""The longest pause that a frame can ask for."""
_QUANTUM_BITS = 512
"""A quantum is that many bit times (IEEE 802.3, annex 31B)."""


def compile_pause_storms(plan: Plan) -> list[Program]:
    """Return the job's processes, one for each storm."""
    return [_process(plan, storm) for storm in plan.pause_storms]


def _process(plan: Plan, storm: PauseStorm) -> Program:
    what = ["--interface", storm.interface, "--priorities", ",".join(map(str, storm.priorities))]
    times = [
        "--at-ns",
        str(storm.at_ns),
        "--until-ns",
        str(storm.until_ns),
        "--interval-ns",
        str(_interval_ns(plan, storm)),
    ]
    argv = ["/tools/replay", "pause-storm", *what, *times]
    return {"name": f"pause-storm-{storm.name}@{storm.host}", "node": storm.host, "argv": argv}


def _interval_ns(plan: Plan, storm: PauseStorm) -> int:
    """Return half of the time that a pause lasts at the fastest rate that the host's line ever has."""
    name = f"{storm.host}:{storm.interface}"
    rates = [port.rate_bps for port in plan.node(storm.host).ports if port.interface == storm.interface]
    rates += [
        event.rate_bps
        for event in plan.events
        if event.rate_bps is not None and any(name in link for link in event.links)
    ]
    return _QUANTA * _QUANTUM_BITS * 10**9 // (2 * max(rates))
