"""What an experiment and its profile say of a switch with a shared buffer; None: nothing. The words are those of `fabriclab.plan.switch`.

Each value knows the file it was written in: those of the profile's file (`WrittenSwitch.file`) are scaled, those of the experiment are meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple

from fabriclab.lab.section import Written

Scale = Literal["bandwidth", "none"] | Fraction
"""By the switch's bandwidth in this lab over that of the profile, not at all, or by a factor."""


class Threshold(NamedTuple):
    """Of a WRED curve: a length in bytes, or a delay in nanoseconds."""

    value: int
    unit: Literal["bytes", "ns"]


@dataclass(frozen=True)
class WrittenPool:
    """`pools.NAME`."""

    size: Written[int] | None = None
    headroom: Written[int] | None = None


@dataclass(frozen=True)
class WrittenAccount:
    """`pool`, `reserved`, `alpha` (its binary logarithm), `limit` (None: none) of a queue or a group."""

    pool: Written[str | None] | None = None
    reserved: Written[int] | None = None
    alpha_log: Written[int] | None = None
    limit: Written[int | None] | None = None


@dataclass(frozen=True)
class WrittenWred:
    """`wred` of a queue."""

    min: Written[Threshold] | None = None
    max: Written[Threshold] | None = None
    probability_ppm: Written[int] | None = None
    weight_log: Written[int] | None = None
    ecn: Written[bool] | None = None
    non_ect: Written[str] | None = None


@dataclass(frozen=True)
class WrittenQueue:
    """A queue: `default`, a range or a number, merged key by key, so that every queue stands for itself."""

    account: WrittenAccount = WrittenAccount()
    scheduler: Written[str] | None = None
    weight: Written[int] | None = None
    cir: Written[int] | None = None
    cbs: Written[int] | None = None
    pir: Written[int] | None = None
    pbs: Written[int] | None = None
    wred: WrittenWred | None = None
    phantom_rate_ppm: Written[int] | None = None
    """Of the line's rate."""
    phantom_threshold: Written[int] | None = None
    voq_limit: Written[Threshold] | None = None
    """A size, or the time at the line's rate."""
    event: Written[int] | None = None


@dataclass(frozen=True)
class WrittenGroup:
    """A priority group, merged likewise."""

    account: WrittenAccount = WrittenAccount()
    lossless: Written[bool] | None = None
    headroom: Written[int | None] | None = None
    """None: computed from rate, cable and MTU."""
    xon: Written[int] | None = None
    xon_offset: Written[int] | None = None


@dataclass(frozen=True)
class WrittenMaps:
    """Maps by index where they are written."""

    dscp_to_tc: Mapping[int, Written[int]] = field(default_factory=dict)
    tc_to_queue: Mapping[int, Written[int]] = field(default_factory=dict)
    tc_to_group: Mapping[int, Written[int]] = field(default_factory=dict)
    priority_to_queue: Mapping[int, Written[int]] = field(default_factory=dict)
    priority_to_group: Mapping[int, Written[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class WrittenPfc:
    """`pfc`; `watchdog: none` gives no detection time."""

    priorities: Written[tuple[int, ...]] | None = None
    quanta: Written[int] | None = None
    reaction: Written[int] | None = None
    watchdog_is_off: bool = False
    detection: Written[int] | None = None
    restoration: Written[int] | None = None
    action: Written[str] | None = None


@dataclass(frozen=True)
class WrittenSwitch:
    """A switch with a profile, or with pools of its own."""

    key: str
    """Where it stands in the experiment: `switches.leaf1`."""
    profile: Written[str] | None = None
    file: str = ""
    """The profile's file, as `Place.file` names it; empty without a profile."""
    title: str = ""
    scale: Scale = "bandwidth"
    bandwidth: Written[int] | None = None
    """Bits per second of all its ports, that the profile's pools are made for."""
    port_rate: Written[int] | None = None
    """Bits per second of a port, that the profile's reserved sizes and thresholds are made for."""
    cell: Written[int] | None = None
    pools: Mapping[str, WrittenPool] = field(default_factory=dict)
    queues: Mapping[int, WrittenQueue] = field(default_factory=dict)
    groups: Mapping[int, WrittenGroup] = field(default_factory=dict)
    maps: WrittenMaps = field(default_factory=WrittenMaps)
    pfc: WrittenPfc | None = None
