"""Raw logs of a run directory to Parquet and summary.json; afterwards `raw/` is gone, for nothing of it is lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
from pydantic import BaseModel, ValidationError

from fabriclab.files import read_text, reason, write_text
from fabriclab.formats.json_text import LARGEST_JSON_BYTES, JsonError, parse_json
from fabriclab.formats.logs import CONNECTIONS as CONNECTION_LOG
from fabriclab.formats.logs import FLOW_LOG, INTERFACES, PROGRAM_LOG, QUEUES, TCP
from fabriclab.formats.manifest import Manifest
from fabriclab.formats.plan import PLAN_FORMAT, Plan, PlanError, parse_plan, parse_plan_json
from fabriclab.formats.plan.reading import first_mistake
from fabriclab.formats.run_directory import (
    FLOW_LOGS,
    MANIFEST,
    PAUSES,
    PCAP,
    PLAN,
    PROGRAM_LOGS,
    RAW,
    RUN_FORMAT,
    SUMMARY,
    SUMMARY_FORMAT,
    TRACE_FILE,
)
from fabriclab.formats.summary import Summary
from fabriclab.formats.switch_logs import SWITCH_TABLES, TRIMMING
from fabriclab.formats.table import Table
from fabriclab.formats.trace import TRACE
from fabriclab.registry.applications import APPLICATIONS, applications_of
from fabriclab.results.captures import write_captures
from fabriclab.results.collectives import COLLECTIVES, collective_metrics, collective_table, has_collectives
from fabriclab.results.connections import CONNECTIONS, losses, read_connections
from fabriclab.results.csv_logs import WHOLE_SUFFIX, ResultsError, first_bad_row, scan_csv
from fabriclab.results.flows import join_flows, read_trace, scan_flow_logs
from fabriclab.results.late_ports import with_causes
from fabriclab.results.parquet import write_frame, write_rows
from fabriclab.results.pause_tree import NO_PFC, pause_metrics, pause_tree
from fabriclab.results.programs import PROGRAMS, has_programs, program_metrics, read_programs
from fabriclab.results.routing import routing_metrics
from fabriclab.results.summary import Measured, Metrics, summarize

Outcome = TypeVar("Outcome")
Record = TypeVar("Record", bound=BaseModel)

_A_PLAN = f"a plan of this version of fabriclab, {PLAN_FORMAT}"
_SERIES: dict[str, Table] = {"queues": QUEUES, "tcp": TCP, "interfaces": INTERFACES, **SWITCH_TABLES}
_INTERVALS = {
    "queues": "queue_interval_ns",
    "tcp": "tcp_interval_ns",
    "interfaces": "interface_interval_ns",
    **dict.fromkeys(SWITCH_TABLES, "switch_interval_ns"),
}
"""The key of the plan's probes that says whether a table was sampled."""


def ingest_run(run_dir: Path, *, keep_raw: bool = False) -> None:
    """Turn `raw/*.csv` of a run directory into Parquet, write summary.json and remove `raw/`, unless it is to be kept.

    What a killed machine left is kept: cut lines are dropped with a note, flows without a row are `lost`. Running it
    again is harmless. Raises ResultsError (file, line, value) when a file breaks its format, OSError when the disk is
    full; `raw/` then stays as it is.
    """
    manifest = read_manifest(run_dir, required=False)
    plan = read_plan(run_dir, manifest)
    raw = run_dir / RAW
    with _without_copies(raw), _all_or_none(run_dir):
        notes = list(_old_notes(run_dir))
        if raw.is_dir() or not (run_dir / "flows.parquet").exists():
            notes = _write_flows(run_dir, plan)
            for name, table in _SERIES.items():
                notes += _write_series(run_dir, name, table, expected=_is_sampled(plan, name))
            notes += write_captures(run_dir, plan)
            notes += _write_programs(run_dir, plan)
            _write_collectives(run_dir, plan)
            notes += _write_connections(run_dir, plan)
            notes += _write_applications(run_dir, plan)
        metrics = summarize(Measured.open(run_dir), plan, manifest) | routing_metrics(run_dir, plan)
        programs = pl.read_parquet(run_dir / f"{PROGRAMS}.parquet") if has_programs(plan) else None
        metrics |= program_metrics(programs, plan) | collective_metrics(_table(run_dir, COLLECTIVES), plan)
        metrics |= _application_metrics(run_dir, plan, metrics["job_ns"])
        tree = pause_tree(Measured.open(run_dir), plan)
        metrics |= pause_metrics(tree)
        text = json.dumps({"format": SUMMARY_FORMAT, "notes": notes, "metrics": metrics}, indent=2)
        if tree.reason != NO_PFC:
            write_text(run_dir / PAUSES, json.dumps(tree.document(), indent=2) + "\n")
        write_text(run_dir / SUMMARY, text + "\n")
    if raw.is_dir() and not keep_raw:
        shutil.rmtree(raw)


@contextmanager
def _without_copies(raw: Path) -> Iterator[None]:
    """Remove the copies of logs with a cut line that are made on the way."""
    try:
        yield
    finally:
        for copy in raw.rglob(f"*{WHOLE_SUFFIX}"):
            copy.unlink()


@contextmanager
def _all_or_none(run_dir: Path) -> Iterator[None]:
    """Remove the tables when not all of them could be made: the raw logs hold the same, and the disk may be full."""
    raw = run_dir / RAW
    tables = (name for application in APPLICATIONS for name in application.tables)
    try:
        yield
    except BaseException:
        if raw.is_dir() and not (run_dir / SUMMARY).exists():
            for name in ("flows", PROGRAMS, COLLECTIVES, CONNECTIONS, *tables, *_SERIES):
                with suppress(OSError):
                    (run_dir / f"{name}.parquet").unlink(missing_ok=True)
            shutil.rmtree(run_dir / PCAP, ignore_errors=True)
        raise


def read_manifest(run_dir: Path, *, required: bool = True) -> Manifest:
    """Return manifest.json; without it one of defaults, or ResultsError when it is required."""
    path = run_dir / MANIFEST
    if not path.exists() and not required:
        return Manifest()
    return read_record(path, RUN_FORMAT, Manifest, f"a manifest of this version of fabriclab, {RUN_FORMAT}")


def read_plan(run_dir: Path, manifest: Manifest) -> Plan:
    """Return the plan of a run: plan.json, or its manifest's copy. Raises ResultsError that names the file and the
    first key in it that is not as this version's plans have it; what older versions' plans lack has its default."""
    path = run_dir / PLAN
    if not path.exists():
        if manifest.plan is None:
            raise ResultsError(f"{run_dir / MANIFEST}: plan: missing; a manifest must hold the whole plan")
        return _plan(lambda: parse_plan(manifest.plan or {}), f"{run_dir / MANIFEST}: plan")
    text = _text(path)
    try:
        return parse_plan_json(text)
    except PlanError:
        # What is wrong with the file as a whole comes first.
        read_json(path, PLAN_FORMAT)
        return _plan(lambda: parse_plan_json(text), str(path))


def _plan(parse: Callable[[], Plan], place: str) -> Plan:
    try:
        return parse()
    except PlanError as error:
        raise ResultsError(f"{place}: {error}; must be {_A_PLAN}") from error


def read_record(path: Path, version: str, record: type[Record], right: str) -> Record:
    """Return the record of a JSON file; raises ResultsError that names the file and the first key in it that is
    wrong."""
    data = read_json(path, version)
    try:
        return record.model_validate(data)
    except ValidationError as error:
        raise ResultsError(f"{path}: {first_mistake(error)}; must be {right}") from error


def read_json(path: Path, version: str) -> dict[str, Any]:
    """Return the object of a JSON file whose `format` is `version`; raises ResultsError that names the
    file and what is wrong."""
    try:
        data = parse_json(_text(path))
    except JsonError as error:
        raise ResultsError(f"{path}: {error}") from error
    found = data.get("format") if isinstance(data, dict) else None
    if found != version:
        raise ResultsError(f"{path}: format: '{found}'; this version of fabriclab reads only '{version}'")
    assert isinstance(data, dict)
    return data


def read_summary(path: Path) -> Summary:
    """Return a run's summary. Raises ResultsError."""
    return read_record(path, SUMMARY_FORMAT, Summary, f"a summary of this version of fabriclab, {SUMMARY_FORMAT}")


def _text(path: Path) -> str:
    try:
        return read_text(path, LARGEST_JSON_BYTES)
    except FileNotFoundError:
        raise ResultsError(f"{path}: missing; this is not a directory that fabriclab wrote") from None
    except OSError as error:
        raise ResultsError(f"{path}: can't be read: {reason(error)}") from error
    except UnicodeDecodeError as error:
        raise ResultsError(f"{path}: not JSON: {error}") from error


def _write_flows(run_dir: Path, plan: Plan) -> list[str]:
    trace, log = read_trace(run_dir), scan_flow_logs(run_dir)
    flows = _reading(lambda: join_flows(trace.rows, log.rows, plan), run_dir)
    write_rows(flows, run_dir / "flows.parquet")
    return [*trace.notes, *log.notes]


def _write_programs(run_dir: Path, plan: Plan) -> list[str]:
    """Write the table of the lab's own programs; a plan without any has none."""
    if not has_programs(plan):
        return []
    programs, notes = _reading(lambda: read_programs(run_dir, plan), run_dir)
    write_rows(programs, run_dir / f"{PROGRAMS}.parquet")
    return notes


def _write_collectives(run_dir: Path, plan: Plan) -> None:
    """Write the table of collective operations; a plan without any has none."""
    if has_collectives(plan):
        measured = Measured.open(run_dir)
        table = _reading(lambda: collective_table(run_dir, plan, measured.flows), run_dir)
        table = with_causes(table, plan, measured.flows, measured.switches.queues)
        write_rows(table, run_dir / f"{COLLECTIVES}.parquet")


def _write_connections(run_dir: Path, plan: Plan) -> list[str]:
    """Write the table of the connections that ended; a plan without the probe has none."""
    if not plan.probes.connection_hosts:
        return []
    connections, notes = _reading(lambda: read_connections(run_dir, plan), run_dir)
    write_rows(connections, run_dir / f"{CONNECTIONS}.parquet")
    return notes


def _wholly_watched(run_dir: Path, plan: Plan) -> frozenset[str]:
    """Return the hosts of which every connection is known."""
    return frozenset(plan.probes.connection_hosts) - {node for node, _ in losses(run_dir)}


def _write_applications(run_dir: Path, plan: Plan) -> list[str]:
    """Write the tables of the plan's applications, such as Hadoop; a plan without any has none."""
    notes: list[str] = []
    for application in applications_of(plan):
        part = application.load("results.tables")
        connections, watched = _table(run_dir, CONNECTIONS), _wholly_watched(run_dir, plan)
        tables, found = part.application_tables(run_dir, plan, connections, watched)
        for name, table in tables.items():
            write_rows(table, run_dir / f"{name}.parquet")
        notes += found
    return notes


def _application_metrics(run_dir: Path, plan: Plan, job_ns: Any) -> Metrics:
    """Return the metrics of applications: those of the plan's, and None for what the others would have."""
    found: Metrics = {}
    used = applications_of(plan)
    for application in APPLICATIONS:
        if application not in used:
            found |= dict.fromkeys(application.metrics)
            continue
        tables = {name: _table(run_dir, name) for name in application.tables}
        connections, watched = _table(run_dir, CONNECTIONS), _wholly_watched(run_dir, plan)
        part = application.load("results.metrics")
        found |= part.application_metrics(tables, connections, plan, watched, job_ns)
    return found


def _table(run_dir: Path, name: str) -> pl.DataFrame | None:
    path = run_dir / f"{name}.parquet"
    return pl.read_parquet(path) if path.exists() else None


def _write_series(run_dir: Path, name: str, table: Table, *, expected: bool) -> list[str]:
    """Turn one probe's CSV into Parquet; returns notes. A probe that the plan does not have leaves no file."""
    source = run_dir / RAW / f"{name}.csv"
    if not expected and not source.exists():
        return []
    scan = scan_csv(source, table, f"raw/{name}.csv")
    _reading(lambda: write_frame(scan.rows, run_dir / f"{name}.parquet"), run_dir)
    return list(scan.notes)


def _reading(action: Callable[[], Outcome], run_dir: Path) -> Outcome:
    """Run what reads CSV files; a format that is broken becomes a ResultsError that names the line."""
    try:
        return action()
    except pl.exceptions.PolarsError as error:
        raise ResultsError(_explain(run_dir) or f"{run_dir}: {error}") from error


def _explain(run_dir: Path) -> str | None:
    """Return the first thing that is wrong in the raw files."""
    candidates = [(run_dir / TRACE_FILE, TRACE)]
    candidates += [(path, FLOW_LOG) for path in sorted((run_dir / FLOW_LOGS).glob("*.csv"))]
    candidates += [(path, PROGRAM_LOG) for path in sorted((run_dir / PROGRAM_LOGS).glob("*.csv"))]
    series = {**_SERIES, CONNECTIONS: CONNECTION_LOG}
    candidates += [(run_dir / RAW / f"{name}.csv", table) for name, table in series.items()]
    for path, table in candidates:
        message = first_bad_row(path, table, str(path.relative_to(run_dir))) if path.exists() else None
        if message:
            return message
    return None


def _is_sampled(plan: Plan, name: str) -> bool:
    is_there = name != TRIMMING.name or plan.trims_packets
    return is_there and getattr(plan.probes, _INTERVALS[name]) is not None


def _old_notes(run_dir: Path) -> list[str]:
    path = run_dir / SUMMARY
    return read_summary(path).notes if path.exists() else []
