"""BGP of a switch that has it from a config_db.json of its own: the sessions, timers and networks of that file, not
those of the topology.

bgpcfgd's tables where they can say it: it announces the loopback and the networks of VLANs by itself, has no maximum of
paths, no BFD, and sessions over addresses only. Else frrcfgd's.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Interface

from fabriclab.formats.family import family_of
from fabriclab.formats.plan.node import BgpNeighbour, Node, OwnBgp
from fabriclab.resolve.interfaces import Interface, interfaces
from fabriclab.vendors.sonic.export.policies import neighbour_fields, network_fields, write_policies
from fabriclab.vendors.sonic.export.tables import Tables

_VRF = "default"
_FAMILY = "ipv4_unicast"


def write_own_bgp(node: Node, bgp: OwnBgp, names: Mapping[str, str], tables: Tables) -> None:
    """Write the sessions of a node and what it announces. `names` are SONiC's for the node's interfaces."""
    bgp = _of_ipv4(bgp)
    if _fits_bgpcfgd(node, bgp):
        tables.tables["DEVICE_METADATA"]["localhost"] |= {
            "bgp_asn": str(node.asn),
            "docker_routing_config_mode": "separated",
        }
        for neighbour in bgp.neighbours:
            interface = _interface(node, neighbour)
            local = {} if interface is None else {"local_addr": interface.ip}
            fields = {**_fields(node, neighbour), **local, "nhopself": "0", "rrclient": "0"}
            tables.put("BGP_NEIGHBOR", str(neighbour.address), fields)
        return
    write_globals(node, tables)
    if bgp.max_paths is not None:
        tables.put("BGP_GLOBALS_AF", f"{_VRF}|{_FAMILY}", {"max_ebgp_paths": str(bgp.max_paths)})
    for prefix in bgp.networks:
        tables.put("BGP_GLOBALS_AF_NETWORK", f"{_VRF}|{_FAMILY}|{prefix}", network_fields(bgp, prefix))
    write_policies(bgp, tables)
    for neighbour in bgp.neighbours:
        _write_for_frrcfgd(node, neighbour, names, tables)


def _of_ipv4(bgp: OwnBgp) -> OwnBgp:
    """Return what is written: the export leaves IPv6 unsaid."""
    neighbours = tuple(one for one in bgp.neighbours if one.carries(4))
    return bgp.model_copy(
        update={"neighbours": neighbours, "networks": tuple(one for one in bgp.networks if family_of(one) == 4)}
    )


def _fits_bgpcfgd(node: Node, bgp: OwnBgp) -> bool:
    is_plain = not bgp.announcements and all(
        one.address is not None and one.asn is not None and not one.bfd and one.policy is None for one in bgp.neighbours
    )
    vlans = (str(IPv4Interface(vlan.address).network) for vlan in node.vlans if vlan.address is not None)
    return is_plain and bgp.max_paths is None and bgp.networks == (f"{node.loopback}/32", *vlans)


def _fields(node: Node, neighbour: BgpNeighbour) -> dict[str, str]:
    behind = _interface(node, neighbour)
    fields = {} if behind is None else {"name": behind.ports[0].peer_node}
    fields |= {"asn": str(neighbour.asn)} if neighbour.asn is not None else {"peer_type": "external"}
    return fields | {"keepalive": str(neighbour.keepalive_s), "holdtime": str(neighbour.hold_s), "admin_status": "up"}


def _interface(node: Node, neighbour: BgpNeighbour) -> Interface | None:
    return next((one for one in interfaces(node) if one.name == neighbour.interface), None)


def _write_for_frrcfgd(node: Node, neighbour: BgpNeighbour, names: Mapping[str, str], tables: Tables) -> None:
    fields = _fields(node, neighbour) | ({"bfd": "true"} if neighbour.bfd else {})
    peer = neighbour.address
    if peer is None:
        peer = names.get(neighbour.interface, neighbour.interface)
        fields["capability_ext_nexthop"] = "true"
        table = "INTERFACE" if neighbour.interface in names else "PORTCHANNEL_INTERFACE"
        tables.put(table, peer, {"ipv6_use_link_local_only": "enable"})
    tables.put("BGP_NEIGHBOR", f"{_VRF}|{peer}", fields)
    family = {"admin_status": "up", **neighbour_fields(neighbour.policy)}
    tables.put("BGP_NEIGHBOR_AF", f"{_VRF}|{peer}|{_FAMILY}", family)


def write_globals(node: Node, tables: Tables) -> None:
    """Say that frrcfgd reads the tables (`unified`), and what BGP is told of the whole switch."""
    tables.tables["DEVICE_METADATA"]["localhost"] |= {
        "frr_mgmt_framework_config": "true",
        "docker_routing_config_mode": "unified",
    }
    tables.put(
        "BGP_GLOBALS",
        _VRF,
        {"local_asn": str(node.asn), "router_id": str(node.loopback), "load_balance_mp_relax": "true"},
    )
