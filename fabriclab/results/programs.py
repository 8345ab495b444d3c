"""The programs of a lab's own: when each ran and how it ended, and the metric `program_ns`
(`raw/programs/NAME.csv`, by `replay program`)."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from fabriclab.formats.logs import PROGRAM_LOG
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import ProgramTraffic
from fabriclab.formats.run_directory import PROGRAM_LOGS
from fabriclab.results.csv_logs import scan_csv
from fabriclab.results.flow_metrics import Metrics

PROGRAMS = "programs"
"""The table: `program`, `node`, then the columns of its log. Of a program that never started they are empty."""


def has_programs(plan: Plan) -> bool:
    """Return whether a plan has programs of the lab's own."""
    return any(traffic.programs() for traffic in plan.traffic)


def read_programs(run_dir: Path, plan: Plan) -> tuple[pl.DataFrame, list[str]]:
    """Return a row for each program in the plan's order, and notes on logs that are not whole.

    Raises ResultsError, with file and line, for a file that `replay program` did not write.
    """
    rows: list[pl.DataFrame] = []
    notes: list[str] = []
    for program in _programs(plan):
        name = f"{PROGRAM_LOGS}/{program.name}.csv"
        scan = scan_csv(run_dir / name, PROGRAM_LOG, name)
        notes += scan.notes
        log = scan.rows.collect()
        own = pl.DataFrame({"program": [program.name], "node": [program.node]})
        if scan.rows.select("start_ns").collect()["start_ns"].null_count() and program.after:
            notes.append(f"{program.name} never started, because it waits for {', '.join(map(str, program.after))}")
        rows.append(own.join(log if log.height else log.clear(1), how="cross"))
    return pl.concat(rows).select("program", "node", *PROGRAM_LOG.columns), notes


def _programs(plan: Plan) -> list[ProgramTraffic]:
    return [program for traffic in plan.traffic for program in traffic.programs()]


def program_metrics(programs: pl.DataFrame | None, plan: Plan) -> Metrics:
    """Return `program_ns` of each program, and without brackets the longest one's of those that end by themselves; None
    of one that did not run to its end."""
    if programs is None:
        return {"program_ns": None}
    serving = {each.name for each in _programs(plan) if each.serves}
    times: Metrics = {}
    for row in programs.iter_rows(named=True):
        ran = row["end_ns"] is not None and (row["ended_by"] in ("itself", "until") or row["program"] in serving)
        times[row["program"]] = row["end_ns"] - row["start_ns"] if ran else None
    ending = [value for name, value in times.items() if name not in serving]
    known = [value for value in ending if value is not None]
    return {"program_ns": max(known) if known and len(known) == len(ending) else None} | {
        f"program_ns[{name}]": value for name, value in times.items()
    }
