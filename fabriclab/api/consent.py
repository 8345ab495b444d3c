"""What of a lab, or of a plan that was recorded, a person is asked about before it runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fabriclab.consent.gate import is_trusted
from fabriclab.consent.request import ConsentRequest, Item, Subject
from fabriclab.consent.store import TrustStateError, remember
from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.topology import read_containers
from fabriclab.formats.plan.algorithm import OwnAlgorithm, sha256_of
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.run_directory import LAB, PLAN
from fabriclab.lab import Lab
from fabriclab.lab.network.topology import FILE_NAME
from fabriclab.lab.reading.files import LARGEST_YAML_BYTES, UnreadableError, read_lab_file
from fabriclab.lab.reading.own_algorithms import LARGEST_SOURCE_BYTES
from fabriclab.lab.reading.plain_data import yaml_text

if TYPE_CHECKING:
    # `check` asks for consent to nothing: it does not wait for what runs a lab.
    from fabriclab.runs.engines import EngineName

_KERNEL_CODE = "an algorithm in C, which gcc compiles here and the virtual machine's kernel runs"
_DEPLOYED = (
    "containers that Docker starts as root on this host, with the files and privileges that this file gives them"
)
_NOTEBOOK = "a notebook; its code runs with your rights when you run it, so look at it first"
_IMAGE = "a container image, which Docker runs as root on this host"


def lab_subject(path: Path) -> Subject:
    """Return what an answer about a lab is remembered by: its directory, or the file that it is by itself."""
    return Subject("lab", os.path.realpath(path))


def lab_request(lab: Lab, plans: Iterable[Plan], engine: EngineName) -> ConsentRequest:
    """Return what a lab's points would run in an engine that a person should know about."""
    is_directory = lab.topology_file == FILE_NAME
    subject = lab_subject(lab.directory if is_directory else lab.directory / lab.topology_file)
    where = lab.directory if is_directory else lab.directory / lab.topology_file
    items = _algorithms(plans, lab.directory) if engine == "vm" else _containers(lab)
    return ConsentRequest(str(where), subject, tuple(items))


def recorded_request(plans: Mapping[Path, Plan], where: Path, lab: Path | None = None) -> ConsentRequest:
    """Return what the plans of run directories, in a bundle or in a directory `where`, would run that a person should
    know about.

    They are believed in nothing: neither in what they say of a lab's directory, nor in a file that lies beside them
    under the name of the code that would run. Code that lies in the folder of a trusted lab with the very same text
    needs no answer; `lab` is where to look for it.
    """
    every = {(one.file, one.text): (run, one) for run, plan in plans.items() for one in plan.algorithms}
    unknown = [(run, one) for run, one in every.values() if lab is None or not _lies_in_trusted_lab(one, lab)]
    items = [_item(one, _shown_in(run, one)) for run, one in unknown]
    return ConsentRequest(str(where), code_subject(one for _, one in unknown), tuple(items))


def code_subject(algorithms: Iterable[OwnAlgorithm]) -> Subject:
    """Return what an answer about code that a recorded plan brings is remembered by: the hash of all of it."""
    found = hashlib.sha256()
    for one in sorted(algorithms, key=lambda one: (one.file, one.text)):
        for part in (one.module, one.file, one.text):
            found.update(hashlib.sha256(part.encode(errors="surrogatepass")).digest())
    return Subject("code", found.hexdigest())


def notebooks_in(directory: Path) -> list[Item]:
    """Return the notebooks below a directory that was unpacked. fabriclab runs none of them; Jupyter would."""
    return [_notebook(path) for path in sorted(directory.rglob("*.ipynb")) if path.is_file() and not path.is_symlink()]


def _notebook(path: Path) -> Item:
    with path.open("rb") as file:
        return Item(str(path), _NOTEBOOK, sha256=hashlib.file_digest(file, "sha256").hexdigest())


def trusted_or_why_not(place: Path, origin: Path | None = None) -> str:
    """Trust a lab that was made here; return why it is not trusted, if so.

    `origin`: the lab that it is a copy of; of one that is not trusted itself neither is the copy.
    """
    try:
        if origin is not None and not is_trusted(lab_subject(origin)):
            return f"{origin} is not trusted, so its copy is not"
        remember(lab_subject(place))
    except TrustStateError as error:
        return str(error)
    return ""


def _algorithms(plans: Iterable[Plan], directory: Path) -> Iterator[Item]:
    every = {(one.file, one.text): one for plan in plans for one in plan.algorithms}
    return (_item(one, os.path.normpath(directory / one.file)) for one in every.values())


def _item(one: OwnAlgorithm, name: str) -> Item:
    # What the plan says of the hash is not believed: it may be a stranger's.
    return Item(name, _KERNEL_CODE, len(one.text.splitlines()), sha256_of(one.text))


def _shown_in(run: Path, one: OwnAlgorithm) -> str:
    """Return where a person can look at the code of a recorded plan: the file of the lab that is kept beside it, if
    that has the same text, else the plan."""
    if _has_text(run / LAB, one):
        return os.path.normpath(run / LAB / one.file)
    return f"{run / PLAN}, algorithm {one.file}"


def _containers(lab: Lab) -> Iterator[Item]:
    file = lab.directory / lab.topology_file
    text = lab.topology_text or _file_text(lab) or yaml_text(lab.topology_document)
    yield Item(str(file), _DEPLOYED, len(text.splitlines()), sha256_of(text))
    try:
        images = sorted({container.image for container in read_containers(file, text)})
    except EngineError:
        return  # what is wrong with the file is told when the engine reads it: nothing runs
    yield from (Item(image, _IMAGE) for image in images)


def _file_text(lab: Lab) -> str:
    try:
        return read_lab_file(lab.directory, lab.topology_file, LARGEST_YAML_BYTES).decode(errors="replace")
    except UnreadableError:
        return ""


def _lies_in_trusted_lab(one: OwnAlgorithm, lab: Path) -> bool:
    return is_trusted(lab_subject(lab)) and _has_text(lab, one)


def _has_text(directory: Path, one: OwnAlgorithm) -> bool:
    """Return whether an algorithm's files lie in a directory with the very text of the plan."""
    texts = {f"{one.file}/{each.name}": each.text for each in one.files} or {one.file: one.source}
    try:
        return all(
            read_lab_file(directory, name, LARGEST_SOURCE_BYTES) == text.encode(errors="surrogatepass")
            for name, text in texts.items()
        )
    except UnreadableError:
        return False
