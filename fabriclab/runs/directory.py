"""The inputs of a run directory, written before the engine starts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fabriclab.compile import (
    NAMES_FILE,
    NodeCompiler,
    compile_hosts,
    compile_job,
    compile_machine_sysctl,
    compile_names,
    compile_real_time,
    compile_sampler,
    compiled_flows,
    program_nodes,
    trace_text,
)
from fabriclab.compile.cut import Cut
from fabriclab.compile.wires import cut_job, cut_sampler, wired_job
from fabriclab.files import below, read_text, replacing, write_text
from fabriclab.formats.indented import indented_json
from fabriclab.formats.job import Job, Live
from fabriclab.formats.plan import Plan, PlanError, plan_json
from fabriclab.formats.plan.algorithm import OwnAlgorithm
from fabriclab.formats.plan.runnable import check_plan
from fabriclab.formats.real_time import REAL_TIME_FILE
from fabriclab.formats.run_directory import (
    HOSTS_FILE,
    JOB_FILE,
    MODULES,
    PART,
    PLAN,
    RAW,
    RAW_PCAP,
    SAMPLER_FILE,
    TRACE_FILE,
    part_file,
)
from fabriclab.lab.reading.files import LARGEST_ARCHIVE_BYTES, UnreadableError, open_lab_file
from fabriclab.registry.applications import applications_of

_LARGEST_BYTES = 1 << 30


def write_inputs(
    plan: Plan,
    lab_directory: Path,
    directory: Path,
    *,
    stock: bool = False,
    collect: Sequence[tuple[str, str, Sequence[str]]] = (),
    live: Live | None = None,
    cut: Cut | None = None,
    text: str | None = None,
) -> None:
    """Write all that the engine reads; `stock`: one whose kernel lacks the machine's own qdisc.

    `collect`: what is asked in a node at the end besides what every run asks; the output's name, the node, the command.
    `live`: the lab stays up. `cut`: it runs in so many virtual machines. `text`: the plan's JSON, if that is known.

    Raises PlanError for a plan that no lab could have, TraceError for a user's trace that can't be used, OSError.
    """
    text = plan_json(plan) if text is None else text
    check_plan(text)
    captures = [] if plan.probes.pcap is None else [RAW_PCAP]
    for name in ("machine", "nodes", "traffic", "logs", "collect", "raw/flows", *captures):
        (directory / name).mkdir(parents=True, exist_ok=True)
    write_text(directory / PLAN, text)
    flows = compiled_flows(plan, lab_directory)
    with replacing(directory / TRACE_FILE) as part, part.open("w", encoding="utf-8") as trace:
        trace.writelines(trace_text(flows))
    write_text(directory / HOSTS_FILE, compile_hosts(plan))
    _write_archives(plan, lab_directory, directory)
    job = compile_job(plan, flows, stock=stock)
    job["collect"] += [{"name": f"{name}@{node}", "node": node, "argv": list(argv)} for name, node, argv in collect]
    if live is not None:
        job["live"] = live
    _write_jobs(job, compile_sampler(plan, flows, stock=stock), plan, cut, directory)
    if plan.algorithms:
        (directory / MODULES).mkdir(exist_ok=True)
    for algorithm in plan.algorithms:
        _write_algorithm(algorithm, directory / MODULES)
    if stock:
        pairs = flows.select("src", "dst").unique().rows()
        write_json(directory / REAL_TIME_FILE, compile_real_time(plan, [(str(src), str(dst)) for src, dst in pairs]))
    write_text(directory / "machine" / "sysctl.conf", compile_machine_sysctl(plan, live=live is not None))
    # Where addresses are the nodes' own matter, so are names.
    named = {NAMES_FILE: compile_names(plan)} if plan.configured is None else {}
    speaking = program_nodes(plan)
    # In containers that stay up links go up and down, which takes no qdisc of its own.
    compiler = NodeCompiler(plan, stock=stock, live=live is not None and not stock)
    for node in plan.nodes:
        files = below(directory / "nodes", node.name)
        files.mkdir(exist_ok=True)
        compiled = compiler.files_of(node)
        names = named if live is not None or node.name in speaking else {}
        for name, text in {**names, **compiled.by_name()}.items():
            path = below(files, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
        for name, data in compiled.binaries.items():
            path = below(files / "root", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for name in compiled.executables:
            below(files / "root", name).chmod(0o755)


def _write_jobs(job: Job, sampler: dict[str, Any], plan: Plan, cut: Cut | None, directory: Path) -> None:
    """Write what the machine does and what it samples; of several, what each of them does."""
    if cut is None or len(cut.parts) == 1:
        write_json(directory / JOB_FILE, job if cut is None else wired_job(job, plan))
        write_json(directory / SAMPLER_FILE, sampler)
        return
    samplers = [cut_sampler(sampler, cut, number) for number in range(len(cut.parts))]
    for number, one in enumerate(cut_job(job, plan, cut, samplers)):
        (directory / RAW / f"{PART}-{number}").mkdir(exist_ok=True)
        write_json(directory / part_file(JOB_FILE, number), one)
        write_json(directory / part_file(SAMPLER_FILE, number), samplers[number])


def _write_algorithm(algorithm: OwnAlgorithm, modules: Path) -> None:
    """Write a user's algorithm under its module's name: a file, or a directory of the files that it has."""
    if not algorithm.files:
        write_text(below(modules, f"{algorithm.module}.c"), algorithm.source)
        return
    directory = below(modules, algorithm.module)
    directory.mkdir(exist_ok=True)
    for one in algorithm.files:
        write_text(below(directory, one.name), one.text)


def _write_archives(plan: Plan, lab_directory: Path, directory: Path) -> None:
    """Make the directories that the plan's applications find, with the archives of the user's own jobs."""
    applications = (application.load("compile.cluster").job_archives(plan) for application in applications_of(plan))
    for place, names in (item for archives in applications for item in archives.items()):
        below(directory, place).mkdir(parents=True, exist_ok=True)
        for name in names:
            _copy_archive(lab_directory, name, below(directory / place, name))


def _copy_archive(lab_directory: Path, name: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open_lab_file(lab_directory, name, LARGEST_ARCHIVE_BYTES) as archive, replacing(path) as part:
            part.write_bytes(archive.read())
    except UnreadableError as error:
        raise PlanError(f"{lab_directory / name}: {error}") from error


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON file; whoever reads it meanwhile finds the old one or the new one. Raises OSError that names it."""
    write_text(path, json_text(data))


def json_text(data: Mapping[str, Any]) -> str:
    """Return data as the text of a JSON file."""
    return indented_json(data) + "\n"


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the object that a JSON file holds, None when there is no such file or no object in it."""
    try:
        data = json.loads(read_text(path, _LARGEST_BYTES))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None
