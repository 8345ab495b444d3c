"""The traffic of an experiment as written: synchronised rounds, long flows, single flows, the user's own trace."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fabriclab.lab import defaults
from fabriclab.lab.document import Value
from fabriclab.lab.names import HostReader, Names
from fabriclab.lab.problems import did_you_mean, shown
from fabriclab.lab.section import Section, Written
from fabriclab.units import format_duration

SMALLEST_FLOW_BYTES = 4
"""The first four bytes carry the flow's number (traffic/README.md)."""
LARGEST_FLOW_BYTES = 2**40
MOST_REPEATS = 10**6
MOST_FLOWS = 10**7
"""Of one experiment: their log is then about a gigabyte."""
LONGEST_NS = 24 * 3600 * 10**9
"""A day of virtual time."""


@dataclass(frozen=True)
class WrittenRounds:
    """Synchronised rounds (in-cast)."""

    name: str
    senders: tuple[str, ...]
    receiver: str
    size_bytes: int
    rounds: int
    start_ns: int
    connection: str
    mode: str

    @property
    def last_time_ns(self) -> int:
        """The last instant, after the epoch, that the experiment names."""
        return self.start_ns

    @property
    def flows(self) -> int:
        """How many flows it is."""
        return len(self.senders) * self.rounds


@dataclass(frozen=True)
class WrittenLong:
    """Long flows that start one after the other and stop together."""

    name: str
    senders: tuple[str, ...]
    receiver: str
    start_ns: int
    stop_ns: int
    stagger_ns: int

    @property
    def last_time_ns(self) -> int:
        """The last instant, after the epoch, that the experiment names."""
        return self.stop_ns

    @property
    def flows(self) -> int:
        """How many flows it is."""
        return len(self.senders)


@dataclass(frozen=True)
class WrittenFlows:
    """Single flows of one size."""

    name: str
    senders: tuple[str, ...]
    receiver: str
    size_bytes: int
    count: int
    start_ns: int
    interval_ns: int
    mode: str

    @property
    def last_time_ns(self) -> int:
        """The last instant, after the epoch, that the experiment names."""
        return self.start_ns + (self.count - 1) * self.interval_ns

    @property
    def flows(self) -> int:
        """How many flows it is."""
        return len(self.senders) * self.count


@dataclass(frozen=True)
class WrittenTrace:
    """A flow trace in the lab's directory."""

    name: str
    file: str
    sha256: str

    @property
    def last_time_ns(self) -> int:
        """Its instants stand in the trace, which is read when the run's own trace is made."""
        return 0

    @property
    def flows(self) -> int:
        """Its flows are counted when the run's own trace is made."""
        return 0


WrittenTraffic = WrittenRounds | WrittenLong | WrittenFlows | WrittenTrace

KEYS_OF_KIND = {
    "rounds": ("kind", "senders", "receiver", "size", "rounds", "start", "connection", "mode"),
    "long": ("kind", "senders", "receiver", "start", "stop", "stagger"),
    "flows": ("kind", "senders", "receiver", "size", "count", "start", "interval", "mode"),
    "trace": ("kind", "file"),
}


def read_traffic(value: Value, key: str, name: str, names: Names, directory: Path, root: Section) -> WrittenTraffic | None:
    """Return one piece of traffic, None after recording what is wrong with it."""
    before = len(root.problems)
    section = Section(value, key, root.problems, None)
    section.require("kind", example=f"kind: one of {', '.join(KEYS_OF_KIND)}")
    kind = section.choice("kind", tuple(KEYS_OF_KIND))
    if kind is None:
        return None
    section = Section(value, key, root.problems, KEYS_OF_KIND[kind.value])
    if kind.value == "trace":
        return _read_trace(section, name, directory)
    read: Callable[[Section, str, Names], WrittenTraffic | None]
    read = {"rounds": _read_rounds, "long": _read_long, "flows": _read_flows}[kind.value]
    traffic = read(section, name, names)
    return traffic if len(root.problems) == before else None


def _hosts(section: Section, names: Names) -> tuple[tuple[str, ...], str] | None:
    section.require("senders", example="senders: a count, a range such as h1..h4, a list, or all")
    section.require("receiver", example="receiver: a host's name")
    reader = HostReader(section, names)
    receiver = reader.receiver()
    senders = reader.senders(receiver.value if receiver else None)
    return None if senders is None or receiver is None else (senders, receiver.value)


def _read_rounds(section: Section, name: str, names: Names) -> WrittenRounds | None:
    section.require("size", example="size: bytes that each sender sends in a round, such as 256 KB")
    section.require("rounds", example="rounds: how many")
    hosts = _hosts(section, names)
    size = section.size("size", SMALLEST_FLOW_BYTES, LARGEST_FLOW_BYTES, "the first four bytes carry the flow's number")
    rounds = section.count("rounds", 1, MOST_REPEATS)
    start = section.duration("start", 0, LONGEST_NS)
    connection = section.choice("connection", ("kept", "new"))
    mode = section.choice("mode", ("pull", "push"))
    if mode is not None and mode.value == "push" and rounds is not None and rounds.value > 1:
        mode.complain(section.problems, "with push no sender knows when a round is complete; write mode: pull, or rounds: 1")
    if hosts is None or size is None or rounds is None:
        return None
    return WrittenRounds(
        name,
        *hosts,
        size_bytes=size.value,
        rounds=rounds.value,
        start_ns=_or(start, defaults.START_NS),
        connection=connection.value if connection else defaults.CONNECTION,
        mode=mode.value if mode else defaults.ROUNDS_MODE,
    )


def _read_long(section: Section, name: str, names: Names) -> WrittenLong | None:
    section.require("stop", example="stop: when all its flows end, such as 2 s")
    hosts = _hosts(section, names)
    start = section.duration("start", 0, LONGEST_NS)
    stop = section.duration("stop", 1, LONGEST_NS)
    stagger = section.duration("stagger", 0, LONGEST_NS)
    if hosts is None or stop is None:
        return None
    start_ns, stagger_ns = _or(start, defaults.START_NS), _or(stagger, defaults.STAGGER_NS)
    last_start_ns = start_ns + (len(hosts[0]) - 1) * stagger_ns
    if stop.value <= last_start_ns:
        stop.complain(section.problems, f"{shown(stop.text)} is not after the last flow's start, {format_duration(last_start_ns)}")
    return WrittenLong(name, *hosts, start_ns=start_ns, stop_ns=stop.value, stagger_ns=stagger_ns)


def _read_flows(section: Section, name: str, names: Names) -> WrittenFlows | None:
    section.require("size", example="size: bytes of a flow, such as 100 KB")
    hosts = _hosts(section, names)
    size = section.size("size", SMALLEST_FLOW_BYTES, LARGEST_FLOW_BYTES, "the first four bytes carry the flow's number")
    count = section.count("count", 1, MOST_REPEATS)
    start = section.duration("start", 0, LONGEST_NS)
    interval = section.duration("interval", 0, LONGEST_NS)
    mode = section.choice("mode", ("push", "pull"))
    if count is not None and count.value > 1:
        section.require("interval", example="interval: from one flow of a sender to its next, such as 10 ms")
    if hosts is None or size is None:
        return None
    return WrittenFlows(
        name,
        *hosts,
        size_bytes=size.value,
        count=_or(count, defaults.FLOW_COUNT),
        start_ns=_or(start, defaults.START_NS),
        interval_ns=_or(interval, 0),
        mode=mode.value if mode else defaults.FLOWS_MODE,
    )


def _read_trace(section: Section, name: str, directory: Path) -> WrittenTrace | None:
    section.require("file", example="file: a flow trace in the lab's directory (traffic/README.md)")
    file = section.scalar("file", "a file's name")
    if file is None:
        return None
    path = PurePosixPath(file.value)
    if path.is_absolute() or ".." in path.parts or "\0" in file.value:
        file.complain(section.problems, f"{shown(file.value)} is outside the lab's directory; put the trace into it")
        return None
    try:
        with (directory / path).open("rb") as trace:
            digest = hashlib.file_digest(trace, "sha256").hexdigest()
    except OSError as error:
        others = sorted(entry.name for entry in directory.glob("*.csv"))
        file.complain(section.problems, f"{shown(file.value)} cannot be read ({error.strerror}); {did_you_mean(file.value, others)}")
        return None
    return WrittenTrace(name, str(path), digest)


def _or(written: Written[int] | None, default: int) -> int:
    return default if written is None else written.value
