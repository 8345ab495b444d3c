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
