"""A sweep on a cluster, from the connection to the last run directory."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fabriclab.cluster import artefact_transfer
from fabriclab.cluster.messages import DaskClient, SweepContext
from fabriclab.cluster.places import Place, connected
from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.events import Event
from fabriclab.formats.plan.model import Plan
from fabriclab.runs import PointState, RunContext, RunResult, Sweep

_TOLD_S = 0.5
_MOST_TOLD_A_SECOND = 100
"""So many words of progress the scheduler passes on in a second, however many runs there are."""


def run_sweep_on(
    on: Place | Any,
    sweep: Sweep,
    context: RunContext,
    jobs: int | None,
    known: Plan,
    traces: Mapping[str, Path],
    on_event: Callable[[PointState, Event], None],
    on_end: Callable[[PointState, RunResult], None],
    say: Callable[[str], None],
) -> None:
    """Run the points that are not done on a cluster's workers. A point that fails does not stop the others; an
    interrupt and a full disk here do. The callbacks are called from several threads.

    `jobs`: the most runs at a time. `known`: what every worker runs first; it must leave the same bytes as it does
    here. `traces`: the flow traces that the plans name, and where they lie.

    `context.ingest` is called by workers: it is a function of a module.

    Raises EngineError where a package is missing, nobody answers, no worker can take part, or the scheduler is gone;
    ArgumentError where a number of runs must be said.
    """
    if all(point.reused for point in sweep.points):
        sweep.write()
        return
    if not isinstance(context.artefacts, Artefacts):
        raise EngineError("containers run only on this host; --on is for the virtual machine")
    word = uuid.uuid4().hex[:16]
    with connected(on, jobs) as client, _token(sweep.directory, word) as token:
        from fabriclab.cluster.admission import Admission
        from fabriclab.cluster.dispatch import Dispatch

        say(_connected_to(client))
        told = SweepContext(
            id=word,
            artefacts=artefact_transfer.needed_by_workers(context.artefacts),
            command=context.command,
            report=context.report,
            stall_s=context.stall_s,
            keep=context.keep,
            ingest=context.ingest,
            lab_files=context.lab_files,
            modules=context.modules or {},
            shared=told_of(token),
            tell_s=max(_TOLD_S, _threads(client) / _MOST_TOLD_A_SECOND),
        )
        admission = Admission(client, told, context.artefacts, known, traces)
        Dispatch(sweep, client, told, admission, context.interrupt, jobs, on_event, on_end, say).run()


@contextmanager
def _token(directory: Path, word: str) -> Iterator[Path]:
    """Give a file that has a sweep's word: who finds it there sees the directory."""
    token = directory.resolve() / f".shared-{word}"
    token.write_text(word)
    try:
        yield token
    finally:
        token.unlink(missing_ok=True)


def told_of(token: Path) -> str:
    """Return what workers look for, to see whether they see the sweep's directory."""
    return str(token)


def _threads(client: DaskClient) -> int:
    return sum(client.nthreads().values())


def _connected_to(client: DaskClient) -> str:
    info = client.scheduler_info()
    link = client.dashboard_link if "dashboard" in (info.get("services") or {}) else None
    return f"Dask's scheduler: {info.get('address')}" + (f", dashboard: {link}" if link else "")
