"""How a switch's chip counts memory: the chip is known by the name of the switch (hwsku).

Where sonic-mgmt has measured a chip (tests/qos/files/qos_params.*.yaml: how many frames one port takes until it pauses
or drops), its model here is what makes those figures out of the configuration that they were measured with;
images/sonic/README.md has the table. Which hwsku has which chip: sonic-mgmt, ansible/group_vars/sonic/variables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

PoolHolds = Literal["all", "without xoff", "free"]
"""What the size of a BUFFER_POOL holds: all of the pool's memory; all but the headroom that groups share; or only what
nobody reserved."""


@dataclass(frozen=True)
class Slices:
    """A memory in parts: which one a frame is in follows from the pipelines that it comes in and leaves by."""

    count: int
    pipeline_lanes: int
    """How many of the chip's lanes, in the order of their numbers, are one pipeline's."""
    into: tuple[int, ...]
    """Of the pipeline that a frame comes in by: a number that is OR'ed with the other one."""
    out: tuple[int, ...] = ()
    """Of the pipeline that it leaves by; empty: 0 for all."""

    def of(self, first_lane: int) -> tuple[int, int]:
        """Return the two numbers of a port by its first lane, which is counted from 1."""
        pipeline = min(max(0, first_lane - 1) // self.pipeline_lanes, len(self.into) - 1)
        return self.into[pipeline], self.out[pipeline] if self.out else 0


@dataclass(frozen=True)
class Chip:
    """A switch's chip."""

    name: str
    """As its maker calls it; empty: not known here."""
    hwskus: re.Pattern[str] = field(repr=False)
    cell_bytes: int = 1
    """1: not known."""
    holds: PoolHolds = "all"
    slices: Slices | None = None
    queues_take: bool = False
    """Whether what queues reserve comes off the memory of the ingress pool, too, in each slice; no more is there for
    the egress pools, either."""
    memory_bytes: int = 0
    """All of it, as shipped configurations have it for a limit that never acts; 0: not known."""
    checked: str = ""
    """What its thresholds were compared with; empty: with nothing."""

    @property
    def spectrum(self) -> int | None:
        """Which of NVIDIA's Spectrum chips it is, 1 to 6, of which SONiC computes pools (sonic-swss,
        cfgmgr/buffer_pool_mellanox.lua); None for others."""
        found = re.fullmatch(r"Spectrum(?:-(\d))?", self.name)
        return None if found is None else int(found[1] or 1)

    @property
    def verdict(self) -> str:
        """What is known of the model's thresholds, as a sentence."""
        if not self.name:
            return "memory is counted as SAI says it, of no chip: thresholds are not checked on hardware"
        how = f"thresholds of one busy port are those of {self.checked}" if self.checked else "not checked on hardware"
        return f"{self.name}: {how}"


_SOME_SPECTRUM = "Spectrum of unknown generation"
_HARDWARE = "hardware that sonic-mgmt measured"
_PAUSES = "hardware that sonic-mgmt measured, of pauses only"
_FORMULA = "sonic-mgmt's formula, by which hardware is tested"
_FOUR = Slices(4, 32, into=(0, 2, 2, 0), out=(0, 0, 1, 1))
"""Broadcom's SDK, soc_tomahawk_port_config_init: memory 0 has pipelines 0 and 3 to 0 and 1, memory 1 the same to 2 and
3, memories 2 and 3 pipelines 1 and 2."""
_TWO = Slices(2, 32, into=(0, 0, 1, 1, 1, 1, 0, 0))
"""Of Tomahawk 3, Broadcom's SDK: pipelines 2 to 5 are the second memory's."""
_TWO_OF_SIXTEEN = Slices(2, 32, into=(0,) * 4 + (1,) * 8 + (0,) * 4)
"""Of Tomahawk 5, by analogy: which pipelines share a memory there is not public."""


def _named(*starts: str) -> re.Pattern[str]:
    return re.compile(f"({'|'.join(starts)})", re.IGNORECASE)


def _spectrum(name: str, cell_bytes: int, digits: str, checked: str = "") -> Chip:
    return Chip(name, _named(rf"(ACS-|LS-|Mellanox-|Nvidia-)M?SN{digits}"), cell_bytes, "free", checked=checked)


CHIPS = (
    Chip(
        "Trident 2",
        _named("Force10-S6000", "Arista-7050-Q", "Arista-7050QX", "Nexus-3164"),
        208,
        memory_bytes=12_779_520,
        checked=_HARDWARE,
    ),
    Chip("Trident 3", _named("Arista-7050CX3"), 256, queues_take=True, memory_bytes=33_554_432, checked=_HARDWARE),
    Chip(
        "Tomahawk",
        _named("Force10-S6100", "Arista-7060CX-32S", "Celestica-DX010", "Seastone-DX010"),
        208,
        "free",
        _FOUR,
        memory_bytes=16_777_216,
        checked=_HARDWARE,
    ),
    Chip(
        "Tomahawk 2",
        _named("Arista-7260CX3"),
        208,
        "free",
        Slices(4, 64, _FOUR.into, _FOUR.out),
        memory_bytes=44_302_336,
        checked=_HARDWARE,
    ),
    Chip(
        "Tomahawk 3",
        _named("DellEMC-Z9332f"),
        254,
        "all",
        _TWO,
        queues_take=True,
        memory_bytes=67_117_468,
        checked=_HARDWARE,
    ),
    Chip(
        "Tomahawk 5",
        _named("Arista-7060X6", "NH-4010"),
        254,
        "all",
        _TWO_OF_SIXTEEN,
        queues_take=True,
        memory_bytes=167_546_528,
        checked=_HARDWARE,
    ),
    Chip(
        "Tomahawk 6",
        _named("NH-4210", "Nokia-IXR7220-H6"),
        420,
        queues_take=True,
        memory_bytes=265_332_900,
        checked=_HARDWARE,
    ),
    Chip("Jericho 2", _named("Arista-7800R3-48CQ"), 256, "without xoff", checked=_PAUSES),
    Chip(
        "Jericho 2C+",
        _named("Arista-7280DR3A", "Arista-7800R3A", "Nokia-IXR7250E", "Nokia-IXR7250-X3B"),
        256,
        "without xoff",
        checked=_PAUSES,
    ),
    _spectrum("Spectrum", 96, "2", checked=_FORMULA),
    _spectrum("Spectrum-2", 144, "3", checked=_FORMULA),
    _spectrum("Spectrum-3", 144, "4", checked=_FORMULA),
    _spectrum("Spectrum-5", 192, r"5\d4"),
    _spectrum("Spectrum-4", 192, "5"),
    _spectrum("Spectrum-6", 256, "6"),
    Chip(_SOME_SPECTRUM, _named("ACS-MSN", "ACS-SN", "LS-SN", "Mellanox-", "Nvidia-"), holds="free"),
    Chip("Tofino", _named("Arista-7170", "montara", "mavericks", "newport"), holds="without xoff"),
)
UNKNOWN = Chip("", re.compile(r"(?!)"))
"""Counted as SAI says it: a pool's size holds everything."""


def chip_of(hwsku: str, platform: str = "") -> Chip:
    """Return the chip of a switch, by its hwsku; `UNKNOWN` where that says nothing, and for a virtual switch, which has
    the hwsku of a real one (docker-sonic-vs: Force10-S6000)."""
    if "kvm" in platform:
        return UNKNOWN
    return next((chip for chip in CHIPS if chip.hwskus.match(hwsku)), UNKNOWN)


def chip_named(name: str) -> Chip | None:
    """Return the chip of that name, as `tomahawk-2`; None if there is none."""
    return next((chip for chip in CHIPS if word_of(chip) == name), None)


def word_of(chip: Chip) -> str:
    """Return a chip's name as a word of a command."""
    return chip.name.lower().replace(" ", "-")
