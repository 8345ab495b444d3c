"""Traffic that was started by hand becomes part of the run: its flows join the run's trace, its logs the run's logs.

Its programs count their times from an epoch of their own; here they are counted from the lab's.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from fabriclab.files import replacing
from fabriclab.formats.logs import FLOW_LOG
from fabriclab.formats.run_directory import FLOW_LOGS, TRACE_FILE
from fabriclab.formats.table import Table
from fabriclab.formats.trace import TRACE, Awaited, after_cell, awaited
from fabriclab.scratch import open_plain

LIVE_TRACE = "trace.csv"
"""A started traffic's flow trace, in its directory; the logs of its hosts lie beside it."""
_LOG_TIMES = ("start_ns", "connected_ns", "first_byte_ns", "end_ns")

Row = dict[str, str]


@dataclass
class Started:
    """Traffic that was started by hand; `directory` is relative to the run directory."""

    directory: str
    epoch_ns: int | None = None
    """When its own time begins, after the lab's epoch; None: it never began."""


def gather_started(directory: Path, started: Sequence[Started], *, idle: bool) -> None:
    """Put the flows of what was started into the trace of a run directory, and its logs beside the run's.

    `idle`: the lab's own flows were never started, and are not part of the run. Raises OSError.
    """
    begun = [one for one in started if one.epoch_ns is not None]
    if not begun and not idle:
        return
    trace = directory / TRACE_FILE
    with replacing(trace) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = _writer(file, TRACE)
        if not idle:
            writer.writerows(rows_of(trace))
        for one in begun:
            writer.writerows(shifted_flows(rows_of(directory / one.directory / LIVE_TRACE), one))
    for one in begun:
        for log in sorted((directory / one.directory).glob("*.csv")):
            if log.name != LIVE_TRACE:
                _gather_log(log, directory / FLOW_LOGS / f"{one.directory.replace('/', '-')}-{log.name}", one)


def shifted_flows(rows: Iterable[Row], started: Started) -> Iterator[Row]:
    """Yield the flows of one start with their times counted from the lab's epoch."""
    for row in rows:
        own = started.directory.replace("/", "-")  # of this start alone: the same traffic may be started twice
        for name in ("connection", "group"):
            if row.get(name):
                row[name] = f"{own}-{row[name]}"
        if row.get("after"):
            row["after"] = after_cell(_own_wait(wait, own, started) for wait in awaited(row["after"]))
        if not row.get("after"):
            _shift(row, ("start_ns",), started)
        _shift(row, ("stop_ns",), started)
        yield row


def _own_wait(wait: Awaited, own: str, started: Started) -> Awaited:
    if wait.group:
        return wait._replace(group=f"{own}-{wait.group}")
    return wait._replace(delay_ns=wait.delay_ns + (started.epoch_ns or 0))


def _gather_log(log: Path, target: Path, started: Started) -> None:
    with replacing(target) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = _writer(file, FLOW_LOG)
        for row in rows_of(log):
            _shift(row, _LOG_TIMES, started)
            writer.writerow(row)


def _shift(row: Row, names: Iterable[str], started: Started) -> None:
    for name in names:
        if row.get(name):
            row[name] = str(int(row[name]) + (started.epoch_ns or 0))


def _writer(file: TextIO, table: Table) -> csv.DictWriter[str]:
    writer = csv.DictWriter(file, list(table.columns), lineterminator="\n")
    file.write(f"{table.first_line}\n")
    writer.writeheader()
    return writer


def rows_of(path: Path) -> Iterator[Row]:
    """Yield the rows of a CSV file; a last one that was cut is left out."""
    with io.TextIOWrapper(open_plain(path), encoding="utf-8", newline="") as file:
        file.readline()
        whole = (line for line in file if line.endswith("\n"))
        for row in csv.DictReader(whole):
            yield {name: value for name, value in row.items() if name is not None and value is not None}
