"""A sound fabric of six SONiC switches with what operators add: an MCLAG, VXLAN with EVPN, a VRF, a dual ToR, relays
of DHCP, storm control. leaf1 and leaf2 are the MCLAG, leaf3 and leaf4 the dual ToR."""

from __future__ import annotations

from ipaddress import IPv4Interface
from typing import Any

from sonic_scale import Tables, leaf_spine

PEER_LINK = "Ethernet16"
"""The port after two hosts and two spines."""


def overlay() -> dict[str, Tables]:
    """Return the tables of each switch."""
    fabric = leaf_spine(2, 4)
    for number, name in enumerate(("leaf1", "leaf2", "leaf3", "leaf4")):
        _add_overlay(fabric[name], number)
    _add_mclag(fabric["leaf1"], fabric["leaf2"])
    _add_dual_tor(fabric["leaf3"], fabric["leaf4"])
    for tables in fabric.values():
        for port, fields in tables["PORT"].items():
            fields["mtu"] = "9216" if port in tables["DEVICE_NEIGHBOR"] else "9100"
        _speak_by_frrcfgd(tables)
    return fabric


def _speak_by_frrcfgd(tables: Tables) -> None:
    """Give the tables of BGP those of frrcfgd, with the family of EVPN: bgpcfgd has no table for it."""
    local = tables["DEVICE_METADATA"]["localhost"]
    local["frr_mgmt_framework_config"] = "true"
    loopback = next(key for key in tables["LOOPBACK_INTERFACE"] if key.startswith("Loopback0|")).partition("|")[2]
    router_id = loopback.partition("/")[0]
    tables["BGP_GLOBALS"] = {"default": {"local_asn": local.pop("bgp_asn"), "router_id": router_id}}
    networks = [key.partition("|")[2] for key in tables.get("VLAN_INTERFACE", {}) if "|" in key]
    announced = [loopback, *(str(IPv4Interface(network).network) for network in networks)]
    tables["BGP_GLOBALS_AF_NETWORK"] = {f"default|ipv4_unicast|{network}": {} for network in announced}
    neighbours = {f"default|{key}": fields for key, fields in tables["BGP_NEIGHBOR"].items()}
    tables["BGP_NEIGHBOR"] = {key: {"asn": fields["asn"], "name": fields["name"]} for key, fields in neighbours.items()}
    families = ("ipv4_unicast", "l2vpn_evpn")
    tables["BGP_GLOBALS_AF"] = {"default|l2vpn_evpn": {"advertise-all-vni": "true"}}
    tables["BGP_NEIGHBOR_AF"] = {f"{key}|{name}": {"admin_status": "true"} for key in neighbours for name in families}


def _add_overlay(leaf: Tables, number: int) -> None:
    leaf["LOOPBACK_INTERFACE"] |= {"Loopback1": {}, f"Loopback1|10.254.0.{number + 1}/32": {}}
    loopback = next(key for key in leaf["LOOPBACK_INTERFACE"] if key.startswith("Loopback0|"))
    leaf["VXLAN_TUNNEL"] = {"vtep": {"src_ip": loopback.partition("|")[2].partition("/")[0]}}
    leaf["VXLAN_TUNNEL_MAP"] = {
        "vtep|map_1000_Vlan1000": {"vlan": "Vlan1000", "vni": "11000"},
        "vtep|map_99_Vlan99": {"vlan": "Vlan99", "vni": "10099"},
    }
    leaf["VLAN"]["Vlan99"] = {"vlanid": "99"}
    leaf["VLAN"]["Vlan1000"]["dhcp_servers"] = ["192.0.2.1", "192.0.2.2"]
    leaf["VXLAN_EVPN_NVO"] = {"nvo": {"source_vtep": "vtep"}}
    leaf["VRF"] = {"Vrf-red": {"vni": "10099"}}
    leaf["PORT_STORM_CONTROL"] = {f"Ethernet{port}|broadcast": {"kbps": "10000"} for port in (0, 4)}


def _add_mclag(one: Tables, other: Tables) -> None:
    for near, far, name, address, peer in (
        (one, other, "leaf2", "10.250.0.0", "10.250.0.1"),
        (other, one, "leaf1", "10.250.0.1", "10.250.0.0"),
    ):
        _add_port(near, far, name, address)
        near["MCLAG_DOMAIN"] = {
            "1": {
                **{"source_ip": address, "peer_ip": peer, "peer_link": PEER_LINK},
                **{"keepalive_interval": "1", "session_timeout": "15"},
            }
        }
        near["PORTCHANNEL"] = {"PortChannel10": {"admin_status": "up"}}
        near["PORTCHANNEL_MEMBER"] = {"PortChannel10|Ethernet0": {}}
        near["MCLAG_INTERFACE"] = {"1|PortChannel10": {"if_type": "PortChannel"}}
        near["VLAN_MEMBER"] = {
            "Vlan1000|PortChannel10": {"tagging_mode": "untagged"},
            "Vlan1000|Ethernet4": {"tagging_mode": "untagged"},
        }


def _add_port(near: Tables, far: Tables, name: str, address: str) -> None:
    """Add the link between the two switches of an MCLAG, with the tables of QoS of another port."""
    del far
    near["PORT"][PEER_LINK] = {**near["PORT"]["Ethernet12"], "lanes": "41,42,43,44", "index": "5"}
    near["CABLE_LENGTH"]["AZURE"][PEER_LINK] = "20m"
    near["INTERFACE"] |= {PEER_LINK: {}, f"{PEER_LINK}|{address}/31": {}}
    near["DEVICE_NEIGHBOR"][PEER_LINK] = {"name": name, "port": PEER_LINK}
    near["DEVICE_NEIGHBOR_METADATA"][name] = {"type": "ToRRouter"}
    for table in ("PFC_WD", "PORT_QOS_MAP", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE"):
        copies = {key: fields for key, fields in near[table].items() if key.partition("|")[0] == "Ethernet12"}
        near[table] |= {key.replace("Ethernet12", PEER_LINK, 1): fields for key, fields in copies.items()}


def _add_dual_tor(one: Tables, other: Tables) -> None:
    gateway: dict[str, Any] = {"Vlan1000": {}, "Vlan1000|10.100.2.1/24": {}}
    for near, name, loopback in ((one, "leaf4", "10.255.0.104"), (other, "leaf3", "10.255.0.103")):
        near["DEVICE_METADATA"]["localhost"] |= {"subtype": "DualToR", "peer_switch": name}
        near["PEER_SWITCH"] = {name: {"address_ipv4": loopback}}
        near["VLAN_INTERFACE"] = dict(gateway)
        servers = (("Ethernet0", "10.100.2.10/32"), ("Ethernet4", "10.100.2.11/32"))
        near["MUX_CABLE"] = {port: {"server_ipv4": server, "state": "auto"} for port, server in servers}
