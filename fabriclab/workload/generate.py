"""From the traffic of a plan to flows."""

from __future__ import annotations

import polars as pl

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import TraceTraffic, Traffic
from fabriclab.formats.trace import LARGEST_FLOW, LARGEST_HOMA_BYTES
from fabriclab.registry.traffic_kinds import load
from fabriclab.workload.flows import numbered
from fabriclab.workload.site import Site, TraceError, site_of


def generate_flows(plan: Plan, first: int = 0) -> pl.DataFrame:
    """Return the flows of a plan's traffic but for its user traces, numbered from `first`.

    They stand in the order of the traffic as written, within it by start. Raises TraceError.
    """
    site = site_of(plan)
    tables = [table_of(traffic, site) for traffic in plan.traffic if not isinstance(traffic, TraceTraffic)]
    if first + sum(table.height for table in tables) > LARGEST_FLOW + 1:
        raise TraceError(
            f"flow numbers end at {LARGEST_FLOW}, and this lab needs more; use smaller numbers in the traces, "
            "or fewer flows"
        )
    return numbered(tables, first, site)


def table_of(traffic: Traffic, site: Site) -> pl.DataFrame:
    """Return the flows of one traffic, not numbered yet. Raises TraceError."""
    table: pl.DataFrame = load(traffic.kind).flows(traffic, site)
    largest = table["size_bytes"].max() if traffic.carried_by.transport == "homa" else None
    if isinstance(largest, int) and largest > LARGEST_HOMA_BYTES:
        raise TraceError(
            f"traffic.{traffic.name}: a flow of {largest} bytes; Homa's messages have at most {LARGEST_HOMA_BYTES}: "
            "choose smaller sizes, or write cap: 1 MB beside the distribution"
        )
    return table
