"""What of a config_db.json nobody reads, where FRR stands in for a switch that is bound to it already."""

from __future__ import annotations

from collections.abc import Collection

from fabriclab.registry.vendors import StandIn
from fabriclab.vendors.sonic.read.read import examine_config_db


def read(data: bytes, file: str, interfaces: Collection[str]) -> StandIn:
    """Return what is not read of a file; `kind` has what is. Raises LabError for what is not configuration."""
    del interfaces
    config, _ = examine_config_db(data, file)
    left_out = () if config is None else config.left_out
    entries = (f"{one.what} ({one.entries} {'entry' if one.entries == 1 else 'entries'})" for one in left_out)
    return StandIn(unread=tuple(entries))
