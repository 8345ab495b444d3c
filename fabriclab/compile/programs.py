"""The programs of a lab's own (`kind: program`), run by `replay program` (`traffic/README.md`),
and what programs other than ours are preloaded with (`images/machine/preload`)."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.job import FRR_LAYER, Drain, Program
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import ProgramTraffic
from fabriclab.formats.run_directory import OUTPUT, PROGRAM_LOGS
from fabriclab.registry.applications import applications_of

_PRELOAD = "/tools/program.so"
Variables = tuple[tuple[str, str], ...]


def program_variables(program: ProgramTraffic) -> Variables:
    """Return a program's environment, its own variables last."""
    return (*preload_variables(program.dscp), *program.environment)


def preload_variables(dscp: int, *costs: tuple[str, str]) -> Variables:
    """Return the environment of a program whose packets have a class, or that pays costs; empty without either."""
    classed = (("FABRICLAB_DSCP", str(dscp)),) if dscp else ()
    return (("LD_PRELOAD", _PRELOAD), *classed, *costs) if classed or costs else ()


_RENDEZVOUS = "/run/fabriclab/rendezvous"
_SHORTEST_STILL_NS = 2_000_000
"""Two looks of the machine, a millisecond apart."""


def needed_layers(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return what a plan needs beside the root file system: by each layer's name in the job, the first on top, what is
    in it, sorted. `frr-VERSION` has that version of FRR, `jars` Java archives, `packages` Debian packages."""
    jars = {jar for traffic in plan.traffic for jar in traffic.needed_jars()}
    packages = {package for traffic in plan.traffic for package in traffic.needed_packages()}
    versions = sorted({node.frr for node in plan.nodes if node.frr is not None})
    every: dict[str, tuple[str, ...]] = {f"{FRR_LAYER}{version}": (version,) for version in versions}
    every |= {"jars": tuple(sorted(jars)), "packages": tuple(sorted(packages))}
    return {name: items for name, items in every.items() if items}


def program_nodes(plan: Plan) -> set[str]:
    """Return the nodes on which programs of the lab's own run."""
    return {node for traffic in plan.traffic for node in traffic.program_nodes()}


def compile_programs(plan: Plan, *, serves: bool) -> list[Program]:
    """Return the job's processes of the programs that serve, or of those that end."""
    programs = _programs(plan)
    return [_process(plan, program) for program in programs if program.serves == serves]


def compile_drain(plan: Plan) -> Drain | None:
    """Return who may send datagrams, programs alone, and how long queues must then have been empty; None: nobody may.

    A packet that is on a link is in no queue, and has at most one link for each node before it.
    """
    nodes = program_nodes(plan)
    if not nodes:
        return None
    longest_ns = max((port.delay_ns for node in plan.nodes for port in node.ports), default=0)
    return {"nodes": sorted(nodes), "still_ns": max(_SHORTEST_STILL_NS, longest_ns * len(plan.nodes))}


def programs_memory_bytes(plan: Plan) -> int:
    """Return the memory that the lab's programs ask for, and that applications need."""
    clusters: list[int] = [one.load("compile.cluster").memory_bytes(plan) for one in applications_of(plan)]
    return sum(clusters) + sum(program.memory_bytes for program in _programs(plan))


def _programs(plan: Plan) -> list[ProgramTraffic]:
    return [program for traffic in plan.traffic for program in traffic.programs()]


def _process(plan: Plan, program: ProgramTraffic) -> Program:
    options = [
        *("--name", program.name, "--rendezvous", _RENDEZVOUS, "--record", f"/job/{PROGRAM_LOGS}/{program.name}.csv"),
        *_options(plan, program),
    ]
    argv = ["/tools/replay", "program", *options, "--", *program.argv]
    return {"name": process_name(program), "node": program.node, "argv": argv}


def process_name(program: ProgramTraffic) -> str:
    """Return what the job calls a program's process, and its log."""
    return f"{program.name}@{program.node}"


def _options(plan: Plan, program: ProgramTraffic) -> Iterator[str]:
    if program.start_ns:
        yield from ("--at-ns", str(program.start_ns))
    if program.stop_ns is not None:
        yield from ("--until-ns", str(program.stop_ns))
    for awaited in program.after:
        yield from ("--after", str(awaited))
    for port in _awaited_ports(plan, program.name):
        yield from ("--announce", str(port))
    if program.status:
        yield from ("--status", str(program.status))
    for name, value in program_variables(program):
        yield f"--env={name}={value}"
    if program.output is not None:
        yield from ("--output", f"/job/{OUTPUT}/{program.output}")


def _awaited_ports(plan: Plan, name: str) -> list[int]:
    """Return the ports of a program that others wait for."""
    awaited = [one for program in _programs(plan) for one in program.after]
    return sorted({one.port for one in awaited if one.program == name and one.port is not None})
