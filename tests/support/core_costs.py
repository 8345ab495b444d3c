"""What a lab costs on so many cores: one run, measured at its events."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from spent import Spent, spent

from fabriclab.compile.cut import cut_plan
from fabriclab.engine.artefacts import find_artefacts
from fabriclab.engine.events import Event
from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.results import ingest_run
from fabriclab.runs import RunContext, run_point
from fabriclab.runs.parts import cut_for


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


def compare(lab: Path, most: int, repeat: int) -> None:
    """Run the lab on 1, 2, 4, ... cores, the shortest of several repeats, and print a line for each.

    Raises SystemExit when their bits differ.
    """
    plan = resolve_plan(parse_lab(lab), {}, 1)
    alone: Cost | None = None
    for cores in numbers_of_cores(plan, most):
        cost = min((run(lab, plan, cores) for _ in range(repeat)), key=lambda one: one.traffic.wall)
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
