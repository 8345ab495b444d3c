"""What `fabriclab sonic import` and `fabriclab sonic export` do: files in, files out,
and a word on what did not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fabriclab.api.look import plan as plan_lab
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.host.failure import FAILED, OK, BadInputError, say
from fabriclab.engine.yang_models import has_models
from fabriclab.engine.yanglint import validate
from fabriclab.files import write_files
from fabriclab.formats.names import NODE_NAME
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.keys.wording import did_you_mean
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.units import UnitError, format_size, parse_size
from fabriclab.vendors.sonic.commands.chip_option import parse_chip
from fabriclab.vendors.sonic.export import Exported, export_switch, yang_data
from fabriclab.vendors.sonic.lab import ImportedLab
from fabriclab.vendors.sonic.lab import import_lab as lab_of
from fabriclab.vendors.sonic.read import read_config_db
from fabriclab.vendors.sonic.read.config_db import LeftOut

FILE_NAME = "config_db.json"


def import_lab(file: Path, name: str | None, out: Path | None, cell: str | None, chip: str | None, force: bool) -> None:
    """Write the lab of a config_db.json; say what is in it, and what `fabriclab check` finds wrong or doubtful."""
    check_name(name)
    said, config = parse_chip(chip), read_config_db(file)
    lab = lab_of(config if said is None else replace(config, chip=said), name, parse_cell(cell))
    directory = out or Path(lab.name)
    write_files({directory / file_name: text for file_name, text in lab.files.items()}, force=force)
    for line in _summary(lab, directory):
        say(line)
    for warning in resolve_plan(parse_lab(directory), {}).warnings:
        say(f"warning: {warning}")


def check_name(name: str | None) -> None:
    """Raise BadInputError for a --name that neither a lab nor a node can have."""
    if name is not None and not NODE_NAME.is_in(name):
        raise BadInputError(f"--name {name!r}: is not a name; write letters, digits, '-' and '_', at most 63")


def parse_cell(text: str | None) -> str | None:
    """Return the size of a memory cell as the lab language writes it. Raises BadInputError."""
    if text is None:
        return None
    try:
        return format_size(parse_size(text))
    except UnitError as error:
        raise BadInputError(f"--cell: {error}") from error


def _summary(lab: ImportedLab, directory: Path) -> Iterator[str]:
    sessions = {link.session.key for link in lab.links if link.session is not None}
    yield (
        f"{directory}: switch {lab.name} with {len(lab.links)} ports, {len(sessions)} BGP sessions; "
        f"{', '.join(lab.files)}"
    )
    yield from findings(lab.notes, lab.left_out)


def findings(notes: Sequence[str], left_out: Sequence[LeftOut]) -> Iterator[str]:
    """Yield the lines that say what is worth knowing of an import, and what it left out."""
    if notes:
        yield "to know:"
    yield from (f"  {note}" for note in notes)
    if left_out:
        yield "not in the lab:"
    for one in left_out:
        yield f"  {one.what} ({one.entries} {'entry' if one.entries == 1 else 'entries'}): {one.why}"


def export(
    lab_directory: Path,
    nodes: Sequence[str],
    out: Path | None,
    settings: Sequence[str],
    yang_directory: Path | None,
    force: bool,
) -> int:
    """Write the config_db.json of each switch; say what it cannot say.

    Return the exit status: FAILED where YANG finds a mistake.
    """
    check_yang_directory(yang_directory)
    plan = plan_lab(lab_directory, set=parse_settings(settings))
    directory = out or Path("sonic") / plan.lab
    exported = {node.name: _export_one(node, plan) for node in _switches(plan, nodes)}
    write_files({directory / name / FILE_NAME: one.text for name, one in exported.items()}, force=force)
    failed = False
    for name, one in exported.items():
        say(f"{directory / name / FILE_NAME}: {len(one.tables)} tables")
        for sentence in one.unsaid:
            say(f"  not written: {sentence}")
        for problem in _yang_problems(one, yang_directory):
            say(f"  YANG: {problem}")
            failed = True
    return FAILED if failed else OK


def check_yang_directory(directory: Path | None) -> None:
    """Raise BadInputError for a --yang-dir that is not a directory, or has no models, before anything is done."""
    if directory is None:
        return
    if not directory.is_dir():
        raise BadInputError(
            f"--yang-dir {directory}: no such directory; give src/sonic-yang-models of sonic-buildimage"
        )
    if not has_models(directory):
        raise BadInputError(
            f"--yang-dir {directory}: no YANG models there; give src/sonic-yang-models of sonic-buildimage"
        )


def _switches(plan: Plan, wanted: Sequence[str]) -> list[Node]:
    switches = [node for node in plan.nodes if node.role == "switch"]
    names = [node.name for node in switches]
    for name in wanted:
        if name not in names:
            raise BadInputError(f"--node {name!r}: the lab has no such switch; {did_you_mean(name, names)}")
    return [node for node in switches if not wanted or node.name in wanted]


def _export_one(node: Node, plan: Plan) -> Exported:
    try:
        return export_switch(node, plan)
    except ValueError as error:
        raise BadInputError(f"{node.name}: {error}") from error


def _yang_problems(exported: Exported, directory: Path | None) -> tuple[str, ...]:
    if directory is None:
        return ()
    data = yang_data(exported.tables)
    return validate(data.xml, data.modules, directory)
