"""Run directories of one traffic class, from the text of their logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from synthetic_run import FLOW_HEADER, TRACE_HEADER, plan_of, write_run

from fabriclab.results import read_run

TRAFFIC = [{"kind": "flows", "name": "f", "senders": ["h1", "h2"], "receiver": "h3"}]


def small_run(tmp_path: Path, trace: str, logs: dict[str, str], **files: Any) -> Path:
    plan = plan_of(2, "cubic", 64_000, TRAFFIC, "h3", lab="small", title="Small")
    texts = {"traffic/trace.csv": TRACE_HEADER + trace} | {
        f"raw/flows/{host}.csv": FLOW_HEADER + rows for host, rows in logs.items()
    }
    manifest = files.pop("manifest", {})
    return write_run(tmp_path / "run", plan, texts | files, **manifest)


def row(run_dir: Path, flow: int) -> dict[str, Any]:
    return read_run(run_dir).flows.filter(pl.col("flow") == flow).collect().row(0, named=True)


def query_run(tmp_path: Path) -> Path:
    """A run of two queries of two flows each, 600 ns to answer: a flow of the first had two timeouts and is late."""
    trace = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,group,deadline_ns,class\n"
    trace += "".join(f"{flow},0,h{1 + flow % 2},h3,5000,q{flow // 2},600,query\n" for flow in range(4))
    ends, timeouts = (900, 100, 200, 300), (2, 0, 0, 0)
    sources = [
        "".join(f"{flow},src,complete,0,,,,5000,0,{timeouts[flow]},0,4,51,80\n" for flow in flows)
        for flows in ((0, 2), (1, 3))
    ]
    sink = "".join(f"{flow},dst,complete,,,,{end},5000,,,,,,\n" for flow, end in enumerate(ends))
    logs = {"h1": sources[0], "h2": sources[1], "h3": sink}
    return small_run(tmp_path, "", logs, **{"traffic/trace.csv": trace})


def recovery_run(tmp_path: Path) -> Path:
    """A run of five flows that take 1 to 5 us: two lose nothing, the others recover by fast retransmit, by one timeout
    and by three."""
    trace = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,class\n"
    trace += "".join(f"{flow},0,h1,h3,5000,web\n" for flow in range(5))
    retransmits, timeouts = (0, 0, 2, 3, 9), (0, 0, 0, 1, 3)
    source = "".join(
        f"{flow},src,complete,0,,,,5000,{retransmits[flow]},{timeouts[flow]},0,4,51,80\n" for flow in range(5)
    )
    sink = "".join(f"{flow},dst,complete,,,,{1000 * (flow + 1)},5000,,,,,,\n" for flow in range(5))
    return small_run(tmp_path, "", {"h1": source, "h3": sink}, **{"traffic/trace.csv": trace})


def collective_run(tmp_path: Path, *, complete: bool = True) -> Path:
    """A run of two iterations of an all-gather of two ranks, who send each other 5,000 bytes over a kept connection;
    rank 0's second transfer is late, or, where the run is not complete, never arrives."""
    traffic = {
        "kind": "collective",
        "name": "job",
        "ranks": ["h1", "h2"],
        "operation": "all-gather",
        "algorithm": "ring",
        "size_bytes": 10_000,
        "iterations": 2,
        "start_ns": 0,
    }
    trace = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,connection,group,after,class\n"
    trace += "0,0,h1,h2,5000,c,job/0/r1/b0/0.0.0,,job\n1,0,h2,h1,5000,c,job/0/r0/b0/0.0.0,,job\n"
    trace += "2,0,h1,h2,5000,c,job/1/r1/b0/0.0.0,job/0/r0,job\n3,0,h2,h1,5000,c,job/1/r0/b0/0.0.0,job/0/r1,job\n"
    sent = "{0},src,complete,{1},,,,5000,0,0,0,4,51,80\n"
    got = "{0},dst,{2},,,,{1},5000,,,,,,\n"
    last = "complete" if complete else "stopped"
    first = sent.format(0, 0) + sent.format(2, 200_000) + got.format(1, 200_000, "complete")
    first += got.format(3, 410_000, "complete")
    second = sent.format(1, 0) + sent.format(3, 210_000) + got.format(0, 210_000, "complete")
    second += got.format(2, 700_000, last)
    files = {"traffic/trace.csv": trace}
    plan = plan_of(2, "cubic", 64_000, [traffic], "h3", lab="small", title="Small")
    logs = {f"raw/flows/{host}.csv": FLOW_HEADER + rows for host, rows in (("h1", first), ("h2", second))}
    return write_run(tmp_path / "run", plan, files | logs)
