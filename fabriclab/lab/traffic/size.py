"""How large flows are: `70 KB`, `2 KB .. 16 KB` (all equally likely), `web-search`,
`{distribution: web-search, cap: 10 MB}`.

A distribution is one of `traffic/workloads`, or a file in the lab's directory (its name has a dot or a slash).
"""

from __future__ import annotations

from pathlib import Path

from fabriclab import distributions
from fabriclab.distributions import Distribution, DistributionError
from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic import DistributedSize, FixedSize, Size, UniformSize
from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.files import LARGEST_TABLE_BYTES, UnreadableError, read_lab_file, text_of
from fabriclab.lab.reading.section import Section, Written, value_of
from fabriclab.lab.traffic.keys import BYTES, DISTRIBUTED, SIZE_CAP, WHY_FOUR_BYTES
from fabriclab.lab.traffic.scope import complain_unreadable
from fabriclab.units import format_size, parse_size


def read_size(section: Section, key: str, directory: Path) -> Size | None:
    """Return the sizes below `key`; None when there are none, or after recording what is wrong."""
    if isinstance(section.get(key), MappingValue):
        return _read_mapping(section, key, directory)
    text = section.scalar(key, "a size such as '70 KB'")
    if text is None:
        return None
    if ".." in text.value and text.value[0].isdigit():
        written = section.convert(key, "a range of sizes", _uniform)
        return value_of(written)
    if text.value[:1].isalpha():
        return _distributed(text, None, section, directory)
    size = section.value(key, BYTES)
    return None if size is None else FixedSize(size_bytes=size.value)


def _uniform(text: str) -> UniformSize:
    smallest, largest = (parse_size(end) for end in text.split("..", 1))
    if largest < smallest:
        raise ValueError(f"{shown(text)} runs backwards; write the smaller size first")
    if smallest < SMALLEST_BYTES or largest > ranges.FLOW_BYTES.most:
        bounds = f"{format_size(SMALLEST_BYTES)} to {format_size(ranges.FLOW_BYTES.most)}"
        raise ValueError(f"{shown(text)} is out of range; write sizes from {bounds} ({WHY_FOUR_BYTES})")
    return UniformSize(smallest_bytes=smallest, largest_bytes=largest)


def _read_mapping(section: Section, key: str, directory: Path) -> Size | None:
    size = section.section(key, DISTRIBUTED)
    if size is None:
        return None
    size.require("distribution", example=f"distribution: one of {', '.join(distributions.names())}, or a file")
    cap = size.read(SIZE_CAP)
    name = size.scalar("distribution", "a distribution's name")
    if name is None or ("cap" in size and cap is None):
        return None
    return _distributed(name, cap, size, directory)


def _distributed(name: Written[str], cap: Written[int] | None, section: Section, directory: Path) -> Size | None:
    found = _find(name, section, directory)
    if found is None:
        return None
    # A cap above the largest size cuts nothing, and the run is not to be labelled as cut.
    cap_bytes = cap.value if cap is not None and cap.value < found.points[-1][0] else None
    mean = distributions.mean_bytes(found.points, found.interpolation, cap_bytes)
    return DistributedSize(
        name=name.value,
        points=found.points,
        interpolation=found.interpolation,
        cap_bytes=cap_bytes,
        mean_bytes=mean,
    )


def _find(name: Written[str], section: Section, directory: Path) -> Distribution | None:
    if name.value in distributions.names():
        return distributions.builtin(name.value)
    if not {".", "/"} & set(name.value):
        hint = did_you_mean(name.value, distributions.names())
        name.complain(
            section.problems, f"{shown(name.value)} is neither a distribution nor a file such as sizes.txt; {hint}"
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
