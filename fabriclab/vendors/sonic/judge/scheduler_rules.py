"""Rules of SCHEDULER. Starvation and guarantees above the line are `switch_checks`'s."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.units import format_rate
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.read.config_db import Scheduler

_BITS = 8
_MBPS = 10**6


def rates(bindings: Bindings) -> Iterator[SonicFinding]:
    """What the YANG models' must statements ask of the rates and bursts of one scheduler."""
    for scheduler in bindings.config.schedulers.values():
        for name, bound, remedy in _inconsistent(scheduler):
            path = ("SCHEDULER", scheduler.name, name)
            fate = "the YANG models refuse the entry, and so a config reload fails"
            yield finding("rates-inconsistent", path, getattr(scheduler, name), bound, fate, remedy)


def _inconsistent(one: Scheduler) -> Iterator[tuple[str, str, str]]:
    if one.pir is not None and not one.cir:
        yield "pir", "a peak rate without a cir above 0", "write cir, too"
    elif one.pir is not None and one.cir is not None and one.pir < one.cir:
        yield "pir", f"below cir, {one.cir}", "write the larger rate as pir"
    if one.cbs is not None and not one.cir:
        yield "cbs", "a burst without a cir above 0", "write cir, too"
    if one.pbs is not None and not one.pir:
        yield "pbs", "a burst without a pir above 0", "write pir, too"
    elif one.pbs is not None and one.cbs is not None and one.pbs < one.cbs:
        yield "pbs", f"below cbs, {one.cbs}", "write the larger burst as pbs"


def units(bindings: Bindings) -> Iterator[SonicFinding]:
    """Rates are bytes a second; one above the line was probably meant in bits."""
    speeds = {port.name: (port.speed_mbps or 0) * _MBPS for port in bindings.config.ports.values()}
    for binding in bindings.config.queues:
        scheduler = bindings.config.schedulers.get(binding.scheduler or "")
        if scheduler is None or scheduler.meter_type != "bytes":
            continue
        for name, rate in (("cir", scheduler.cir), ("pir", scheduler.pir)):
            over = tuple(port for port in binding.ports if rate and 0 < speeds[port] < rate * _BITS)
            if rate and over:
                yield _above_line(scheduler, name, rate, speeds[over[0]], over)


def _above_line(scheduler: Scheduler, name: str, rate: int, speed_bps: int, ports: tuple[str, ...]) -> SonicFinding:
    meant = f"; {format_rate(rate)} would be {rate // _BITS}" if rate <= speed_bps else ""
    bound = f"{format_rate(rate * _BITS)}, above the line rate, {format_rate(speed_bps)}: the unit is bytes per second"
    fate = (
        "the queue is not shaped"
        if name == "pir"
        else "the queue is served before all others, up to the whole line rate"
    )
    return finding(
        "rate-unit", ("SCHEDULER", scheduler.name, name), rate, bound, fate, f"write bytes per second{meant}", ports
    )
