"""Which engine a run uses: it follows from what the run is made from."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from fabriclab.compile import (
    SAMPLED_INSTEAD_NS,
    NodeCompiler,
    brings_programs,
    machine_memory_bytes,
    makes_tunnels,
    needed_layers,
    program_nodes,
    routes_labels,
    shortfalls,
)
from fabriclab.compile.wires import BEGIN_NS
from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.containers import ContainerLab, Stay
from fabriclab.engine.containers.topology import read_containers
from fabriclab.engine.cpu import claim_cpu
from fabriclab.engine.events import EventCallback
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.modules import compile_modules
from fabriclab.engine.shared_memory import Shared
from fabriclab.engine.virtual import Machine, Wired, run_machine
from fabriclab.engine.watch import Outcome
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.ranges import EACH_CHANGE_NS
from fabriclab.formats.run_directory import HOSTS_FILE, MODULES, TRACE_FILE

EngineName = Literal["vm", "containerlab"]

PROGRAMS_STALL_S = 900.0
"""Programs of the lab's own may compute for long at one instant, of which no event tells: the start of ten JVMs."""

MadeFrom = Artefacts | ContainerLab
"""The virtual machine's artefacts, or the images and tools of containers."""


def engine_name(made_from: MadeFrom) -> EngineName:
    """Return the engine's name, as on the command line."""
    return "containerlab" if isinstance(made_from, ContainerLab) else "vm"


def has_stock_qdiscs_only(name: EngineName) -> bool:
    """Return whether an engine's kernel lacks the machine's own qdisc: containers have the host's."""
    return name == "containerlab"


def plan_for(plan: Plan, name: EngineName) -> Plan:
    """Return the plan as an engine will run it: what it can't express is among the warnings,
    what it can't sample is not sampled."""
    if not has_stock_qdiscs_only(name):
        return plan
    warnings = (*plan.warnings, *(f"{name}: {sentence}" for sentence in shortfalls(plan)))
    missing: dict[str, object] = {"switch_interval_ns": None, "switch_ports": (), "pcap": None}
    if plan.probes.queue_interval_ns == EACH_CHANGE_NS:
        missing["queue_interval_ns"] = SAMPLED_INSTEAD_NS
    # A container runs what its image has.
    nodes = tuple(node if node.frr is None else node.model_copy(update={"frr": None}) for node in plan.nodes)
    update = {"warnings": warnings, "probes": plan.probes.model_copy(update=missing), "nodes": nodes}
    return plan.model_copy(update=update)


def check_engine(made_from: MadeFrom, plans: Sequence[Plan]) -> None:
    """Look whether this host can run these plans, before anything is started. Raises EngineError that names all that is
    missing.

    The virtual machine brings its own kernel along; containers need the host's.
    """
    if isinstance(made_from, ContainerLab):
        if own := sorted({one.file for plan in plans for one in plan.algorithms}):
            raise EngineError(
                f"{', '.join(own)}: your own algorithm is compiled for the virtual machine's kernel, but "
                "containers use the host's kernel"
            )
        if roce := sorted({f"traffic.{one.name}" for plan in plans for one in plan.over_roce}):
            raise EngineError(
                f"{', '.join(roce)}: goes over RoCE, which only the virtual machine's NICs have; containers have TCP "
                "and MPTCP (write transport: tcp, or run it with --engine vm)"
            )
        from fabriclab.engine.containers.preflight import check_host

        compilers = [(NodeCompiler(plan, stock=True), plan) for plan in plans]
        files = [compiler.files_of(node) for compiler, plan in compilers for node in plan.nodes]
        check_host(
            read_containers(made_from.topology, made_from.text),
            {node.sysctl for node in files},
            [node.tc for node in files],
            [node.ip for node in files],
            labels=any(map(routes_labels, plans)),
        )


def keep_modules(plan: Plan, made_from: MadeFrom, lab_directory: Path, directory: Path) -> None:
    """Put the plan's own algorithms into a run directory, compiled. Raises EngineError, OSError."""
    if isinstance(made_from, Artefacts):
        for name, module in compile_modules(made_from, plan.algorithms, lab_directory).items():
            shutil.copyfile(module, directory / MODULES / f"{name}.ko")


def layers_of(plan: Plan, artefacts: MadeFrom) -> dict[str, Path]:
    """Return the root directories of the layers that a plan's job names, by the names there."""
    return {name: artefacts.layers[name, *items] / "root" for name, items in needed_layers(plan).items()}


def execute(
    plan: Plan,
    made_from: MadeFrom,
    directory: Path,
    on_event: EventCallback,
    interrupt: Interrupt,
    stall_s: float,
    live: socket.socket | Stay | None = None,
) -> Outcome:
    """Run the job of a run directory in its engine. Raises EngineError when it can't start.

    `live`: for a lab that stays up, the machine's end of the socket by which it is paced; of containers, how long they
    stay.
    """
    if isinstance(made_from, ContainerLab):
        from fabriclab.engine.containers.engine import run_containers

        stay = live if isinstance(live, Stay) else None
        return run_containers(made_from, directory, on_event, interrupt, stay, layers_of(plan, made_from))
    memory_bytes = machine_memory_bytes(plan, (directory / TRACE_FILE).stat().st_size)
    with claim_cpu() as cpu:
        end = live if isinstance(live, socket.socket) else None
        own = {algorithm.module: algorithm.file for algorithm in plan.algorithms}
        layers = layers_of(plan, made_from)
        if program_nodes(plan):
            stall_s = max(stall_s, PROGRAMS_STALL_S)
        locked = end is not None or brings_programs(plan)
        # Nodes whose addresses are told when they have them are added to the table of hosts.
        adds_to = () if plan.configured is None else (Path(HOSTS_FILE).parent.name,)
        machine = Machine(
            *(made_from, directory, plan.seed, memory_bytes, cpu, stall_s, layers, own, end, locked),
            wired=Wired(0, Shared(1, BEGIN_NS)),
            labels=routes_labels(plan),
            tunnels=makes_tunnels(plan),
            polls=bool(program_nodes(plan)),
            adds_to=adds_to,
        )
        return run_machine(machine, on_event, interrupt)
