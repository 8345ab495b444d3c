"""The QoS part of an EOS configuration, typed.

Words are those of the "Quality of Service" chapter of Arista's EOS User Manual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fabriclab.formats.classes import QUEUES
from fabriclab.vendors.common.command_text import Command

DSCP_TO_TC = tuple({0: 1, 1: 0}.get(dscp // 8, dscp // 8) for dscp in range(64))
"""The map that all platforms have by default: DSCP 0 to 7 are of traffic class 1, 8 to 15 of class 0."""
TC_TO_GROUP = (1, 0, *range(2, QUEUES))
"""A priority group has the number of its PFC priority, which is the CoS value of the traffic class:
0 of class 1, 1 of class 0."""


@dataclass(frozen=True)
class Rate:
    """What `shape rate` and `bandwidth guaranteed` say: kbit/s, or per cent of the port's rate."""

    value: int
    unit: Literal["kbps", "percent"]
    command: Command


@dataclass(frozen=True)
class RandomDetect:
    """`random-detect ecn` (marks what can be marked, drops nothing) or `random-detect drop`."""

    kind: Literal["ecn", "drop"]
    minimum: int
    maximum: int
    unit: Literal["segments", "bytes", "kbytes", "mbytes", "microseconds", "milliseconds"]
    probability: int
    """Per cent, at the maximum."""
    weight: int | None
    command: Command


@dataclass(frozen=True)
class TxQueue:
    """What a port, or a profile, says of a queue; None: nothing."""

    round_robin: Command | None = None
    """`no priority`."""
    strict: Command | None = None
    percent: int | None = None
    percent_command: Command | None = None
    guaranteed: Rate | None = None
    shape: Rate | None = None
    random_detect: RandomDetect | None = None


@dataclass(frozen=True)
class PortQos:
    """What an interface, or a QoS profile, says."""

    pfc: Command | None = None
    """`priority-flow-control on`."""
    no_drop: Mapping[int, Command] = field(default_factory=dict)
    queues: Mapping[int, TxQueue] = field(default_factory=dict)


@dataclass(frozen=True)
class Watchdog:
    """What `priority-flow-control pause watchdog` says."""

    timeout_ns: int
    recovery_ns: int | None
    command: Command


@dataclass(frozen=True)
class LeftOut:
    """Commands that a profile has no word for."""

    what: str
    count: int
    why: str


@dataclass(frozen=True)
class EosQos:
    """The QoS part of a configuration: global maps, QoS profiles, interfaces."""

    hostname: str
    dscp_to_tc: Mapping[int, tuple[int, Command]]
    tc_to_queue: Mapping[int, tuple[int, Command]]
    tc_to_group: Mapping[int, tuple[int, Command]]
    ports: Mapping[str, PortQos]
    """Interfaces that say something of QoS, their QoS profile's words under their own."""
    silent: int
    """How many interfaces say nothing."""
    watchdog: Watchdog | None
    left_out: tuple[LeftOut, ...]


class Ledger:
    """Counts the commands that are not taken, by reason."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, what: str, why: str, count: int = 1) -> None:
        """Count a command that is left out."""
        self._counts[what, why] = self._counts.get((what, why), 0) + count

    def entries(self) -> tuple[LeftOut, ...]:
        """Return one entry for each kind of command, in the order of the file."""
        return tuple(LeftOut(what, count, why) for (what, why), count in self._counts.items())
