"""`fabriclab new`: a lab of one's own, begun as a copy of another."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from fabriclab.api.lab_names import STARTERS, find_lab, known_labs
from fabriclab.cli.commands import generate_options, labs
from fabriclab.cli.host.failure import BadInputError, say
from fabriclab.cli.host.output import write_files
from fabriclab.engine.host import fabriclab_version, git_revision
from fabriclab.files import naming
from fabriclab.lab import experiment
from fabriclab.lab.network import topology

_GENERATORS: dict[str, Callable[..., None]] = dict(
    zip(STARTERS, (generate_options.star, generate_options.dumbbell, generate_options.fat_tree), strict=True)
)
README = "README.md"
_MOST_BYTES = 16 << 20
_NAME_LINE = re.compile(r"^name:.*$", re.MULTILINE)


def show_list() -> None:
    """Print what a lab can be begun with: the labs, then the starters."""
    labs.labs(as_json=False)
    print(f"`fabriclab new DIR --from NAME` begins a lab of yours with one; also with {', '.join(STARTERS)}")


def new(directory: Path | None, origin: str | None) -> None:
    """Make a lab as a copy of `origin`, a lab or a starter.

    Raises BadInputError where it can't be, or the directory is there.
    """
    if directory is None:
        raise BadInputError("name the directory to make, such as `fabriclab new mylab --from incast`")
    if directory.exists() or directory.is_symlink():
        raise BadInputError(f"{directory} is there already; name a new directory")
    name = directory.resolve().name
    if topology.NAME.fullmatch(name) is None:
        raise BadInputError(f"{name!r} is no lab name; write letters, digits, '-' and '_', at most 63")
    if origin is None:
        raise BadInputError("name what to begin with, such as --from incast; `fabriclab new --list` shows all there is")
    if origin in STARTERS and origin not in {lab.name for lab in known_labs()}:
        _GENERATORS[origin](name=name, out=str(directory))
        return
    lab = find_lab(Path(origin))
    write_files({directory / file: content for file, content in _copied(lab, directory).items()}, force=False)
    say(f"{directory}: a copy of {lab.name}; `fabriclab run {directory}` runs it")


def _copied(lab: Path, directory: Path) -> dict[str, bytes]:
    """Return the files of the copy by their path in it.

    Raises BadInputError for a directory that is no lab's alone, OSError.
    """
    files = {}
    for path in sorted(lab.rglob("*")):
        if path.is_file():
            with naming(path):
                files[str(path.relative_to(lab))] = path.read_bytes()
        if sum(map(len, files.values())) > _MOST_BYTES:
            raise BadInputError(f"{lab} holds more than {_MOST_BYTES >> 20} MiB: no lab alone; copy what is needed")
    files[topology.FILE_NAME] = _named(files[topology.FILE_NAME], directory.resolve().name)
    files[README] = _readme(files.get(README, b""), lab.name, directory, experiment.FILE_NAME in files)
    return files


def _named(text: bytes, name: str) -> bytes:
    """Return a topology with another name: results lie in `runs/NAME`."""
    return _NAME_LINE.sub(f"name: {name}", text.decode(errors="surrogateescape"), count=1).encode(
        errors="surrogateescape"
    )


def _readme(text: bytes, origin: str, directory: Path, has_experiment: bool) -> bytes:
    """Return the copy's README: where it is from, then what the original says, its commands with the copy's path."""
    version = " ".join(filter(None, (fabriclab_version(), git_revision())))
    note = [
        f"> Made by `fabriclab new {directory} --from {origin}` (fabriclab {version}): a copy of the lab `{origin}`.",
        f"> Change `{topology.FILE_NAME}`" + (f" and `{experiment.FILE_NAME}`" if has_experiment else "") + ";",
        f"> `fabriclab check {directory}` says what is wrong, `fabriclab run {directory}` runs it.",
        "> What follows is the original's text, with its results; links to other files lead nowhere from here.",
    ]
    original = text.decode(errors="surrogateescape").replace(f"labs/{origin}", str(directory))
    return ("\n".join(note) + "\n\n" + original).encode(errors="surrogateescape")
