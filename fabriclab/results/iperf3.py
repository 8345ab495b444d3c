"""What iperf3 measured, as rows of the flow log (`traffic/README.md`): `raw/iperf3/<flow>-<side>.log`, written by
`replay exec`.

Each side is taken at its own word: the receiver's bytes are what came to it until it ended. iperf3 tells no time but
its duration, so a side's first byte is its end, which `replay exec` noted, less its duration. A server that the
client's farewell ended tells a wrong duration (iperf 3.18 prints results without having taken the time); then the first
byte is the sender's.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fabriclab.formats.logs import EXEC_LOG, FLOW_LOG
from fabriclab.formats.run_directory import IPERF3_LOGS
from fabriclab.results.csv_logs import ResultsError, Scan, schema_of

_NAME = re.compile(r"(\d+)-(src|dst)\.log")
_RECORD = re.compile(r"(-?\d+),(-?\d+),(itself|until|signal|power),((?:exit|signal) \d+)|,,signal,")
_INTERRUPTED = "interrupt - "
"""Begins the error of a side that was ended by a signal: its results are whole."""
_FAREWELL = ("the client has terminated", "the server has terminated")
"""End the error of a side that a signal or the other side's farewell ended: no failure."""


@dataclass(frozen=True)
class _Log:
    """A side's file: when it ran (nanoseconds after the epoch), None where its time never came,
    and what iperf3 wrote."""

    flow: int
    side: str
    ran: tuple[int, int] | None
    report: dict[str, Any]
    power_lost: bool = False
    """Its host went down."""

    @property
    def error(self) -> str:
        return str(self.report.get("error", ""))

    @property
    def status(self) -> str:
        """Return the flow's status, in the words of the flow log."""
        if self.power_lost and self.ran:
            return "failed: EHOSTDOWN"
        if self.error and not self.error.endswith(_FAREWELL):
            return f"failed: {self.error}"
        return "stopped" if self.ran and self.stream is not None else "unstarted"

    @property
    def stream(self) -> dict[str, Any] | None:
        """The totals of this side's end of the connection; None when there was none."""
        streams = self.report.get("end", {}).get("streams") or [{}]
        part = streams[0].get("sender" if self.side == "src" else "receiver", {})
        return part if {"seconds", "bytes"} <= set(part) else None

    @property
    def first_byte_ns(self) -> int | None:
        """When the connection's data began, None where this side does not know."""
        if self.ran is None or self.stream is None or not self.error.startswith(_INTERRUPTED):
            return None
        return self.ran[1] - round(float(self.stream["seconds"]) * 1e9)


def scan_iperf3(run_dir: Path) -> Scan:
    """Return the rows of a run's iperf3 flows in the form of the flow log, and notes on files that are not whole (their
    rows are missing).

    Raises ResultsError, with file and line, for a file that `replay exec` did not write.
    """
    logs: list[_Log] = []
    notes: list[str] = []
    for path in sorted((run_dir / IPERF3_LOGS).glob("*.log")):
        read = _read(path, f"{IPERF3_LOGS}/{path.name}")
        if isinstance(read, _Log):
            logs.append(read)
        else:
            notes.append(read)
    begun = {log.flow: log.first_byte_ns for log in logs if log.side == "src"}
    rows = [_row(log, begun.get(log.flow)) for log in sorted(logs, key=lambda log: (log.flow, log.side))]
    return Scan(pl.LazyFrame(rows, schema=schema_of(FLOW_LOG)), tuple(notes))


def _row(log: _Log, begun_ns: int | None) -> dict[str, Any]:
    """Return a row of the flow log; what iperf3 does not tell is missing.

    `begun_ns` is when the sender began to send.
    """
    row: dict[str, Any] = {"flow": log.flow, "side": log.side, "status": log.status}
    if log.side == "src" and log.ran:
        row["start_ns"] = log.ran[0]
    if log.stream is None or log.ran is None:
        return row
    row |= {"end_ns": log.ran[1], "bytes": log.stream["bytes"]}
    row["first_byte_ns"] = begun_ns if log.first_byte_ns is None else log.first_byte_ns
    if log.side == "src":
        # Its round-trip times are those of its reports, of which there is one, at the end: the smoothed one.
        row |= {"retransmits": log.stream.get("retransmits"), "srtt_us": log.stream.get("mean_rtt")}
    return row


def _read(path: Path, name: str) -> _Log | str:
    """Return what a file says, or a note when it is not whole."""
    found = _NAME.fullmatch(path.name)
    if found is None:
        raise ResultsError(f"{name}: the name must be that of a flow and a side, such as 3-src.log")
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n", 3)
    if len(lines) < 4:
        return f"{name}: the file was cut off, and is left out"
    for number, (line, right) in enumerate(zip(lines, (EXEC_LOG.first_line, EXEC_LOG.header), strict=False), start=1):
        if line != right:
            raise ResultsError(f"{name}:{number}: '{line}': must be '{right}'")
    record = _RECORD.fullmatch(lines[2])
    if record is None:
        raise ResultsError(
            f"{name}:3: '{lines[2]}': must be the values of {EXEC_LOG.header}, such as '0,1000000000,until,exit 1'"
        )
    ran = (int(record[1]), int(record[2])) if record[1] else None
    report = _report(lines[3]) if ran else {}
    if report is None and record[3] == "power":
        # What iperf3 measured went down with it.
        report = {}
    if report is None:
        return f"{name}: iperf3's results are incomplete, and are left out ({record[4]})"
    return _Log(int(found[1]), found[2], ran, report, power_lost=record[3] == "power")


def _report(text: str) -> dict[str, Any] | None:
    try:
        report = json.loads(text)
    except json.JSONDecodeError:
        return None
    return report if isinstance(report, dict) else None
