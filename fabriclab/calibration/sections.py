"""`measured.txt` as sections of lines. It comes from strangers, so everything in it is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.calibration.numbers import FLOWS, PHASES
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.problems import Place, Problems

MEASURED = "measured.txt"
FORMAT = "fabriclab-calibration 1"
LARGEST_BYTES = 4 << 20
"""The largest file that is read; 60 s for each phase give about a quarter of it."""
_HEADER = {"seconds": re.compile(r"[2-9]|[1-5][0-9]|60"), "kernel": re.compile(r"[A-Za-z0-9._+~-]{1,100}")}
_KINDS = {"idle": ("ping", "absent"), **dict.fromkeys(FLOWS, ("before", "after", "ping", "absent"))}
_END = "end"


@dataclass(frozen=True)
class Line:
    """A line of a file, with its number."""

    text: str
    number: int


@dataclass(frozen=True)
class Sections:
    """The contents of a file of the protocol."""

    seconds: int
    """How long each phase sent."""
    kernel: str
    lines: Mapping[tuple[str, str], Sequence[Line]]
    """The lines of each section, by its phase and its kind."""


def read_sections(text: str, file: Path, problems: Problems) -> Sections | None:
    """Return the sections of a text; None after recording why it is not a complete output of the protocol."""
    lines = [Line(line, number) for number, line in enumerate(text.split("\n"), 1)]
    if lines[0].text != FORMAT:
        message = f"must be {FORMAT!r}, not {shown(lines[0].text[:60])}; write the output of protocol.sh measure here"
        problems.add(Place(str(file), 1), "", message)
        return None
    header = {name: _header(name, line, file, problems) for (name, line) in zip(_HEADER, lines[1:], strict=False)}
    found: dict[tuple[str, str], list[Line]] = {}
    current: list[Line] | None = None
    ended = False
    for line in lines[1 + len(_HEADER) :]:
        if line.text == f"== {_END}":
            ended = True
        elif ended and line.text:
            problems.add(Place(str(file), line.number), "", "stands behind `== end`; keep the output of one run only")
            return None
        elif line.text.startswith("== "):
            current = _begin(line, found, file, problems)
        elif current is not None:
            current.append(line)
        elif line.text:
            problems.add(Place(str(file), line.number), "", f"{shown(line.text[:60])} stands before the first section")
    if not ended:
        message = "ends without `== end`: it is cut off, or the protocol was interrupted; run protocol.sh measure again"
        problems.add(Place(str(file), len(lines)), "", message)
    if problems or len(header) < len(_HEADER):
        return None
    return Sections(int(header["seconds"]), header["kernel"], found)


def _header(name: str, line: Line, file: Path, problems: Problems) -> str:
    word, _, value = line.text.partition(" ")
    if word != name or _HEADER[name].fullmatch(value) is None:
        message = f"{shown(line.text[:60])} is not right; the protocol writes `{name} ...` here"
        problems.add(Place(str(file), line.number), "", message)
    return value


def _begin(line: Line, found: dict[tuple[str, str], list[Line]], file: Path, problems: Problems) -> list[Line] | None:
    phase, _, kind = line.text.removeprefix("== ").partition(" ")
    if phase not in PHASES or kind not in _KINDS[phase]:
        message = f"{shown(line.text[:60])} is not a section of the protocol; run protocol.sh measure again"
        problems.add(Place(str(file), line.number), "", message)
        return None
    if (phase, kind) in found:
        message = f"{shown(line.text)} stands there twice; keep the output of one run only"
        problems.add(Place(str(file), line.number), "", message)
    return found.setdefault((phase, kind), [])
