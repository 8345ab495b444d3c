"""A switch of a plan as a complete config_db.json."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.vendors.sonic.export.acls import write_acls
from fabriclab.vendors.sonic.export.bgp import write_bgp
from fabriclab.vendors.sonic.export.buffers import write_buffers
from fabriclab.vendors.sonic.export.device import cable_metres, speed_mbps, write_device
from fabriclab.vendors.sonic.export.groups import write_groups
from fabriclab.vendors.sonic.export.interfaces import sonic_names
from fabriclab.vendors.sonic.export.load_balancing import write_load_balancing
from fabriclab.vendors.sonic.export.maps import write_maps
from fabriclab.vendors.sonic.export.queues import write_queues
from fabriclab.vendors.sonic.export.stock import shared_buffer
from fabriclab.vendors.sonic.export.tables import ConfigTables, Tables, config_text
from fabriclab.vendors.sonic.export.trimming import write_trimming


@dataclass(frozen=True)
class Exported:
    """A switch's config_db.json, and what it has no word for."""

    tables: ConfigTables
    unsaid: tuple[str, ...]
    """What the plan has and CONFIG_DB has no word for, a sentence each."""

    @property
    def text(self) -> str:
        """Return the text of config_db.json."""
        return config_text(self.tables)


def export_switch(node: Node, plan: Plan) -> Exported:
    """Return a switch's config_db.json. Raises ValueError where the names of its interfaces cannot be SONiC's, and for
    a fabric of IPv6 only."""
    tables = Tables()
    if 4 not in plan.families:
        raise ValueError(
            "the fabric has only IPv6 addresses, but the export writes only IPv4 addresses; write addresses: dual"
        )
    if 6 in plan.families:
        tables.leave_unsaid("IPv6", "addresses and BGP of IPv6; only IPv4 is written")
    names = sonic_names([port.interface for port in node.ports])
    write_device(node, plan, names, tables)
    write_groups(node, names, tables)
    write_bgp(node, plan, names, tables)
    switch, by_interface = shared_buffer(node, tables)
    ports = {names[interface]: port for interface, port in by_interface.items()}
    cables = {names[port.interface]: f"{speed_mbps(port)}_{cable_metres(port)}m" for port in node.ports}
    write_maps(ports, tables)
    write_buffers(switch, ports, cables, tables)
    write_queues(ports, tables)
    write_trimming(ports, tables)
    write_load_balancing(node.load_balancing, tables)
    write_acls(node, names, tables)
    return Exported(tables.tables, tables.sentences())
