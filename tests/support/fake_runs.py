"""Runs of the engine with a stand-in for the machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import fake_machine

from fabriclab.engine.events import Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.virtual import Machine, run_machine
from fabriclab.engine.watch import Outcome

EventHandler = Callable[[Event], None]


def run(
    directory: Path,
    body: str,
    on_event: EventHandler = lambda _: None,
    interrupt: Interrupt | None = None,
    stall_s: float = 60,
) -> Outcome:
    job = directory / "run"
    job.mkdir()
    machine = Machine(
        fake_machine.artefacts(directory, body), job, seed=7, memory_bytes=64 << 20, cpu=None, stall_s=stall_s
    )
    return run_machine(machine, on_event, interrupt or Interrupt())
