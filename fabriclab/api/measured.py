"""Finished runs and sweeps for scripts and notebooks. Tables are lazy Polars frames."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from fabriclab.files import read_text, reason
from fabriclab.formats.figures import FIGURE_KINDS
from fabriclab.report.notebook import Figures, figures_of
from fabriclab.report.page import write_report as write_page
from fabriclab.results import (
    CheckResult,
    Pool,
    Results,
    ResultsError,
    evaluate_checks,
    is_sweep,
    pooled,
    read_run,
    read_sweep,
)
from fabriclab.results import Sweep as SweepResults
from fabriclab.results.damage import reading
from fabriclab.results.summary import Metrics
from fabriclab.results.switch_tables import SwitchTables
from fabriclab.results.tables import FlowTables

PathLike = str | os.PathLike[str]
_LARGEST_EVENTS_BYTES = 1 << 30


class Run(FlowTables):
    """A run in its directory.

    Its results are read when they are first used; ResultsError is raised if they cannot be read.

    Times are in nanoseconds after the traffic's beginning, sizes in bytes, and rates in bits per second.
    """

    def __init__(self, directory: PathLike) -> None:
        """Name the directory; nothing is read yet."""
        self.directory = Path(directory)

    def __repr__(self) -> str:
        return f"Run({str(self.directory)!r})"

    @cached_property
    def results(self) -> Results:
        """All results of the run, in the form of the layers below.

        Raises ResultsError for a broken file, which it names.
        """
        with reading(self.directory):
            return read_run(self.directory)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest: what ran, on which host, and how it ended (`manifest.json` without its copy of the plan)."""
        return self.results.manifest.without_plan()

    @property
    def status(self) -> str:
        """How the run ended: `complete`, `limit`, `starved` (real time, and no CPU for it: invalid), `stopped`,
        `interrupted` ..."""
        return self.results.status

    @property
    def settings(self) -> Mapping[str, str | int | float | bool]:
        """The settings that this run changed in its lab, by parameter."""
        return self.results.settings

    @property
    def summary(self) -> Metrics:
        """Every metric of the run by its name (docs/metrics.md defines each); None if it was not measured."""
        return self.results.summary

    @property
    def flows(self) -> pl.LazyFrame:
        """The flows, one per row, with the columns of `traffic/README.md` and computed ones."""
        return self.results.flows

    @property
    def queues(self) -> pl.LazyFrame:
        """The samples of ports' queues, one per row (`probes/README.md`).

        Raises ResultsError if the lab does not sample queues.
        """
        return self._sampled(self.results.measured.queues, "queues")

    @property
    def tcp(self) -> pl.LazyFrame:
        """The samples of TCP connections, one per row (`probes/README.md`).

        Raises ResultsError if the lab does not sample them.
        """
        return self._sampled(self.results.measured.tcp, "tcp")

    @property
    def interfaces(self) -> pl.LazyFrame:
        """The samples of interfaces' counters, one per row (`probes/README.md`).

        Raises ResultsError if the lab does not sample them.
        """
        return self._sampled(self.results.measured.interfaces, "interfaces")

    @property
    def switches(self) -> SwitchTables:
        """The samples of switches with a shared buffer."""
        return self.results.switches

    @cached_property
    def events(self) -> pl.LazyFrame:
        """One row an event of the engine, with a column for each field that any of them has
        (`images/machine/README.md`)."""
        file = self.directory / "events.jsonl"
        try:
            text = read_text(file, _LARGEST_EVENTS_BYTES)
        except OSError as error:
            raise ResultsError(f"{file}: {reason(error)}") from error
        # A killed machine's last line may be cut.
        lines = [line for line in text.splitlines() if line.endswith("}")]
        if not lines:
            return pl.LazyFrame(schema={"event": pl.String, "t_ns": pl.Int64})
        return pl.read_ndjson(io.StringIO("\n".join(lines)), infer_schema_length=None).lazy()

    @property
    def checks(self) -> Sequence[CheckResult]:
        """The experiment's checks that concern this run, each with its measured value and its outcome."""
        return evaluate_checks(self.results)

    def figures(self, kinds: Sequence[str] = FIGURE_KINDS) -> Figures:
        """Return the report's figures and tables of the given kinds. A notebook shows them as the value of a cell."""
        return figures_of(self.directory, kinds)

    def write_report(self, out: PathLike | None = None) -> Path:
        """Write the report as one self-contained HTML page and return its path.

        The path is `out`, by default `report.html` in the run directory.

        Raises ResultsError if the results can't be read, OSError if the report can't be written.
        """
        return _written([self.directory], out)

    def _sampled(self, table: pl.LazyFrame | None, probe: str) -> pl.LazyFrame:
        if table is None:
            raise ResultsError(
                f"{self.directory}: {probe} were not sampled; `probes: {{{probe}: ...}}` in experiment.yml asks for it"
            )
        return table


class Sweep:
    """The points of a matrix in their directory, each a run, including missing and failed ones."""

    def __init__(self, directory: PathLike, statuses: Sequence[str] | None = None) -> None:
        """Name the directory; nothing is read yet.

        `statuses`: how the points stand, where the caller knows it better.
        """
        self.directory = Path(directory)
        self._statuses = statuses

    def __repr__(self) -> str:
        return f"Sweep({str(self.directory)!r})"

    @cached_property
    def results(self) -> SweepResults:
        """All results of the sweep, in the form of the layers below.

        Raises ResultsError for a broken file, which it names.
        """
        with reading(self.directory):
            return read_sweep(self.directory)

    @property
    def statuses(self) -> Sequence[str]:
        """The status of each point, in the matrix's order: how its run ended, or `missing`."""
        return [point.status for point in self.results.points] if self._statuses is None else self._statuses

    @property
    def runs(self) -> tuple[Run, ...]:
        """The points that have results, in the matrix's order."""
        return tuple(Run(run.directory) for run in self.results.runs)

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The points, in pools of runs that differ only in their seed. A pool has the tables of all its runs, and means
        with intervals."""
        return pooled(self.results)

    @property
    def summary(self) -> pl.LazyFrame:
        """The points, one per row: settings, `seed`, `status`, and every metric; empty if it was not measured."""
        points = self.results.points
        rows = [
            {
                **point.settings,
                "seed": point.seed,
                "status": status,
                **(point.results.summary if point.results is not None else {}),
            }
            for point, status in zip(points, self.statuses, strict=True)
        ]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return pl.LazyFrame([_column(name, [row.get(name) for row in rows]) for name in names])

    @property
    def flows(self) -> pl.LazyFrame:
        """The flows of all runs, one per row: a run's `flows` with the point's settings and its `seed`."""
        frames = [run.flows.with_columns(**_literals(run)) for run in self.results.runs]
        return pl.concat(frames, how="diagonal_relaxed") if frames else pl.LazyFrame()

    def figures(self, kinds: Sequence[str] = FIGURE_KINDS) -> Figures:
        """Return the report's figures and tables of the given kinds. A notebook shows them as the value of a cell."""
        return figures_of(self.directory, kinds)

    def write_report(self, out: PathLike | None = None) -> Path:
        """Write the report and return its path, as `Run.write_report` does."""
        return _written([self.directory], out)


def open_run(directory: PathLike) -> Run:
    """Return the run in a directory that `run` or the command wrote.

    Raises ResultsError if there is none, or if it is broken.
    """
    run = Run(directory)
    _ = run.results
    return run


def open_sweep(directory: PathLike) -> Sweep:
    """Return the sweep in a directory that `sweep` or the command wrote. Raises ResultsError if there is none."""
    sweep = Sweep(directory)
    _ = sweep.results
    return sweep


def write_report(runs: Sequence[Run | Sweep | PathLike], out: PathLike | None = None) -> Path:
    """Write one report of several runs and sweeps, side by side, and return its path.

    The report is one HTML page. Its path is `out`, by default a file in the directory of the first run.

    Raises ResultsError if a directory is not a run or sweep, OSError if the report can't be written.
    """
    return _written([run.directory if isinstance(run, Run | Sweep) else Path(run) for run in runs], out)


def read_any(directory: Path) -> Results | SweepResults:
    """Return the results in the directory of a run or of a sweep. Raises ResultsError if it is neither."""
    with reading(directory):
        return read_sweep(directory) if is_sweep(directory) else read_run(directory)


def _written(directories: Sequence[Path], out: PathLike | None) -> Path:
    page = directories[0] / "report.html" if out is None else Path(out)
    with reading(*directories):
        write_page(directories, page)
    return page


def _literals(run: Results) -> dict[str, pl.Expr]:
    known = set(run.flows.collect_schema().names())
    settings = {"seed": run.plan.seed, **run.settings}
    return {f"{name}_set" if name in known else name: pl.lit(value) for name, value in settings.items()}


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Return a column of numbers, or of text where one value is text (`window_limit` may be 7, and `none`)."""
    if any(isinstance(value, str) for value in values):
        values = [None if value is None else str(value) for value in values]
    return pl.Series(name, values, strict=False)
