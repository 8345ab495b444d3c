"""What `fabriclab arista import` does: a configuration in, a switch profile out, and a word on what was not taken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabriclab.cli.host.failure import BadInputError, say
from fabriclab.files import write_files
from fabriclab.lab.reading.files import UnreadableError, read_named_file
from fabriclab.vendors.arista.profile import (
    LARGEST_BYTES,
    ChipError,
    ImportedQos,
    import_qos,
    is_eos,
    parse_config_text,
    read_chip,
)


def import_profile(file: Path, chip: str, name: str | None, out: Path | None, force: bool) -> None:
    """Write the profile of a configuration; say what is in it, and what is not. Raises LabError, BadInputError."""
    try:
        memory = read_chip(chip)
    except ChipError as error:
        raise BadInputError(f"--chip {error}") from error
    config = parse_config_text(_read(file), str(file))
    if not is_eos(config):
        raise BadInputError(
            f"{file}: is not an EOS configuration: no line begins with hostname, interface or qos; "
            "give `show running-config`'s output"
        )
    imported = import_qos(config, memory, name)
    path = (out or Path()) / f"{imported.name}.yml"
    write_files({path: imported.text}, force=force)
    for line in _summary(imported, path, chip):
        say(line)


def _read(file: Path) -> bytes:
    try:
        return read_named_file(file, LARGEST_BYTES)
    except UnreadableError as error:
        raise BadInputError(f"{file}: {error}") from error


def _summary(imported: ImportedQos, path: Path, chip: str) -> Iterator[str]:
    yield f"{path}: profile {imported.name}, QoS of {imported.interfaces} interfaces on the memory of {chip}"
    if imported.notes:
        yield "to know:"
    yield from (f"  {note}" for note in imported.notes)
    if imported.left_out:
        yield "not in the profile:"
    for one in imported.left_out:
        yield f"  {one.what} ({one.count} {'line' if one.count == 1 else 'lines'}): {one.why}"
