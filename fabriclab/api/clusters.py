"""A sweep of a lab on a cluster: what its points need beside their plans, and the known point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabriclab.api.ingest import ingest_run_logs
from fabriclab.api.known_point import known_point
from fabriclab.api.sweep_progress import SweepTeller
from fabriclab.cluster import Place, run_sweep_on
from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.modules import compile_modules
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import TraceTraffic
from fabriclab.runs import RunContext, Sweep


def run_on_cluster(place: Place | Any, runs: Sweep, context: RunContext, jobs: int | None, teller: SweepTeller) -> None:
    """Run what is not done of a sweep on a cluster. Raises as `run_sweep_on`, and CompileError."""
    plans = [point.plan for point in runs.points if not point.reused]
    travelling = replace(context, ingest=ingest_run_logs, modules=_modules(context, plans))
    traces = _traces(context.lab_directory, plans)
    run_sweep_on(place, runs, travelling, jobs, known_point(), traces, teller.event, teller.ended, teller.say)


def _modules(context: RunContext, plans: Sequence[Plan]) -> dict[tuple[str, str], bytes]:
    """Return the user's own algorithms, compiled: workers need no compiler."""
    every = {(one.module, one.file): one for plan in plans for one in plan.algorithms}
    if not isinstance(context.artefacts, Artefacts):
        return {}
    return {
        key: compile_modules(context.artefacts, [algorithm], context.lab_directory)[algorithm.module].read_bytes()
        for key, algorithm in every.items()
    }


def _traces(lab: Path, plans: Sequence[Plan]) -> dict[str, Path]:
    """Return the flow traces that plans replay, by the names that they have in the lab."""
    names = {one.file for plan in plans for one in plan.traffic if isinstance(one, TraceTraffic)}
    return {name: lab / name for name in sorted(names)}
