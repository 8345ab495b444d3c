"""The golden files of a Hadoop job as the raw logs of a whole run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from synthetic_run import QUEUE_HEADER

from fabriclab.formats.plan import plan_json
from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

GOLDEN = Path(__file__).parents[1] / "golden" / "hadoop"
LAB = Path(__file__).parents[2] / "labs" / "hadoop"
CONNECTIONS_HEADER = (
    "# fabriclab-connections-1\n"
    "end_ns,node,address,port,peer_address,peer_port,state,bytes_sent,bytes_acked,bytes_received,segments_sent,"
    "segments_received,retransmits,retransmitted_bytes,duplicates,timeouts,delivered,delivered_ce,min_rtt_us,srtt_us,"
    "congestion\n"
)
_MS = 10**6


def hadoop_run(run_dir: Path) -> Path:
    """A TeraSort of labs/hadoop, which ran from 1.279 to 8.062 s."""
    shutil.copytree(GOLDEN, run_dir)
    whole_hadoop_run(run_dir, resolve_plan(parse_lab(LAB), {}))
    return run_dir


def whole_hadoop_run(run_dir: Path, plan: Plan) -> None:
    """Add what a run has beside what Hadoop wrote."""
    (run_dir / "plan.json").write_text(plan_json(plan))
    (run_dir / "manifest.json").write_text(json.dumps({"format": "fabriclab-run-1", "status": "complete"}))
    (run_dir / "raw/flows").mkdir(parents=True)
    (run_dir / "raw/programs").mkdir()
    for name in ("hadoop-sort", "hadoop-sort-proof"):
        record = "# fabriclab-program-1\nstart_ns,end_ns,ended_by,status\n0,9280902272,itself,exit 0\n"
        (run_dir / f"raw/programs/{name}.csv").write_text(record)
    (run_dir / "traffic/trace.csv").write_text("# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes\n")
    queue = "".join(f"{at * 10 * _MS},leaf1:eth1,{1500 * (at % 50)},1,0,0,0,0,0\n" for at in range(830))
    (run_dir / "raw/queues.csv").write_text(QUEUE_HEADER + queue)
    (run_dir / "raw/connections.csv").write_text(CONNECTIONS_HEADER)
