"""The flow trace of a plan: generated flows and the user's own, in the format of `traffic/README.md`."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import TraceTraffic
from fabriclab.formats.trace import HOSTS
from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS
from fabriclab.lab.reading.files import LARGEST_TRACE_BYTES, UnreadableError, read_lab_file
from fabriclab.resolve.interfaces import first_address
from fabriclab.workload import TraceError, UserTrace, generate_flows, read_traces, site_of


def compile_hosts(plan: Plan) -> str:
    """Return the CSV of hosts and the addresses that their flows use: those of the first interface.

    Where addresses are the nodes' own matter, the engine adds the rows once they are known.
    """
    names = list(HOSTS.columns)[: 1 + len(plan.families)]
    if plan.configured is not None:
        return f"{HOSTS.first_line}\n{','.join(HOSTS.columns)}\n"
    rows = [
        ",".join([node.name, *(first_address(node, family) for family in plan.families)])
        for node in plan.nodes
        if node.role == "host"
    ]
    return "".join(f"{line}\n" for line in (HOSTS.first_line, ",".join(names), *rows))


def compiled_flows(plan: Plan, lab_directory: Path) -> pl.DataFrame:
    """Return every flow: the columns of the trace, and `traffic`, the name of the traffic that it belongs to.

    Flows of a user's trace keep their numbers and come first; the others follow. Flows from a host with DCTCP to one of
    which nothing was said have it as their `congestion_control`, so that both ends run it. Raises TraceError for a
    user's trace that is not as it must be, and for traffic of which no flows can be made.
    """
    traces = [_user_trace(traffic, lab_directory) for traffic in plan.traffic if isinstance(traffic, TraceTraffic)]
    if not traces:
        return _answered(generate_flows(plan), plan)
    known = (*CONGESTION_CONTROLS, *(one.name for one in plan.algorithms if one.kind == "congestion_control"))
    own = read_traces(traces, site_of(plan), known)
    return _answered(pl.concat([own, generate_flows(plan, max(own["flow"], default=-1) + 1)]), plan)


def _answered(flows: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Return flows of which DCTCP's name both ends (`Transport.answers_dctcp`). iperf3's listener takes the
    host's, whatever is asked."""
    transports = {node.name: node.transport for node in plan.nodes if node.transport is not None}
    sending = [name for name, transport in transports.items() if transport.congestion_control == "dctcp"]
    answering = [name for name, transport in transports.items() if transport.answers_dctcp]
    if not answering:
        return flows
    src, dst, mode = (pl.col(name).cast(pl.String) for name in ("src", "dst", "mode"))
    control = pl.col("congestion_control")
    named = control.is_null() & src.is_in(sending) & dst.is_in(answering) & (mode != "iperf3")
    both = (
        pl.when(named).then(pl.lit("dctcp")).otherwise(control.cast(pl.String)).cast(flows.schema["congestion_control"])
    )
    return flows.with_columns(both.alias("congestion_control"))


def _user_trace(traffic: TraceTraffic, lab_directory: Path) -> UserTrace:
    """Return the trace's content, if it is still that of the plan."""
    path = lab_directory / traffic.file
    try:
        content = read_lab_file(lab_directory, traffic.file, LARGEST_TRACE_BYTES)
    except UnreadableError as error:
        raise TraceError(f"{path}: the trace of traffic.{traffic.name}: {error}") from error
    if hashlib.sha256(content).hexdigest() != traffic.sha256:
        raise TraceError(f"{path}: the trace of traffic.{traffic.name} has changed since the plan was made; run again")
    return UserTrace(traffic.name, str(path), content)
