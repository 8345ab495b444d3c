"""What a trace of many flows costs on this host: prints figures beside what they are meant to be, judges nothing.

    python3 tests/bench/replay.py [--flows 1000000] [--hosts 16]

Short flows (2,000 bytes, connections of their own) between random hosts of a leaf-spine, half of them pulls, so many a
virtual second that every port has a tenth of its rate to carry.

start    wall seconds from the start of the machine's process to the epoch: every host has read the whole trace then
traffic  wall seconds from the epoch to the end of the traffic, and microseconds for each flow
memory   peak resident memory of the machine and all that it started, in MB (its own memory is a part)
late     the most that a flow started after its time, in virtual nanoseconds
ends     how many rows of the flow logs have each status
"""

from __future__ import annotations

import argparse
import collections
import csv
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.engine.artefacts import find_artefacts
from fabriclab.engine.events import Event
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.runs import RunContext, run_point

SIZE_BYTES = 2_000
PACKETS_BYTES = SIZE_BYTES + 10 * 100
"""On the wire in the direction of the data, headers and the handshake included, about."""
RATE_BPS = 10**9
EXPERIMENT = """
title: Many short flows
switches: {default: {buffer: 1 MB}}
traffic:
  many: {kind: trace, file: trace.csv}
"""


def rows(flows: int, hosts: int) -> Iterator[str]:
    """Yield the trace's lines."""
    draw = random.Random(1)
    apart_ns = PACKETS_BYTES * 8 * 10**9 // (RATE_BPS // 10) // hosts
    yield "# fabriclab-trace-1"
    yield "flow,start_ns,src,dst,size_bytes,mode"
    for number in range(flows):
        src, dst = draw.sample(range(1, hosts + 1), 2)
        yield f"{number},{number * apart_ns},h{src},h{dst},{SIZE_BYTES},{('push', 'pull')[number % 2]}"


def measure(directory: Path, flows: int, hosts: int) -> None:
    """Run the trace and print what it cost."""
    arguments = [
        "generate",
        "leaf-spine",
        "--spines",
        "2",
        "--leaves",
        "4",
        "--hosts",
        str(hosts // 4),
        "--out",
        str(directory),
    ]
    if CliRunner().invoke(app, arguments).exit_code:
        raise SystemExit(f"{' '.join(arguments)} failed")
    text = "\n".join(rows(flows, hosts)) + "\n"
    (directory / "trace.csv").write_text(text)
    (directory / "experiment.yml").write_text(EXPERIMENT)
    at: dict[str, float] = {}

    def note(event: Event) -> None:
        at[event.text("phase") or event.name] = time.monotonic()

    plan = resolve_plan(parse_lab(directory), {}, 1)
    context = RunContext(directory, find_artefacts(), ("bench",), lambda _: None)
    begun = time.monotonic()
    result = run_point(plan, directory / "run", context, note)
    if result.status != "complete":
        raise SystemExit(f"{result.status}: {result.message}")
    traffic_s = at["collect"] - at["epoch"]
    print(f"start   {at['epoch'] - begun:8.1f} s")
    print(f"traffic {traffic_s:8.1f} s     {traffic_s / flows * 1e6:8.1f} us a flow")
    print(f"memory  {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000:8.0f} MB (target: below 2,000)")
    report_log(directory / "run", text)


def report_log(run: Path, trace: str) -> None:
    """Print what the flow logs say of starts and ends."""
    due = {number: int(line.split(",")[1]) for number, line in enumerate(trace.splitlines()[2:])}
    ends: collections.Counter[str] = collections.Counter()
    late_ns = 0
    for path in sorted((run / "raw" / "flows").glob("*.csv")):
        with path.open() as file:
            next(file)
            for row in csv.DictReader(file):
                ends[row["status"]] += 1
                if row["start_ns"]:
                    late_ns = max(late_ns, int(row["start_ns"]) - due[int(row["flow"])])
    print(f"late    {late_ns:8d} ns (target: at most 1,000)")
    print("ends    " + ", ".join(f"{count} {status}" for status, count in ends.most_common()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flows", type=int, default=10**6, help="flows of the trace")
    parser.add_argument("--hosts", type=int, default=16, help="hosts, a multiple of four")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name), arguments.flows, arguments.hosts)


if __name__ == "__main__":
    main()
