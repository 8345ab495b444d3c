"""How large flows are: `70 KB`, `2 KB .. 16 KB` (all equally likely), `web-search`,
`{distribution: web-search, cap: 10 MB}`.

A distribution is one of `traffic/workloads`, or a file in the lab's directory (its name has a dot or a slash).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fabriclab import distributions
from fabriclab.distributions import Distribution, DistributionError
from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.files import LARGEST_TABLE_BYTES, UnreadableError, read_lab_file, text_of
from fabriclab.lab.reading.problems import did_you_mean, shown
from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.traffic.bounds import LARGEST_FLOW_BYTES, WHY_FOUR_BYTES
from fabriclab.lab.traffic.scope import complain_unreadable
from fabriclab.units import format_size, parse_size

SIZE_KEYS = ("distribution", "cap")


@dataclass(frozen=True)
class WrittenFixedSize:
    """Every flow has as many bytes."""

    size_bytes: int
    kind: str = "fixed"

    @property
    def mean(self) -> Fraction:
        """Return the mean of the sizes that are drawn, in bytes."""
        return Fraction(self.size_bytes)


@dataclass(frozen=True)
class WrittenUniformSize:
    """Whole numbers of bytes, all equally likely, both ends included."""

    smallest_bytes: int
    largest_bytes: int
    kind: str = "uniform"

    @property
    def mean(self) -> Fraction:
        """Return the mean of the sizes that are drawn, in bytes."""
        return Fraction(self.smallest_bytes + self.largest_bytes, 2)


@dataclass(frozen=True)
class WrittenDistributedSize:
    """A distribution by points of its cumulative distribution function; None: not cut."""

    name: str
    points: tuple[tuple[int, float], ...]
    interpolation: str
    cap_bytes: int | None
    mean_bytes: float
    kind: str = "distribution"

    @property
    def mean(self) -> Fraction:
        """Return the mean of the sizes that are drawn, cap included, in bytes."""
        return Fraction(self.mean_bytes)


WrittenSize = WrittenFixedSize | WrittenUniformSize | WrittenDistributedSize


def read_size(section: Section, key: str, directory: Path) -> WrittenSize | None:
    """Return the sizes below `key`; None when there are none, or after recording what is wrong."""
    if isinstance(section.get(key), MappingValue):
        return _read_mapping(section, key, directory)
    text = section.scalar(key, "a size such as '70 KB'")
    if text is None:
        return None
    if ".." in text.value and text.value[0].isdigit():
        written = section.read(key, "a range of sizes", _uniform)
        return None if written is None else written.value
    if text.value[:1].isalpha():
        return _distributed(text, None, section, directory)
    size = section.size(key, SMALLEST_BYTES, LARGEST_FLOW_BYTES, WHY_FOUR_BYTES)
    return None if size is None else WrittenFixedSize(size.value)


def _uniform(text: str) -> WrittenUniformSize:
    smallest, largest = (parse_size(end) for end in text.split("..", 1))
    if largest < smallest:
        raise ValueError(f"{shown(text)} runs backwards; write the smaller size first")
    if smallest < SMALLEST_BYTES or largest > LARGEST_FLOW_BYTES:
        bounds = f"{format_size(SMALLEST_BYTES)} to {format_size(LARGEST_FLOW_BYTES)}"
        raise ValueError(f"{shown(text)} is out of range; write sizes from {bounds} ({WHY_FOUR_BYTES})")
    return WrittenUniformSize(smallest, largest)


def _read_mapping(section: Section, key: str, directory: Path) -> WrittenSize | None:
    size = section.section(key, SIZE_KEYS)
    if size is None:
        return None
    size.require("distribution", example=f"distribution: one of {', '.join(distributions.names())}, or a file")
    cap = size.size("cap", SMALLEST_BYTES, LARGEST_FLOW_BYTES, WHY_FOUR_BYTES)
    name = size.scalar("distribution", "a distribution's name")
    if name is None or ("cap" in size and cap is None):
        return None
    return _distributed(name, cap, size, directory)


def _distributed(name: Written[str], cap: Written[int] | None, section: Section, directory: Path) -> WrittenSize | None:
    found = _find(name, section, directory)
    if found is None:
        return None
    # A cap above the largest size cuts nothing, and the run is not to be labelled as cut.
    cap_bytes = cap.value if cap is not None and cap.value < found.points[-1][0] else None
    mean = distributions.mean_bytes(found.points, found.interpolation, cap_bytes)
    return WrittenDistributedSize(name.value, found.points, found.interpolation, cap_bytes, mean)


def _find(name: Written[str], section: Section, directory: Path) -> Distribution | None:
    if name.value in distributions.names():
        return distributions.builtin(name.value)
    if not {".", "/"} & set(name.value):
        hint = did_you_mean(name.value, distributions.names())
        name.complain(
            section.problems, f"{shown(name.value)} is no distribution, and no file such as sizes.txt; {hint}"
        )
        return None
    try:
        text = text_of(read_lab_file(directory, name.value, LARGEST_TABLE_BYTES))
        return distributions.read(text, str(directory / name.value))
    except UnreadableError as error:
        complain_unreadable(name, section, directory, error, "*.txt")
    except UnicodeDecodeError:
        name.complain(section.problems, f"{shown(name.value)}: cannot be read: it is not UTF-8")
    except DistributionError as error:
        for message in str(error).splitlines():
            name.complain(section.problems, message)
    return None
