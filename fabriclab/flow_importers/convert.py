"""From the flow files of simulators to flow traces.

Their nodes, numbers, become the lab's hosts; what has no counterpart is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
import polars as pl

from fabriclab.flow_importers import importer_of
from fabriclab.flow_importers.chakra import read_job
from fabriclab.flow_importers.chakra.files import FileReader
from fabriclab.flow_importers.chakra.options import ChakraOptions
from fabriclab.flow_importers.flow import ForeignFlow
from fabriclab.formats.plan.traffic import Carrier
from fabriclab.formats.trace import LARGEST_NS, SMALLEST_BYTES
from fabriclab.workload.flows import by_start, flow_table, numbered
from fabriclab.workload.site import Site
from fabriclab.workload.trace_problems import TraceProblems

Transport = Literal["tcp", "mptcp", "roce"]
"""What may carry flows that another program's file has."""
TRANSPORTS: tuple[str, ...] = get_args(Transport)
Reader = Callable[[str, str, TraceProblems], list[ForeignFlow]]
"""Returns the flows of a file's text, in the file's order; what is wrong is recorded with the file's name and line."""


class Converted(NamedTuple):
    """A trace that another format was converted to."""

    flows: pl.DataFrame
    hosts: tuple[str, ...]
    raised: int
    """How many flows were smaller than 4 bytes, and have 4 now."""


def convert_flows(
    text: str, file: str, source: str, hosts: Sequence[str] | None, transport: Transport = "tcp"
) -> Converted:
    """Return the flows of a file of format `source` (of `IMPORTERS`) over a transport, ordered and numbered by start;
    their class is the format's name.

    Node 0 is the first of `hosts`, node 1 the second; without hosts they are called h1, h2 and so on. Raises TraceError
    with every problem.
    """
    problems = TraceProblems()
    read: Reader = importer_of(source).load().read
    found = read(text, file, problems)
    names = tuple(hosts) if hosts is not None else _names(found)
    for flow in found:
        _check(flow, names, file, problems)
    problems.raise_if_any()
    site = Site(names, {}, {}, 0)
    columns = {
        "start_ns": np.array([flow.start_ns for flow in found], dtype=np.int64),
        "src": np.array([flow.src for flow in found], dtype=np.int64),
        "dst": np.array([flow.dst for flow in found], dtype=np.int64),
        "size_bytes": np.array([max(flow.size_bytes, SMALLEST_BYTES) for flow in found], dtype=np.int64),
        "mode": "push",
        "group": pl.Series([flow.group for flow in found], dtype=pl.String()),
    }
    flows = numbered([by_start(flow_table(site, source, Carrier(transport=transport), columns))], 0, site)
    return Converted(flows, names, sum(flow.size_bytes < SMALLEST_BYTES for flow in found))


def convert_job(
    path: Path, read: FileReader, hosts: Sequence[str] | None, transport: Transport, options: ChakraOptions
) -> Converted:
    """Return the flows of a Chakra execution trace over a transport, numbered in the order in which connections send
    them; their class is the operation.

    Rank 0 is the first of `hosts`, rank 1 the second; without hosts they are called h1, h2 and so on. `read` returns
    what a file holds. Raises TraceError with every problem.
    """
    found, ranks = read_job(path, read, options)
    names = tuple(hosts) if hosts is not None else _numbered_names(ranks)
    if len(names) < ranks:
        problems = TraceProblems()
        problems.add(str(path), 1, f"the trace has {ranks} ranks, but there are only {len(names)} hosts for them")
        problems.raise_if_any()
    site = Site(names, {}, {}, 0)
    connections = None if transport == "mptcp" else [flow.connection for flow in found]
    columns = {
        "start_ns": np.array([flow.start_ns for flow in found], dtype=np.int64),
        "src": np.array([flow.src for flow in found], dtype=np.int64),
        "dst": np.array([flow.dst for flow in found], dtype=np.int64),
        "size_bytes": np.array([max(flow.size_bytes, SMALLEST_BYTES) for flow in found], dtype=np.int64),
        "mode": "push",
        "connection": connections,
        "group": pl.Series([flow.group for flow in found], dtype=pl.String()),
        "after": pl.Series([flow.after for flow in found], dtype=pl.String()),
        "class": [flow.operation for flow in found],
    }
    flows = numbered([flow_table(site, "chakra", Carrier(transport=transport), columns)], 0, site)
    return Converted(flows, names[:ranks], sum(flow.is_raised for flow in found))


def _names(found: Sequence[ForeignFlow]) -> tuple[str, ...]:
    return _numbered_names(max((max(flow.src, flow.dst) for flow in found), default=-1) + 1)


def _numbered_names(count: int) -> tuple[str, ...]:
    return tuple(f"h{number + 1}" for number in range(count))


def _check(flow: ForeignFlow, hosts: Sequence[str], file: str, problems: TraceProblems) -> None:
    for node in (flow.src, flow.dst):
        if node >= len(hosts):
            problems.add(
                file,
                flow.line,
                f"node {node} has no host; there are hosts only for nodes 0 to {len(hosts) - 1}",
            )
    if flow.src == flow.dst:
        problems.add(file, flow.line, f"node {flow.src} sends to itself")
    if flow.size_bytes == 0:
        problems.add(file, flow.line, "the size is 0; a flow needs at least one byte")
    if flow.start_ns > LARGEST_NS:
        problems.add(file, flow.line, f"the start is later than {LARGEST_NS} ns, the latest that a trace can have")
