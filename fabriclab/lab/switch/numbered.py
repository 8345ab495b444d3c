"""Sections whose keys are numbers: queues and priority groups by `default`, range and number, maps by range, number and name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from fabriclab.lab.problems import did_you_mean, shown
from fabriclab.lab.section import Section
from fabriclab.lab.switch.override import override

T = TypeVar("T")
QUEUES = 8
"""Queues, traffic classes, priorities and priority groups alike (`images/machine/kernel/switch/uapi/switch_port.h`)."""
DEFAULT = "default"
_RANGE = re.compile(r"(?P<first>[0-9]{1,3})\.\.(?P<last>[0-9]{1,3})")
_NUMBER = re.compile(r"[0-9]{1,3}")


def parse_numbers(text: str, count: int, names: Mapping[str, int] | None = None) -> range:
    """Return the numbers that a key stands for: `3..4`, `3`, or a name of one; all are below `count`. Raises ValueError."""
    if names is not None and text.lower() in names:
        number = names[text.lower()]
        return range(number, number + 1)
    match = _RANGE.fullmatch(text)
    if match is None and _NUMBER.fullmatch(text) is None:
        words = "" if names is None else f", or a name; {did_you_mean(text.lower(), names)}"
        raise ValueError(f"{shown(text)} is no number from 0 to {count - 1} and no range such as 3..4{words}")
    first, last = (int(match["first"]), int(match["last"])) if match else (int(text), int(text))
    if max(first, last) >= count:
        raise ValueError(f"{shown(text)} is out of range; write numbers from 0 to {count - 1}")
    if last < first:
        raise ValueError(f"{shown(text)} runs backwards; write {last}..{first}")
    return range(first, last + 1)


@dataclass(frozen=True)
class Numbered(Generic[T]):
    """What stands at each number, and at `default` alone."""

    every: dict[int, T]
    default: T | None = None


def read_numbered(section: Section, what: str, read: Callable[[str], T | None]) -> Numbered[T]:
    """Return what each number has: `default`, overridden by the range that holds it, overridden by what stands at the number itself.

    `read` returns what stands below a key; `what` is what the numbers count, for errors.
    """
    default = read(DEFAULT) if DEFAULT in section else None
    every: dict[int, T] = {} if default is None else dict.fromkeys(range(QUEUES), default)
    keys = [key for key in section.names() if key != DEFAULT]
    for number, value in _by_exactness(section, keys, what, QUEUES, None, read):
        every[number] = override(every[number], value) if number in every else value
    return Numbered(dict(sorted(every.items())), default)


def read_map(section: Section, what: str, count: int, names: Mapping[str, int] | None, read: Callable[[str], T | None]) -> dict[int, T]:
    """Return the entries of a map by number; a number or a name wins over a range."""
    entries = dict(_by_exactness(section, section.names(), what, count, names, read))
    return {number: entries[number] for number in sorted(entries)}


def _by_exactness(
    section: Section, keys: Sequence[str], what: str, count: int, names: Mapping[str, int] | None, read: Callable[[str], T | None]
) -> list[tuple[int, T]]:
    """Return the numbers of all ranges with what stands there, then single ones. Two keys of a kind that name a number are recorded."""
    ranges: dict[int, T] = {}
    single: dict[int, T] = {}
    named: dict[tuple[bool, int], str] = {}
    for key in keys:
        value, is_range = read(key), ".." in key
        for number in _numbers(section, key, count, names):
            first = named.setdefault((is_range, number), key)
            if first != key:
                message = f"{what} {number} stands in {shown(first)} too; name it once (a number wins over a range)"
                section.problems.add(section.mapping.key_place(key), section.path(key), message, key)
                break
            if value is not None:
                (ranges if is_range else single)[number] = value
    return [*ranges.items(), *single.items()]


def _numbers(section: Section, key: str, count: int, names: Mapping[str, int] | None) -> range:
    try:
        return parse_numbers(key, count, names)
    except ValueError as error:
        section.problems.add(section.mapping.key_place(key), section.path(key), str(error), key)
        return range(0)
