"""What `fabriclab sonic import` and `fabriclab sonic export` do: files in, files out, and a word on what did not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from fabriclab.cli.failure import BadInputError, say
from fabriclab.lab.sonic import ImportedLab, read_config_db
from fabriclab.lab.sonic import import_lab as lab_of
from fabriclab.units import UnitError, format_size, parse_size


def import_lab(file: Path, name: str | None, out: Path | None, cell: str | None, force: bool) -> None:
    """Write the lab of a config_db.json; say what is in it."""
    lab = lab_of(read_config_db(file), name, _cell(cell))
    directory = out or Path(lab.name)
    write_files({directory / file_name: text for file_name, text in lab.files.items()}, force)
    for line in _summary(lab, directory):
        say(line)


def _cell(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return format_size(parse_size(text))
    except UnitError as error:
        raise BadInputError(f"--cell: {error}") from error


def write_files(texts: Mapping[Path, str], force: bool) -> None:
    """Write files; raises BadInputError where one is there already, unless it may be replaced."""
    for path in texts:
        if path.exists() and not force:
            raise BadInputError(f"{path} is there already; --force replaces it")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _summary(lab: ImportedLab, directory: Path) -> Iterator[str]:
    sessions = [link for link in lab.links if link.session is not None]
    yield f"{directory}: switch {lab.name} with {len(lab.links)} ports, {len(sessions)} BGP sessions; {', '.join(lab.files)}"
    if lab.notes:
        yield "to know:"
    yield from (f"  {note}" for note in lab.notes)
    if lab.left_out:
        yield "not in the lab:"
    for one in lab.left_out:
        yield f"  {one.what} ({one.entries} {'entry' if one.entries == 1 else 'entries'}): {one.why}"
