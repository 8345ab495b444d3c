"""PORTCHANNEL and VLAN, each with its members and its interface."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.plan.node import Node, Vlan
from fabriclab.vendors.sonic.export.tables import Tables

_SMALLEST_VLAN = 2
"""sonic-vlan.yang."""
_LARGEST_MTU = 9216


def write_groups(node: Node, names: Mapping[str, str], tables: Tables) -> None:
    """Write the port channels and VLANs of a switch; `names` are SONiC's for its ports."""
    mtus = {port.interface: port.mtu for port in node.ports}
    for channel in node.port_channels:
        mtu = min(mtus[channel.members[0]], _LARGEST_MTU)
        tables.put("PORTCHANNEL", channel.name, {"admin_status": "up", "mtu": str(mtu)})
        for member in channel.members:
            tables.put("PORTCHANNEL_MEMBER", f"{channel.name}|{names[member]}")
        if channel.address is not None:
            _write_interface("PORTCHANNEL_INTERFACE", channel.name, channel.address, tables)
        tables.leave_unsaid(channel.name, "a static port channel; SONiC's teamd speaks LACP")
    for vlan in node.vlans:
        _write_vlan(vlan, names, tables)


def _write_vlan(vlan: Vlan, names: Mapping[str, str], tables: Tables) -> None:
    if vlan.vlan_id < _SMALLEST_VLAN:
        tables.leave_unsaid(vlan.name, f"SONiC allows Vlan{_SMALLEST_VLAN} to Vlan4094; left out")
        return
    tables.put("VLAN", vlan.name, {"vlanid": str(vlan.vlan_id)})
    for member in vlan.members:
        tables.put("VLAN_MEMBER", f"{vlan.name}|{names.get(member, member)}", {"tagging_mode": "untagged"})
    if vlan.address is not None:
        _write_interface("VLAN_INTERFACE", vlan.name, vlan.address, tables)


def _write_interface(table: str, name: str, address: str, tables: Tables) -> None:
    tables.put(table, name)
    tables.put(table, f"{name}|{address}")
