"""A lab that is made of several configurations: its name, the links that were found, and a trial of it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from fabriclab.formats.plan import Plan
from fabriclab.lab import LabError, parse_lab
from fabriclab.lab.reading.problems import Mistake
from fabriclab.resolve import resolve_plan

EndT = TypeVar("EndT")


@dataclass(frozen=True)
class FoundLink(Generic[EndT]):
    """A link between two nodes, and what says that it is there."""

    a: EndT
    b: EndT
    found_by: str

    @property
    def ends(self) -> tuple[EndT, EndT]:
        """Both ends; the one of the earlier file first."""
        return (self.a, self.b)


def name_of(path: Path) -> str:
    """Return the name of a lab that is called as a file or directory is; empty where nothing of that can be a name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", path.resolve().name).strip("-_")[:50]


def tried_plan(files: Mapping[str, bytes], sources: Mapping[str, str], directory: Path) -> Plan:
    """Return the plan of a lab that nothing is written of yet.

    `sources`: the files of the lab that were given, by their names in it; `directory`: where the others will lie.
    Raises LabError, whose mistakes name those files.
    """
    with tempfile.TemporaryDirectory() as scratch:
        for file, data in files.items():
            (Path(scratch) / file).write_bytes(data)
        names = {str(Path(scratch) / file): sources.get(file, str(directory / file)) for file in files}
        try:
            return resolve_plan(parse_lab(Path(scratch)), {})
        except LabError as error:
            raise LabError(_renamed(problem, names) for problem in error.mistakes) from error


def _renamed(problem: Mistake, names: Mapping[str, str]) -> Mistake:
    message = problem.message
    for copy, given in names.items():
        message = message.replace(copy, given)
    return Mistake(names.get(problem.file, problem.file), problem.line, problem.key, problem.value, message)
