"""The lab's own files, which every run keeps beside what was made of them: who gets the run gets the lab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from fabriclab.files import open_file, read_all
from fabriclab.lab import Lab, experiment
from fabriclab.lab.network import topology
from fabriclab.lab.network.named_files import read_files
from fabriclab.lab.reading.document import MappingValue, read_document
from fabriclab.lab.reading.files import read_lab_file
from fabriclab.lab.reading.plain_data import yaml_text
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.setup.netlab import variables_file

MOST_BYTES = 4 << 20
"""A larger file, such as a trace, is not kept: what the run was given is among its inputs."""
FOR_PEOPLE = (".md", ".svg", ".png", ".ipynb", ".html")
"""Files for people, of which no run is made."""


def kept_files(lab: Lab) -> dict[str, bytes]:
    """Return a lab's two files as they were read, comments and all, and the others that it may name, by their names.

    Of a lab that was made or changed in Python the two files are what they would hold. Raises OSError.
    """
    documents = {topology.FILE_NAME: lab.topology_document, experiment.FILE_NAME: lab.document}
    kept = {name: _text(lab.directory / name, document) for name, document in documents.items()}
    others = {**dict(_others(lab.directory)), **dict(_of_nodes(lab)), **dict(_of_modules(lab))}
    for name in read_files(lab.topology_document):
        others.setdefault(str(PurePosixPath(name)), read_lab_file(lab.directory, name, MOST_BYTES))
    return kept | {name: content for name, content in others.items() if name not in kept}


def _of_nodes(lab: Lab) -> Iterator[tuple[str, bytes]]:
    """Yield the files that nodes bind, and what netlab says of those that it configures."""
    for node in lab.topology.nodes:
        if node.setup is None:
            continue
        yield from ((str(PurePosixPath(file.source)), file.content) for file in node.setup.files if file.source)
        if any(command.by == "netlab" for command in node.setup.commands):
            yield variables_file(node.name), _bytes(lab.directory / variables_file(node.name))


def _of_modules(lab: Lab) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the user's own algorithms that have several."""
    for algorithm in lab.experiment.algorithms:
        yield from ((f"{algorithm.file}/{one.name}", one.text.encode()) for one in algorithm.files)


def _text(file: Path, document: MappingValue) -> bytes:
    if file.is_file():
        there = read_document(file, Problems())
        if there is not None and (there == document or yaml_text(there) == yaml_text(document)):
            return _bytes(file)
    return yaml_text(document).encode()


def _others(directory: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the other files of a lab's directory itself, where it is one."""
    if not (directory / topology.FILE_NAME).is_file():
        return
    for file in sorted(directory.iterdir()):
        is_one = file.is_file() and not file.is_symlink() and not file.name.startswith(".")
        if is_one and file.suffix not in FOR_PEOPLE and file.stat().st_size <= MOST_BYTES:
            yield file.name, _bytes(file)


def _bytes(path: Path) -> bytes:
    with open_file(path, MOST_BYTES) as file:
        return read_all(file, path, MOST_BYTES)
