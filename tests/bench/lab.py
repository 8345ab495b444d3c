"""What a lab costs on this host, from the package's own engine: prints figures beside what they are meant to be, judges
nothing.

    python3 tests/bench/lab.py [--repeat N]

start     48-host star (labs/incast): seconds from the start of the machine's process to the epoch, when the first
          packet leaves
memory    peak resident memory of the machine and all that it started in that run, in MB
bare      seconds a virtual second of one DCTCP flow through labs/dctcp-queue without probes, from the epoch on
flow      the same with the lab's probes: a queue each 100 us, TCP each 1 ms; and as a ratio of `bare`
each      the same with each change of the queue; and as a ratio of `bare`
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
from fabriclab.formats.plan.model import Probes
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.runs import RunContext, RunResult, run_point

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from spent import Spent, spent

NO_PROBES = Probes(
    queue_interval_ns=None, queue_ports=(), tcp_interval_ns=None, tcp_classes=(), interface_interval_ns=None
)
TARGETS_S = {"bare": 0.12, "flow": 0.15, "each": 0.5}
LABS = Path(__file__).resolve().parents[2] / "labs"


class Measured(NamedTuple):
    """What it took until the epoch, and all of the run; how that ended."""

    start: Spent
    whole: Spent
    result: RunResult


def measure(lab_name: str, settings: dict[str, str], probes: Probes | None = None) -> Measured:
    """Run a point; `probes`: in place of its own."""
    lab = parse_lab(LABS / lab_name)
    plan = resolve_plan(lab, settings, 1)
    plan = plan if probes is None else plan.model_copy(update={"probes": probes})
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


def print_flow(repeat: int) -> None:
    """Measure one flow with fewer and more probes, in turn; print what each costs, and what looking adds."""
    settings = {"variant": "dctcp", "traffic.long.senders": "1", "traffic.long.stop": "10 s"}
    each = {**settings, "probes.queues.interval": "each"}
    cases = {"bare": (settings, NO_PROBES), "flow": (settings, None), "each": (each, None)}
    runs: dict[str, list[Measured]] = {name: [] for name in cases}
    for _ in range(repeat):
        for name, (of_case, probes) in cases.items():
            runs[name].append(measure("dctcp-queue", of_case, probes))
    costs = {
        name: min(((run.whole - run.start) for run in done), key=lambda cost: cost.cpu) for name, done in runs.items()
    }
    virtual_s = runs["bare"][0].result.virtual_ns / 1e9
    for name, cost in costs.items():
        ratio = cost.cpu / costs["bare"].cpu
        print(f"{name:9}{cost.text(virtual_s)}   s a virtual second, x {ratio:.2f} (target: at most {TARGETS_S[name]})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each run; the least counts")
    repeat = parser.parse_args().repeat
    star = least(repeat, lambda: measure("incast", {"senders": "48"}), lambda run: run.start.cpu)
    print(f"start    {star.start.text()}   s (target: at most 1.0)")
    print(f"memory   {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000:8.1f} MB (target: below 1,000)")
    print_flow(repeat)
    incast = least(repeat, lambda: measure("incast", {"senders": "48"}), lambda run: run.whole.cpu)
    print(f"incast   {incast.whole.text()}   s for {incast.result.virtual_ns / 1e9:.3f} virtual s")
    switches = least(repeat, lambda: measure("sonic-qos", {}), lambda run: run.whole.cpu)
    virtual_s = switches.result.virtual_ns / 1e9
    print(f"switches {(switches.whole - switches.start).text(virtual_s)}   s a virtual second")


if __name__ == "__main__":
    main()
