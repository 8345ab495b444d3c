"""A host's MPTCP as written."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabriclab.lab.hosts.keys import MPTCP
from fabriclab.lab.reading.or_none import Part, read_part
from fabriclab.lab.reading.problems import Place
from fabriclab.lab.reading.section import Section, Written


@dataclass(frozen=True)
class WrittenMptcp(Part):
    """What an experiment says of a host's MPTCP; None: nothing. With `is_none` it says that there is none."""

    subflows: Written[int] | None = None
    scheduler: Written[str] | None = None
    path_manager: Written[str] | None = None
    add_addr_accepted: Written[int] | None = None
    place: Place | None = field(default=None, compare=False)
    """Where it is written."""


def read_mptcp(host: Section) -> WrittenMptcp | None:
    """Return the `mptcp` of a host's section; None when it is absent or wrong."""
    return read_part(host, "mptcp", MPTCP, _read, WrittenMptcp(is_none=True))


def _read(section: Section) -> WrittenMptcp:
    return section.fill(WrittenMptcp, MPTCP, place=section.place)
