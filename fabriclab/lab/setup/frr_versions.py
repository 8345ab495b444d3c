"""Which FRR a node runs: the version that its image's tag or its configuration names, if it was built here
(`fabriclab frr add`), else the virtual machine's, and then in words. A bug of one version, or a command of a later one,
is then no surprise.

The machine's comes with Debian (`images/machine/packages.txt`); `tests/vm/test_frr_version.py` compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import PurePath

from fabriclab.formats import names
from fabriclab.formats.frr_builds import OLDEST, is_buildable
from fabriclab.formats.plan.setup import Setup
from fabriclab.lab.setup.frr import CONFIGURATION_FILES, OLDER_DEFAULTS, is_frr_image

VERSION = "10.3"
"""Of the virtual machine's FRR."""
_TAG = re.compile(r"v?(\d+\.\d+(?:\.\d+)?)(?![\d.])")
_LINE = re.compile(r"^frr version (\d+\.\d+(?:\.\d+)?)\S*\s*$", re.MULTILINE)
_PARTS = re.compile(r"(\d+\.\d+)(?:\.(\d+))?")

Question = Callable[[], Collection[str]]
_asked: list[Question] = []


def ask_versions_by(question: Question) -> None:
    """Ask by this from now on which versions of FRR were built for the virtual machine; none where nobody can tell."""
    _asked[:] = [question]


def built_frr() -> tuple[str, ...]:
    """Return the versions of FRR that were built for the virtual machine."""
    return tuple(version for question in _asked for version in question())


def version_here(wanted: str) -> str | None:
    """Return the version that runs where one is wanted: that one, else the nearest patch release of the same minor
    release, of a minor release without a patch the latest; None: none of them is here."""
    built = built_frr()
    if wanted in (VERSION, *built):
        return wanted
    minor, patch = _parts(wanted)
    if minor == VERSION:
        return VERSION
    near = [version for version in built if _parts(version)[0] == minor]
    if not near:
        return None
    numbers = {version: _parts(version)[1] or 0 for version in near}
    if patch is None:
        return max(near, key=lambda one: numbers[one])
    return min(near, key=lambda one: (abs(numbers[one] - patch), -numbers[one]))


def is_version(text: str) -> bool:
    """Return whether a text is a version of FRR, such as 10.5, 10.5.1 or 10.8-dev."""
    return _PARTS.match(text) is not None and names.VERSION.is_in(text)


def how_to_bring(version: str) -> str:
    """Return the words that say how a version is brought, or that it can't be."""
    if not is_buildable(version):
        return f"it can't be built here, only FRR {OLDEST} and later"
    return f"`fabriclab frr add frr-{version}.tar.gz` builds it of its source"


@dataclass(frozen=True)
class ChosenFrr:
    """The FRR of a node."""

    version: str | None = None
    """One that was built; None: the virtual machine's."""
    notes: tuple[str, ...] = ()
    """What differs from what the node asks for."""


def choose_frr(name: str, image: str, setup: Setup) -> ChosenFrr:
    """Return the FRR of a node with this image and these files."""
    if not setup.daemons:
        return ChosenFrr()
    notes = [
        f"{name}: {PurePath(file.path).name} is of Quagga or Zebra, and is read with the defaults of FRR before 7.4: "
        "no policy is required"
        for file in setup.files
        if file.text.startswith(OLDER_DEFAULTS)
    ]
    wishes = _wishes(image, setup)
    if set(wishes) <= {VERSION}:
        return ChosenFrr(None, tuple(notes))
    # The image is the program; a configuration only says which program wrote it.
    wanted, where = next(iter(wishes.items()))
    here = version_here(wanted)
    if here is not None and here != VERSION:
        if here != wanted and _parts(wanted)[1] is not None:
            notes.append(f"{name}: {where}: FRR {here} runs, the nearest release that is here; {how_to_bring(wanted)}")
        return ChosenFrr(here, tuple(notes))
    others = {version: where for version, where in wishes.items() if _parts(version)[0] != VERSION}
    if others:
        missing = how_to_bring(next(iter(others)))
        said = f"the virtual machine runs FRR {VERSION}, whose bugs and commands may differ; {missing}"
        notes.append(f"{name}: {', '.join(others.values())}: {said}")
    return ChosenFrr(None, tuple(notes))


def _wishes(image: str, setup: Setup) -> dict[str, str]:
    """Return the versions that a node names, each with where it does: its image's first."""
    found: dict[str, str] = {}
    if (tag := _of_image(image)) is not None:
        found[tag] = f"image {image}"
    for file in setup.files:
        match = _LINE.search(file.text) if file.path in CONFIGURATION_FILES else None
        if match is not None:
            line = file.text.count("\n", 0, match.start()) + 1
            found.setdefault(match[1], f"{file.source or file.path}:{line} (frr version {match[1]})")
    return found


def _of_image(image: str) -> str | None:
    """Return the version that an image's tag names; None of one that moves, such as `latest`."""
    bare = image.partition("@")[0]
    last = bare.rpartition("/")[2]
    match = _TAG.match(last.partition(":")[2]) if is_frr_image(image) else None
    return None if match is None else match[1]


def _parts(version: str) -> tuple[str, int | None]:
    """Return a version's minor release, and the number of its patch release if it says one."""
    match = _PARTS.match(version)
    if match is None:
        return version, None
    return match[1], None if match[2] is None else int(match[2])
