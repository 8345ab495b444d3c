"""Which file netlab made a lab of: its topology, which may have any name, and which alone has the tests.

`netlab create FILE` leaves a snapshot whose `input` begins with FILE: YAML, or from netlab 2.0 on a pickle. A pickle is
not loaded, because that would run what a stranger wrote in it; only the texts in it are read.
"""

from __future__ import annotations

import pickletools
import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

from fabriclab.keys.wording import listed
from fabriclab.lab.reading.files import UnreadableError, read_lab_file

USUAL_NAME = "topology.yml"
_MARK = "host_vars/*/topology.*"
"""Files that netlab makes beside the topology that Containerlab deploys; Ansible's own have other names."""
_SNAPSHOT = "netlab.snapshot"
_LARGEST_BYTES = 64 << 20
_LARGEST_TOPOLOGY_BYTES = 4 << 20
_SUFFIXES = (".yml", ".yaml")
_INPUT = re.compile(rb"^input:[^\S\n]*\n(?:[^\S\n]*-[^\S\n]+\S+[^\S\n]*\n)+", re.MULTILINE)
_FEW = 40
"""So many texts follow `input` in a pickle until its list is surely over."""
_TESTS = re.compile(rb"^validate\s*:", re.MULTILINE)
_MADE = ("clab.yml", "hosts.yml", f"{_SNAPSHOT}.yml")


class Source(NamedTuple):
    """The topology that netlab made a lab of."""

    file: str | None
    """Its name in the lab's directory; None where it is not there."""
    why_not: str = ""
    """Where it should be there and is not: what is known of it, and what to do."""


def netlab_source(directory: Path) -> Source:
    """Return the topology of a lab's directory; neither file nor reason where netlab did not make the lab."""
    if not (any(directory.glob(_MARK)) or any(directory.glob(f"{_SNAPSHOT}.*"))):
        return Source(None)
    named = next(iter(_of_snapshot(directory)), None)
    if named is not None:
        if not _is_here(directory, named) and _is_here(directory, PurePath(named).name):
            named = PurePath(named).name
        if _is_here(directory, named):
            return Source(str(Path(directory, named).resolve().relative_to(directory.resolve())))
        return Source(None, f"netlab made the lab of {named}, which is not in its directory; copy it there")
    if (directory / USUAL_NAME).is_file():
        return Source(USUAL_NAME)
    found = [file.name for file in sorted(directory.iterdir()) if _has_tests(file)]
    if len(found) == 1:
        return Source(found[0])
    which = f"it may be of {listed(found)}" if found else f"there is no {USUAL_NAME} with them"
    return Source(None, f"{which}; call netlab's topology {USUAL_NAME}, beside the Containerlab file")


def _has_tests(file: Path) -> bool:
    is_candidate = file.suffix in _SUFFIXES and file.name not in _MADE and file.is_file()
    return is_candidate and _TESTS.search(_read(file, _LARGEST_TOPOLOGY_BYTES)) is not None


def _is_here(directory: Path, name: str) -> bool:
    path = Path(directory, name).resolve()
    return path.is_file() and path.is_relative_to(directory.resolve())


def _of_snapshot(directory: Path) -> Iterator[str]:
    """Yield the files that the snapshot's `input` names, without those of netlab's package."""
    match = _INPUT.search(_read(directory / f"{_SNAPSHOT}.yml", _LARGEST_BYTES))
    written = [] if match is None else re.findall(rb"-[^\S\n]+(\S+)", match[0])
    texts = [text.decode(errors="replace").strip("'\"") for text in written]
    texts += _after_input(_read(directory / f"{_SNAPSHOT}.pickle", _LARGEST_BYTES))
    yield from (text for text in texts if text.endswith(_SUFFIXES) and not text.startswith("package:"))


def _after_input(data: bytes) -> list[str]:
    """Return the names of files that follow a text `input` in a pickle; netlab's own rules have such a text, too."""
    try:
        texts = [argument for _, argument, _ in pickletools.genops(data) if isinstance(argument, str)]
    except ValueError:
        return []
    following = (texts[number + 1 : number + 1 + _FEW] for number, text in enumerate(texts) if text == "input")
    named = ([text for text in few if text.endswith(_SUFFIXES)] for few in following)
    return next(filter(None, named), [])


def _read(file: Path, largest_bytes: int) -> bytes:
    try:
        return read_lab_file(file.parent, file.name, largest_bytes)
    except UnreadableError:
        return b""
