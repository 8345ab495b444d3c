"""Whether this host makes of links what the plan says: measured before the traffic of every run.

Starvation (`fabriclab.engine.containers.starvation`) tells whether the CPUs had time. What the host adds to every
packet, or takes from every line, nobody has to wait for: only a look at idle links tells it.

- Round trips of idle paths, of hosts that will send to each other, by ICMP echo. The kernels answer, and stamp what
  comes in, so that no process's delay is part of it. The path's median counts.
- Rates: each line is kept busy for a moment by frames that go no further than its other end; what the interface has
  sent is its own counter's.

The bounds follow from the one number that a run in real time claims, TOLERANCE:

- A rate that is off by a share moves goodputs by that share. So it is at most TOLERANCE.
- A window holds what is on the way and what stands in the queue: rate x (round trip + standing queue's time). A round
  trip that is longer by d makes each window, and with it a sawtooth's period, a smoothed round-trip time and how many
  packets are lost or marked in a second, larger by d / (round trip + standing time). That share is at most TOLERANCE.
  The standing queue is the least that the lab lets stand (`standing_ns`, `fabriclab/compile/real_time.py`): up to the
  threshold of marks, a qdisc's target, else a full buffer.

What a bound on windows does not cover: a short flow that finds no queue takes a few idle round trips, so it takes
longer by the share of d in the idle round trip alone. That share is said of every run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.docker import Container, run_in
from fabriclab.engine.containers.starvation import TOLERANCE
from fabriclab.formats.real_time import CALIBRATION_FORMAT, IdlePath, Line, RealTime

_Item = TypeVar("_Item", Line, IdlePath)

GAUGE = "/tools/gauge"
_ECHOES = 20
_ECHO_S = 2.0
"""The longest that an echo is waited for, with what is between two."""
_SPARE_S = 60.0


@dataclass(frozen=True)
class PathMeasured:
    """The idle round trip between two hosts, nanoseconds."""

    src: str
    dst: str
    planned_ns: int
    measured_ns: int | None
    """The median; None: nothing came back."""
    least_ns: int | None
    bound_ns: int | None
    """From here on the run is invalid; None: the lab has no queue to compare with."""

    @property
    def excess_ns(self) -> int | None:
        """By how much it is longer than planned."""
        return None if self.measured_ns is None else self.measured_ns - self.planned_ns


@dataclass(frozen=True)
class LineMeasured:
    """The rate of one direction of a link, bits per second of its wire."""

    port: str
    planned_bps: int
    measured_bps: int | None
    """None: nothing left."""

    @property
    def deviation(self) -> float | None:
        """The share by which it is faster (positive) or slower than planned."""
        return None if self.measured_bps is None else self.measured_bps / self.planned_bps - 1


@dataclass(frozen=True)
class Calibration:
    """What was measured of a host's links."""

    paths: tuple[PathMeasured, ...] = ()
    lines: tuple[LineMeasured, ...] = ()
    unmeasured: tuple[str, ...] = ()
    """Why something could not be measured, a sentence each."""

    def slowest_path(self) -> PathMeasured | None:
        """Return the path that is longer than planned by most; one without an answer before all others."""
        return max(self.paths, key=_excess, default=None)

    def worst_line(self) -> LineMeasured | None:
        """Return the line whose rate is farthest from the plan's; one that sent nothing before all others."""
        return max(self.lines, key=_deviation, default=None)

    def reasons(self) -> list[str]:
        """Return what is beyond its bound, the worst of each; nothing when the run counts."""
        return [*self._slow_paths(), *self._wrong_lines()]

    def _slow_paths(self) -> Iterable[str]:
        silent = [path for path in self.paths if path.measured_ns is None]
        if silent:
            yield f"{len(silent)} idle paths gave no answer, the first of them from {silent[0].src} to {silent[0].dst}"
        slow = [path for path in self.paths if _is_beyond(path)]
        if slow:
            worst = max(slow, key=lambda path: (path.excess_ns or 0) / (path.bound_ns or 1))
            planned, measured, excess, bound = (
                f"{(time_ns or 0) / 1e3:.4g} us"
                for time_ns in (worst.planned_ns, worst.measured_ns, worst.excess_ns, worst.bound_ns)
            )
            yield (
                f"the idle round trip from {worst.src} to {worst.dst} took {measured} instead of {planned}: "
                f"{excess} longer, where at most {bound} is allowed ({TOLERANCE:.0%} of the round trip with the "
                "smallest standing queue)"
            )

    def _wrong_lines(self) -> Iterable[str]:
        wrong = [line for line in self.lines if line.deviation is None or abs(line.deviation) > TOLERANCE]
        if wrong:
            worst = max(wrong, key=_deviation)
            measured = "nothing" if worst.measured_bps is None else _rate(worst.measured_bps)
            more = f", and {len(wrong) - 1} more links" if len(wrong) > 1 else ""
            yield (
                f"the link at {worst.port} carried {measured} instead of {_rate(worst.planned_bps)}{more}: "
                f"at most {TOLERANCE:.0%} of difference is allowed"
            )

    def as_record(self) -> dict[str, Any]:
        """Return all of it, for the run directory."""
        return {
            "format": CALIBRATION_FORMAT,
            "tolerance": TOLERANCE,
            "paths": [{**asdict(path), "excess_ns": path.excess_ns} for path in self.paths],
            "lines": [{**asdict(line), "deviation": line.deviation} for line in self.lines],
            "unmeasured": list(self.unmeasured),
        }

    def write(self, path: Path) -> None:
        """Write all of it. Raises OSError."""
        path.write_text(json.dumps(self.as_record(), indent=2) + "\n")

    def as_figures(self) -> dict[str, Any]:
        """Return the worst of each with its bound, for the manifest. What was not measured is null."""
        path, line = self.slowest_path(), self.worst_line()
        return {
            "paths": len(self.paths),
            "slowest_path": None if path is None else {**asdict(path), "excess_ns": path.excess_ns},
            "lines": len(self.lines),
            "worst_line": None if line is None else {**asdict(line), "deviation": line.deviation},
            "tolerance": TOLERANCE,
            "unmeasured": list(self.unmeasured),
            "invalid": self.reasons(),
        }


def _excess(path: PathMeasured) -> float:
    return float("inf") if path.excess_ns is None else path.excess_ns


def _deviation(line: LineMeasured) -> float:
    return float("inf") if line.deviation is None else abs(line.deviation)


def _is_beyond(path: PathMeasured) -> bool:
    return path.excess_ns is not None and path.bound_ns is not None and path.excess_ns > path.bound_ns


def _rate(rate_bps: int) -> str:
    return f"{rate_bps / 1e6:.4g} Mbps"


def calibrate(wanted: RealTime, containers: Mapping[str, Container], is_over: Callable[[], bool]) -> Calibration:
    """Measure what is wanted of the nodes that are there, one after the other: what runs at once would disturb each
    other. Ends early when `is_over` says so."""
    found: list[PathMeasured] = []
    lines: list[LineMeasured] = []
    unmeasured: list[str] = []
    there = [line for line in wanted["lines"] if line["node"] in containers]
    for node, own in _grouped(there, lambda line: line["node"]).items():
        if not is_over():
            told = _ask(containers[node], _rates_argv(own), sum(line["time_ns"] for line in own) / 1e9, unmeasured)
            lines += [_line(line, record) for line, record in zip(own, told, strict=False)]
    joined = [path for path in wanted["paths"] if {path["src"], path["dst"]} <= containers.keys()]
    for node, paths in _grouped(joined, lambda path: path["src"]).items():
        if not is_over():
            told = _ask(containers[node], _echoes_argv(paths), len(paths) * _ECHOES * _ECHO_S, unmeasured)
            found += [_path(path, record, wanted["standing_ns"]) for path, record in zip(paths, told, strict=False)]
    return Calibration(tuple(found), tuple(lines), tuple(unmeasured))


def _grouped(items: Iterable[_Item], node_of: Callable[[_Item], str]) -> dict[str, list[_Item]]:
    found: dict[str, list[_Item]] = {}
    for item in items:
        found.setdefault(node_of(item), []).append(item)
    return found


def _rates_argv(lines: Sequence[Line]) -> list[str]:
    words = [
        f"{line['interface']}:{line['frame_bytes']}:{line['window_bytes']}:{-(-line['time_ns'] // 10**6)}"
        for line in lines
    ]
    return [GAUGE, "rates", *words]


def _echoes_argv(paths: Sequence[IdlePath]) -> list[str]:
    return [GAUGE, "round-trips", "--count", str(_ECHOES), *(path["address"] for path in paths)]


def _ask(container: Container, argv: list[str], takes_s: float, unmeasured: list[str]) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in run_in(container, argv, timeout_s=takes_s + _SPARE_S).splitlines()]
    except (EngineError, ValueError) as error:
        unmeasured.append(f"{container.node}: {error}")
        return []


def _line(line: Line, record: Mapping[str, Any]) -> LineMeasured:
    time_ns, frames, sent = (int(record[key]) for key in ("time_ns", "frames", "bytes"))
    # The counter is of frames as the kernel sees them; the rate is of the wire.
    on_wire = sent + frames * (line["wire_bytes"] - line["frame_bytes"])
    measured = round(on_wire * 8e9 / time_ns) if frames > 0 and time_ns > 0 else None
    return LineMeasured(f"{line['node']}:{line['interface']}", line["rate_bps"], measured)


def _path(path: IdlePath, record: Mapping[str, Any], standing_ns: int | None) -> PathMeasured:
    times = [int(time_ns) for time_ns in record["round_trips_ns"]]
    planned_ns = path["round_trip_ns"]
    return PathMeasured(
        path["src"],
        path["dst"],
        planned_ns,
        round(median(times)) if times else None,
        min(times, default=None),
        None if standing_ns is None else round(TOLERANCE * (planned_ns + standing_ns)),
    )
