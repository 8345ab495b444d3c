"""Sections whose keys are numbers: queues and priority groups by `default`, range and number,
maps by range, number and name; and `maps`, which traffic class, queue, priority group and priority a frame belongs
to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from fabriclab.formats.classes import QUEUES
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.reading.dscp import DSCP_NAMES, LARGEST_DSCP
from fabriclab.lab.reading.section import Section, Written, as_words, duplicates
from fabriclab.lab.switch.keys import EIGHTH
from fabriclab.lab.switch.written import Numbered, WrittenMaps

T = TypeVar("T")
DEFAULT = "default"
_RANGE = re.compile(r"(?P<first>[0-9]{1,3})\.\.(?P<last>[0-9]{1,3})")
_NUMBER = re.compile(r"[0-9]{1,3}")


def parse_numbers(text: str, count: int, names: Mapping[str, int] | None = None) -> range:
    """Return the numbers that a key stands for: `3..4`, `3`, or a name of one; all are below `count`.

    Raises ValueError.
    """
    if names is not None and text.lower() in names:
        number = names[text.lower()]
        return range(number, number + 1)
    match = _RANGE.fullmatch(text)
    if match is None and _NUMBER.fullmatch(text) is None:
        words = "" if names is None else f", or a name: {did_you_mean(text.lower(), names)}"
        raise ValueError(
            f"{shown(text)} is unknown; write a number from 0 to {count - 1} or a range such as 3..4{words}"
        )
    first, last = (int(match["first"]), int(match["last"])) if match else (int(text), int(text))
    if max(first, last) >= count:
        raise ValueError(f"{shown(text)} is out of range; write numbers from 0 to {count - 1}")
    if last < first:
        raise ValueError(f"{shown(text)} runs backwards; write {last}..{first}")
    return range(first, last + 1)


def read_numbered(section: Section, what: str, read: Callable[[str], T | None]) -> Numbered[T]:
    """Return what stands at `default`, ranges and numbers; `read` returns what stands below a key,
    `what` is what is counted."""
    default = read(DEFAULT) if DEFAULT in section else None
    keys = [key for key in section.names() if key != DEFAULT]
    ranges, single = _by_exactness(section, keys, what, QUEUES, None, read)
    return Numbered(default, ranges, single)


def read_map(
    section: Section, what: str, count: int, names: Mapping[str, int] | None, read: Callable[[str], T | None]
) -> dict[int, T]:
    """Return the entries of a map by number; a number or a name wins over a range."""
    ranges, single = _by_exactness(section, section.names(), what, count, names, read)
    return dict(sorted({**ranges, **single}.items()))


def _by_exactness(
    section: Section,
    keys: Sequence[str],
    what: str,
    count: int,
    names: Mapping[str, int] | None,
    read: Callable[[str], T | None],
) -> tuple[dict[int, T], dict[int, T]]:
    """Return what stands at ranges and at single numbers, by number.

    Two keys of a kind that name one number are recorded.
    """
    ranges: dict[int, T] = {}
    single: dict[int, T] = {}
    named: dict[tuple[bool, int], str] = {}
    for key in keys:
        value, is_range = read(key), ".." in key
        for number in _numbers(section, key, count, names):
            first = named.setdefault((is_range, number), key)
            if first != key:
                message = f"{what} {number} is also in {shown(first)}; name it once (a number wins over a range)"
                section.problems.add(section.mapping.key_place(key), section.path(key), message, key)
                break
            if value is not None:
                (ranges if is_range else single)[number] = value
    return ranges, single


def _numbers(section: Section, key: str, count: int, names: Mapping[str, int] | None) -> range:
    try:
        return parse_numbers(key, count, names)
    except ValueError as error:
        section.problems.add(section.mapping.key_place(key), section.path(key), str(error), key)
        return range(0)


_CODEPOINTS = LARGEST_DSCP + 1


def read_maps(section: Section) -> WrittenMaps:
    """Return the entries that are written."""
    return WrittenMaps(
        dscp_to_tc=_read_map(section, "dscp_to_tc", "DSCP", _CODEPOINTS, DSCP_NAMES),
        tc_to_queue=_read_map(section, "tc_to_queue", "traffic class", QUEUES),
        tc_to_group=_read_map(section, "tc_to_group", "traffic class", QUEUES),
        priority_to_queue=_read_map(section, "priority_to_queue", "priority", QUEUES),
        priority_to_group=_read_map(section, "priority_to_group", "priority", QUEUES),
    )


def _read_map(
    maps: Section, name: str, what: str, count: int, names: Mapping[str, int] | None = None
) -> dict[int, Written[int]]:
    section = maps.section(name, None)
    if section is None:
        return {}
    return read_map(section, what, count, names, lambda key: section.value(key, EIGHTH))


def read_number_list(section: Section, name: str, noun: str) -> Written[tuple[int, ...]] | None:
    """Return the numbers of queues, classes or priorities that a key lists, in their order; None when it is absent or
    wrong."""
    value = section.get(name)
    words = None if value is None else as_words(value, section.path(name), section.problems)
    if value is None or words is None:
        return None
    wrong = [word for word in words if word.value not in map(str, range(QUEUES))]
    for word in wrong:
        word.complain(
            section.problems,
            f"{shown(word.value)} is not a {noun}; write numbers from 0 to {QUEUES - 1}, such as 3, 4",
        )
    for again in duplicates(words):
        again.complain(section.problems, f"{noun} {again.value} occurs twice")
    if wrong:
        return None
    numbers = tuple(sorted({int(word.value) for word in words}))
    return Written(numbers, section.path(name), ", ".join(map(str, numbers)), value.place)
