"""`fabriclab plan` and `fabriclab check`: they look, and start nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from fabriclab.cli.failure import BadInputError
from fabriclab.cli.plan_text import plan_text
from fabriclab.cli.settings import parse_settings
from fabriclab.cli.warning_lines import warning_lines
from fabriclab.compile import compile_node, compile_trace
from fabriclab.lab import Lab, Topology, parse_lab
from fabriclab.lab.network import read_one_topology
from fabriclab.plan import Resolver, plan_json, resolve_plan
from fabriclab.plan.model import Plan
from fabriclab.run.engines import EngineName, has_stock_qdiscs_only, plan_for
from fabriclab.units import format_count


def plan(lab_directory: Path, node: str | None, seed: int | None, settings: Sequence[str], engine: EngineName, as_json: bool) -> None:
    """Print the plan in words, all of it as JSON, or one node's files, as an engine will run it."""
    resolved = plan_for(resolve_plan(parse_lab(lab_directory), parse_settings(settings), seed), engine)
    if node is not None:
        sys.stdout.write(_node_files(resolved, node, stock=has_stock_qdiscs_only(engine)))
    else:
        sys.stdout.write(plan_json(resolved) if as_json else plan_text(resolved))


def _node_files(resolved: Plan, name: str, *, stock: bool) -> str:
    names = [node.name for node in resolved.nodes]
    if name not in names:
        raise BadInputError(f"--node {name!r}: the lab has no such node; it has {', '.join(names)}")
    files = compile_node(resolved.node(name), resolved, stock=stock).by_name()
    return "\n".join(f"# nodes/{name}/{file}\n{text}" for file, text in files.items())


def check(path: Path) -> None:
    """Resolve the lab and every point of its matrices; print what it has. Of a topology file alone: read it, print what it has."""
    if path.is_file():
        topology = read_one_topology(path)
        sys.stdout.write(f"{topology.name}: a topology that fabriclab can run, {_size(topology)}\n")
        return
    lab = parse_lab(path)
    resolver = Resolver(lab)
    base = resolver.resolve({})
    points = {matrix: lab.points(matrix) for matrix in lab.matrices}
    warnings = [base.warnings]
    for settings in (point for of_matrix in points.values() for point in of_matrix):
        warnings.append(resolver.resolve(settings).warnings)
    for _ in compile_trace(base, lab.directory):
        pass
    sys.stdout.write(_inventory(lab, base, {matrix: len(of_matrix) for matrix, of_matrix in points.items()}))
    sys.stdout.writelines(f"{line}\n" for line in warning_lines(warnings))


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
