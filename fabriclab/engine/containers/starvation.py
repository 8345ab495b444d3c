"""Whether the processor had time for the lab. Real time can lie: a starved run measures the host's scheduler, not the
network.

A run in real time claims its figures to within TOLERANCE. That one number is chosen; the bounds follow from it and from
the lab:

- Rates. A process that was ready and had no CPU for a share of the time can have left its line idle for that share, no
  longer: a goodput is too low by at most it. So the run-queue delay of whoever carries packets is at most TOLERANCE
  (`/proc/<pid>/schedstat`, second number, ns; Linux Documentation/scheduler/sched-stats.rst): of each program of the
  traffic, and of ksoftirqd, which carries them when the CPUs are busy. Samplers carry none: on one CPU those of all
  nodes, due at one time, wait for each other, and their samples are judged instead.
- Pressure (`/proc/pressure/cpu`, "some"; Linux Documentation/accounting/psi.rst) is the share of the time in which any
  process of the host waited, so none of the lab's waited longer. It proves that a run is sound where it is at most
  TOLERANCE, and nothing where it is more: others may have waited. It is judged only where the kernel tells no run-queue
  delay.
- Stalls. A buffer bridges a pause as long as it takes to drain: the smallest one of the lab at its line's rate,
  `stall_ns` (`fabriclab.compile.real_time`). After a longer one the line has run dry, and what comes then in one burst
  may overflow it. So no process may wait longer than that for a CPU each time that it is ready, on the mean (second and
  third number of schedstat); and of our own timers, which find what a process that sleeps finds, a share of at most
  TOLERANCE may be later. A thread of an interpreter can't tell less than TIMER_RESOLUTION_NS from its own lateness;
  schedstat can.
- Samples. One that was missed is replaced by the one before it: a queue's mean is wrong by at most that share of its
  buffer. So a sampler misses a share of at most TOLERANCE of its due times (`probes/README.md`, "late").

What it does not derive: delays that are added to every packet without anybody waiting for a CPU, such as the path
through bridges and namespaces. They are measured before the traffic (`fabriclab.engine.containers.calibration`).
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

TOLERANCE = 0.05
"""A sound run's rates, times and queue lengths are within this share of what they would be if the
CPU were never short."""
TIMER_RESOLUTION_NS = 2_000_000
"""Lateness of a thread of Python's that says something of the host:
far above a timer's slack (50 us) and the interpreter's own work."""

_PERIOD_NS = 5_000_000
_SUMMARY = re.compile(r"samples (\d+) late (\d+) max_late_ns (\d+)")


@dataclass(frozen=True)
class Starvation:
    """What was measured while traffic ran. Shares are 0 to 1; None: this kernel does not say."""

    duration_s: float
    pressure: float | None
    run_queue_delay: float | None
    """The worst process's."""
    run_queue_process: str
    timer_late: float
    timer_latest_ns: int
    sampler_late: float | None
    sampler_latest_ns: int | None
    wait_ns: int | None = None
    """The worst process's mean wait for a CPU each time that it was ready."""
    wait_process: str = ""
    stall_ns: int | None = None
    """The longest pause that the lab's smallest buffer bridges; None: the job does not say."""

    @property
    def late_ns(self) -> int:
        """Return from what lateness on a timer is late."""
        return max(TIMER_RESOLUTION_NS, self.stall_ns or 0)

    @property
    def missed_samples(self) -> bool:
        """Return whether a sampler missed more samples than is sound."""
        return self.sampler_late is not None and self.sampler_late > TOLERANCE

    def reasons(self) -> list[str]:
        """Return what is above its bound, each with the figure; nothing when the run counts."""
        return [*self._shares(), *self._stalls()]

    def _stalls(self) -> list[str]:
        if self.wait_ns is None or self.stall_ns is None or self.wait_ns <= self.stall_ns:
            return []
        waited, bridged = (f"{time_ns / 1e3:.4g} us" for time_ns in (self.wait_ns, self.stall_ns))
        return [
            f"{self.wait_process} waited {waited} for a CPU each time that it was ready, but "
            f"the smallest buffer lasts only {bridged}"
        ]

    def _shares(self) -> list[str]:
        waited = f"of the time {self.run_queue_process} was ready but waited for a CPU (run-queue delay)"
        fired = (
            f"of the timers fired more than {self.late_ns / 1e6:.4g} ms late, "
            f"the latest {self.timer_latest_ns / 1e6:.1f} ms"
        )
        # Pressure bounds the run-queue delay, and is wanted only where that is not known.
        pressure = self.pressure if self.run_queue_delay is None else None
        judged = (
            (pressure, "of the time a process had no CPU to run on (pressure)"),
            (self.run_queue_delay, waited),
            (self.timer_late, fired),
            (self.sampler_late, "of the samples were missed"),
        )
        return [
            f"{share:.1%} {what}; at most {TOLERANCE:.0%} is allowed"
            for share, what in judged
            if share is not None and share > TOLERANCE
        ]

    def as_record(self) -> dict[str, Any]:
        """Return the figures with their bounds, for the manifest."""
        bounds = {
            "pressure": TOLERANCE if self.run_queue_delay is None else None,
            "run_queue_delay": TOLERANCE,
            "timer_late": TOLERANCE,
            "sampler_late": TOLERANCE,
            "wait_ns": self.stall_ns,
            "late_ns": self.late_ns,
        }
        return {**asdict(self), "bounds": bounds, "starved": bool(self.reasons())}


class Waits(NamedTuple):
    """A process's waits for a CPU: their sum, and how often it got one (`/proc/<pid>/schedstat`,
    second and third number)."""

    waited_ns: int
    times: int

    def since(self, before: Waits) -> Waits:
        """Return what was added since then."""
        return Waits(self.waited_ns - before.waited_ns, self.times - before.times)

    @property
    def mean_ns(self) -> int:
        """Return the mean wait; 0 for a process that never wanted a CPU."""
        return round(self.waited_ns / self.times) if self.times > 0 else self.waited_ns


class StarvationMeter:
    """Measures from `begin` to `end`. `processes` are the host's process numbers with the names to tell them by."""

    def __init__(self, proc: Path = Path("/proc"), stall_ns: int | None = None) -> None:
        """`stall_ns`: the longest pause that the lab's buffers bridge, where it is known."""
        self._proc = proc
        self._stall_ns = stall_ns
        self._begun_ns = 0
        self._pressure: int | None = None
        self._first: dict[int, Waits] = {}
        self._last: dict[int, Waits] = {}
        self._names: dict[int, str] = {}
        self._timer = _Timer(max(TIMER_RESOLUTION_NS, stall_ns or 0))

    def begin(self, processes: Mapping[int, str]) -> None:
        """Begin to measure: what is read from now on is of the run."""
        self._names = dict(processes) | _kernel_packet_threads(self._proc)
        self._begun_ns = time.monotonic_ns()
        self._pressure = read_pressure_us(self._proc)
        self._first = {number: waits for number in self._names if (waits := read_waits(self._proc, number)) is not None}
        self._last = dict(self._first)
        self._timer.start()

    def look(self) -> None:
        """Read the processes' delays: a process that has ended has none any more."""
        for number in self._first:
            waits = read_waits(self._proc, number)
            if waits is not None:
                self._last[number] = waits

    def end(self) -> Starvation:
        """End the measurement, but for the samplers' share (`with_samplers`)."""
        self.look()
        self._timer.stop()
        elapsed_ns = max(1, time.monotonic_ns() - self._begun_ns)
        waits = {number: self._last[number].since(first) for number, first in self._first.items()}
        worst = max(waits, key=lambda number: waits[number].waited_ns, default=None)
        slowest = max(waits, key=lambda number: waits[number].mean_ns, default=None)
        return Starvation(
            duration_s=round(elapsed_ns / 1e9, 3),
            pressure=self._pressure_since(elapsed_ns),
            run_queue_delay=None if worst is None else round(waits[worst].waited_ns / elapsed_ns, 4),
            run_queue_process="" if worst is None else self._names[worst],
            timer_late=round(self._timer.late / max(1, self._timer.fired), 4),
            timer_latest_ns=self._timer.latest_ns,
            sampler_late=None,
            sampler_latest_ns=None,
            wait_ns=None if slowest is None else waits[slowest].mean_ns,
            wait_process="" if slowest is None else self._names[slowest],
            stall_ns=self._stall_ns,
        )

    def _pressure_since(self, elapsed_ns: int) -> float | None:
        now = read_pressure_us(self._proc)
        return (
            None
            if now is None or self._pressure is None
            else round(min(1.0, (now - self._pressure) * 1000 / elapsed_ns), 4)
        )


class _Timer:
    """Sleeps until absolute times and notes how late it wakes."""

    def __init__(self, late_ns: int) -> None:
        self._late_ns = late_ns
        self.fired = self.late = self.latest_ns = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        due = time.monotonic_ns() + _PERIOD_NS
        while not self._stop.is_set():
            time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
            late = time.monotonic_ns() - due
            self.fired += 1
            self.late += late > self._late_ns
            self.latest_ns = max(self.latest_ns, late)
            # Due times that passed meanwhile were missed, each of them; those shortly before it fired are late by less
            # than it.
            missed = late // _PERIOD_NS
            self.fired += missed
            self.late += sum(late - number * _PERIOD_NS > self._late_ns for number in range(1, missed + 1))
            due += (missed + 1) * _PERIOD_NS


def read_pressure_us(proc: Path) -> int | None:
    """Return for how many microseconds since the boot some process waited for a CPU;
    None where the kernel does not count it."""
    try:
        text = (proc / "pressure" / "cpu").read_text()
    except OSError:
        return None
    found = re.search(r"^some .*total=(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else None


def read_waits(proc: Path, number: int) -> Waits | None:
    """Return how long and how often a process has waited for a CPU; None when it is gone or the
    kernel does not count it."""
    try:
        words = (proc / str(number) / "schedstat").read_text().split()
        return Waits(int(words[1]), int(words[2]))
    except (OSError, IndexError, ValueError):
        return None


def _kernel_packet_threads(proc: Path) -> dict[int, str]:
    found = {}
    for entry in proc.iterdir():
        if entry.name.isdigit():
            try:
                name = (entry / "comm").read_text().strip()
            except OSError:
                continue
            if name.startswith("ksoftirqd/"):
                found[int(entry.name)] = name
    return found


def host_processes(proc: Path, wanted: Mapping[tuple[str, int], str]) -> dict[int, str]:
    """Return the host's process numbers of processes in containers, with their names.

    `wanted` names them by container id and the process number in it. A control group's path holds the id, NSpid the
    inner number.
    """
    found = {}
    for entry in (entry for entry in proc.iterdir() if entry.name.isdigit()):
        try:
            groups = (entry / "cgroup").read_text()
            inner = re.search(r"^NSpid:.*?(\d+)$", (entry / "status").read_text(), re.MULTILINE)
        except OSError:
            continue
        for (identity, number), name in wanted.items():
            if identity in groups and inner is not None and int(inner[1]) == number:
                found[int(entry.name)] = name
    return found


def with_samplers(starvation: Starvation, logs: Iterable[str]) -> Starvation:
    """Add what the samplers say at their end; nothing when none did."""
    counts = [tuple(map(int, found.groups())) for text in logs if (found := _SUMMARY.search(text))]
    if not counts:
        return starvation
    share = max(late / max(1, samples + late) for samples, late, _ in counts)
    return replace(starvation, sampler_late=round(share, 4), sampler_latest_ns=max(latest for _, _, latest in counts))
