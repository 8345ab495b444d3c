"""The `vm` engine: runs a run directory's job in a User-Mode Linux machine in virtual time, and watches it.

The job, the boot parameters and the events are described in `images/machine/README.md`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.boundary import confined, most_file_bytes
from fabriclab.engine.events import EventCallback
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.own_faults import OwnModules, Standstill
from fabriclab.engine.private_directory import clear_abandoned, memory_directory, memory_places
from fabriclab.engine.process import MachineProcess
from fabriclab.engine.shared_memory import Shared
from fabriclab.engine.virtual_clock import VirtualClock
from fabriclab.engine.watch import Outcome, Watch
from fabriclab.formats.run_directory import INPUTS, LAB
from fabriclab.scratch import Scratch

SECCOMP = "FABRICLAB_SECCOMP"
"""The environment's word on how the machine runs programs: `auto` is with ptrace where the host allows no filters.
Where it says nothing, programs that a lab brings are locked in by ptrace, and a machine without any has `auto`."""
_SECCOMP_CHOICES = ("auto", "on", "off")


@dataclass(frozen=True)
class Wired:
    """A machine's place among those that run one lab at once. `shared` is the memory of all; one that is alone has
    none."""

    index: int
    shared: Shared

    def parameters(self) -> list[str]:
        """Return what its kernel is told."""
        shared = self.shared
        words = f"{self.index}/{shared.count}:{shared.begin_ns}"
        if shared.count == 1:
            return [f"fabriclab.wires={words}"]
        words += f":{shared.descriptor}:{shared.ring_bytes}:{shared.least_ns}"
        return [f"fabriclab.wires={words}", f"fabriclab_part={self.index}"]


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
    """Wall time without progress, an event or a clock that goes on, after which it counts as hung."""
    layers: Mapping[str, Path] = field(default_factory=dict)
    """The root directory of each layer that the job names, by that name."""
    own: Mapping[str, str] = field(default_factory=dict)
    """The user's own algorithms: the file of each module, by the module's name."""
    live: socket.socket | None = None
    """The machine's end of the socket by which the host paces a live lab; closed here as soon as the machine has it."""
    locked: bool = False
    """Whether programs of somebody else's run in it: seccomp filters would not lock them in."""
    wired: Wired | None = None
    """Links are cables; its place among several, if it is not alone."""
    labels: bool = False
    """Whether its kernel routes labels, as a host's does that has loaded mpls_router."""
    tunnels: bool = False
    """Whether its nodes have tunl0, gre0 and their like, as on a host that has loaded the modules of tunnels."""
    polls: bool = False
    """Whether programs run in it that may wait in their own memory: for an RDMA device, or another thread."""
    adds_to: Sequence[str] = ()
    """Names in the run directory of what it gets a copy of, to add to; the other INPUTS it only reads."""


def machine_argv(machine: Machine, private: Path) -> list[str]:
    """Return the command that boots the machine, bound by the host's kernel.

    What its command line names are links in `private`, its private directory, in which it starts: the command line can
    be read inside, and says nothing of the host.
    """
    artefacts = machine.artefacts
    directories = {"tools": artefacts.tools, "rootfs": artefacts.rootfs}
    directories |= {f"layer-{name}": path for name, path in machine.layers.items()}
    given = [name for name in (*INPUTS, LAB) if (machine.directory / name).is_dir()]
    inputs = [name for name in given if name not in machine.adds_to]
    directories |= {name: machine.directory / name for name in inputs}
    scratch = Scratch(machine.directory).path
    for name, path in {**directories, "scratch": scratch}.items():
        (private / name).symlink_to(path.resolve())
    allowed = [*(f"ro:{name}" for name in directories), "rw:scratch"]
    layers = [f"{name}:layer-{name}" for name in machine.layers]
    return [
        *confined(
            artefacts,
            read=[path.resolve() for path in directories.values()],
            write=[scratch.resolve(), private.resolve()],
            file_bytes=most_file_bytes(machine.directory, machine.memory_bytes),
            cpu=machine.cpu,
            name=f"fabriclab-machine {machine.directory.resolve()}",
        ),
        str(artefacts.kernel),
        f"mem={machine.memory_bytes >> 20}M",
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=tools", "ro", "init=/init"),
        *("time-travel=inf-cpu", "time-travel-start=1700000000", f"fabriclab.seed={machine.seed}"),
        f"seccomp={_seccomp(machine)}",
        f"hostfs.allow={','.join(allowed)}",
        *("fabriclab_rootfs=rootfs", "fabriclab_job=scratch"),
        f"fabriclab_inputs={','.join(f'{name}:{name}' for name in inputs)}",
        *([f"fabriclab_layers={','.join(layers)}"] if layers else []),
        *([] if machine.tunnels else ["fb_tunnels=none"]),
        *(["fabriclab.mpls"] if machine.labels else []),
        *(["fabriclab.polls"] if machine.polls else []),
        *("con=null", "con0=null,fd:1", "uml_dir=./", "quiet"),
        *([] if machine.live is None else [f"fabriclab.live={machine.live.fileno()}"]),
        *([] if machine.wired is None else machine.wired.parameters()),
    ]


def _seccomp(machine: Machine) -> str:
    choice = os.environ.get(SECCOMP) or ("off" if machine.locked else "auto")
    if choice not in _SECCOMP_CHOICES:
        raise EngineError(f"{SECCOMP}={choice}: must be one of {', '.join(_SECCOMP_CHOICES)}")
    return choice


def run_machine(machine: Machine, on_event: EventCallback, interrupt: Interrupt) -> Outcome:
    """Boot the machine, pass its events on, return how it ended.

    Nothing of it is left running, and what it wrote is in the run directory. Raises EngineError when it can't start.
    """
    places = memory_places(machine.directory)
    clear_abandoned(places)
    parent = memory_directory(machine.memory_bytes, places)
    scratch = Scratch(machine.directory)
    scratch.make(machine.adds_to)
    try:
        # The host's own, where the machine can't write.
        (machine.directory / "logs").mkdir(exist_ok=True)
        outcome = _booted(machine, parent, scratch, on_event, interrupt)
    finally:
        left_out = scratch.take_over()
    return replace(outcome, figures={**outcome.figures, "memory_directory": str(parent)}).leaving_out(left_out)


def _booted(machine: Machine, parent: Path, scratch: Scratch, on_event: EventCallback, interrupt: Interrupt) -> Outcome:
    with MachineProcess(parent) as process:
        argv = machine_argv(machine, process.directory)
        clock = VirtualClock(process, machine.artefacts.kernel)
        watch = Watch(
            *(scratch, process, on_event, interrupt, machine.stall_s, clock),
            paced=machine.live is not None,
            own=OwnModules(machine.directory, machine.own) if machine.own else None,
            standstill=Standstill(process, clock) if machine.own else None,
        )
        try:
            output = process.start(argv, [] if machine.live is None else [machine.live.fileno()])
        except OSError as error:
            raise EngineError(
                f"can't start {argv[0]}: {error.strerror} (`fabriclab doctor` shows what is missing)"
            ) from error
        finally:
            if machine.live is not None:
                machine.live.close()
        watch.follow(output)
        process.kill()
        return watch.outcome()
