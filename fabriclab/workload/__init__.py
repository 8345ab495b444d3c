"""Workloads: from the traffic of a plan, or a user's file, to a table of flows and the text of a flow trace
(`traffic/README.md`)."""

from fabriclab.workload.flows import COLUMNS, trace_text
from fabriclab.workload.generate import generate_flows
from fabriclab.workload.site import Site, TraceError, site_of
from fabriclab.workload.summary import size_lines, trace_summary
from fabriclab.workload.trace_rows import UserTrace
from fabriclab.workload.user_trace import read_traces

__all__ = [
    "COLUMNS",
    "Site",
    "TraceError",
    "UserTrace",
    "generate_flows",
    "read_traces",
    "site_of",
    "size_lines",
    "trace_summary",
    "trace_text",
]
