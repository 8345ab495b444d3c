"""What the analysis of a large run costs: prints figures beside what they are meant to be, judges nothing.

    python3 tests/bench/results.py [--flows N] [--runs N] [--hosts N]

A run directory is made of random flows (two log rows each) and read back; each step runs in a process of its own.

ingest      raw logs to flows.parquet and summary.json
table       completion_table by class and size, with intervals; slowdown too
cdf         completion_cdf by class
coflows     coflow_table and coflow_completion_table
pool        completion_table of --runs runs of flows / runs flows each, as a sweep over seeds

For each: wall seconds, and the process's largest resident memory in megabytes, 100 of them being Python with polars;
the target of a million flows is below 2,000.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from fabriclab.results import ingest_run, pooled, read_run, read_sweep

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from synthetic_run import FLOW_HEADER, TRACE_HEADER, plan_of, write_run

MS = 1_000_000
TARGET_MB = 2000
CLASSES = ("query", "short", "update")


def synthetic_flows(count: int, hosts: int, seed: int) -> pl.DataFrame:
    """Return flows with sizes and completion times of a heavy tail; 1 % saw a timeout,
    0.1 % never ended, 8 make a query."""
    draw = np.random.Generator(np.random.PCG64(seed))
    size = np.exp(draw.normal(9.5, 2.0, count)).astype(np.int64) + 4
    source, step = draw.integers(0, hosts, count), draw.integers(1, hosts, count)
    timeouts = (draw.random(count) < 0.01).astype(np.int64)
    return pl.DataFrame(
        {
            "flow": np.arange(count),
            "start_ns": np.arange(count) * 10_000,
            "src": source,
            "dst": (source + step) % hosts,
            "size_bytes": size,
            "fct_ns": 150_000 + size * 8 + (draw.exponential(200_000, count)).astype(np.int64) + timeouts * 200 * MS,
            "timeouts": timeouts,
            "complete": draw.random(count) >= 0.001,
            "class": np.arange(count) // 8 % 3,
        }
    ).with_columns(
        pl.format("h{}", pl.col("src") + 1).alias("src"),
        pl.format("h{}", pl.col("dst") + 1).alias("dst"),
        pl.col("class").replace_strict(dict(enumerate(CLASSES)), return_dtype=pl.String),
        pl.when(pl.col("complete")).then(pl.lit("complete")).otherwise(pl.lit("stopped")).alias("status"),
        (pl.col("start_ns") + pl.col("fct_ns")).alias("end_ns"),
    )


def make_run(directory: Path, count: int, hosts: int, seed: int = 1) -> None:
    """Write a run directory as the machine leaves it, a log for each host."""
    traffic = [{"kind": "arrivals", "name": name} for name in CLASSES]
    plan = plan_of(hosts - 1, "dctcp", 256_000, traffic, f"h{hosts}", lab="bench", title="Many flows", seed=seed)
    plan["probes"] |= {"queue_interval_ns": None, "tcp_interval_ns": None}
    write_run(directory, plan, {})
    flows = synthetic_flows(count, hosts, seed)
    columns = TRACE_HEADER.splitlines()[1].split(",")
    group = pl.when(pl.col("class") == "query").then(pl.format("query/q{}", pl.col("flow") // 8)).alias("group")
    deadline = pl.when(pl.col("class") == "query").then(20 * MS).alias("deadline_ns")
    absent = {name: pl.lit(None) for name in ("stop_ns", "connection", "after")}
    trace = flows.with_columns(group, deadline, mode=pl.lit("push"), **absent).select(*columns, "deadline_ns")
    write_csv(directory / "traffic" / "trace.csv", TRACE_HEADER.rstrip() + ",deadline_ns\n", trace)
    for host in range(1, hosts + 1):
        write_csv(directory / "raw" / "flows" / f"h{host}.csv", FLOW_HEADER, log_of(flows, f"h{host}"))


def log_of(flows: pl.DataFrame, host: str) -> pl.DataFrame:
    """Return what a host logs: flows that it sent and that it received."""
    sent = flows.filter(pl.col("src") == host).select(
        *("flow", pl.lit("src").alias("side"), "status", "start_ns", "timeouts", "end_ns"),
        *(
            pl.col("size_bytes").alias("bytes"),
            (pl.col("timeouts") * 3).alias("retransmits"),
            pl.lit("tcp").alias("transport"),
        ),
        *(
            pl.lit(number).alias(name)
            for name, number in (("marks", 2), ("delivered", 9), ("min_rtt_us", 100), ("srtt_us", 150))
        ),
    )
    received = flows.filter(pl.col("dst") == host).select(
        *(
            "flow",
            pl.lit("dst").alias("side"),
            "status",
            (pl.col("start_ns") + 70_000).alias("first_byte_ns"),
            "end_ns",
        ),
        *(pl.col("size_bytes").alias("bytes"), pl.lit("tcp").alias("transport")),
    )
    columns = FLOW_HEADER.splitlines()[1].split(",")
    rows = pl.concat([sent, received], how="diagonal_relaxed").sort("end_ns")
    return rows.with_columns(pl.lit(None).alias(name) for name in columns if name not in rows.columns).select(columns)


def write_csv(path: Path, header: str, rows: pl.DataFrame) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(header.encode())
        rows.write_csv(file, include_header=False)


def make_sweep(directory: Path, runs: int, count: int, hosts: int) -> None:
    """Write a sweep over seeds, ingested."""
    points = []
    for seed in range(1, runs + 1):
        make_run(directory / f"points/{seed}", count, hosts, seed)
        ingest_run(directory / f"points/{seed}")
        points.append({"settings": {"seed": seed}, "seed": seed, "run": f"points/{seed}", "status": "complete"})
    (directory / "sweep.json").write_text(json.dumps({"format": "fabriclab-sweep-1", "lab": "bench", "points": points}))


def table(run: Path) -> None:
    results = read_run(run)
    results.completion_table()
    results.completion_table(of="slowdown")


def cdf(run: Path) -> None:
    read_run(run).completion_cdf()


def coflows(run: Path) -> None:
    read_run(run).coflow_completion_table()


def pool(sweep: Path) -> None:
    (seeds,) = pooled(read_sweep(sweep))
    seeds.completion_table()
    seeds.completion_cdf()


def measured(name: str, step: Callable[[Path], None], directory: Path) -> None:
    """Run a step in a new process and print what it cost."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=run_step, args=(step, directory, sender))
    process.start()
    seconds, megabytes = receiver.recv()
    process.join()
    print(f"{name:10} {seconds:8.2f} s {megabytes:8.0f} MB (target: below {TARGET_MB:,})", flush=True)


def run_step(step: Callable[[Path], None], directory: Path, sender: multiprocessing.connection.Connection) -> None:
    begun = time.monotonic()
    step(directory)
    sender.send((time.monotonic() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=50, help="of the pool")
    parser.add_argument("--hosts", type=int, default=16)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        run, sweep = Path(name) / "run", Path(name) / "sweep"
        make_run(run, arguments.flows, arguments.hosts)
        for step in (ingest_run, table, cdf, coflows):
            measured(step.__name__.removesuffix("_run"), step, run)
        make_sweep(sweep, arguments.runs, arguments.flows // arguments.runs, arguments.hosts)
        measured("pool", pool, sweep)


if __name__ == "__main__":
    main()
