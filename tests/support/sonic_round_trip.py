"""Export of a switch, import of that, and what of the plan must come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.units import format_size
from fabriclab.vendors.sonic.export import Exported, export_switch
from fabriclab.vendors.sonic.export.interfaces import sonic_names
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import parse_config_db


def reimported(exported: Exported, directory: Path, name: str, cell: str | None = None) -> Plan:
    """Return the plan of the lab that an exported file is imported as."""
    lab = import_lab(parse_config_db(exported.text.encode(), "config_db.json"), name, cell)
    directory.mkdir(parents=True, exist_ok=True)
    for file, text in lab.files.items():
        (directory / file).write_text(text, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


def round_trip(plan: Plan, name: str, directory: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what must be the same before and after, of one switch."""
    node = plan.node(name)
    cell = None if node.switch is None or node.switch.cell_bytes == 1 else format_size(node.switch.cell_bytes)
    again = reimported(export_switch(node, plan), directory, name, cell)
    return substance(node, plan), substance(again.node(name), again)


def substance(node: Node, plan: Plan) -> dict[str, Any]:
    """Return what CONFIG_DB says of a switch: its ports by SONiC's names, its memory, its BGP.

    Not where the figures are from.
    """
    names = sonic_names([port.interface for port in node.ports])
    kept = {"address", "rate_bps", "delay_ns", "mtu", "switch_port"}
    return {
        "ports": {names[port.interface]: port.model_dump(include=kept) for port in node.ports},
        "channels": {channel.name: _group(channel.members, channel.address, names) for channel in node.port_channels},
        "vlans": {vlan.name: _group(vlan.members, vlan.address, names) for vlan in node.vlans},
        "memory": None if node.switch is None else node.switch.model_dump(include={"cell_bytes", "pools"}),
        "bgp": None
        if plan.bgp is None
        else (node.asn, node.loopback, plan.bgp.keepalive_s, plan.bgp.hold_s, plan.bgp.unnumbered),
        "peers": {names[port.interface]: plan.node(port.peer_node).asn for port in node.ports},
    }


def _group(members: tuple[str, ...], address: str | None, names: dict[str, str]) -> tuple[list[str], str | None]:
    return [names.get(member, member) for member in members], address
