"""BGP: bgpcfgd's tables where they can say it, else frrcfgd's (sessions without addresses, BFD)."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.plan.model import Bgp, Plan
from fabriclab.formats.plan.node import Node
from fabriclab.resolve.bgp import originated_prefixes
from fabriclab.resolve.interfaces import fabric_neighbours
from fabriclab.vendors.sonic.export.configured_bgp import write_globals, write_own_bgp
from fabriclab.vendors.sonic.export.tables import Tables

_VRF = "default"
_FAMILY = "ipv4_unicast"
_MOST_PATHS = 256


def write_bgp(node: Node, plan: Plan, names: Mapping[str, str], tables: Tables) -> None:
    """Write the sessions of a node; nothing where routes are static. `names` are SONiC's for the node's interfaces."""
    bgp = plan.bgp
    if bgp is None:
        return
    if node.bgp is not None:
        write_own_bgp(node, node.bgp, names, tables)
    elif bgp.unnumbered or bgp.bfd is not None:
        _write_for_frrcfgd(node, plan, bgp, names, tables)
    else:
        _write_for_bgpcfgd(node, plan, bgp, tables)


def _write_for_bgpcfgd(node: Node, plan: Plan, bgp: Bgp, tables: Tables) -> None:
    tables.tables["DEVICE_METADATA"]["localhost"] |= {
        "bgp_asn": str(node.asn),
        "docker_routing_config_mode": "separated",
    }
    tables.leave_unsaid(
        "BGP", f"max_paths {bgp.max_paths} (bgpcfgd has the platform's constants.yml), and the prefixes of hosts' links"
    )
    for interface, neighbour in fabric_neighbours(node, plan.by_name()):
        fields = {"asn": str(neighbour.node.asn), "name": neighbour.node.name, "local_addr": interface.ip}
        fields |= {
            "keepalive": str(bgp.keepalive_s),
            "holdtime": str(bgp.hold_s),
            "nhopself": "0",
            "rrclient": "0",
            "admin_status": "up",
        }
        tables.put("BGP_NEIGHBOR", neighbour.interface.ip, fields)


def _write_for_frrcfgd(node: Node, plan: Plan, bgp: Bgp, names: Mapping[str, str], tables: Tables) -> None:
    write_globals(node, tables)
    if bgp.max_paths > _MOST_PATHS:
        tables.leave_unsaid("BGP", f"max_paths {bgp.max_paths}; SONiC allows at most {_MOST_PATHS}")
    tables.put("BGP_GLOBALS_AF", f"{_VRF}|{_FAMILY}", {"max_ebgp_paths": str(min(bgp.max_paths, _MOST_PATHS))})
    for prefix in originated_prefixes(node, plan.by_name()):
        tables.put("BGP_GLOBALS_AF_NETWORK", f"{_VRF}|{_FAMILY}|{prefix}")
    if bgp.bfd is not None:
        tables.leave_unsaid("BFD", "its interval and multiplier: a session has only bfd true or false")
    for interface, neighbour in fabric_neighbours(node, plan.by_name()):
        fields = {
            "name": neighbour.node.name,
            "keepalive": str(bgp.keepalive_s),
            "holdtime": str(bgp.hold_s),
            "admin_status": "up",
        }
        if bgp.bfd is not None:
            fields["bfd"] = "true"
        if bgp.unnumbered:
            peer = names.get(interface.name, interface.name)
            fields |= {"peer_type": "external", "capability_ext_nexthop": "true"}
            table = "INTERFACE" if interface.name in names else "PORTCHANNEL_INTERFACE"
            tables.put(table, peer, {"ipv6_use_link_local_only": "enable"})
        else:
            peer = neighbour.interface.ip
            fields["asn"] = str(neighbour.node.asn)
        tables.put("BGP_NEIGHBOR", f"{_VRF}|{peer}", fields)
        tables.put("BGP_NEIGHBOR_AF", f"{_VRF}|{peer}|{_FAMILY}", {"admin_status": "up"})
