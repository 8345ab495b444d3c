"""The kinds of figure that an experiment may ask for (`report.figures`) and a report draws."""

from __future__ import annotations

FIGURE_KINDS = (
    *("metric", "queue", "queue-distribution", "drops", "fct-cdf", "deadlines", "fct-table", "slowdown", "buffer"),
    *("pauses", "switch-ports", "congestion-events", "throughput", "cwnd"),
)
