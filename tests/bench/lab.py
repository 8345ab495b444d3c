"""What a lab costs on this host, from the package's own engine: prints figures beside what they are meant to be, judges
nothing.

    python3 tests/bench/lab.py [--repeat N]

start     48-host star (labs/incast): seconds from the start of the machine's process to the epoch, when the first
          packet leaves
memory    peak resident memory of the machine and all that it started in that run, in MB
flow      seconds a virtual second of one DCTCP flow through labs/dctcp-queue, with its probes, from the epoch on
incast    seconds of the run with 48 CUBIC senders, and virtual seconds of the same
switches  seconds a virtual second of labs/sonic-qos from the epoch on, whose probes sample switches each 20 us

Seconds are wall time and CPU time, which a busy host changes less. What they are meant to be is for a host that has
nothing else to do.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fabriclab.engine.artefacts import find_artefacts
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.runs import RunContext, RunResult, run_point

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from spent import Spent, spent

LABS = Path(__file__).resolve().parents[2] / "labs"


class Measured(NamedTuple):
    """What it took until the epoch, and all of the run; how that ended."""

    start: Spent
    whole: Spent
    result: RunResult


def measure(lab_name: str, settings: dict[str, str]) -> Measured:
    lab = parse_lab(LABS / lab_name)
    plan = resolve_plan(lab, settings, 1)
    context = RunContext(lab.directory, find_artefacts(), ("bench",), lambda _: None)
    begun = spent()
    epochs: list[Spent] = []
    with tempfile.TemporaryDirectory() as name:
        result = run_point(
            plan, Path(name) / "run", context, lambda event: epochs.append(spent()) if event.name == "epoch" else None
        )
    if result.status != "complete":
        raise SystemExit(f"{lab_name}: {result.status}: {result.message}")
    return Measured(epochs[0] - begun, spent() - begun, result)


def least(repeat: int, make: Callable[[], Measured], cost: Callable[[Measured], float]) -> Measured:
    return min((make() for _ in range(repeat)), key=cost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each run; the least counts")
    repeat = parser.parse_args().repeat
    star = least(repeat, lambda: measure("incast", {"senders": "48"}), lambda run: run.start.cpu)
    print(f"start    {star.start.text()}   s (target: at most 1.0)")
    print(f"memory   {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000:8.1f} MB (target: below 1,000)")
    flow = least(
        repeat,
        lambda: measure("dctcp-queue", {"variant": "dctcp", "traffic.long.senders": "1"}),
        lambda run: run.whole.cpu,
    )
    print(
        f"flow     {(flow.whole - flow.start).text(flow.result.virtual_ns / 1e9)}   s a virtual second (target: "
        "at most 0.18)"
    )
    incast = least(repeat, lambda: measure("incast", {"senders": "48"}), lambda run: run.whole.cpu)
    print(f"incast   {incast.whole.text()}   s for {incast.result.virtual_ns / 1e9:.3f} virtual s")
    switches = least(repeat, lambda: measure("sonic-qos", {}), lambda run: run.whole.cpu)
    virtual_s = switches.result.virtual_ns / 1e9
    print(f"switches {(switches.whole - switches.start).text(virtual_s)}   s a virtual second")


if __name__ == "__main__":
    main()
