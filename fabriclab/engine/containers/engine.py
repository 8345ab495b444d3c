"""The `containerlab` engine: runs a run directory's job in Docker containers that Containerlab deploys, and watches it.

It leaves the run directory as the virtual machine does (`images/machine/README.md`): events, logs, raw series,
collected outputs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.calibration import Calibration, calibrate
from fabriclab.engine.containers.collect import await_docker, collect_flow_logs, collect_series, run_collect
from fabriclab.engine.containers.container_lab import ContainerLab, Stay
from fabriclab.engine.containers.deployment import Deployment
from fabriclab.engine.containers.docker import Container
from fabriclab.engine.containers.event_log import EventLog
from fabriclab.engine.containers.job import Job, Task, read_job
from fabriclab.engine.containers.node import Preparation, prepare_node
from fabriclab.engine.containers.own_network import settle
from fabriclab.engine.containers.processes import Process, Processes
from fabriclab.engine.containers.programs import hand_over, program_binds
from fabriclab.engine.containers.route_watch import RouteWatch, watch_tasks
from fabriclab.engine.containers.setup import end_daemons, set_up
from fabriclab.engine.containers.starvation import Starvation, StarvationMeter, host_processes, with_samplers
from fabriclab.engine.containers.timeline import Timeline
from fabriclab.engine.containers.topology import read_containers
from fabriclab.engine.containers.validity import why_invalid
from fabriclab.engine.events import EventCallback
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.watch import STOP_PATIENCE_S, Outcome, Status
from fabriclab.formats.real_time import CALIBRATION_FILE
from fabriclab.registry.vendors import vendor_of

_LEAD_NS = 500_000_000
_LEAD_PER_PROCESS_NS = 20_000_000
"""From the choice of the epoch to the epoch: all processes start, read the trace, and connect meanwhile."""
_PROGRESS_NS = 100_000_000
_MILLISECOND_NS = 1_000_000
_PROBLEMS_SHOWN = 8
_AT_ONCE = 4
"""Containers that are set up at the same time."""


def run_containers(
    lab: ContainerLab,
    directory: Path,
    on_event: EventCallback,
    interrupt: Interrupt,
    stay: Stay | None = None,
    layers: Mapping[str, Path] | None = None,
) -> Outcome:
    """Run the job of a run directory. Nothing is left of containers, networks and their files. Raises EngineError when
    it can't start.

    `stay`: instead of the job's traffic, the lab stays as long as that says. `layers`: the root directories of those
    that the job names. Whether the host has what it takes is
    asked before, for all runs of a command at once (`preflight`).
    """
    started = time.monotonic()
    job = read_job(directory)
    binds = program_binds(job, directory, layers or {})
    with (
        ExitStack() as leaving,
        (directory / "events.jsonl").open("w", buffering=1) as events,
        Deployment(lab.topology, directory, job.files, lab.text, binds) as deployment,
    ):
        if stay is not None:
            leaving.callback(stay.on_gone)
        run = _Run(lab, job, directory, EventLog(events, on_event), interrupt, stay)
        status, message = run.carry_out(deployment)
    figures = {} if run.starvation is None else {"starvation": run.starvation.as_record()}
    if run.calibration is not None:
        figures["calibration"] = run.calibration.as_figures()
    return Outcome(status, message, run.virtual_ns, time.monotonic() - started, figures)


class _Run:
    """One run, from the deployed containers to the collected logs."""

    def __init__(
        self,
        lab: ContainerLab,
        job: Job,
        directory: Path,
        events: EventLog,
        interrupt: Interrupt,
        stay: Stay | None,
    ) -> None:
        self._lab = lab
        self._stay = stay
        self._job = job
        self._directory = directory
        self._events = events
        self._interrupt = interrupt
        self._containers: dict[str, Container] = {}
        self._own = {
            container.node: container
            for container in read_containers(lab.topology, lab.text)
            if container.config is not None
        }
        """Switches with a configuration of their own, which run their own daemons."""
        self._timeline = Timeline((), {}, events.emit)
        self._meter = StarvationMeter(stall_ns=job.stall_ns)
        self._problems: list[str] = []
        self._of_setup: list[str] = []
        """What failed of nodes' own files, which stops nobody."""
        self.starvation: Starvation | None = None
        self.calibration: Calibration | None = None
        self.virtual_ns = 0

    def carry_out(self, deployment: Deployment) -> tuple[Status, str]:
        """Do everything; returns status and message."""
        try:
            ended = self._set_up(deployment) and (self._play() if self._stay is None else self._remain(self._stay))
        except EngineError as error:
            self._events.emit("error", message=str(error))
            self._events.emit("end", status="failed")
            return "failed", str(error)
        finally:
            self._problems += hand_over(self._job, self._containers, self._directory)
        if not ended:
            self._events.emit("end", status="stopped")
            return "interrupted", "interrupted before the traffic began"
        status, message = self._judge(ended)
        self._events.emit("end", status=ended)
        return status, message

    def _set_up(self, deployment: Deployment) -> bool:
        """Deploy and configure; returns whether to go on."""
        if self._interrupt.requested:
            return False
        self._events.emit("phase", phase="nodes")
        self._containers = deployment.deploy()
        missing = [node for node in self._job.files if node not in self._containers]
        if missing:
            raise EngineError(f"{self._lab.topology}: Containerlab made no container for {', '.join(missing)}")
        if self._interrupt.requested:
            return False
        self._events.emit("phase", phase="configure")
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as workers:
            for _ in workers.map(self._prepare, self._job.files):
                pass
        return not self._interrupt.requested

    def _prepare(self, node: str) -> None:
        if self._interrupt.requested:
            return
        own = self._own.get(node)
        vendor = None if own is None else vendor_of(own.kind)
        if own is None or own.config is None or vendor is None:
            prepare_node(self._containers[node], self._job, self._directory, self._lab.tools)
            return
        preparation: Preparation = vendor.load("container")
        preparation.prepare(
            self._containers[node], own.config, self._job, self._directory, self._lab.tools, self._interrupt
        )

    def _play(self) -> Status | None:
        """Start the processes, follow the traffic, collect; returns how the traffic ended,
        None when it was interrupted before."""
        with Processes(self._directory) as processes:
            watchers, routes = self._watch_routes(processes)
            self._timeline = Timeline(self._job.changes, self._containers, self._events.emit, routes)
            daemons = self._start_daemons(processes)
            needed = [*watchers, *daemons]
            started = self._settle(processes)
            if started is None or not (self._await_routes(processes, needed, routes) and self._calibrate()):
                return None
            self._events.emit("phase", phase="probes")
            samplers = self._start(processes, self._sampler_tasks())
            self._events.emit("phase", phase="traffic")
            beside = self._start(processes, self._job.disturbances)
            traffic = self._start(processes, self._job.traffic)
            self._timeline.prepare(processes, daemons, [*beside, *traffic])
            if self._interrupt.requested:
                return None
            status = self._follow(processes, traffic, samplers, [*daemons, *started], beside)
            self._events.emit("phase", phase="collect")
            self._stop(processes, samplers)
            self._collect()
            self._stop(processes, [*beside, *watchers, *daemons])
            end_daemons(processes, started)
        return status

    def _remain(self, stay: Stay) -> Status | None:
        """Start the daemons, and let the lab stay; returns how that ended, None when it never was up."""
        with Processes(self._directory) as processes:
            watchers, routes = self._watch_routes(processes)
            daemons = self._start_daemons(processes)
            started = self._settle(processes)
            if started is None or not self._await_routes(processes, [*watchers, *daemons], routes):
                return None
            self._stop(processes, watchers)
            began_ns = time.monotonic_ns()
            self._events.epoch(began_ns)
            self._events.emit("phase", phase="traffic")
            stay.on_up(self._containers)
            told: set[str] = set()
            while not (stay.over.is_set() or self._interrupt.requested):
                processes.pump()
                for daemon in (*daemons, *started):
                    if daemon.status is not None and daemon.task.name not in told:
                        told.add(daemon.task.name)
                        self._problems.append(daemon.describe())
            self.virtual_ns = time.monotonic_ns() - began_ns
            self._events.emit("phase", phase="collect")
            self._collect()
            self._stop(processes, daemons)
            end_daemons(processes, started)
        return "complete" if stay.over.is_set() else "stopped"

    def _watch_routes(self, processes: Processes) -> tuple[list[Process], RouteWatch]:
        """Start what says when routes change, in each node that is expected to have some."""
        expected = [self._job.ready, *(change.reconvergence for change in self._job.changes)]
        nodes = list(dict.fromkeys(node for one in expected if one is not None for node in one.nodes))
        watchers = self._start(processes, watch_tasks(nodes))
        for watcher in watchers:
            watcher.give_epoch(0)
        return watchers, RouteWatch(self._directory / "logs", nodes)

    def _start_daemons(self, processes: Processes) -> list[Process]:
        self._events.emit("phase", phase="daemons")
        daemons = self._start(processes, [task for task in self._job.daemons if task.node not in self._own])
        for daemon in daemons:
            daemon.give_epoch(0)
        return daemons

    def _settle(self, processes: Processes) -> list[Process] | None:
        """Set up nodes by their own files, and clusters of programs; returns the daemons of these, None where it was
        interrupted."""
        where = (self._job, self._containers, self._directory, self._events, self._interrupt)
        daemons = set_up(*where, self._of_setup, lambda task: self._start(processes, [task])[0])
        return daemons if daemons is not None and settle(*where) else None

    def _await_routes(self, processes: Processes, needed: list[Process], routes: RouteWatch) -> bool:
        """Wait until the routes are what the job says; returns whether to go on. Raises EngineError after the limit,
        or where a process that is needed for it has ended."""
        ready = self._job.ready
        if ready is None:
            return True
        self._events.emit("phase", phase="routing")
        began_ns = time.monotonic_ns()
        while (reached := routes.reached(ready, began_ns)) is None:
            processes.pump()
            ended = [process.describe() for process in needed if process.status is not None]
            if ended:
                raise EngineError("routing: " + "; ".join(ended))
            if self._interrupt.requested:
                return False
            if ready.limit_ns is not None and time.monotonic_ns() - began_ns > ready.limit_ns:
                limit = f"routing did not converge within {ready.limit_ns / 1e9:g} s"
                raise EngineError("\n".join([limit, *routes.missing(ready)[:_PROBLEMS_SHOWN]]))
        self._events.emit("converged", convergence_ns=reached.at_ns - began_ns, within_ns=reached.within_ns)
        return True

    def _calibrate(self) -> bool:
        """Measure what this host makes of the links; returns whether to go on."""
        if self._job.real_time is not None:
            self._events.emit("phase", phase="calibration")
            # Switches that run their own daemons have what their image has.
            ours = {node: container for node, container in self._containers.items() if node not in self._own}
            self.calibration = calibrate(self._job.real_time, ours, lambda: self._interrupt.requested)
            self.calibration.write(self._directory / CALIBRATION_FILE)
        return not self._interrupt.requested

    def _sampler_tasks(self) -> list[Task]:
        argv = ("/tools/sampler", "--config", "/job/machine/sampler.json")
        return [Task(f"sampler@{node}", node, argv) for node in self._job.samplers]

    def _start(self, processes: Processes, tasks: Sequence[Task]) -> list[Process]:
        started = [processes.start(task, self._containers[task.node or ""]) for task in tasks]
        processes.await_ready(started)
        return started

    def _follow(
        self,
        processes: Processes,
        traffic: list[Process],
        samplers: list[Process],
        daemons: list[Process],
        beside: list[Process],
    ) -> Status:
        """Give the epoch, wait for the end of the traffic, measure starvation meanwhile."""
        names = {(process.container.identity, process.number or 0): process.task.name for process in traffic}
        watched = host_processes(Path("/proc"), names)
        epoch_ns = self._choose_epoch(len(traffic) + len(samplers) + len(beside))
        for process in [*samplers, *beside, *traffic]:
            process.give_epoch(epoch_ns)
        self._events.epoch(epoch_ns)
        while time.monotonic_ns() < epoch_ns:
            processes.pump()
        self._meter.begin(watched)
        self._timeline.begin(epoch_ns)
        try:
            status = self._wait(processes, traffic, samplers, epoch_ns)
        finally:
            self._timeline.end()
            self.starvation = self._meter.end()
        self._problems += self._timeline.problems
        self.virtual_ns = time.monotonic_ns() - epoch_ns
        needed = [*samplers, *daemons, *beside]
        self._problems += [one.describe() for one in needed if one.status is not None and not one.halted]
        return status

    def _choose_epoch(self, processes: int) -> int:
        earliest = time.monotonic_ns() + _LEAD_NS + processes * _LEAD_PER_PROCESS_NS
        return -(-earliest // _MILLISECOND_NS) * _MILLISECOND_NS

    def _wait(self, processes: Processes, traffic: list[Process], samplers: list[Process], epoch_ns: int) -> Status:
        waiting = list(traffic)
        next_progress_ns = epoch_ns
        while waiting:
            processes.pump()
            now = time.monotonic_ns()
            for process in [process for process in waiting if process.status is not None]:
                waiting.remove(process)
                self._note_end(process)
            if any(process.status is not None for process in samplers) or self._problems or self._timeline.problems:
                return self._cut(processes, waiting, "failed")
            if self._interrupt.requested:
                return self._cut(processes, waiting, "stopped")
            if now - epoch_ns > self._job.limit_ns:
                return self._cut(processes, waiting, "limit")
            if now >= next_progress_ns:
                self._meter.look()
                self._events.emit("progress")
                next_progress_ns = now + _PROGRESS_NS
        return "complete"

    def _note_end(self, process: Process) -> None:
        self._events.emit("process", name=process.task.name, status=process.status or "")
        if process.status != "exit 0" and not process.halted:
            self._problems.append(process.describe())

    def _cut(self, processes: Processes, waiting: list[Process], status: Status) -> Status:
        self._stop(processes, waiting)
        return status

    def _stop(self, processes: Processes, running: list[Process]) -> None:
        """End processes in order; those that don't are ended with their containers."""
        running = [process for process in running if process.status is None]
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as workers:
            list(workers.map(Process.terminate, running))
        patience_s = 0.0 if self._interrupt.at_once else STOP_PATIENCE_S
        left = processes.await_end(running, patience_s, lambda process: None)
        self._problems += [f"{process.task.name} did not end after it got a signal" for process in left]

    def _collect(self) -> None:
        if self._interrupt.at_once:
            return
        self._problems += await_docker(self._problems)
        self._problems += collect_flow_logs(self._job.traffic, self._containers, self._directory)
        self._problems += collect_series(self._job.samplers, self._containers, self._directory)
        self._problems += run_collect(self._job.collect, self._containers, self._directory)
        if self.starvation is not None:
            logs = [self._directory / "logs" / f"sampler@{node}.log" for node in self._job.samplers]
            self.starvation = with_samplers(
                self.starvation, [log.read_text(errors="replace") for log in logs if log.exists()]
            )

    def _judge(self, ended: Status) -> tuple[Status, str]:
        told = "\n".join(self._problems)
        if ended == "stopped":
            return "interrupted", "\n".join(
                ["interrupted: the traffic was ended early; measurements until then are kept", *self._problems]
            )
        if self._problems:
            return "failed", told
        if invalid := why_invalid(self.starvation, self.calibration):
            return "starved", invalid
        if ended == "limit":
            return "limit", "the time limit was reached before the traffic was complete"
        return ended, "\n".join(self._of_setup[:_PROBLEMS_SHOWN])
