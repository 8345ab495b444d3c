"""What a trace of a million flows costs on this host: prints figures beside what they are meant to be, judges nothing.

    python3 tests/bench/workload.py [--flows N]

Each part runs in a process of its own, whose peak resident memory is its own; start alone is Python with the libraries
loaded.

arrivals  Poisson flows of web-search sizes among 16 hosts: generated and written
queries   partition/aggregate queries of 15 workers: generated and written
read      the trace of the arrivals read as a user's own, with all checks, and written again
quoted    the same trace with one quoted value in it, which needs a slower reader
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fabriclab.distributions import builtin, mean_bytes
from fabriclab.formats.plan.traffic import (
    Arrivals,
    ArrivalsTraffic,
    DistributedSize,
    Pairs,
    QueryTraffic,
    Traffic,
    UniformSize,
)
from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS
from fabriclab.workload import Site, UserTrace, read_traces, trace_text
from fabriclab.workload.flows import numbered
from fabriclab.workload.generate import table_of

HOSTS = tuple(f"h{number}" for number in range(1, 17))
SITE = Site(HOSTS, dict.fromkeys(HOSTS, "s1"), dict.fromkeys(HOSTS, 10**9), 1)
MS = 10**6
FAN_OUT = 15
TARGET_MB = 2000


def arrivals(flows: int) -> ArrivalsTraffic:
    found = builtin("web-search")
    mean = mean_bytes(found.points, found.interpolation, None)
    size = DistributedSize(
        name=found.name, points=found.points, interpolation=found.interpolation, cap_bytes=None, mean_bytes=mean
    )
    pairs = Pairs(pattern="random", senders=HOSTS, receivers=HOSTS)
    process = Arrivals(process="poisson", interval_ns=MS)
    return ArrivalsTraffic(
        name="web", pairs=pairs, size=size, arrivals=process, start_ns=0, stop_ns=flows * MS // len(HOSTS)
    )


def queries(flows: int) -> QueryTraffic:
    return QueryTraffic(
        name="query",
        aggregators=HOSTS,
        workers=HOSTS,
        fan_out=FAN_OUT,
        request_bytes=1600,
        response=UniformSize(smallest_bytes=1600, largest_bytes=2000),
        arrivals=Arrivals(process="poisson", interval_ns=MS),
        start_ns=0,
        stop_ns=flows * MS // FAN_OUT // len(HOSTS),
        jitter_ns=10_000,
        connection="kept",
    )


def generate(traffic: Traffic, file: Path) -> int:
    flows = numbered([table_of(traffic, SITE)], 0, SITE)
    with file.open("w") as out:
        out.writelines(trace_text(flows))
    return flows.height


def read(file: Path) -> int:
    flows = read_traces([UserTrace("mine", str(file), file.read_bytes())], SITE, CONGESTION_CONTROLS)
    with file.with_suffix(".again").open("w") as out:
        out.writelines(trace_text(flows))
    return flows.height


def quote(file: Path) -> Path:
    """Return a copy of a trace, the class of its last flow in quotes."""
    quoted = file.with_suffix(".quoted")
    quoted.write_text(file.read_text().removesuffix("web\n") + '"web"\n')
    return quoted


def part(name: str, flows: int, directory: Path) -> None:
    """Do one part and print its figures."""
    file = directory / "trace.csv"
    quoted = quote(file) if name == "quoted" else None
    begun = time.monotonic()
    made = 0
    if name == "arrivals":
        made = generate(arrivals(flows), file)
    elif name == "queries":
        made = generate(queries(flows), directory / "queries.csv")
    elif name in ("read", "quoted"):
        made = read(quoted or file)
    seconds = time.monotonic() - begun
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"{name:9} {made:9,} flows {seconds:7.2f} s {peak_mb:7.0f} MB (target: below {TARGET_MB:,})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flows", type=int, default=1_000_000, help="flows of each part, about")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--directory", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        part(arguments.part, arguments.flows, arguments.directory)
        return
    with tempfile.TemporaryDirectory() as directory:
        for name in ("start", "arrivals", "queries", "read", "quoted"):
            own = [sys.executable, __file__, "--flows", str(arguments.flows), "--part", name, "--directory", directory]
            subprocess.run(own, check=True)


if __name__ == "__main__":
    main()
