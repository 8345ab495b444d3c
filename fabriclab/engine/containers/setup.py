"""The steps of a job's `setup` (`images/machine/README.md`): what nodes' own files ask for beyond Containerlab, and
what makes a cluster of programs, before the epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.command import CommandError
from fabriclab.engine.containers.docker import Container, run_in
from fabriclab.engine.containers.event_log import EventLog
from fabriclab.engine.containers.job import Job, Task
from fabriclab.engine.containers.processes import Process, Processes
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.watch import last_lines
from fabriclab.formats.job import SetupStep

_STEP_S = 60.0
_GRACE_S = 2.0
"""The machine's, GRACE_NS in images/machine/init/src/supervisor.rs."""


def set_up(
    job: Job,
    containers: Mapping[str, Container],
    directory: Path,
    events: EventLog,
    interrupt: Interrupt,
    failed: list[str],
    start: Callable[[Task], Process],
) -> list[Process] | None:
    """Carry out the steps in their order; returns the daemons that they `start`, None when it was interrupted.

    What fails of the nodes' own commands is added to `failed`, and stops nobody. Raises EngineError where a health
    check never succeeds, and names the daemons that have ended.
    """
    daemons: list[Process] = []
    if job.setup:
        events.emit("phase", phase="setup")
    for step in job.setup:
        if interrupt.requested:
            return None
        program = step["program"]
        if step["kind"] == "daemon":
            daemons.append(start(Task(program["name"], program["node"], tuple(program["argv"]))))
            daemons[-1].give_epoch(0)
            continue
        status = _carried_out(step, containers[program["node"] or ""], directory, interrupt)
        events.emit("process", name=program["name"], status=status)
        if status != "exit 0":
            said = last_lines(directory / "logs" / f"{program['name']}.log", 2)
            text = f"{program['name']} ended with {status}" + (f": {said}" if said else "")
            if step["kind"] == "health" and not interrupt.requested:
                ended = [daemon.describe() for daemon in daemons if daemon.status is not None]
                raise EngineError("\n".join([f"setup: {text}", *ended]))
            failed.append(text)
    return daemons


def end_daemons(processes: Processes, daemons: Sequence[Process]) -> None:
    """Tell daemons to end. Those that wait for each other, as Hadoop's node managers for its ResourceManager, end with
    their containers, as in the machine with it."""
    for daemon in daemons:
        daemon.terminate()
    processes.await_end(daemons, _GRACE_S, lambda process: None)


def _carried_out(step: SetupStep, container: Container, directory: Path, interrupt: Interrupt) -> str:
    """Run a step's program in its container to the end, its output into its log, a health check until it succeeds or
    has had its tries; returns how it ended."""
    program = step["program"]
    log = directory / "logs" / f"{program['name']}.log"
    limit_s = step.get("limit_ns", _STEP_S * 1e9) / 1e9
    for number in range(step.get("tries", 1)):
        if number:
            time.sleep(step.get("interval_ns", 0) / 1e9)
        try:
            log.write_bytes(run_in(container, program["argv"], timeout_s=limit_s))
            return "exit 0"
        except CommandError as error:
            log.write_text(f"{error.said or error}\n")
        if interrupt.requested:
            break
    return "exit 1"
