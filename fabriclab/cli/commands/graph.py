"""`fabriclab graph`: the topology of a lab as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.api.drawing import graph as draw
from fabriclab.cli.host.failure import say
from fabriclab.cli.host.output import write_output


def graph(lab: Path, out: str | None, force: bool, variables: Sequence[Path] = ()) -> None:
    """Draw the topology in a lab's directory, or in a file of any name; the experiment beside it is not read."""
    picture = draw(lab, variables=variables)
    if out == "-":
        write_output([picture.svg], None)
        return
    say(str(picture.write(out or f"{picture.name}.svg", force=force)))
