"""Sound leaf-spine fabrics of SONiC switches whose interfaces have addresses of IPv6 alone."""

from __future__ import annotations

from ipaddress import IPv4Interface, ip_address
from typing import Literal

from sonic_scale import Tables, leaf_spine

Style = Literal["bgpcfgd", "frrcfgd"]


def ipv6_fabric(spines: int, leaves: int, style: Style = "bgpcfgd") -> dict[str, Tables]:
    """Return the tables of each switch: those of `leaf_spine`, with an address of IPv6 for each of IPv4. Router ids
    are addresses of IPv4 in any case, so that the loopbacks have both."""
    fabric = leaf_spine(spines, leaves)
    for tables in fabric.values():
        tables["INTERFACE"] = _moved(tables["INTERFACE"], 127)
        if "VLAN_INTERFACE" in tables:
            tables["VLAN_INTERFACE"] = _moved(tables["VLAN_INTERFACE"], 64)
        tables["LOOPBACK_INTERFACE"] |= _moved(tables["LOOPBACK_INTERFACE"], 128)
        tables["BGP_NEIGHBOR"] = {
            _of_ipv6(address): {**fields, "local_addr": _of_ipv6(fields["local_addr"])}
            for address, fields in tables["BGP_NEIGHBOR"].items()
        }
        if style == "frrcfgd":
            _by_tables(tables)
    return fabric


def _of_ipv6(address: str) -> str:
    """Return the address of IPv6 for one of IPv4: 2001:db8:a:b::c:d of a.b.c.d, so that a /24 becomes a /64."""
    a, b, c, d = address.split(".")
    return str(ip_address(f"2001:db8:{int(a):x}{int(b):02x}:{int(c):x}::{int(d):x}"))


def _moved(entries: Tables, length: int) -> Tables:
    found: Tables = {}
    for key, fields in entries.items():
        name, bar, address = key.partition("|")
        found[f"{name}|{_of_ipv6(str(IPv4Interface(address).ip))}/{length}" if bar else key] = fields
    return found


def _by_tables(tables: Tables) -> None:
    """Write BGP in frrcfgd's tables, with redistribution of connected networks."""
    metadata = tables["DEVICE_METADATA"]["localhost"]
    metadata["frr_mgmt_framework_config"] = "true"
    tables["BGP_GLOBALS"] = {"default": {"local_asn": metadata.pop("bgp_asn")}}
    tables["BGP_NEIGHBOR"] = {f"default|{key}": {"asn": one["asn"]} for key, one in tables["BGP_NEIGHBOR"].items()}
    tables["BGP_NEIGHBOR_AF"] = {f"{key}|ipv6_unicast": {"admin_status": "true"} for key in tables["BGP_NEIGHBOR"]}
    tables["ROUTE_REDISTRIBUTE"] = {"default|connected|bgp|ipv6": {}}


def dual_fabric(spines: int, leaves: int, style: Style = "bgpcfgd") -> dict[str, Tables]:
    """Return the tables of each switch with both families on every interface, and a session of each over every link."""
    fabric, of_ipv6 = leaf_spine(spines, leaves), ipv6_fabric(spines, leaves)
    for name, tables in fabric.items():
        for table in ("INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE", "BGP_NEIGHBOR"):
            tables[table] = {**tables.get(table, {}), **of_ipv6[name].get(table, {})}
        if style == "frrcfgd":
            _by_tables(tables)
            tables["BGP_NEIGHBOR_AF"] = {
                f"{key}|ipv{6 if ':' in key else 4}_unicast": {"admin_status": "true"} for key in tables["BGP_NEIGHBOR"]
            }
            tables["ROUTE_REDISTRIBUTE"] |= {"default|connected|bgp|ipv4": {}}
    return fabric
