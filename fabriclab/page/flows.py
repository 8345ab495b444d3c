"""Flows as they start and end: the flow traces and the generators' logs in the run directory, read as they grow."""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.formats.run_directory import FLOW_LOGS, TRACE_FILE
from fabriclab.scratch import open_plain, while_it_runs

_MOST_FLOWS = 200_000
"""Those of a longer trace are listed when they end, without size and class."""
_MOST_READ = 1 << 20
"""Bytes of one log that are read at a time."""
_MOST_SHOWN = 100
_TRACE = "trace.csv"
Row = dict[str, str]


@dataclass
class Log:
    """A CSV file that grows, read line by line."""

    path: Path
    epoch_ns: int
    """What its times count from, after the lab's epoch."""
    _offset: int = 0
    _columns: list[str] = field(default_factory=list)

    def new_rows(self) -> Iterator[Row]:
        """Yield the rows that have come since; a line that is not whole yet waits."""
        try:
            with open_plain(self.path) as file:
                file.seek(self._offset)
                data = file.read(_MOST_READ)
        except OSError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in csv.reader(whole.decode(errors="replace").splitlines()):
            if not line or line[0].startswith("#"):
                continue
            if not self._columns:
                self._columns = line
            else:
                yield dict(zip(self._columns, line, strict=False))


class Flows:
    """The flows of a lab that is up: those of its own traffic, and of what was started by hand."""

    def __init__(self, directory: Path, *, idle: bool) -> None:
        """Take the run directory; `idle`: the lab's own traffic was left out."""
        self._directory = directory
        self._logs: dict[Path, Log] = {}
        self._traces: set[Path] = set()
        self._asked: dict[int, Row] = {}
        self._starts: list[tuple[int, int]] = []
        self._sides: dict[int, dict[str, dict[str, Any]]] = {}
        self._running: set[int] = set()
        self._ended: set[int] = set()
        self._begun = 0
        self.too_many = False
        if not idle:
            self._read_trace(directory / TRACE_FILE, 0)

    def look(self, now_ns: int, started: Mapping[str, int]) -> dict[str, Any]:
        """Return what there is to tell at an instant after the lab's epoch: how many run, the first of them, those that
        have ended since the last look, and whether all that are known have.

        `started`: directories of what was started by hand, each with its epoch.
        """
        for place, epoch_ns in started.items():
            self._read_trace(while_it_runs(self._directory, f"{place}/{_TRACE}"), epoch_ns)
            self._find_logs(while_it_runs(self._directory, place), epoch_ns)
        self._find_logs(while_it_runs(self._directory, FLOW_LOGS), 0)
        self._begin(now_ns)
        ended = [flow for log in self._logs.values() for row in log.new_rows() if (flow := self._logged(row, log))]
        shown = sorted(self._running, reverse=True)[:_MOST_SHOWN]
        running = [self._described(flow) for flow in shown]
        return {
            "running": running,
            "running_count": len(self._running),
            "ended": ended,
            "all_ended": bool(self._asked) and not self.too_many and self._asked.keys() <= self._ended,
            "incomplete": self.too_many,
        }

    def _find_logs(self, directory: Path, epoch_ns: int) -> None:
        for path in directory.glob("*.csv"):
            if path not in self._logs and path.name != _TRACE:
                self._logs[path] = Log(path, epoch_ns)

    def _read_trace(self, path: Path, epoch_ns: int) -> None:
        if path in self._traces:
            return
        self._traces.add(path)
        log = Log(path, epoch_ns)
        while rows := list(log.new_rows()):
            for row in rows:
                if len(self._asked) >= _MOST_FLOWS:
                    self.too_many = True
                    return
                flow = int(row["flow"])
                row["start_ns"] = str(int(row["start_ns"]) + epoch_ns)
                self._asked[flow] = row
                if not row.get("after"):
                    self._starts.append((int(row["start_ns"]), flow))
        done = self._starts[: self._begun]
        self._starts = done + sorted(self._starts[self._begun :])

    def _begin(self, now_ns: int) -> None:
        """Take note of flows whose time has come; those that wait for others are known when they end."""
        until = bisect_right(self._starts, (now_ns, 1 << 62), lo=self._begun)
        for _, flow in self._starts[self._begun : until]:
            if flow not in self._ended:
                self._running.add(flow)
        self._begun = max(self._begun, until)

    def _logged(self, row: Row, log: Log) -> dict[str, Any] | None:
        """Take a row of a log; returns the flow where that was the last of it."""
        flow = int(row["flow"])
        if flow in self._ended:
            return None
        sides = self._sides.setdefault(flow, {})
        numbers = {name: _number(row.get(name)) for name in ("bytes", "retransmits", "timeouts")}
        for name in ("start_ns", "end_ns"):
            since_ns = _number(row.get(name))
            numbers[name] = None if since_ns is None else since_ns + log.epoch_ns
        sides[row["side"]] = {**numbers, "status": row["status"]}
        if len(sides) < 2 and not row["status"].startswith("failed"):
            return None
        self._ended.add(flow)
        self._running.discard(flow)
        del self._sides[flow]
        return {**self._described(flow), **_ending(sides)}

    def _described(self, flow: int) -> dict[str, Any]:
        asked = self._asked.get(flow, {})
        words = {name: asked.get(name) or None for name in ("src", "dst", "class")}
        numbers = {name: _number(asked.get(name)) for name in ("start_ns", "size_bytes")}
        return {"flow": flow, **words, **numbers}


def _ending(sides: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return how a flow ended, of what its two ends logged."""
    src, dst = sides.get("src", {}), sides.get("dst", {})
    starts = [side["start_ns"] for side in (src, dst) if side.get("start_ns") is not None]
    end_ns = dst.get("end_ns")
    status = next((side["status"] for side in (dst, src) if side.get("status")), "")
    is_complete = status == "complete" and starts and end_ns is not None
    return {
        "status": status,
        **({"start_ns": starts[0]} if starts else {}),
        "end_ns": end_ns,
        "fct_ns": end_ns - starts[0] if is_complete else None,
        "bytes": dst.get("bytes"),
        "retransmits": src.get("retransmits"),
        "timeouts": src.get("timeouts"),
    }


def _number(text: str | None) -> int | None:
    return int(text) if text else None
