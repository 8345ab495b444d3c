"""`fabriclab new`: a lab of one's own, begun as a copy of another."""

from __future__ import annotations

from pathlib import Path

from fabriclab.api.beginning import new as make_lab
from fabriclab.api.lab_names import STARTERS
from fabriclab.cli.commands import labs
from fabriclab.cli.commands.generate import tell
from fabriclab.cli.host.failure import BadInputError, say


def show_list() -> None:
    """Print what a lab can be begun with: the labs, then the starters."""
    labs.labs(as_json=False)
    print(f"`fabriclab new DIR --from NAME` begins a lab of yours with one; also with {', '.join(STARTERS)}")


def new(directory: Path | None, origin: str | None) -> None:
    """Make a lab as a copy of `origin`, a lab or a starter.

    Raises BadInputError where one of the two is not said, ArgumentError where the lab can't be made.
    """
    if directory is None:
        raise BadInputError("name the directory to make, such as `fabriclab new mylab --from incast`")
    if origin is None:
        raise BadInputError("name what to begin with, such as --from incast; `fabriclab new --list` shows all there is")
    made = make_lab(directory, origin)
    if made.generated is not None:
        tell(made.generated, made.files)
    else:
        say(f"{directory}: a copy of {made.origin}; `fabriclab run {directory}` runs it")
