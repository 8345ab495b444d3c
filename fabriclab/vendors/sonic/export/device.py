"""DEVICE_METADATA, PORT, CABLE_LENGTH, INTERFACE, LOOPBACK_INTERFACE, DEVICE_NEIGHBOR."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port
from fabriclab.units import format_duration, format_rate
from fabriclab.vendors.sonic.export.interfaces import lanes
from fabriclab.vendors.sonic.export.static_routes import write_static_routes
from fabriclab.vendors.sonic.export.tables import Tables

HWSKU, PLATFORM = "Force10-S6000", "x86_64-kvm_x86_64-r0"
"""docker-sonic-vs' own, so that the file boots there."""
LOOPBACK = "Loopback0"
_CABLES = "AZURE"
_NS_A_METRE = 5
_BITS_A_MBIT = 10**6
_LARGEST_MTU = 9216
_LARGEST_SPEED_MBPS = 1_600_000


def write_device(node: Node, plan: Plan, names: Mapping[str, str], tables: Tables) -> None:
    """Write all these tables; `names` are SONiC's for the node's interfaces."""
    roles = {port.peer_node: plan.node(port.peer_node).role for port in node.ports}
    metadata = {
        "hostname": node.name,
        "hwsku": HWSKU,
        "platform": PLATFORM,
        "type": "ToRRouter" if "host" in roles.values() else "LeafRouter",
        "buffer_model": "traditional",
    }
    tables.put("DEVICE_METADATA", "localhost", metadata | ({"mac": node.ports[0].mac} if node.ports else {}))
    for index, port in enumerate(node.ports, start=1):
        _write_port(port, names[port.interface], index, tables)
    if node.loopback is not None:
        tables.put("LOOPBACK_INTERFACE", LOOPBACK)
        tables.put("LOOPBACK_INTERFACE", f"{LOOPBACK}|{node.loopback}/32")
    for name, role in roles.items():
        tables.put("DEVICE_NEIGHBOR_METADATA", name, {"type": "Server" if role == "host" else "LeafRouter"})
    write_static_routes(node, plan, names, tables)


def _write_port(port: Port, name: str, index: int, tables: Tables) -> None:
    fields = {
        "alias": port.interface,
        "lanes": lanes(name),
        "speed": str(speed_mbps(port)),
        "index": str(index),
        "admin_status": "up",
    }
    if speed_mbps(port) * _BITS_A_MBIT != port.rate_bps:
        tables.leave_unsaid(
            name,
            f"{format_rate(port.rate_bps)}: SONiC allows whole Mbit/s up to {_LARGEST_SPEED_MBPS}; {fields['speed']} "
            "was written",
        )
    if port.mtu <= _LARGEST_MTU:
        fields["mtu"] = str(port.mtu)
    else:
        tables.leave_unsaid(name, f"MTU {port.mtu}; SONiC allows at most {_LARGEST_MTU}")
    tables.put("PORT", name, fields)
    if port.address is not None:
        tables.put("INTERFACE", name)
        tables.put("INTERFACE", f"{name}|{port.address}")
    tables.put("DEVICE_NEIGHBOR", name, {"name": port.peer_node, "port": port.peer_interface})
    if port.delay_ns % _NS_A_METRE == 0:
        cables = tables.tables.setdefault("CABLE_LENGTH", {}).setdefault(_CABLES, {})
        cables[name] = f"{cable_metres(port)}m"
    else:
        tables.leave_unsaid(
            name,
            f"a cable of {format_duration(port.delay_ns)}, which is not a whole number of metres ({_NS_A_METRE} ns "
            "each)",
        )


def speed_mbps(port: Port) -> int:
    """Return a port's rate in whole Mbit/s, within SONiC's bounds."""
    return min(max(1, port.rate_bps // _BITS_A_MBIT), _LARGEST_SPEED_MBPS)


def cable_metres(port: Port) -> int:
    """Return the length of a port's cable in whole metres."""
    return port.delay_ns // _NS_A_METRE
