"""A NIC's QCN limiters as written (`hosts.X.nic.qcn`): their keys and bounds."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats import ranges
from fabriclab.lab.reading.or_none import Part, read_part
from fabriclab.lab.reading.section import Section, Written

LIMITER_KEYS = ("least", "active", "hyper", "cycle_bytes", "cycle_time")
SLOWEST_LIMIT_BPS, FASTEST_LIMIT_BPS = ranges.LIMITER_RATE
LEAST_CYCLE_BYTES, MOST_CYCLE_BYTES = ranges.CYCLE_BYTES
SHORTEST_CYCLE_NS, LONGEST_CYCLE_NS = ranges.CYCLE_TIME
"""As the kernel has them: `qcn_limiter.c` of its `switch_port`."""


@dataclass(frozen=True)
class WrittenLimiter(Part):
    """What an experiment says of a NIC's limiters; None: nothing. With `is_none` it says that the NIC has none."""

    least: Written[int] | None = None
    active: Written[int] | None = None
    hyper: Written[int] | None = None
    cycle_bytes: Written[int] | None = None
    cycle_time: Written[int] | None = None


def read_limiter(nic: Section) -> WrittenLimiter | None:
    """Return the `qcn` of a NIC's section; None when it is absent or wrong."""
    return read_part(nic, "qcn", LIMITER_KEYS, _read, WrittenLimiter(is_none=True))


def _read(section: Section) -> WrittenLimiter:
    return WrittenLimiter(
        least=section.rate("least", SLOWEST_LIMIT_BPS, FASTEST_LIMIT_BPS),
        active=section.rate("active", SLOWEST_LIMIT_BPS, FASTEST_LIMIT_BPS),
        hyper=section.rate("hyper", SLOWEST_LIMIT_BPS, FASTEST_LIMIT_BPS),
        cycle_bytes=section.size("cycle_bytes", LEAST_CYCLE_BYTES, MOST_CYCLE_BYTES),
        cycle_time=section.duration("cycle_time", SHORTEST_CYCLE_NS, LONGEST_CYCLE_NS, "of the timer"),
    )
