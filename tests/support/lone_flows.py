"""Flows that have the path for themselves."""

from __future__ import annotations

from fabriclab.formats.plan.traffic import FlowsTraffic, Mode

PAYLOAD_BYTES = 1448


def lone_flows(name: str, size_bytes: int, start_ns: int, mode: Mode = "push") -> FlowsTraffic:
    return FlowsTraffic(
        name=name,
        senders=("h1",),
        receiver="h2",
        size_bytes=size_bytes,
        count=2,
        mode=mode,
        start_ns=start_ns,
        interval_ns=100_000_000,
    )
