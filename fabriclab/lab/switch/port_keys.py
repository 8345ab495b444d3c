"""Keys that name ports of a switch: `eth1`, `eth1..eth4` (those ports that it has of these numbers), `eth1, eth3`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fabriclab.keys.wording import shown
from fabriclab.lab.reading.section import Section

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}")
_NUMBERED = re.compile(r"(?P<stem>.*?)(?P<number>[0-9]{1,9})")


def check_port_key(ports: Section, key: str) -> bool:
    """Return whether a key can name ports; record it where not."""
    for word in _words(key):
        if _bounds(word) is None and (".." in word or _WORD.fullmatch(word) is None):
            message = (
                f"{shown(word)} is not a port; write an interface, a range or a list of them, such as 'eth1', "
                "'eth1..eth4', 'eth1, eth3'"
            )
            ports.problems.add(ports.mapping.key_place(key), ports.path(key), message, key)
            return False
    return True


def exactness(key: str, interface: str) -> int:
    """Return 2 where a key names the port itself, 1 where it stands in a range of the key,
    0 where the key is of other ports."""
    return max((_exactness(word, interface) for word in _words(key)), default=0)


def port_key(ports: Iterable[str], every: Sequence[str]) -> str:
    """Return ports of one switch as a key: `eth1..eth4, eth9`.

    A range holds no port of `every` that is not among them.
    """
    order = {port: rank for rank, port in enumerate(sorted(every, key=_by_number))}
    runs: list[list[str]] = []
    for port in sorted(ports, key=_by_number):
        if runs and _stem(runs[-1][-1]) == _stem(port) and order[port] == order[runs[-1][-1]] + 1:
            runs[-1].append(port)
        else:
            runs.append([port])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)


def _by_number(port: str) -> tuple[str, int]:
    match = _NUMBERED.fullmatch(port)
    return (port, 0) if match is None else (match["stem"], int(match["number"]))


def _stem(port: str) -> str:
    return _by_number(port)[0]


def _exactness(word: str, interface: str) -> int:
    if word == interface:
        return 2
    bounds, port = _bounds(word), _NUMBERED.fullmatch(interface)
    if bounds is None or port is None:
        return 0
    stem, first, last = bounds
    return int(port["stem"] == stem and first <= int(port["number"]) <= last)


def _words(key: str) -> list[str]:
    return [word.strip() for word in key.split(",")]


def _bounds(word: str) -> tuple[str, int, int] | None:
    """Return stem, first and last number of a range; None for what is none."""
    first, dots, last = word.partition("..")
    one, other = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if (
        not dots
        or one is None
        or other is None
        or one["stem"] != other["stem"]
        or int(one["number"]) > int(other["number"])
    ):
        return None
    return one["stem"], int(one["number"]), int(other["number"])
