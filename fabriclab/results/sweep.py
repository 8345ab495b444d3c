"""A sweep directory: the points of a matrix, each a run directory, those that are missing included;
pools of points that differ in seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.run_directory import MANIFEST, SWEEP, SWEEP_FORMAT
from fabriclab.formats.sweep import SweepEntry, SweepRecord
from fabriclab.formats.where_clause import Scalar
from fabriclab.results.bootstrap import Estimate, Sample, mean_estimate, standard_deviation
from fabriclab.results.csv_logs import ResultsError
from fabriclab.results.flows import FLOW_SCHEMA, scan_flows
from fabriclab.results.ingest import read_record
from fabriclab.results.run import Results, read_run
from fabriclab.results.switch_tables import SwitchTables, joined
from fabriclab.results.tables import FlowTables

SEED = "seed"
"""The axis of a matrix that repeats its points."""
_FILE = "file"

_Key = frozenset[tuple[str, Scalar]]
"""What the points of a pool have in common: settings without the seed."""


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
        """Return the results of the points that have any."""
        return tuple(point.results for point in self.points if point.results is not None)

    @property
    def varied(self) -> tuple[str, ...]:
        """The settings that have more than one value, in the order of the matrix."""
        names = list(dict.fromkeys(name for point in self.points for name in point.settings))
        return tuple(name for name in names if len({point.parameters.get(name) for point in self.points}) > 1)


@dataclass(frozen=True)
class Pool(FlowTables):
    """The points of a sweep that differ only in their seed: one experiment, repeated. Intervals resample its runs."""

    settings: dict[str, Scalar]
    """The settings of every point, without `seed`."""
    points: tuple[SweepPoint, ...]
    """In ascending order of their seeds; those without results included."""

    @property
    def runs(self) -> tuple[Results, ...]:
        """Return the results of the points that have any."""
        return tuple(point.results for point in self.points if point.results is not None)

    @property
    def parameters(self) -> dict[str, Scalar]:
        """Return the value of every parameter, without `seed`."""
        return {name: value for point in self.points[:1] for name, value in point.parameters.items() if name != SEED}

    @property
    def flows(self) -> pl.LazyFrame:
        """The flows of all runs, lazily: the columns of flows.parquet, `run` (position in `runs`) and `seed`.

        Of a pool of one run there is no `run`, so that intervals resample its flows.
        """
        if not self.runs:
            return pl.LazyFrame(schema={**FLOW_SCHEMA, "seed": pl.Int64, "run": pl.Int64})
        flows = scan_flows([run.directory for run in self.runs], path_column=_FILE)
        columns = {"seed": [run.plan.seed for run in self.runs]}
        if len(self.runs) > 1:
            columns["run"] = list(range(len(self.runs)))
        files = [str(run.directory.absolute() / "flows.parquet") for run in self.runs]
        known = [
            pl.col(_FILE).replace_strict(dict(zip(files, values, strict=True)), return_dtype=pl.Int64).alias(name)
            for name, values in columns.items()
        ]
        return flows.with_columns(known).drop(_FILE)

    @property
    def switches(self) -> SwitchTables:
        """What all runs sampled of switches with a shared buffer: with the columns `run` (position
        in `runs`) and `seed`."""
        return joined([(run.plan.seed, run.switches) for run in self.runs])

    def metric(self, name: str) -> Spread:
        """Return mean and spread over the runs of one metric of the summary;
        runs that did not measure it don't count."""
        values = [run.summary.get(name) for run in self.runs]
        measured = pl.Series([float(value) for value in values if value is not None], dtype=pl.Float64)
        # One value a run: resampling values is resampling runs.
        mean = (
            mean_estimate(Sample.of(measured))
            if len(measured) > 1
            else Estimate(measured[0] if len(measured) else None)
        )
        return Spread(mean, standard_deviation(measured.to_numpy()), len(measured))


@dataclass(frozen=True)
class Spread:
    """A metric over runs: mean with its 95 % interval by resampled runs, standard deviation (divisor n - 1),
    runs that measured it."""

    mean: Estimate
    std: float | None
    runs: int


def pooled(sweep: Sweep) -> tuple[Pool, ...]:
    """Return the points of a sweep in pools that differ only in their seed,
    in the order of the matrix; nothing is read."""
    pools: dict[_Key, list[SweepPoint]] = {}
    for point in sweep.points:
        pools.setdefault(_key(point), []).append(point)
    return tuple(
        Pool(_without_seed(points[0].settings), tuple(sorted(points, key=lambda point: point.seed)))
        for points in pools.values()
    )


def _key(point: SweepPoint) -> _Key:
    return frozenset(_without_seed(point.settings).items())


def _with_shared_plan(point: SweepPoint, plans: dict[_Key, Plan]) -> SweepPoint:
    """Return the point with those parts of its plan that an earlier one of its pool has too:
    a thousand fabrics don't fit into memory."""
    if point.results is None:
        return point
    first, own = plans.setdefault(_key(point), point.results.plan), point.results.plan
    same = {name: value for name, value in first if value == getattr(own, name)}
    return replace(point, results=replace(point.results, plan=own.model_copy(update=same)))


def _without_seed(settings: dict[str, Scalar]) -> dict[str, Scalar]:
    return {name: value for name, value in settings.items() if name != SEED}


def is_sweep(directory: Path) -> bool:
    """Return whether a directory is a sweep's."""
    return (directory / SWEEP).exists()


def read_sweep(directory: Path) -> Sweep:
    """Read a sweep directory; raises ResultsError when sweep.json is missing or broken.

    A broken point is kept, with its message.
    """
    record = read_record(directory / SWEEP, SWEEP_FORMAT, SweepRecord, f"a sweep of this version, {SWEEP_FORMAT}")
    plans: dict[_Key, Plan] = {}
    points = tuple(_with_shared_plan(_read_point(directory, entry), plans) for entry in record.points)
    return Sweep(
        directory,
        record.lab,
        record.matrix or "",
        record.title or record.lab,
        points,
    )


def compare_runs(runs: list[Results]) -> Sweep:
    """Return runs side by side as a sweep; the settings are all parameters, so that what differs becomes visible.

    Where a run was made without a variant, the congestion control stands in for it.
    """
    points = tuple(SweepPoint(_identity(run, runs), run.plan.seed, run.status, run) for run in runs)
    titles = list(dict.fromkeys(run.title for run in runs))
    return Sweep(runs[0].directory.parent, runs[0].plan.lab, "comparison", " / ".join(titles), points)


def _identity(run: Results, runs: list[Results]) -> dict[str, Scalar]:
    if all("variant" in other.parameters for other in runs):
        return run.parameters
    return {"congestion_control": run.congestion_control} | {
        name: value for name, value in run.parameters.items() if name != "variant"
    }


def _read_point(directory: Path, entry: SweepEntry) -> SweepPoint:
    settings, seed, status = entry.settings, entry.seed, entry.status
    run_dir = directory if entry.run is None else directory / entry.run
    if not (run_dir / MANIFEST).exists():
        return SweepPoint(settings, seed, status if status != "complete" else "missing", None, "not run")
    try:
        results = read_run(run_dir)
    except ResultsError as error:
        return SweepPoint(settings, seed, "unreadable", None, str(error))
    return SweepPoint(settings, seed, results.status, results, results.manifest.message)
