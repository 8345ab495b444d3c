"""A NIC's pacer as written: its keys and their bounds."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats import ranges
from fabriclab.lab.reading.or_none import Part, read_part
from fabriclab.lab.reading.section import Section, Written

PACER_KEYS = ("bucket", "interval", "eta", "beta", "probability", "idle")
LARGEST_BUCKET_BYTES, LARGEST_BETA = ranges.BUCKET_BYTES.most, ranges.BETA.most
SHORTEST_INTERVAL_NS, LONGEST_INTERVAL_NS = ranges.PACER_INTERVAL
LONGEST_IDLE_NS = ranges.PACER_IDLE.most
"""As the kernel has them: `pacer.c` of its `switch_port`."""
WHOLE_PPM = ranges.PPM.most


@dataclass(frozen=True)
class WrittenPacer(Part):
    """What an experiment says of a NIC's pacer; None: nothing. With `is_none` it says that the NIC has none."""

    bucket: Written[int] | None = None
    interval: Written[int] | None = None
    eta: Written[int] | None = None
    """Parts of a million, and so is `probability`."""
    beta: Written[int] | None = None
    probability: Written[int] | None = None
    idle: Written[int] | None = None


def read_pacer(nic: Section) -> WrittenPacer | None:
    """Return the `pacer` of a NIC's section; None when it is absent or wrong."""
    return read_part(nic, "pacer", PACER_KEYS, _read, WrittenPacer(is_none=True))


def _read(section: Section) -> WrittenPacer:
    return WrittenPacer(
        bucket=section.size("bucket", 1, LARGEST_BUCKET_BYTES),
        interval=section.duration("interval", SHORTEST_INTERVAL_NS, LONGEST_INTERVAL_NS, "from one rate to the next"),
        eta=section.percent("eta", 0, WHOLE_PPM),
        beta=section.count("beta", 0, LARGEST_BETA, "a second"),
        probability=section.percent("probability", 0, WHOLE_PPM),
        idle=section.duration("idle", 0, LONGEST_IDLE_NS, "without a frame of the flow"),
    )
