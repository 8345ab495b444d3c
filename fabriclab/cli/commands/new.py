"""`fabriclab new`: a lab of one's own, begun as a copy of another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.api.lab_names import STARTERS
from fabriclab.api.new_lab import TEMPLATES, NewLab
from fabriclab.api.new_lab import new as make_lab
from fabriclab.api.new_lab import new_as_frr as make_as_frr
from fabriclab.cli.arguments.options import Software
from fabriclab.cli.commands import labs
from fabriclab.cli.commands.generate import tell
from fabriclab.cli.host.failure import BadInputError, say


def show_list() -> None:
    """Print what a lab can be begun with: the labs, then the starters."""
    labs.labs(as_json=False)
    print(
        f"`fabriclab new DIR --from NAME` copies one to start a lab of your own; NAME can also be {', '.join(STARTERS)}"
    )
    print(f"`fabriclab new DIR --template KIND` starts your own algorithm, in C; KIND: {', '.join(TEMPLATES)}")


def new(
    directory: Path | None,
    origin: str | None,
    template: str | None,
    software: Software | None = None,
    variables: Sequence[Path] = (),
    *,
    with_results: bool = False,
) -> None:
    """Make a lab: a small one, a copy of `origin`, a lab or a starter, or one out of a template.

    Raises BadInputError where it is not said where, ArgumentError where the lab can't be made.
    """
    if directory is None:
        raise BadInputError("name the directory to make, such as `fabriclab new mylab`")
    if origin is not None and template is not None:
        raise BadInputError("--from copies a lab, and --template starts your own algorithm: write only one of the two")
    if template is not None:
        begin_algorithm(directory, template)
        return
    if with_results and (origin is None or software is not None):
        raise BadInputError("--with-results is of a copy: name the lab with --from")
    if origin is None:
        begin_lab(directory)
        return
    if software is not None:
        bring(directory, Path(origin), variables)
        return
    made = make_lab(directory, origin, with_results=with_results)
    note(made)
    if made.generated is not None:
        tell(made.generated, made.files)
    else:
        say(f"{directory}: a copy of {made.origin}; `fabriclab run {directory}` runs it")


def begin_lab(directory: Path) -> None:
    """Make a small lab, and say what to do next."""
    note(make_lab(directory))
    say(f"{directory}: a small lab with comments, to change; `fabriclab run {directory}` runs it")
    say("`fabriclab new --list` shows the labs that it could have been a copy of (--from)")


def bring(directory: Path, file: Path, variables: Sequence[Path]) -> None:
    """Make the lab that a Containerlab file stands for, with FRR switches, and say what was made up."""
    for note in make_as_frr(directory, file, variables=variables).notes:
        say(f"note: {note}")
    say(f"{directory}: {file} with FRR; `fabriclab run {directory}` runs it")


def note(made: NewLab) -> None:
    """Say why a lab that was made here is not trusted, if so."""
    if made.untrusted:
        say(f"note: {made.untrusted}")


def begin_algorithm(directory: Path, template: str) -> None:
    """Make a lab with an algorithm of one's own, and say what to do next."""
    made = make_lab(directory, template=template)
    note(made)
    (source,) = (file for file in made.files if file.suffix == ".c")
    say(f"{source}: {template.replace('-', ' ')} to start from; {directory / 'README.md'} explains the files")
    say(f"`fabriclab sweep {directory}` compiles it, and compares it with others")
