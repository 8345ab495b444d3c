"""`fabriclab generate`: a shape's files to a lab's directory, or to the output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from fabriclab.api.generated import Dumbbell, FatTree, GeneratedLab, LeafSpine, Shape, Star
from fabriclab.api.generated import generate as generate_lab
from fabriclab.cli.host.failure import say
from fabriclab.cli.host.output import write_output
from fabriclab.lab import experiment
from fabriclab.units import format_count

__all__ = ["Dumbbell", "FatTree", "LeafSpine", "Star", "generate", "of_every_shape", "tell"]


class OfEveryShape(TypedDict):
    """What every shape has."""

    delay: str
    mtu: int
    name: str
    ipv6: bool


def of_every_shape(delay: str, mtu: int, name: str | None, *, ipv6: bool) -> OfEveryShape:
    """Return the options that every shape has, as its arguments; without a name it has the shape's."""
    return {"delay": delay, "mtu": mtu, "name": name or "", "ipv6": ipv6}


def generate(shape: Shape, out: str, force: bool) -> None:
    """Write the lab of a shape into the directory `out`, or its topology to the output where that is `-`."""
    generated = generate_lab(shape)
    if out == "-":
        write_output([generated.topology], None)
    else:
        tell(generated, generated.write(out, force=force))


def tell(generated: GeneratedLab, files: Sequence[Path]) -> None:
    """Say which files were written, and what is in them."""
    hosts, switches = format_count(generated.hosts, "host"), format_count(generated.switches, "switch")
    say(f"{files[0]}: {hosts}, {switches}, {format_count(generated.links, 'link')}")
    for file in files[1:]:
        if file.name == experiment.FILE_NAME:
            say(f"{file}: a first traffic, an in-cast; `fabriclab run {file.parent}` runs it")
