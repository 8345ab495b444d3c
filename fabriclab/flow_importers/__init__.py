"""Importers of other programs' flow files (`fabriclab convert --from NAME`): a file each and a line in IMPORTERS.

Commands know the list only. An importer's file, which bears its name, has `read`; it is loaded when it is asked for. An
importer of traces of a job's ranks is a folder, which has `read_job`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Importer:
    """An importer: the name of its file in this folder, and what it reads, in the words of `--help`."""

    name: str
    what: str
    of_ranks: bool = False
    """Whether it reads the files of all ranks of a job, and takes options: its module has `read_job` then."""

    def load(self) -> Any:
        """Return its module, with `read` (`fabriclab.flow_importers.convert.Reader`), or with `read_job`."""
        return import_module(f"{__name__}.{self.name}")


IMPORTERS = (
    Importer("hpcc", "a flow file of HPCC's ns-3"),
    Importer("htsim", "a connection matrix of htsim"),
    Importer("coflow", "a trace of Coflow-Benchmark"),
    Importer("chakra", "the execution traces of Chakra (PREFIX.0.et, ...) by their directory or prefix", of_ranks=True),
)
NAMES = tuple(importer.name for importer in IMPORTERS)


def importer_of(name: str) -> Importer:
    """Return an importer by its name. Raises KeyError."""
    return {importer.name: importer for importer in IMPORTERS}[name]


def file_words() -> str:
    """Return what files there are importers for, as a sentence."""
    text = ", ".join(importer.what for importer in IMPORTERS)
    return f"{text[:1].upper()}{text[1:]}."
