"""When a node's routes were what: a program in its container (`gauge changes`) says what `ip` tells each time that
something has changed. So nobody looks over and over by `docker exec`, of which each look takes longer than routing
itself, and how late fabriclab is does not move the times: the program reads the clock beside each look.

The kernel tells of a change at once, and until then routes are what the look before saw. So routes that a look finds
right, after one that found them wrong, have become so between its beginning and its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.calibration import GAUGE
from fabriclab.engine.containers.job import Task
from fabriclab.engine.containers.routes import ROUTES_ARGV, Expectation, described, read_table, wrong_routes

Table = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Reached:
    """When the last of the nodes had its routes: `at_ns` on the monotonic clock, or up to `within_ns` sooner."""

    at_ns: int
    within_ns: int


def watch_tasks(nodes: Sequence[str]) -> list[Task]:
    """Return the programs that watch these nodes."""
    return [Task(f"routes@{node}", node, (GAUGE, "changes", *ROUTES_ARGV)) for node in nodes]


class RouteWatch:
    """Follows what the watching programs wrote to the run's logs."""

    def __init__(self, logs: Path, nodes: Sequence[str]) -> None:
        self._logs = {node: _Log(logs / f"routes@{node}.log") for node in nodes}

    def missing(self, expectation: Expectation) -> list[str]:
        """Return what is not yet as it must be, a line for each node. Raises EngineError."""
        found = []
        for node, expected in expectation.nodes.items():
            looks = self._logs[node].read()
            wrong = wrong_routes(looks[-1].table, expected) if looks else ["its routes are not known yet"]
            if wrong:
                found.append(described(node, wrong))
        return found

    def reached(self, expectation: Expectation, since_ns: int) -> Reached | None:
        """Return when all nodes had what is expected, at or after `since_ns`; None while one has not. Raises
        EngineError."""
        times = []
        for node, expected in expectation.nodes.items():
            right = None
            for look in self._logs[node].read():
                if wrong_routes(look.table, expected):
                    right = None
                elif right is None:
                    right = look
            if right is None:
                return None
            at_ns = max(right.ended_ns, since_ns)
            times.append(Reached(at_ns, at_ns - max(right.began_ns, since_ns)))
        return max(times, key=lambda time: time.at_ns, default=Reached(since_ns, 0))


@dataclass(frozen=True)
class _Look:
    began_ns: int
    ended_ns: int
    table: Table


class _Log:
    """What one program has written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._looks: list[_Look] = []

    def read(self) -> list[_Look]:
        """Return all looks so far. Raises EngineError for what is not a look."""
        with self._path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._offset += len(line)
                self._looks.append(self._look(line))
        return self._looks

    def _look(self, line: bytes) -> _Look:
        try:
            began, ended, table = line.split(b" ", 2)
            return _Look(int(began), int(ended), read_table(table.decode()))
        except ValueError:
            raise EngineError(f"{self._path.name}: {line.decode(errors='replace').strip()}") from None
