"""What `probes/sampler` logs of switches with a shared buffer (`probes/README.md`): counters since a port was made."""

from __future__ import annotations

from fabriclab.formats.table import Table, integers, texts

SWITCH_PORTS = Table(
    "switch-ports",
    1,
    {
        **integers("time_ns"),
        **texts("port"),
        **integers("marks", "drops", "lost", "pauses_sent", "pauses_received"),
    },
)
SWITCH_QUEUES = Table(
    "switch-queues",
    1,
    {
        **integers("time_ns"),
        **texts("port"),
        **integers("queue", "bytes", "packets", "watermark_bytes", "sent_bytes", "sent_packets"),
        **integers("dropped_queue_limit", "dropped_queue_pool", "dropped_ingress", "dropped_voq", "dropped_wred"),
        **integers("dropped_storm", "dropped_reset", "marked_wred", "marked_phantom"),
        **integers("pauses_received", "paused_ns", "storms"),
    },
)
PRIORITY_GROUPS = Table(
    "priority-groups",
    1,
    {
        **integers("time_ns"),
        **texts("port"),
        **integers("group", "bytes", "headroom_bytes", "watermark_bytes", "received_bytes", "received_packets"),
        **integers("discards", "xoffs", "xoff_ns"),
    },
)
POOLS = Table(
    "pools",
    1,
    {
        **integers("time_ns"),
        **texts("switch"),
        **integers("pool", "size_bytes", "reserved_bytes", "used_bytes", "watermark_bytes"),
        **integers("headroom_bytes", "headroom_watermark_bytes"),
    },
)
TRIMMING = Table(
    "trimming",
    1,
    {
        **integers("time_ns"),
        **texts("port"),
        **integers("queue", "trimmed_packets", "trimmed_bytes", "trimmed_drops"),
    },
)
"""Only of a run with a switch that trims packets."""
CONGESTION_EVENTS = Table(
    "congestion-events",
    1,
    {
        **integers("start_ns", "end_ns"),
        **texts("port"),
        **integers("queue", "peak_bytes"),
        **texts("ingress"),
    },
)
SWITCH_TABLES: dict[str, Table] = {
    "switch_ports": SWITCH_PORTS,
    "switch_queues": SWITCH_QUEUES,
    "priority_groups": PRIORITY_GROUPS,
    "pools": POOLS,
    "congestion_events": CONGESTION_EVENTS,
    "trimming": TRIMMING,
}
"""By the name of the table, which is that of its files: `raw/switch_ports.csv`, `switch_ports.parquet`."""
