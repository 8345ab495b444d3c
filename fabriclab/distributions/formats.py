"""Text files of flow-size distributions, in the formats of the HKUST, HPCC (ns-3), pFabric and Homa communities.

A line is a size and a cumulative probability. The last probability says whether they are fractions (1) or per cent
(100). Homa's files begin with a line that holds the mean alone, and their sizes are steps. pFabric's sizes are packets,
which a line `# unit: 1500 B` must say. Other lines that begin with # are comments, but for `# interpolation: step`,
`# mean: N` (in the file's unit; it is checked) and `# source: text`. `traffic/workloads/README.md` has it for users.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import PurePath
from typing import cast

from fabriclab.distributions.distribution import Distribution, Interpolation
from fabriclab.units import UnitError, parse_size

LARGEST_BYTES = 2**40
MOST_PROBLEMS = 20
_KEYS = ("unit", "interpolation", "mean", "source")
_MEAN_TOLERANCE = Decimal("0.001")
"""Means are written rounded."""


class DistributionError(ValueError):
    """A file that is not a distribution of flow sizes; the text has a line for each problem: file, line,
    value, what would be right."""

    def __init__(self, file: str, problems: Iterable[tuple[int, str]]) -> None:
        every = sorted(problems)
        self.file = file
        self.problems = tuple(every[:MOST_PROBLEMS])
        """Pairs of line and message."""
        more = [f"{file}: and {len(every) - MOST_PROBLEMS} more"] if len(every) > MOST_PROBLEMS else []
        super().__init__("\n".join([f"{file}:{line}: {message}" for line, message in self.problems] + more))


@dataclass(frozen=True)
class _Point:
    line: int
    size: Decimal
    probability: Decimal


@dataclass
class _Reader:
    """What has been read of a file so far, and what is wrong with it."""

    unit_bytes: int = 1
    interpolation: Interpolation = "linear"
    source: str = ""
    mean: tuple[int, Decimal] | None = None
    points: list[_Point] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    scale: Decimal = Decimal(1)
    """1 for fractions, 100 for per cent."""


def read(text: str, file: str) -> Distribution:
    """Return the distribution that `text` holds; `file` is its name, for messages.

    Raises DistributionError with all that is wrong.
    """
    reader = _Reader()
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        _read_line(reader, number, line.strip())
    if not reader.problems:
        _check_ends(reader, len(lines))
    _check_order(reader)
    if not reader.problems:
        return _checked_mean(reader, _distribution(reader, file), file)
    raise DistributionError(file, reader.problems)


def _distribution(reader: _Reader, file: str) -> Distribution:
    points = tuple(
        (int(point.size) * reader.unit_bytes, float(point.probability / reader.scale)) for point in reader.points
    )
    return Distribution(PurePath(file).name, points, reader.interpolation, reader.source)


def _read_line(reader: _Reader, number: int, line: str) -> None:
    if line.startswith("#"):
        _read_comment(reader, number, line.lstrip("#").strip())
        return
    words = line.split()
    if not words:
        return
    values = [_number(reader, number, word) for word in words]
    if any(value is None for value in values):
        return
    known = [value for value in values if value is not None]
    if len(words) == 1 and not reader.points and reader.mean is None:
        # Homa's first line; what follows it are steps.
        reader.mean, reader.interpolation = (number, known[0]), "step"
    elif len(words) == 2:
        _read_point(reader, _Point(number, known[0], known[1]))
    elif len(words) == 3:
        message = (
            "is three columns, ns-2's (packets, a count, probability); leave the middle one out and write `# unit: "
            "1500 B` above"
        )
        reader.problems.append((number, f"{_shown(line)} {message}"))
    else:
        reader.problems.append((number, f"{_shown(line)} must be two numbers, a size and a cumulative probability"))


def _number(reader: _Reader, line: int, word: str) -> Decimal | None:
    """Return a number of at most 30 characters, None after recording what is wrong with it."""
    try:
        value = Decimal(word) if len(word) <= 30 and "_" not in word and word.isascii() else None
    except InvalidOperation:
        value = None
    if value is None or not value.is_finite():
        reader.problems.append(
            (
                line,
                f"{_shown(word)} is not a number; a line is a size and a cumulative probability, such as `10000 0.15`",
            )
        )
        return None
    if value < 0:
        reader.problems.append((line, f"{word} is negative; sizes and probabilities are zero or more"))
        return None
    return value


def _read_point(reader: _Reader, point: _Point) -> None:
    if point.size > LARGEST_BYTES // reader.unit_bytes:
        reader.problems.append((point.line, f"{point.size} is larger than a flow can be, {LARGEST_BYTES} bytes"))
    elif point.size != point.size.to_integral_value():
        reader.problems.append(
            (point.line, f"{point.size} is not a whole number; a size is one, of bytes or of the `# unit:`")
        )
    else:
        reader.points.append(point)


def _read_comment(reader: _Reader, line: int, comment: str) -> None:
    key, colon, value = (part.strip() for part in comment.partition(":"))
    if not colon or key not in _KEYS:
        return
    if key == "source":
        reader.source = value
    elif key == "mean":
        mean = _number(reader, line, value)
        reader.mean = None if mean is None else (line, mean)
    elif reader.points:
        reader.problems.append((line, f"`# {key}:` must stand above the first point"))
    elif key == "interpolation":
        _read_interpolation(reader, line, value)
    else:
        _read_unit(reader, line, value)


def _read_interpolation(reader: _Reader, line: int, value: str) -> None:
    if value not in ("linear", "step"):
        reader.problems.append((line, f"{_shown(value)} must be linear or step"))
        return
    reader.interpolation = cast(Interpolation, value)


def _read_unit(reader: _Reader, line: int, value: str) -> None:
    try:
        reader.unit_bytes = parse_size(value)
    except UnitError as error:
        reader.problems.append((line, str(error)))
        return
    if not 1 <= reader.unit_bytes <= 2**20:
        reader.problems.append((line, f"{_shown(value)} must be 1 B to 1 MiB, such as 1500 B for packets"))
        reader.unit_bytes = 1


def _check_ends(reader: _Reader, lines: int) -> None:
    """Check the first and the last point; the last one says what the probabilities are of."""
    if len(reader.points) < (2 if reader.interpolation == "linear" else 1):
        reader.problems.append(
            (max(lines, 1), "there are no points; a line is a size and a cumulative probability, such as `10000 0.15`")
        )
        return
    first, last = reader.points[0], reader.points[-1]
    if last.probability not in (1, 100):
        reader.problems.append(
            (last.line, f"the last probability is {last.probability}; it must be 1, or 100 where they are per cent")
        )
    else:
        reader.scale = last.probability
    if reader.interpolation == "linear" and first.probability != 0:
        problem = (
            f"the first probability is {first.probability}; it must be 0 (`# interpolation: "
            "step` if only these sizes occur)"
        )
        reader.problems.append((first.line, problem))
    if last.size == 0:
        reader.problems.append((last.line, "the largest size is 0"))


def _check_order(reader: _Reader) -> None:
    """Check that neither column ever falls, and that no point occurs twice."""
    for before, point in pairwise(reader.points):
        if point.size < before.size:
            reader.problems.append((point.line, f"size {point.size} comes after {before.size}; sizes must not fall"))
        if point.probability < before.probability:
            message = (
                f"probability {point.probability} of size {point.size} comes after {before.probability} of "
                f"{before.size}"
            )
            reader.problems.append((point.line, f"{message}; cumulative probabilities must not fall"))
        if (point.size, point.probability) == (before.size, before.probability):
            reader.problems.append((point.line, f"the point {point.size} {point.probability} occurs twice"))
        elif reader.interpolation == "step" and point.size == before.size:
            reader.problems.append((point.line, f"size {point.size} occurs twice; a step has one probability"))


def _checked_mean(reader: _Reader, distribution: Distribution, file: str) -> Distribution:
    """Return the distribution if its mean is the one that the file states. Raises DistributionError."""
    if reader.mean is None:
        return distribution
    line, stated = reader.mean
    mean = Decimal(distribution.mean_bytes) / reader.unit_bytes
    if abs(mean - stated) > _MEAN_TOLERANCE * stated:
        raise DistributionError(file, [(line, f"the mean stated is {stated}, that of the points is {mean:.1f}")])
    return distribution


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
