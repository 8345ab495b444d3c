"""SWITCH_TRIMMING."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.plan.switch import SwitchPort, Trimming
from fabriclab.vendors.sonic.export.tables import Tables


def write_trimming(ports: Mapping[str, SwitchPort], tables: Tables) -> None:
    """Write the table, which says the same of all ports; `ports` have SONiC's names."""
    said: dict[Trimming, str] = {}
    for name, port in ports.items():
        if port.trimming is not None:
            said.setdefault(port.trimming, name)
    if len(said) > 1:
        first = next(iter(said.values()))
        tables.leave_unsaid("trimming", f"ports differ; SONiC has one for all, so that of {first} is written")
    for trimming in list(said)[:1]:
        fields = {
            "size": str(trimming.size_bytes),
            "dscp_value": str(trimming.dscp),
            "queue_index": "dynamic" if trimming.queue is None else str(trimming.queue),
        }
        tables.put("SWITCH_TRIMMING", "GLOBAL", fields)
