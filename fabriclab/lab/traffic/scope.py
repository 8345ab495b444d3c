"""What the reading of one piece of traffic looks at beside its own section, and the keys that many kinds have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fabriclab.formats.plan.traffic import Carrier, Mode
from fabriclab.keys.mappings import Key
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.reading.files import MissingError, UnreadableError
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.section import Section, Written, value_of
from fabriclab.lab.traffic.keys import DEADLINE, JITTER, MODE, START, STOP
from fabriclab.units import format_duration

T = TypeVar("T")


@dataclass(frozen=True)
class Scope:
    """The surroundings of a piece of traffic."""

    names: Names
    line_rates_bps: Mapping[str, int]
    """The rate of each host's first link; without the hosts whose link has none (the topology is wrong then)."""
    directory: Path
    """The lab's, in which its files lie."""


def read_start(section: Section) -> int:
    """Return when it starts, nanoseconds after the epoch."""
    return START.or_default(section.read(START))


def read_jitter(section: Section) -> int:
    """Return the window in nanoseconds within which each start is drawn."""
    return JITTER.or_default(section.read(JITTER))


def read_deadline(section: Section) -> int | None:
    """Return the deadline in nanoseconds after a start, None: there is none."""
    return value_of(section.read(DEADLINE))


def read_mode(section: Section, carrier: Carrier, key: Key[Mode] = MODE) -> Mode:
    """Return who asks: `push` the sender, `pull` the receiver, `read` the receiver's NIC."""
    mode = section.read(key)
    if mode is not None and mode.value == "read" and carrier.transport != "roce":
        mode.complain(section.problems, "is read, which only RoCE has; write transport: roce, or another mode")
    return key.or_default(mode)


def read_stop(section: Section, last_start_ns: int, what: str, meaning: str, jitter_ns: int = 0) -> int | None:
    """Return when it stops; `what` says what happens at `last_start_ns`, or by `jitter_ns` later, after which that has
    to be."""
    section.require("stop", example=f"stop: when {meaning}, such as 2 s")
    stop = section.read(STOP)
    if stop is not None and stop.value <= last_start_ns + jitter_ns:
        late = "" if stop.value <= last_start_ns else f" with its jitter of {format_duration(jitter_ns)}"
        when = f"{what}{late}, {format_duration(last_start_ns)}"
        stop.complain(section.problems, f"{shown(stop.text)} is not after {when}")
    return value_of(stop)


def complain_unreadable(
    file: Written[str], section: Section, directory: Path, error: UnreadableError, pattern: str
) -> None:
    """Record that a file cannot be read; those that match `pattern` may have been meant."""
    hint = (
        f"; {did_you_mean(file.value, sorted(entry.name for entry in directory.glob(pattern)))}"
        if isinstance(error, MissingError)
        else ""
    )
    file.complain(section.problems, f"{shown(file.value)}: {error}{hint}")
