"""What a fabric gains by cores on this host: the same lab on 1, 2, 4, ... of them, one line each, with the same bits.

    make bench-cores
    python3 tests/bench/cores.py [--k K] [--protocol static|bgp-unnumbered] [--milliseconds MS] [--cores N] [--repeat N]

start    seconds from the start of the virtual machines to the epoch; with FRR on all switches all routes are there then
traffic  seconds from the epoch to the end of the traffic, and how much faster that is than on one core
waited   of these, how long each virtual machine waited for the others, from its start on

A fat-tree with links of 1 Gbps and 10 us; every host sends to the one half of the fabric away. Of several
repeats the shortest counts. `docs/cores.md` has a model of what more cores gain.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fabriclab.compile.cut import cut_plan
from fabriclab.engine.artefacts import find_artefacts
from fabriclab.engine.events import Event
from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.results import ingest_run
from fabriclab.runs import RunContext, run_point
from fabriclab.runs.parts import cut_for

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from permutation_lab import write_permutation
from spent import Spent, spent


class Cost(NamedTuple):
    """What a run took until the epoch and from it to the end of the traffic, for how long its machines waited, and its
    bits."""

    start: Spent
    traffic: Spent
    waited: list[float]
    bits: str


def run(lab: Path, plan: Plan, cores: int) -> Cost:
    """Run the lab on so many cores, and take the time at its events."""
    at: dict[str, Spent] = {}

    def note(event: Event) -> None:
        name = event.text("phase") or event.name
        # To count what all processes have spent takes a while, and there are many events.
        if name in ("epoch", "collect"):
            at[name] = spent()

    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "run"
        context = RunContext(lab, find_artefacts(), ("bench",), ingest_run, cut=cut_for(plan, cores, lab))
        begun = spent()
        result = run_point(plan, directory, context, note)
        if result.status != "complete":
            raise SystemExit(f"{cores} cores: {result.status}: {result.message}")
        steps = json.loads((directory / "manifest.json").read_text()).get("steps", [])
        tables = b"".join((directory / name).read_bytes() for name in ("flows.parquet", "interfaces.parquet"))
    waited = [step["waited_s"] for step in steps]
    return Cost(at["epoch"] - begun, at["collect"] - at["epoch"], waited, hashlib.sha256(tables).hexdigest())


def numbers_of_cores(plan: Plan, most: int) -> Iterator[int]:
    """Yield 1, 2, 4, ... as far as there are cores and the fabric has parts."""
    cores = 1
    while cores <= most and cut_plan(plan, cores) is not None:
        yield cores
        cores *= 2


def main() -> None:
    """Measure, and print a line for each number of cores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=8)
    parser.add_argument("--protocol", choices=["static", "bgp-unnumbered"], action="append")
    parser.add_argument("--milliseconds", type=int, default=100)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="the most to try")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    for protocol in options.protocol or ["static", "bgp-unnumbered"]:
        with tempfile.TemporaryDirectory() as name:
            lab = write_permutation(
                Path(name) / "lab",
                options.k,
                protocol=protocol,
                rate_bps=10**9,
                delay_ns=10_000,
                stop=f"{options.milliseconds} ms",
                sampled="10 ms",
            )
            plan = resolve_plan(parse_lab(lab), {}, 1)
            print(f"fat-tree k={options.k}, {protocol}, {options.milliseconds} ms of traffic")
            alone: Cost | None = None
            for cores in numbers_of_cores(plan, options.cores):
                cost = min((run(lab, plan, cores) for _ in range(options.repeat)), key=lambda one: one.traffic.wall)
                alone = alone or cost
                if cost.bits != alone.bits:
                    raise SystemExit(f"the bits on {cores} cores are others than on 1")
                faster = alone.traffic.wall / cost.traffic.wall
                waited = " + ".join(f"{one:.1f}" for one in cost.waited) or "-"
                print(
                    f"{cores:4} cores: start {cost.start.text()}, traffic {cost.traffic.text()} ({faster:.2f} x), "
                    f"waited {waited}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
