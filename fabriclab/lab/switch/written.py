"""What an experiment and its profile say of a switch with a shared buffer; None: nothing. Words:
`fabriclab.formats.plan.switch`.

Each value knows the file it was written in: those of the profile's (`WrittenSwitch.file`) are scaled, those of the
experiment are meant. Where a part is given up with `none` (`is_none`), nothing of what stands below remains; a
`WrittenSwitch` that was read holds no such part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, Literal, NamedTuple, TypeVar

from fabriclab.lab.reading.problems import Place
from fabriclab.lab.reading.section import Written

T = TypeVar("T")
Scale = Literal["bandwidth", "none"] | Fraction
"""By the switch's bandwidth in this lab over that of the profile, not at all, or by a factor."""


class Threshold(NamedTuple):
    """A threshold of a WRED curve: a length in bytes, or a delay in nanoseconds."""

    value: int
    unit: Literal["bytes", "ns"]


@dataclass(frozen=True)
class WrittenPool:
    """What `pools.NAME` of a switch says; None: nothing."""

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
    """`wred` of a queue; without `max` it is `min`: a step."""

    is_none: bool = False
    min: Written[Threshold] | None = None
    max: Written[Threshold] | None = None
    probability_ppm: Written[int] | None = None
    weight_log: Written[int] | None = None
    ecn: Written[bool] | None = None
    non_ect: Written[str] | None = None


@dataclass(frozen=True)
class WrittenPhantom:
    """What `phantom` of a queue says; None: nothing."""

    is_none: bool = False
    rate_ppm: Written[int] | None = None
    """The rate as a share of the line's, in parts of a million."""
    threshold: Written[int] | None = None


@dataclass(frozen=True)
class WrittenCongestionPoint:
    """What `qcn` of a queue says; None: nothing."""

    is_none: bool = False
    set_point: Written[int] | None = None
    sample: Written[int] | None = None
    weight: Written[int] | None = None


@dataclass(frozen=True)
class WrittenQueue:
    """A queue: what stands at a key, or what holds for a number."""

    account: WrittenAccount = WrittenAccount()
    scheduler: Written[str] | None = None
    weight: Written[int] | None = None
    cir: Written[int] | None = None
    cbs: Written[int] | None = None
    pir: Written[int] | None = None
    pbs: Written[int] | None = None
    wred: WrittenWred | None = None
    phantom: WrittenPhantom | None = None
    qcn: WrittenCongestionPoint | None = None
    voq_limit: Written[Threshold | None] | None = None
    """A size, or the time at the line's rate; None: none."""
    event: Written[int | None] | None = None
    discard: Written[str] | None = None
    """`drop` or `trim`."""
    sharing: Written[str] | None = None
    """`dynamic`, `complete`, or a policy's name."""
    sharing_interval: Written[int] | None = None
    sharing_congested: Written[int] | None = None
    unscheduled_classes: Written[tuple[int, ...]] | None = None
    unscheduled_alpha: Written[int] | None = None
    """Its binary logarithm."""


@dataclass(frozen=True)
class WrittenGroup:
    """A priority group: what stands at a key, or what holds for a number."""

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
class WrittenWatchdog:
    """What `pfc.watchdog` of a switch says; None: nothing."""

    is_none: bool = False
    detection: Written[int] | None = None
    restoration: Written[int] | None = None
    action: Written[str] | None = None


@dataclass(frozen=True)
class WrittenPfc:
    """What `pfc` of a switch says; None: nothing."""

    is_none: bool = False
    priorities: Written[tuple[int, ...]] | None = None
    quanta: Written[int] | None = None
    reaction: Written[int] | None = None
    watchdog: WrittenWatchdog | None = None


@dataclass(frozen=True)
class WrittenSlice:
    """Which slice of the memory frames of a port are in."""

    into: Written[int] | None = None
    out: Written[int] | None = None


@dataclass(frozen=True)
class WrittenTrimming:
    """What `trimming` of a switch says; None: nothing."""

    is_none: bool = False
    size: Written[int] | None = None
    dscp: Written[int] | None = None
    queue: Written[int | None] | None = None
    """None: that of the DSCP's class."""
    place: Place | None = field(default=None, compare=False)
    """Where it is written."""


@dataclass(frozen=True)
class Numbered(Generic[T]):
    """Queues or groups as their keys name them: what stands at ranges and at single numbers is by number."""

    default: T | None = None
    ranges: Mapping[int, T] = field(default_factory=dict)
    single: Mapping[int, T] = field(default_factory=dict)


@dataclass(frozen=True)
class WrittenLayer:
    """The keys of a shared buffer in one mapping: a profile's file, `switches.default` or a switch's name."""

    cell: Written[int] | None = None
    slices: Written[int] | None = None
    pools: Mapping[str, WrittenPool] = field(default_factory=dict)
    queues: Numbered[WrittenQueue] = field(default_factory=Numbered)
    groups: Numbered[WrittenGroup] = field(default_factory=Numbered)
    maps: WrittenMaps = field(default_factory=WrittenMaps)
    pfc: WrittenPfc | None = None
    slice: WrittenSlice = field(default_factory=WrittenSlice)
    trimming: WrittenTrimming | None = None
    ports: Mapping[str, WrittenLayer] = field(default_factory=dict)
    """What holds for some ports instead, by key as written (`eth1`, `eth1..eth4`, `eth1, eth3`): queues,
    groups, maps, PFC and slice."""


@dataclass(frozen=True)
class WrittenBuffer:
    """All layers of a switch together; queues and groups by number, each with what holds for it."""

    cell: Written[int] | None = None
    slices: Written[int] | None = None
    pools: Mapping[str, WrittenPool] = field(default_factory=dict)
    queues: Mapping[int, WrittenQueue] = field(default_factory=dict)
    groups: Mapping[int, WrittenGroup] = field(default_factory=dict)
    maps: WrittenMaps = field(default_factory=WrittenMaps)
    pfc: WrittenPfc | None = None
    """None also where no priority is written: no PFC."""
    slice: WrittenSlice = field(default_factory=WrittenSlice)
    trimming: WrittenTrimming | None = None


@dataclass(frozen=True)
class WrittenProfile:
    """What a profile's file says of a switch, with the place of every value."""

    name: str
    file: str
    """As `Place.file` names it."""
    is_good: bool = True
    """False where something in the file is wrong; that is recorded."""
    title: str = ""
    bandwidth: Written[int] | None = None
    """Bits per second of all its ports, that the pools are made for."""
    port_rate: Written[int] | None = None
    """Bits per second of a port, that reserved sizes and thresholds are made for."""
    layer: WrittenLayer = field(default_factory=WrittenLayer)
    hardware: str = ""
    """What its thresholds were compared with; empty: not said."""


@dataclass(frozen=True)
class WrittenSwitch:
    """A switch with a profile, or with pools of its own."""

    key: str
    """Where it stands in the experiment: `switches.leaf1`, or `switches.default`."""
    place: Place
    profile: WrittenProfile | None = None
    """None: there is none. Its values are part of `buffer`."""
    scale: Scale = "none"
    """`bandwidth` only where the profile has one."""
    buffer: WrittenBuffer = field(default_factory=WrittenBuffer)
    """What the profile, `switches.default` and the switch's own name say together."""
    dormant_groups: tuple[int, ...] = ()
    """Groups that are lossless in the profile's file, and lossy here, because no PFC priority of this switch belongs to
    them. They, and the queues of their classes, have of the profile what its `default` says."""

    variants: Mapping[str, WrittenSwitch] = field(default_factory=dict)
    """The switch as some of its ports have it; its cells and pools are those of all."""
    variant_of: Mapping[str, str] = field(default_factory=dict)
    """Which variant a port (interface) has; none of those that are like most."""

    def of(self, interface: str) -> WrittenSwitch:
        """Return the switch as this port has it."""
        return self.variants[self.variant_of[interface]] if interface in self.variant_of else self

    @property
    def file(self) -> str:
        """The profile's file, whose values are scaled; empty without a profile."""
        return "" if self.profile is None else self.profile.file
