"""Commands of nodes that change a port's root qdisc: `tc qdisc add dev eth2 root netem delay 50ms`.

Source: iproute2 6.15, tc/tc_qdisc.c, tc/q_netem.c, lib/utils.c (get_rate64, get_percent), tc/tc_util.c (get_time).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

_CHANGES = frozenset(("add", "change", "replace", "delete", "del", "link"))
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z%]*)")
_TIMES = {
    **dict.fromkeys(("s", "sec", "secs"), 10**9),
    **dict.fromkeys(("ms", "msec", "msecs"), 10**6),
    **dict.fromkeys(("", "us", "usec", "usecs"), 10**3),
    **dict.fromkeys(("ns", "nsec", "nsecs"), 1),
}
"""In nanoseconds; a bare number counts microseconds."""
_BITS = {
    "bit": 1,
    **{f"{letter}bit": 1000**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}ibit": 1024**power for power, letter in enumerate("kmgt", 1)},
}
_RATES = {"": 1, **_BITS, **{f"{unit.removesuffix('bit')}bps": 8 * bits for unit, bits in _BITS.items()}}
"""In bits per second; `bps` are bytes per second."""
_PERCENTS = {"": 10_000, "%": 10_000}
_WORDS: Mapping[str, Mapping[str, int]] = MappingProxyType({"delay": _TIMES, "rate": _RATES, "loss": _PERCENTS})
_ROOT_CHANGE = re.compile(r"\btc\s(?:[^;&|\n]*\s)?qdisc\s+(?:add|change|replace|del|delete)\s[^;&|\n]*")
_SHELL_ONLY = frozenset(";&|<>$`(){}*?\n#")


@dataclass(frozen=True)
class Netem:
    """What netem adds to a link; None: nothing of the kind."""

    delay_ns: int | None = None
    rate_bps: int | None = None
    loss_ppm: int | None = None


@dataclass(frozen=True)
class RootChange:
    """A change of the root qdisc of an interface."""

    interface: str
    netem: Netem | None = None
    """What it comes to, if that is a constant delay, a rate and independent loss."""


def root_changes(argv: Sequence[str], scripts: Mapping[str, str] = MappingProxyType({})) -> list[RootChange]:
    """Return the changes of root qdiscs that a command makes, as far as its words say, or one of the `scripts` (texts
    by their paths in the node) that it names. A script, or a shell's line of several commands, is not taken apart: its
    changes have no `netem`."""
    words = _plain_words(argv)
    if words is not None:
        change = _root_change(words)
        return [] if change is None else [change]
    text = "\n".join([" ".join(argv), *(scripts[word] for word in argv if word in scripts)])
    lines = _ROOT_CHANGE.findall(text)
    found = [change for line in lines if (change := _root_change(_split(line))) is not None]
    return [RootChange(change.interface) for change in found]


def _plain_words(argv: Sequence[str]) -> list[str] | None:
    """Return the words of a command, or of a shell's line that is one command; None of any other line."""
    if len(argv) == 3 and argv[0].rpartition("/")[2] in ("sh", "bash", "ash", "dash") and argv[1] == "-c":
        return None if _SHELL_ONLY & set(argv[2]) else _split(argv[2])
    return list(argv) if argv and argv[0].rpartition("/")[2] == "tc" else None


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _root_change(words: Sequence[str]) -> RootChange | None:
    if not words or words[0].rpartition("/")[2] != "tc" or "qdisc" not in words:
        return None
    verb, *rest = words[words.index("qdisc") + 1 :] or [""]
    if verb not in _CHANGES or "dev" not in rest[:-1] or "root" not in rest:
        return None
    interface = rest[rest.index("dev") + 1]
    if verb not in ("add", "replace") or "netem" not in rest:
        return RootChange(interface)
    at = rest.index("netem")
    return RootChange(interface, _netem(rest[at + 1 :]) if "root" in rest[:at] else None)


def _netem(words: Sequence[str]) -> Netem | None:
    """Return what netem's words come to; None where a port of ours has nothing of the kind, such as jitter."""
    left, found = list(words), dict[str, int]()
    while left:
        word = left.pop(0)
        if word == "latency":
            word = "delay"
        if word == "limit" and left:
            left.pop(0)  # the port's buffer holds what waits
            continue
        if word == "loss" and left[:1] == ["random"]:
            left.pop(0)
        if word not in _WORDS or word in found or not left:
            return None
        number = _number(left.pop(0), _WORDS[word])
        if number is None:
            return None
        found[word] = number
    return Netem(found.get("delay"), found.get("rate"), found.get("loss")) if found else None


def _number(text: str, units: Mapping[str, int]) -> int | None:
    """Return a quantity in its smallest unit; None of one that is no whole number of it."""
    match = _NUMBER.fullmatch(text)
    scale = None if match is None else units.get(match[2].lower())
    if match is None or scale is None:
        return None
    exact = Fraction(Decimal(match[1])) * scale
    return int(exact) if exact.denominator == 1 else None
