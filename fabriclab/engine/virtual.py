"""The `vm` engine: runs a run directory's job in a User-Mode Linux machine in virtual time, and watches it.

The job, the boot parameters and the events are described in `images/machine/README.md`.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.events import EventCallback
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.process import MachineProcess, memory_directory
from fabriclab.engine.watch import Outcome, Watch

# What a kernel command line or hostfs.allow takes for a separator or a quote.
_UNUSABLE_IN_PATHS = set(" \t\n,\"'")


@dataclass(frozen=True)
class Machine:
    """How a machine is started. `directory` is the run directory, with the job in it."""

    artefacts: Artefacts
    directory: Path
    seed: int
    memory_bytes: int
    cpu: int | None
    """The host's CPU that it is bound to; None: all."""
    stall_s: float = 120.0
    """Wall time without any event after which it counts as hung."""


def machine_argv(machine: Machine, private: Path) -> list[str]:
    """Return the command that boots the machine. Raises EngineError for a path that a kernel's command line can't carry."""
    artefacts, directory = machine.artefacts, machine.directory.resolve()
    for path in (artefacts.tools, artefacts.rootfs, directory, private):
        if _UNUSABLE_IN_PATHS & set(str(path)):
            raise EngineError(f"{path}: the machine can't use a path with blanks, commas or quotes: choose another one (--out)")
    # Without address randomisation: 6.12 sizes its memory by where the host put it.
    prefix = ["setarch", "-R"]
    if machine.cpu is not None:
        prefix += ["taskset", "-c", str(machine.cpu)]
    return [
        *prefix,
        str(artefacts.kernel),
        f"mem={machine.memory_bytes >> 20}M",
        *("root=/dev/root", "rootfstype=hostfs", f"rootflags={artefacts.tools}", "ro", "init=/init"),
        *("time-travel=inf-cpu", "time-travel-start=1700000000", f"fabriclab.seed={machine.seed}"),
        f"hostfs.allow=ro:{artefacts.tools},ro:{artefacts.rootfs},rw:{directory}",
        *(f"fabriclab_rootfs={artefacts.rootfs}", f"fabriclab_job={directory}"),
        *("con=null", "con0=null,fd:1", f"uml_dir={private}/", "quiet"),
    ]


def run_machine(machine: Machine, on_event: EventCallback, interrupt: Interrupt) -> Outcome:
    """Boot the machine, pass its events on, return how it ended. Nothing of it is left running. Raises EngineError when it can't start."""
    spare = machine.directory / "tmp"
    spare.mkdir(exist_ok=True)
    # Before the machine can write there.
    (machine.directory / "logs").mkdir(exist_ok=True)
    try:
        with MachineProcess(memory_directory(machine.memory_bytes, spare)) as process:
            argv = machine_argv(machine, process.directory)
            watch = Watch(machine.directory, process, on_event, interrupt, machine.stall_s)
            try:
                output = process.start(argv)
            except OSError as error:
                raise EngineError(f"can't start {argv[0]}: {error.strerror} (`fabriclab doctor` tells what is missing)") from error
            watch.follow(output)
            process.kill()
            return watch.outcome()
    finally:
        shutil.rmtree(spare, ignore_errors=True)
