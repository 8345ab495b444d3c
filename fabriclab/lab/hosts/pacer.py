"""A NIC's pacer as written: its keys and their bounds, and how one layer of `hosts` overrides another."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.or_none import NONE
from fabriclab.lab.reading.problems import listed, shown
from fabriclab.lab.reading.section import Section, Written

PACER_KEYS = ("bucket", "interval", "eta", "beta", "probability", "idle")
LARGEST_BUCKET_BYTES, LARGEST_BETA = 1_000_000, 10_000
SHORTEST_INTERVAL_NS, LONGEST_INTERVAL_NS = 1_000, 10_000_000
LONGEST_IDLE_NS = 1_000_000_000
"""As the kernel has them: `pacer.c` of its `switch_port`."""
WHOLE_PPM = 1_000_000


@dataclass(frozen=True)
class WrittenPacer:
    """What an experiment says of a NIC's pacer; None: nothing. With `is_none` it says that the NIC has none."""

    is_none: bool = False
    bucket: Written[int] | None = None
    interval: Written[int] | None = None
    eta: Written[int] | None = None
    """Parts of a million, and so is `probability`."""
    beta: Written[int] | None = None
    probability: Written[int] | None = None
    idle: Written[int] | None = None


def read_pacer(nic: Section) -> WrittenPacer | None:
    """Return the `pacer` of a NIC's section; None when it is absent or wrong."""
    value = nic.get("pacer")
    if isinstance(value, ScalarValue) and not value.is_null:
        if value.text.strip() == NONE:
            return WrittenPacer(is_none=True)
        nic.complain(
            "pacer", f"{shown(value.text)} stands here; a mapping of {listed(PACER_KEYS)} is wanted, or '{NONE}'"
        )
        return None
    section = nic.section("pacer", PACER_KEYS)
    if section is None:
        return None
    return WrittenPacer(
        bucket=section.size("bucket", 1, LARGEST_BUCKET_BYTES),
        interval=section.duration("interval", SHORTEST_INTERVAL_NS, LONGEST_INTERVAL_NS, "from one rate to the next"),
        eta=section.percent("eta", 0, WHOLE_PPM),
        beta=section.count("beta", 0, LARGEST_BETA, "a second"),
        probability=section.percent("probability", 0, WHOLE_PPM),
        idle=section.duration("idle", 0, LONGEST_IDLE_NS, "without a frame of the flow"),
    )


def override_pacer(base: WrittenPacer | None, over: WrittenPacer | None) -> WrittenPacer | None:
    """Return `base` overridden key by key; `none` on either side leaves nothing of the base."""
    if base is None or over is None or base.is_none or over.is_none:
        return base if over is None else over
    return replace(base, **{one.name: value for one in fields(over) if (value := getattr(over, one.name)) is not None})
