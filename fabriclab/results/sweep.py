"""A sweep directory: the points of a matrix, each a run directory, those that are missing included."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriclab.results.formats import ResultsError
from fabriclab.results.ingest import read_json
from fabriclab.results.run import Results, Scalar, read_run

SWEEP_FORMAT = "fabriclab-sweep-1"


@dataclass(frozen=True)
class SweepPoint:
    """One point of the matrix; `results` is None when there is nothing to read, and `message` says why."""

    settings: dict[str, Scalar]
    seed: int
    status: str
    results: Results | None
    message: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the point ran to its end and all of it was logged."""
        return self.results is not None and self.results.is_whole

    @property
    def parameters(self) -> dict[str, Scalar]:
        """Every parameter's value at this point."""
        return (self.results.parameters if self.results else {}) | self.settings


@dataclass(frozen=True)
class Sweep:
    """All points of a matrix, or several runs that are compared."""

    directory: Path
    lab: str
    matrix: str
    title: str
    points: tuple[SweepPoint, ...]

    @property
    def runs(self) -> tuple[Results, ...]:
        """The points that have results."""
        return tuple(point.results for point in self.points if point.results is not None)

    @property
    def varied(self) -> tuple[str, ...]:
        """The settings that have more than one value, in the order of the matrix."""
        names = list(dict.fromkeys(name for point in self.points for name in point.settings))
        return tuple(name for name in names if len({point.parameters.get(name) for point in self.points}) > 1)


def is_sweep(directory: Path) -> bool:
    """Return whether a directory is a sweep's."""
    return (directory / "sweep.json").exists()


def read_sweep(directory: Path) -> Sweep:
    """Read a sweep directory; raises ResultsError when sweep.json is missing or broken. A broken point is kept, with its message."""
    data = read_json(directory / "sweep.json", SWEEP_FORMAT)
    points = tuple(_read_point(directory, entry) for entry in data.get("points", []))
    return Sweep(directory, str(data.get("lab", "")), str(data.get("matrix", "")), str(data.get("title") or data.get("lab", "")), points)


def compare_runs(runs: list[Results]) -> Sweep:
    """Return runs side by side as a sweep; the settings are all parameters, so that what differs becomes visible.

    Where a run was made without a variant, the congestion control stands in for it.
    """
    points = tuple(SweepPoint(_identity(run, runs), int(run.plan.get("seed", 0)), run.status, run) for run in runs)
    titles = list(dict.fromkeys(run.title for run in runs))
    return Sweep(runs[0].directory.parent, str(runs[0].plan.get("lab", "")), "comparison", " / ".join(titles), points)


def _identity(run: Results, runs: list[Results]) -> dict[str, Scalar]:
    if all("variant" in other.parameters for other in runs):
        return run.parameters
    return {"congestion_control": run.congestion_control} | {name: value for name, value in run.parameters.items() if name != "variant"}


def _read_point(directory: Path, entry: dict[str, Any]) -> SweepPoint:
    settings, seed = dict(entry.get("settings", {})), int(entry.get("seed", 0))
    status = str(entry.get("status", "missing"))
    run_dir = directory / str(entry.get("run", ""))
    if not (run_dir / "manifest.json").exists():
        return SweepPoint(settings, seed, status if status != "complete" else "missing", None, "not run")
    try:
        results = read_run(run_dir)
    except ResultsError as error:
        return SweepPoint(settings, seed, "unreadable", None, str(error))
    return SweepPoint(settings, seed, results.status, results, str(results.manifest.get("message") or ""))
