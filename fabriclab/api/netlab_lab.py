"""The lab of a netlab topology: the Containerlab file that netlab made of it, or makes now."""

from __future__ import annotations

import os
from pathlib import Path

from fabriclab.api.consent import lab_subject
from fabriclab.consent.gate import is_trusted
from fabriclab.engine.netlab import MADE, NetlabError, create, create_line, has_netlab
from fabriclab.errors import ArgumentError


def netlab_lab(topology: Path) -> Path | None:
    """Return the Containerlab file of a netlab topology; None where there is neither such a file nor netlab
    to make it.

    netlab runs plugins and templates that a topology brings, outside of its nodes: only for one that is trusted.
    Raises ArgumentError, TrustStateError.
    """
    made = topology.with_name(MADE)
    is_current = made.is_file() and made.stat().st_mtime_ns >= topology.stat().st_mtime_ns
    if is_current:
        return made
    if not has_netlab():
        if made.is_file():
            raise ArgumentError(
                "{0}: is newer than {1}; `{2}` in its directory makes that again", topology, made, _line(topology)
            )
        return None
    if not is_trusted(lab_subject(topology)):
        raise ArgumentError(
            "{0}: is a netlab topology; netlab makes the lab of it, and runs plugins and templates that it brings. "
            "Look at it first: `fabriclab trust {0}` lets fabriclab call `{1}`, or run that in its directory yourself",
            topology,
            _line(topology),
        )
    try:
        return _not_older(create(topology), topology)
    except NetlabError as error:
        raise ArgumentError("{0}: {1}", topology, error) from error


def _not_older(made: Path, topology: Path) -> Path:
    """Date what was made as its topology where that is dated ahead, as on a disk of another host: it is made once."""
    dated_ns = topology.stat().st_mtime_ns
    if made.stat().st_mtime_ns < dated_ns:
        os.utime(made, ns=(dated_ns, dated_ns))
    return made


def _line(topology: Path) -> str:
    return create_line(topology.name)
