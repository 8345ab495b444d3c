"""A sweep of a lab on a cluster: the files that its points need beside their plans, and the known point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabriclab.api.ingest import ingest_run_logs
from fabriclab.api.lab import Lab
from fabriclab.api.sweep_progress import SweepTeller
from fabriclab.cluster import Place, run_sweep_on
from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.modules import compile_modules
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import TraceTraffic
from fabriclab.resolve import resolve_plan
from fabriclab.runs import RunContext, Sweep


def run_on_cluster(place: Place | Any, runs: Sweep, context: RunContext, jobs: int | None, teller: SweepTeller) -> None:
    """Run the missing points of a sweep on a cluster. Raises the errors of `run_sweep_on`, and CompileError."""
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


_SENDERS = ("h1", "h2", "h3")
_RECEIVER = "h4"


def known_point() -> Plan:
    """Return the plan of a small in-cast in which packets are marked and lost, and queues and connections sampled."""
    names = (*_SENDERS, _RECEIVER)
    nodes: dict[str, Any] = {name: {"kind": "linux"} for name in names}
    nodes["s1"] = {"kind": "linux", "labels": {"fabriclab.role": "switch"}}
    links = [
        {"endpoints": [f"{name}:eth1", f"s1:eth{number}"], "vars": {"rate": "1 Gbps", "delay": "10 us"}}
        for number, name in enumerate(names, 1)
    ]
    topology = {"name": "known-point", "topology": {"nodes": nodes, "links": links}}
    experiment = {
        "title": "What every worker runs first",
        "switches": {"default": {"buffer": "32 KB", "ecn_threshold": "15 KB"}},
        "hosts": {"default": {"congestion_control": "dctcp", "ecn": True}},
        "probes": {"queues": {"interval": "1 ms", "ports": "all"}, "tcp": {"interval": "1 ms"}},
        "traffic": {
            "rounds": {
                "kind": "rounds",
                "senders": list(_SENDERS),
                "receiver": _RECEIVER,
                "size": "30 KB",
                "rounds": 10,
            }
        },
    }
    return resolve_plan(Lab.from_data(topology, experiment).written, {}, None)
