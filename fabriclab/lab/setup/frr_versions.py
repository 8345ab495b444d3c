"""Which FRR a lab is written for, by its images' tags and its configurations, where that is another one than the
virtual machine's. A bug of one version, or a command of a later one, is then no surprise.

The machine's comes with Debian (`images/machine/packages.txt`); `tests/vm/test_frr_version.py` compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from fabriclab.formats.plan.setup import Setup
from fabriclab.lab.setup.frr import CONFIGURATION_FILES, OLDER_DEFAULTS, is_frr_image

VERSION = "10.3"
"""Of the virtual machine's FRR."""
_TAG = re.compile(r"v?(\d+\.\d+(?:\.\d+)?)(?![\d.])")
_LINE = re.compile(r"^frr version (\d+\.\d+(?:\.\d+)?)\S*\s*$", re.MULTILINE)


def other_versions(name: str, image: str, setup: Setup) -> Iterator[str]:
    """Yield a sentence where a node's image or configuration is of another version of FRR."""
    if not setup.daemons:
        return
    found: dict[str, str] = {}
    if (tag := _of_image(image)) is not None:
        found[tag] = f"image {image}"
    for file in setup.files:
        if file.text.startswith(OLDER_DEFAULTS):
            of = "is of Quagga or Zebra, and is read with the defaults of FRR before 7.4: no policy is required"
            yield f"{name}: {PurePath(file.path).name} {of}"
            continue
        match = _LINE.search(file.text) if file.path in CONFIGURATION_FILES else None
        if match is not None:
            line = file.text.count("\n", 0, match.start()) + 1
            found.setdefault(match[1], f"{file.source or file.path}:{line} (frr version {match[1]})")
    others = [where for version, where in found.items() if not _is_same(version)]
    if others:
        yield f"{name}: {', '.join(others)}: the virtual machine runs FRR {VERSION}, whose bugs and commands may differ"


def _of_image(image: str) -> str | None:
    """Return the version that an image's tag names; None of one that moves, such as `latest`."""
    bare = image.partition("@")[0]
    last = bare.rpartition("/")[2]
    match = _TAG.match(last.partition(":")[2]) if is_frr_image(image) else None
    return None if match is None else match[1]


def _is_same(version: str) -> bool:
    """Return whether a version is the machine's or a patch of it."""
    return version == VERSION or version.startswith(f"{VERSION}.")
