"""Whether the processor had time for the lab. Real time can lie: a starved run measures the host's scheduler, not the network.

Three independent witnesses while the traffic runs:

- pressure: the share of the time in which some process was ready to run and had no CPU (`/proc/pressure/cpu`, "some";
  Linux Documentation/accounting/psi.rst);
- run-queue delay: how long a process of the lab was ready and waited, as a share of the time (`/proc/<pid>/schedstat`, second number, ns;
  Linux Documentation/scheduler/sched-stats.rst). ksoftirqd counts: it carries the packets when the CPUs are busy;
- late timers: our own, due every few milliseconds, and the samplers' (`probes/README.md`, "late").
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

PRESSURE_BOUND = 0.5
"""Half of the time somebody waits: with a packet path as long as a lab's, queues then form at the CPU."""
RUN_QUEUE_BOUND = 0.05
"""A process of the lab that waited longer than this share of the time did not act when the network told it to."""
LATE_TIMER_BOUND = 0.05
"""Share of our timer's due times that came later than `LATE_NS`."""
LATE_SAMPLE_BOUND = 0.1
"""Share of a sampler's due times without a sample."""
LATE_NS = 2_000_000
"""Two milliseconds: far above a timer's slack (50 us), of the order of the smallest retransmission timeouts."""

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

    def reasons(self) -> list[str]:
        """Return what is above its bound, each with the figure; nothing when the run counts."""
        waited = f"of the time {self.run_queue_process} was ready and waited for a CPU (run-queue delay)"
        fired = f"of the timers fired more than {LATE_NS / 1e6:g} ms late, the latest {self.timer_latest_ns / 1e6:.1f} ms"
        judged = (
            (self.pressure, PRESSURE_BOUND, "of the time a process had no CPU to run on (pressure)"),
            (self.run_queue_delay, RUN_QUEUE_BOUND, waited),
            (self.timer_late, LATE_TIMER_BOUND, fired),
            (self.sampler_late, LATE_SAMPLE_BOUND, "of the samples were missed"),
        )
        return [f"{share:.0%} {what}, at most {bound:.0%} is sound" for share, bound, what in judged if share is not None and share > bound]

    def as_record(self) -> dict[str, Any]:
        """Return the figures with their bounds, for the manifest."""
        bounds = {
            "pressure": PRESSURE_BOUND,
            "run_queue_delay": RUN_QUEUE_BOUND,
            "timer_late": LATE_TIMER_BOUND,
            "sampler_late": LATE_SAMPLE_BOUND,
        }
        return {**asdict(self), "bounds": bounds, "starved": bool(self.reasons())}


class StarvationMeter:
    """Measures from `begin` to `end`. `processes` are the host's process numbers with the names to tell them by."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._begun_ns = 0
        self._pressure: int | None = None
        self._waited: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._timer = _Timer()

    def begin(self, processes: Mapping[int, str]) -> None:
        """Begin to measure."""
        self._names = dict(processes) | _kernel_packet_threads(self._proc)
        self._begun_ns = time.monotonic_ns()
        self._pressure = read_pressure_us(self._proc)
        self._waited = {number: waited for number in self._names if (waited := read_waited_ns(self._proc, number)) is not None}
        self._last = dict(self._waited)
        self._timer.start()

    def look(self) -> None:
        """Read the processes' delays: a process that has ended has none any more."""
        for number in self._waited:
            waited = read_waited_ns(self._proc, number)
            if waited is not None:
                self._last[number] = waited

    def end(self) -> Starvation:
        """End the measurement, but for the samplers' share (`with_samplers`)."""
        self.look()
        self._timer.stop()
        elapsed_ns = max(1, time.monotonic_ns() - self._begun_ns)
        delays = {number: (self._last[number] - waited) / elapsed_ns for number, waited in self._waited.items()}
        worst = max(delays, key=lambda number: delays[number], default=None)
        return Starvation(
            duration_s=round(elapsed_ns / 1e9, 3),
            pressure=self._pressure_since(elapsed_ns),
            run_queue_delay=None if worst is None else round(delays[worst], 4),
            run_queue_process="" if worst is None else self._names[worst],
            timer_late=round(self._timer.late / max(1, self._timer.fired), 4),
            timer_latest_ns=self._timer.latest_ns,
            sampler_late=None,
            sampler_latest_ns=None,
        )

    def _pressure_since(self, elapsed_ns: int) -> float | None:
        now = read_pressure_us(self._proc)
        return None if now is None or self._pressure is None else round(min(1.0, (now - self._pressure) * 1000 / elapsed_ns), 4)


class _Timer:
    """Sleeps until absolute times and notes how late it wakes."""

    def __init__(self) -> None:
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
            self.late += late > LATE_NS
            self.latest_ns = max(self.latest_ns, late)
            # Due times that passed meanwhile were missed, each of them.
            missed = late // _PERIOD_NS
            self.fired, self.late = self.fired + missed, self.late + missed
            due += (missed + 1) * _PERIOD_NS


def read_pressure_us(proc: Path) -> int | None:
    """Return for how many microseconds since the boot some process waited for a CPU; None where the kernel does not count it."""
    try:
        text = (proc / "pressure" / "cpu").read_text()
    except OSError:
        return None
    found = re.search(r"^some .*total=(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else None


def read_waited_ns(proc: Path, number: int) -> int | None:
    """Return how long a process has waited for a CPU; None when it is gone or the kernel does not count it."""
    try:
        return int((proc / str(number) / "schedstat").read_text().split()[1])
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

    `wanted` names them by container id and the process number in it. A control group's path holds the id, NSpid the inner number.
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
