"""Labs of other people's Containerlab files: FRR replaces the switches that do not run here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.api.lab import Lab, PathLike
from fabriclab.api.lab_names import directory_of, find_lab_or_file
from fabriclab.api.rendering import rendered
from fabriclab.lab import LabError
from fabriclab.lab.network.read import read_one_topology
from fabriclab.other_labs import frr_lab


@dataclass(frozen=True)
class BroughtLab:
    """A lab made of a Containerlab file."""

    lab: Lab
    topology: str
    """The text of its topology.clab.yml."""
    experiment: str
    """The text of its experiment.yml."""
    notes: tuple[str, ...]
    """What was guessed, left out or made up, a sentence each."""


def lab_as_frr(file: PathLike, name: str | None = None, *, variables: Sequence[PathLike] = ()) -> BroughtLab:
    """Return the lab of a Containerlab file with FRR on each switch. `name`: the lab's name if not the file's.

    `variables` are files with the variables of a Go template, by default those beside it.

    Raises LabError for mistakes in the file, ArgumentError where it is not there.
    """
    path = find_lab_or_file(Path(file))
    topology = read_one_topology(path, rendered(path, variables), directory_of(path, Path(file)))
    made = frr_lab(topology, str(path), name)
    try:
        lab = Lab.from_yaml(made.topology, made.experiment)
    except LabError as error:
        raise LabError(map(made.in_the_file, error.mistakes)) from error
    return BroughtLab(lab, made.topology, made.experiment, made.notes)
