"""The files that the sampler writes of switches with a shared buffer (`probes/README.md`, `switches`):
counters since the port was made."""

from __future__ import annotations

import polars as pl

from fabriclab.results.formats import Format

SWITCH_PORTS = Format(
    "# fabriclab-switch-ports-1",
    {
        "time_ns": pl.Int64,
        "port": pl.String,
        "marks": pl.Int64,
        "drops": pl.Int64,
        "lost": pl.Int64,
        "pauses_sent": pl.Int64,
        "pauses_received": pl.Int64,
    },
)
SWITCH_QUEUES = Format(
    "# fabriclab-switch-queues-1",
    {
        "time_ns": pl.Int64,
        "port": pl.String,
        "queue": pl.Int64,
        "bytes": pl.Int64,
        "packets": pl.Int64,
        "watermark_bytes": pl.Int64,
        "sent_bytes": pl.Int64,
        "sent_packets": pl.Int64,
        "dropped_queue_limit": pl.Int64,
        "dropped_queue_pool": pl.Int64,
        "dropped_ingress": pl.Int64,
        "dropped_voq": pl.Int64,
        "dropped_wred": pl.Int64,
        "dropped_storm": pl.Int64,
        "dropped_reset": pl.Int64,
        "marked_wred": pl.Int64,
        "marked_phantom": pl.Int64,
        "pauses_received": pl.Int64,
        "paused_ns": pl.Int64,
        "storms": pl.Int64,
    },
)
PRIORITY_GROUPS = Format(
    "# fabriclab-priority-groups-1",
    {
        "time_ns": pl.Int64,
        "port": pl.String,
        "group": pl.Int64,
        "bytes": pl.Int64,
        "headroom_bytes": pl.Int64,
        "watermark_bytes": pl.Int64,
        "received_bytes": pl.Int64,
        "received_packets": pl.Int64,
        "discards": pl.Int64,
        "xoffs": pl.Int64,
        "xoff_ns": pl.Int64,
    },
)
POOLS = Format(
    "# fabriclab-pools-1",
    {
        "time_ns": pl.Int64,
        "switch": pl.String,
        "pool": pl.Int64,
        "size_bytes": pl.Int64,
        "reserved_bytes": pl.Int64,
        "used_bytes": pl.Int64,
        "watermark_bytes": pl.Int64,
        "headroom_bytes": pl.Int64,
        "headroom_watermark_bytes": pl.Int64,
    },
)
CONGESTION_EVENTS = Format(
    "# fabriclab-congestion-events-1",
    {
        "start_ns": pl.Int64,
        "end_ns": pl.Int64,
        "port": pl.String,
        "queue": pl.Int64,
        "peak_bytes": pl.Int64,
        "ingress": pl.String,
    },
)
SWITCH_TABLES: dict[str, Format] = {
    "switch_ports": SWITCH_PORTS,
    "switch_queues": SWITCH_QUEUES,
    "priority_groups": PRIORITY_GROUPS,
    "pools": POOLS,
    "congestion_events": CONGESTION_EVENTS,
}
"""By the name of the table, which is that of its files: `raw/switch_ports.csv`, `switch_ports.parquet`."""
