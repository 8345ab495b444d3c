"""`fabriclab plan` and `fabriclab check`: they look, and start nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from fabriclab.api.look import CheckedLab, CheckedTopology, node_files
from fabriclab.api.look import check as check_lab
from fabriclab.api.look import plan as plan_lab
from fabriclab.cli.arguments.options import Software
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.commands.as_frr import meant
from fabriclab.cli.host.failure import BAD_INPUT, FAILED, OK, is_of_the_host, told
from fabriclab.cli.host.waiting import waiting
from fabriclab.cli.text.check_json import check_json
from fabriclab.cli.text.plan import plan_text
from fabriclab.errors import FabriclabError
from fabriclab.formats.plan import plan_json
from fabriclab.lab import LabError
from fabriclab.runs.engines import EngineName
from fabriclab.units import format_count


def plan(
    lab: Path,
    node: str | None,
    seed: int | None,
    settings: Sequence[str],
    engine: EngineName,
    as_json: bool,
    software: Software | None = None,
    variables: Sequence[Path] = (),
) -> None:
    """Print the plan in words, all of it as JSON, or one node's files, as an engine will run it."""
    chosen = parse_settings(settings)
    with waiting(f"reading {lab}"):
        resolved = plan_lab(meant(lab, software, variables), set=chosen, seed=seed, engine=engine)
    if node is not None:
        files = node_files(resolved, node, engine=engine)
        sys.stdout.write("\n".join(f"# nodes/{node}/{file}\n{text}" for file, text in files.items()))
    else:
        sys.stdout.write(plan_json(resolved) if as_json else plan_text(resolved))


def check(
    path: Path, software: Software | None = None, variables: Sequence[Path] = (), compile_own: bool = False
) -> int:
    """Check the lab and every point of its matrices, or a topology file alone; print what it has. Return the exit
    status."""
    checked = _checked(path, software, variables, compile_own)
    if isinstance(checked, CheckedLab):
        sys.stdout.write(_inventory(checked))
    else:
        others = format_count(checked.foreign, "node")
        sys.stdout.write(f"{checked.name}: a topology with {others} of other kinds, {_size(checked)}\n")
    faults = checked.faults if isinstance(checked, CheckedLab) else ()
    for sentence in checked.warnings:
        sys.stdout.write(f"{'error' if sentence in faults else 'warning'}: {sentence}\n")
    if checked.refusal is not None:
        sys.stdout.flush()
        raise checked.refusal
    return FAILED if faults else OK


def check_as_json(path: Path, software: Software | None, variables: Sequence[Path], compile_own: bool) -> int:
    """Print what a check finds as JSON, also where the lab is refused. Return the exit status."""
    try:
        checked = _checked(path, software, variables, compile_own)
    except FabriclabError as error:
        if is_of_the_host(error):
            raise
        refusal = error if isinstance(error, LabError) else told(error)
        sys.stdout.write(check_json(path, None, refusal))
        return BAD_INPUT
    sys.stdout.write(check_json(path, checked, checked.refusal))
    if checked.refusal is not None:
        return BAD_INPUT
    return FAILED if isinstance(checked, CheckedLab) and checked.faults else OK


def _checked(
    path: Path, software: Software | None, variables: Sequence[Path], compile_own: bool
) -> CheckedLab | CheckedTopology:
    with waiting(f"reading {path}") as tell:
        this = path if software is None else meant(path, software, variables)
        return check_lab(this, variables=variables, compile_own=compile_own, tell=tell)


def _size(checked: CheckedTopology) -> str:
    parts = ((checked.hosts, "host"), (checked.switches, "switch"), (checked.links, "link"))
    return ", ".join(format_count(count, noun) for count, noun in parts)


def _inventory(checked: CheckedLab) -> str:
    lines = [
        f"{checked.name}: OK",
        f"  {_size(checked)}",
        f"  traffic: {', '.join(f'{name} ({kind})' for name, kind in checked.traffic.items())}",
        f"  parameters: {', '.join(checked.parameters) or 'none'}",
        f"  variants: {', '.join(checked.variants) or 'none'}",
        f"  matrices: {', '.join(f'{name} ({count} points)' for name, count in checked.matrices.items()) or 'none'}",
        f"  checks: {checked.checks}",
    ]
    if checked.stories:
        steps = (f"{name} ({format_count(count, 'step')})" for name, count in checked.stories.items())
        lines.append(f"  stories: {', '.join(steps)}")
    return "\n".join(lines) + "\n"
