"""A worker joins: it hears of the sweep, gets what its cache lacks, and proves itself with a reference point."""

from __future__ import annotations

import tempfile
import threading
import zlib
from collections.abc import Mapping
from concurrent.futures import Future as Awaited
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fabriclab.cluster import artefact_transfer, on_worker
from fabriclab.cluster.messages import Artefact, DaskClient, DaskFuture, SweepContext, UnfitError, WorkerFacts, let_go
from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.packed import UnusableError
from fabriclab.formats.plan.model import Plan
from fabriclab.runs import RunContext, run_point
from fabriclab.runs.record import recorded

_PRIORITY = 100
"""Before points that wait for the worker."""
_MUST_MATCH = ("python", "dask", "distributed", "fabriclab")


_OF_THE_HOST = {"logs/kernel.log"}
"""Where Linux tells its command line, which names directories of the host."""


def packed_plan(plan: Plan) -> bytes:
    """Return a plan as it is sent."""
    return zlib.compress(plan.model_dump_json().encode(), 1)


class Admission:
    """Lets workers join a sweep. `admit` may be called from several threads."""

    def __init__(
        self, client: DaskClient, context: SweepContext, artefacts: Artefacts, known: Plan, traces: Mapping[str, Path]
    ) -> None:
        self._client, self._context, self._traces = client, context, traces
        self._known = known
        self._pieces: dict[Artefact, list[DaskFuture]] = {}
        self._open: set[DaskFuture] = set()
        self._lock, self._packing = threading.Lock(), threading.Lock()
        self._closed = False
        self._proving = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fabriclab-known")
        self._reference: Awaited[dict[str, str]] = self._proving.submit(self._run_known, artefacts)

    def _run_known(self, artefacts: Artefacts) -> dict[str, str]:
        """Run the reference point on this host; return the hash of each of its files."""
        shared = self._context
        with tempfile.TemporaryDirectory(prefix="fabriclab-known-") as place:
            directory = Path(place) / "run"
            context = RunContext(
                *(Path(place), artefacts, shared.command, shared.ingest, shared.report),
                stall_s=shared.stall_s,
                lab_files=shared.lab_files,
                keep=shared.keep,
            )
            result = run_point(self._known, directory, context, on_worker.ignore)
            if result.status != "complete":
                raise EngineError(
                    f"the reference point, which every worker must reproduce, fails on this host: {result.message}"
                )
            return recorded(directory).files

    def admit(self, address: str, versions: Mapping[str, str] | None) -> WorkerFacts:
        """Let a worker join; return what it is like.

        `versions`: of its packages, as Dask told. Raises UnfitError where it can't, EngineError where the reference
        point fails here, and what Dask raises where the worker is lost.
        """
        self._check_versions(versions)
        looked: WorkerFacts = self._ask(address, on_worker.look, self._context)
        if looked.sources != on_worker.sources_hash():
            raise UnfitError(
                f"its fabriclab has the same version, but different sources ({looked.sources}; here "
                f"{on_worker.sources_hash()}); install the same wheel on both sides"
            )
        for artefact in looked.missing:
            self._ask(address, on_worker.take_artefact, self._context.id, artefact, *self._in_pieces(artefact))
        for name, path in self._traces.items():
            content = self._scattered(path.read_bytes())
            self._ask(address, on_worker.take_trace, self._context.id, name, content)
        found: dict[str, str] = self._ask(address, on_worker.prove, self._context.id, packed_plan(self._known))
        self._compare(found, looked)
        return looked

    def _check_versions(self, versions: Mapping[str, str] | None) -> None:
        if versions is None:
            return
        here = own_versions()
        for name in _MUST_MATCH:
            there = versions.get(name)
            if there is None and name == "fabriclab":
                raise UnfitError(
                    "fabriclab is not installed there; install the same wheel with pip install 'fabriclab[cluster]'"
                )
            if there is not None and there != here[name]:
                raise UnfitError(
                    f"it has {name} {there}, but this host has {here[name]}; install the same version on both"
                )

    def _compare(self, found: Mapping[str, str], looked: WorkerFacts) -> None:
        expected = self._reference.result()
        names = {*found, *expected} - _OF_THE_HOST
        differing = sorted(name for name in names if found.get(name) != expected.get(name))
        if differing:
            own = on_worker.library_versions()
            other = [
                f"{name} {looked.versions.get(name)}, here {own[name]}"
                for name in own
                if own[name] != looked.versions.get(name)
            ]
            raise UnfitError(
                f"the reference point gives different bytes there ({', '.join(differing[:3])}"
                f"{' and others' if len(differing) > 3 else ''}), so its points would differ, too"
                + (f"; versions that differ: {'; '.join(other)}" if other else "")
            )

    def _in_pieces(self, artefact: Artefact) -> list[DaskFuture]:
        """Return an artefact's pieces, which go out once: from one worker they go to the others."""
        with self._packing:
            held = self._pieces.get(artefact)
            if held is None or any(piece.status != "finished" for piece in held):
                try:
                    held = [self._scattered(piece) for piece in artefact_transfer.in_pieces(artefact)]
                except (UnusableError, OSError) as error:
                    raise EngineError(f"the {artefact.kind} can't be packed for workers: {error}") from error
                self._pieces[artefact] = held
            return held

    def _scattered(self, content: bytes) -> Any:
        return self._client.scatter(content, hash=True)

    def _ask(self, address: str, function: Any, *arguments: Any) -> Any:
        future = self._client.submit(
            function, *arguments, workers=[address], allow_other_workers=False, pure=False, priority=_PRIORITY
        )
        with self._lock:
            self._open.add(future)
        try:
            if self._closed:
                let_go(future)
            return future.result()
        finally:
            with self._lock:
                self._open.discard(future)

    def rest(self) -> None:
        """Let go of what was sent: nobody joins for now."""
        with self._packing:
            self._pieces.clear()

    def close(self) -> None:
        """End what is under way."""
        self._closed = True
        self._proving.shutdown(wait=True)
        with self._lock:
            for future in self._open:
                let_go(future)
        self.rest()


def own_versions() -> dict[str, str]:
    """Return the versions of this side that must be a worker's too."""
    from distributed.versions import get_versions

    return major_versions(get_versions(packages=["fabriclab"]))


def major_versions(told: Mapping[str, Any]) -> dict[str, str]:
    """Return what Dask tells of a process's packages, as it is compared: of Python only 3.12, for example."""
    packages = {name: version for name, version in told["packages"].items() if version is not None}
    if "python" in packages:
        packages["python"] = ".".join(packages["python"].split(".")[:2])
    return packages
