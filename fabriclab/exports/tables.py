"""Every table of a run or of a sweep, as files that other programs read, with a description beside them.

The description is a Data Package (Frictionless `datapackage.json`, https://datapackage.org): each table with its
columns, their types and units.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import polars as pl

from fabriclab.engine.host import fabriclab_version, git_revision
from fabriclab.errors import ArgumentError
from fabriclab.files import replacing
from fabriclab.formats.metrics import BY_NAME
from fabriclab.registry.applications import APPLICATIONS
from fabriclab.results import Results, ResultsError, Sweep

TableFormat = Literal["csv", "parquet", "json"]
TABLES = (
    *("flows", "queues", "tcp", "interfaces", "switch_ports", "switch_queues", "priority_groups", "pools"),
    *("congestion_events", "trimming", "connections", "programs", "collectives"),
    *(name for application in APPLICATIONS for name in application.tables),
    "summary",
)
PACKAGE = "datapackage.json"
_ENDINGS = {"csv": "csv", "parquet": "parquet", "json": "jsonl"}
_UNITS = {
    "_ns": "nanoseconds; times count from the beginning of the traffic",
    "_us": "microseconds",
    "_bps": "bits per second",
    "_bytes": "bytes",
}
_WORDS = {
    "flow": "number of the flow in the trace",
    "class": "class of the flow: the name of its traffic",
    "status": "how the flow ended: complete, stopped, unstarted, lost, or failed with its reason; for a program: "
    "exit N or signal N; for Hadoop: its own word",
    "phase": "hdfs-read, hdfs-write or shuffle; for connections also rpc and other",
    "state": "for a connection: ended, or open at the end of the run; for a sampled socket: TCP's own word",
    "peer": "the node at the other end; empty: not a host of the lab",
    "server_port": "the port that was connected to",
    "bytes_sent": "data that the node sent, including retransmissions",
    "bytes_acked": "sent data that were acknowledged; SYN and FIN count as a byte each",
    "bytes_received": "data that the node received; FIN counts as a byte",
    "retransmits": "retransmitted segments",
    "duplicates": "segments that the other end reported as received twice (DSACK): they need not have been sent again",
    "timeouts": "retransmission timeouts",
    "delivered_ce": "segments that were acknowledged with ECE",
    "ended_by": "why a program ended: itself, until (its time), signal (the run was over), power (its node went down)",
    "bytes": "bytes; for a queue: its length",
    "alpha": "DCTCP's estimate of the marked share, 0 to 1",
    "slowdown": "completion time divided by the ideal time on an idle path",
    "seed": "the run's seed",
    "metric": "name of the metric; docs/metrics.md defines each",
    "value": "the metric's value in the unit that its name ends with; empty: not measured",
}


def export_tables(
    subject: Results | Sweep, directory: Path, form: TableFormat = "csv", tables: Sequence[str] = ()
) -> list[Path]:
    """Write the tables of a run, or of a sweep with each point's settings as columns, and return the files.

    Rows are streamed: a table need not fit into memory. `json` writes a JSON object a line. Raises ArgumentError for a
    table that there is not, ResultsError where none of those asked for was sampled, OSError; nothing is left then.
    """
    frames = dict(_frames(subject, tables or TABLES))
    if not frames:
        raise ResultsError(f"{subject.directory} has none of the tables {', '.join(tables or TABLES)}")
    directory.mkdir(parents=True, exist_ok=True)
    written: list[tuple[Path, pl.LazyFrame]] = []
    with ExitStack() as all_or_none:
        for name, frame in frames.items():
            file = directory / f"{name}.{_ENDINGS[form]}"
            _SINKS[form](frame, all_or_none.enter_context(replacing(file)))
            written.append((file, frame))
        package = all_or_none.enter_context(replacing(directory / PACKAGE))
        package.write_text(_package(subject, written), encoding="utf-8")
    return [*(file for file, _ in written), directory / PACKAGE]


def check_tables(tables: Sequence[str]) -> None:
    """Raise ArgumentError for a table that there is not."""
    for name in tables:
        if name not in TABLES:
            raise ArgumentError("table {0!r}: there is no such table; valid here: {1}", name, ", ".join(TABLES))


_SINKS: Mapping[TableFormat, Callable[[pl.LazyFrame, Path], Any]] = {
    "csv": lambda frame, file: frame.sink_csv(file),
    "parquet": lambda frame, file: frame.sink_parquet(file),
    "json": lambda frame, file: frame.sink_ndjson(file),
}


def _frames(subject: Results | Sweep, tables: Sequence[str]) -> Iterator[tuple[str, pl.LazyFrame]]:
    check_tables(tables)
    runs = [subject] if isinstance(subject, Results) else list(subject.runs)
    for name in tables:
        own = [(run, table) for run in runs if (table := _table(run, name)) is not None]
        if own and isinstance(subject, Results):
            yield name, own[0][1]
        elif own:
            yield name, pl.concat([_with_settings(run, table) for run, table in own], how="diagonal_relaxed")


def _table(run: Results, name: str) -> pl.LazyFrame | None:
    """Return a table of a run; None where it was not sampled. A list, which CSV can't hold, is left out."""
    if name == "summary":
        rows = [(metric, None if value is None else float(value)) for metric, value in run.summary.items()]
        return pl.LazyFrame(rows, schema={"metric": pl.String, "value": pl.Float64}, orient="row")
    if name == "flows":
        return run.flows
    file = run.directory / f"{name}.parquet"
    return pl.scan_parquet(file) if file.is_file() else None


def _with_settings(run: Results, table: pl.LazyFrame) -> pl.LazyFrame:
    known = set(table.collect_schema().names())
    settings = {**run.settings, "seed": run.plan.seed}
    return table.select(
        *(pl.lit(value).alias(f"{name}_set" if name in known else name) for name, value in settings.items()), pl.all()
    )


def _package(subject: Results | Sweep, written: Sequence[tuple[Path, pl.LazyFrame]]) -> str:
    version = " ".join(filter(None, (fabriclab_version(), git_revision())))
    package = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "title": subject.title,
        "description": f"Exported from {subject.directory} by fabriclab {version}",
        "resources": [
            {"name": file.stem, "path": file.name, "schema": {"fields": list(_fields(frame))}}
            for file, frame in written
        ],
    }
    return json.dumps(package, indent=2, ensure_ascii=False) + "\n"


def _fields(frame: pl.LazyFrame) -> Iterator[dict[str, str]]:
    for name, kind in frame.collect_schema().items():
        yield {"name": name, "type": _type(kind)} | ({"description": words} if (words := _words(name)) else {})


def _type(kind: pl.DataType) -> str:
    if kind.is_integer():
        return "integer"
    if kind.is_float():
        return "number"
    return "boolean" if kind == pl.Boolean else "string"


def _words(name: str) -> str:
    for words in (_WORDS, *(application.load("results.tables").WORDS for application in APPLICATIONS)):
        if name in words:
            return str(words[name])
    if name in BY_NAME:
        return BY_NAME[name].meaning
    return next((words for ending, words in _UNITS.items() if name.endswith(ending)), "")
