"""A host's MPTCP as written: its keys and their bounds, and how one layer of `hosts` overrides another."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.or_none import NONE
from fabriclab.lab.reading.problems import Place, listed, shown
from fabriclab.lab.reading.section import Section, Written

MPTCP_KEYS = ("subflows", "scheduler", "path_manager", "add_addr_accepted")
SCHEDULERS = ("default",)
"""What Linux 6.12 has (net/mptcp/sched.c); others would be BPF programs."""
PATH_MANAGERS = ("subflow", "fullmesh", "signal")
"""Flags of endpoints, ip-mptcp(8)."""
MOST_ADDRESSES = 8
"""MPTCP_PM_ADDR_MAX, net/mptcp/protocol.h: endpoints of a host, and the largest of its limits."""


@dataclass(frozen=True)
class WrittenMptcp:
    """What an experiment says of a host's MPTCP; None: nothing. With `is_none` it says that there is none."""

    is_none: bool = False
    subflows: Written[int] | None = None
    scheduler: Written[str] | None = None
    path_manager: Written[str] | None = None
    add_addr_accepted: Written[int] | None = None
    place: Place | None = field(default=None, compare=False)
    """Where it is written."""


def read_mptcp(host: Section) -> WrittenMptcp | None:
    """Return the `mptcp` of a host's section; None when it is absent or wrong."""
    value = host.get("mptcp")
    if isinstance(value, ScalarValue) and not value.is_null:
        if value.text.strip() == NONE:
            return WrittenMptcp(is_none=True)
        host.complain(
            "mptcp", f"{shown(value.text)} stands here; a mapping of {listed(MPTCP_KEYS)} is wanted, or '{NONE}'"
        )
        return None
    section = host.section("mptcp", MPTCP_KEYS)
    if section is None:
        return None
    return WrittenMptcp(
        subflows=section.count(
            "subflows", 1, MOST_ADDRESSES, "of a connection, the first one included; the kernel has 8 endpoints"
        ),
        scheduler=section.choice("scheduler", SCHEDULERS),
        path_manager=section.choice("path_manager", PATH_MANAGERS),
        add_addr_accepted=section.count("add_addr_accepted", 0, MOST_ADDRESSES, "addresses that the peer announces"),
        place=section.place,
    )


def override_mptcp(base: WrittenMptcp | None, over: WrittenMptcp | None) -> WrittenMptcp | None:
    """Return `base` overridden key by key; `none` on either side leaves nothing of the base."""
    if base is None or over is None or base.is_none or over.is_none:
        return base if over is None else over
    return replace(base, **{one.name: value for one in fields(over) if (value := getattr(over, one.name)) is not None})
