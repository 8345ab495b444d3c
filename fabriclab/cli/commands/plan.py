"""`fabriclab plan` and `fabriclab check`: they look, and start nothing."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fabriclab.cli.arguments.lab_names import find_lab, find_lab_or_file
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.host.failure import BadInputError
from fabriclab.cli.host.waiting import waiting
from fabriclab.cli.text.plan import plan_text
from fabriclab.cli.text.unmeasured import unseen_lines
from fabriclab.cli.text.warnings import warning_lines
from fabriclab.compile import compile_node, compiled_flows
from fabriclab.formats.plan import plan_json
from fabriclab.formats.plan.model import Plan
from fabriclab.lab import Lab, LabError, Topology, parse_lab
from fabriclab.lab.network.not_applied import unapplied_sentences
from fabriclab.lab.network.read import read_one_topology
from fabriclab.lab.reading.problems import did_you_mean
from fabriclab.resolve import Resolver, resolve_plan
from fabriclab.runs.engines import EngineName, has_stock_qdiscs_only, plan_for
from fabriclab.units import format_count
from fabriclab.workload import trace_text


def plan(
    lab_directory: Path, node: str | None, seed: int | None, settings: Sequence[str], engine: EngineName, as_json: bool
) -> None:
    """Print the plan in words, all of it as JSON, or one node's files, as an engine will run it."""
    lab_directory = find_lab(lab_directory)
    with waiting(f"reading {lab_directory}"):
        lab = parse_lab(lab_directory, every_point=False)
        resolved = plan_for(resolve_plan(lab, parse_settings(settings), seed), engine)
    if node is not None:
        sys.stdout.write(_node_files(resolved, node, stock=has_stock_qdiscs_only(engine)))
    else:
        sys.stdout.write(plan_json(resolved) if as_json else plan_text(resolved))


def _node_files(resolved: Plan, name: str, *, stock: bool) -> str:
    names = [node.name for node in resolved.nodes]
    if name not in names:
        raise BadInputError(f"--node {name!r}: the lab has no such node; {did_you_mean(name, names)}")
    files = compile_node(resolved.node(name), resolved, stock=stock).by_name()
    return "\n".join(f"# nodes/{name}/{file}\n{text}" for file, text in files.items())


def check(path: Path) -> None:
    """Resolve the lab and every point of its matrices; print what it has.

    Of a topology file alone: read it, print what it has.
    """
    path = find_lab_or_file(path)
    if not path.is_dir():
        topology = read_one_topology(path)
        sys.stdout.write(f"{topology.name}: a topology that fabriclab can run, {_size(topology)}\n")
        sys.stdout.writelines(f"{line}\n" for line in warning_lines([unapplied_sentences(topology.not_applied)]))
        return
    with waiting(f"reading {path}") as tell:
        lab = parse_lab(path, every_point=False)
        resolver = Resolver(lab)
        points = list(_plans_of_points(lab, resolver, tell))
        base = resolver.resolve({})
        tell("drawing the flows")
        flows = compiled_flows(base, lab.directory)
        for _ in trace_text(flows):
            pass
        unseen = unseen_lines(lab, flows, base, [plan for plan, _ in points])
    sys.stdout.write(_inventory(lab, base, {matrix: len(lab.points(matrix)) for matrix in lab.matrices}))
    warnings = [base.warnings, *itertools.chain(*(itertools.repeat(plan.warnings, alike) for plan, alike in points))]
    sys.stdout.writelines(f"{line}\n" for line in (*warning_lines(warnings), *unseen))


def _plans_of_points(lab: Lab, resolver: Resolver, tell: Callable[[str], None]) -> Iterator[tuple[Plan, int]]:
    """Yield the plan of each point of every matrix, and how many points differ from it in their seed alone.

    What is wrong in the file is raised before what cannot be planned of it.
    """
    unplannable: LabError | None = None
    total, done = sum(len(lab.points(matrix)) for matrix in lab.matrices), 0
    for applied, alike in lab.checked_points(lab.matrices):
        done += alike
        tell(f"checking point {done} of {total}")
        try:
            yield resolver.resolve_applied(applied), alike
        except LabError as error:
            unplannable = unplannable or error
    if unplannable is not None:
        raise unplannable


def _size(topology: Topology) -> str:
    parts = ((topology.hosts, "host"), (topology.switches, "switch"), (topology.links, "link"))
    return ", ".join(format_count(len(of_kind), noun) for of_kind, noun in parts)


def _inventory(lab: Lab, base: Plan, points: dict[str, int]) -> str:
    lines = [
        f"{lab.name}: OK",
        f"  {_size(lab.topology)}",
        f"  traffic: {', '.join(f'{traffic.name} ({traffic.kind})' for traffic in base.traffic)}",
        f"  parameters: {', '.join(lab.parameters) or 'none'}",
        f"  variants: {', '.join(lab.variants) or 'none'}",
        f"  matrices: {', '.join(f'{name} ({count} points)' for name, count in points.items()) or 'none'}",
        f"  checks: {len(base.checks)}",
    ]
    return "\n".join(lines) + "\n"
