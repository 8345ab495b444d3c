"""A host's MPTCP as written: its keys and their bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabriclab.formats import ranges
from fabriclab.lab.reading.or_none import Part, read_part
from fabriclab.lab.reading.problems import Place
from fabriclab.lab.reading.section import Section, Written

MPTCP_KEYS = ("subflows", "scheduler", "path_manager", "add_addr_accepted")
SCHEDULERS = ("default",)
"""What Linux 6.12 has (net/mptcp/sched.c); others would be BPF programs."""
PATH_MANAGERS = ("subflow", "fullmesh", "signal")
"""Flags of endpoints, ip-mptcp(8)."""
MOST_ADDRESSES = ranges.ENDPOINTS.most
"""MPTCP_PM_ADDR_MAX, net/mptcp/protocol.h: endpoints of a host, and the largest of its limits."""


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
    return read_part(host, "mptcp", MPTCP_KEYS, _read, WrittenMptcp(is_none=True))


def _read(section: Section) -> WrittenMptcp:
    return WrittenMptcp(
        subflows=section.count(
            "subflows", 1, MOST_ADDRESSES, "of a connection, the first one included; the kernel has 8 endpoints"
        ),
        scheduler=section.choice("scheduler", SCHEDULERS),
        path_manager=section.choice("path_manager", PATH_MANAGERS),
        add_addr_accepted=section.count("add_addr_accepted", 0, MOST_ADDRESSES, "addresses that the peer announces"),
        place=section.place,
    )
