"""What a traffic comes to, in words: how many flows and bytes, which load was asked and which the draw gave."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from fabriclab.distributions import Distribution
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import DistributedSize, Size, Traffic
from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.registry.traffic_kinds import load
from fabriclab.units import format_count, format_duration, format_size
from fabriclab.workload.site import Site, site_of
from fabriclab.workload.sizes import mean_size

_RAISED_WORTH_SAYING = 0.0005
"""What has been raised is said from this share on. For web-search it is 0.00006: a piece from 0 to 10,000 bytes."""


def trace_summary(plan: Plan, flows: pl.DataFrame) -> str:
    """Return a summary of a plan's flows (`compiled_flows`), some lines for each traffic."""
    site = site_of(plan)
    lines: list[str] = []
    for traffic in plan.traffic:
        of_traffic = flows.filter(pl.col("traffic").cast(pl.String) == traffic.name)
        lines += [f"{traffic.name} ({traffic.kind}):", *(f"  {line}" for line in _lines(traffic, of_traffic, site))]
    return "\n".join(lines) + "\n"


def _lines(traffic: Traffic, flows: pl.DataFrame, site: Site) -> Iterator[str]:
    yield f"{format_count(flows.height, 'flow')}, {_hosts(flows, 'src')} to {_hosts(flows, 'dst')}"
    if flows["size_bytes"].count():
        total = float(flows["size_bytes"].sum())
        yield f"bytes: {format_size(total, 4)}; mean size {format_size(total / flows['size_bytes'].count(), 4)}"
    if flows["stop_ns"].count():
        yield (
            f"{format_count(flows['stop_ns'].count(), 'long flow')} until "
            f"{format_duration(max(flows['stop_ns'].drop_nulls()))}"
        )
    yield _starts(flows)
    yield from load(traffic.kind).drawn(traffic, flows, site)


def _hosts(flows: pl.DataFrame, side: str) -> str:
    names = flows[side].unique().cast(pl.String)
    return str(names[0]) if len(names) == 1 else f"{len(names)} hosts"


def _starts(flows: pl.DataFrame) -> str:
    """Say when flows start; those that wait for a group have no time of their own."""
    timed = flows.filter(pl.col("after").is_null())["start_ns"]
    waiting = flows.height - len(timed)
    waits = f"; {waiting:,} wait for a group" if waiting else ""
    if timed.is_empty():
        return f"starts: no flow has a start time of its own{waits}"
    first, last = min(timed), max(timed)
    spread = (
        f"at {format_duration(first)}"
        if first == last
        else f"from {format_duration(first, 6)} to {format_duration(float(last), 6)}"
    )
    return f"starts: {spread}{waits}"


def size_lines(size: Size) -> Iterator[str]:
    """Yield what sizes are drawn, with all that was done to a distribution."""
    mean = f"mean {format_size(mean_size(size), 4)}"
    if not isinstance(size, DistributedSize):
        if size.kind == "uniform":
            yield f"sizes: uniform, {format_size(size.smallest_bytes)} to {format_size(size.largest_bytes)}; {mean}"
        return
    distribution = Distribution(size.name, size.points, size.interpolation, "")
    cap = size.cap_bytes
    yield (
        f"sizes: {size.name}{'' if cap is None else f' CAPPED at {format_size(cap)}'} ({size.interpolation} between "
        f"points); {mean}"
    )
    if cap is not None:
        kept = size.mean_bytes / distribution.mean_bytes
        uncut = format_size(distribution.mean_bytes, 4)
        yield f"  the cap keeps {kept:.1%} of the bytes (the mean without it is {uncut}): say so with every result"
    if distribution.raised_share >= _RAISED_WORTH_SAYING:
        yield (
            f"  {distribution.raised_share:.2%} of its flows are smaller than {SMALLEST_BYTES} bytes, and are raised "
            "to that"
        )
