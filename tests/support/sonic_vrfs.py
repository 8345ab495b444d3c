"""SONiC's files of a leaf-spine with two VRFs: each has links and hosts of its own, and the links of both VRFs have the
same addresses; and of two edges whose VRF is a VPN over SRv6."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

VRFS = ("VrfRed", "VrfBlue")
Tables = dict[str, dict[str, dict[str, Any]]]
Changes = Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any] | None]]]


def _switch(
    name: str, asn: int, ports: Mapping[str, tuple[str, str]], sessions: Iterable[tuple[str, str, int]]
) -> Tables:
    """Return a switch's tables. `ports`: VRF and address of each interface; `sessions`: VRF, neighbour, its AS."""
    sessions = list(sessions)
    tables: Tables = {
        "DEVICE_METADATA": {"localhost": {"hostname": name, "frr_mgmt_framework_config": "true"}},
        "PORT": {
            f"Ethernet{4 * number}": {"speed": "10000", "lanes": str(number + 1), "admin_status": "up", "mtu": "9100"}
            for number in range(6)
        },
        "VRF": {vrf: {} for vrf in VRFS},
        "BGP_GLOBALS": {
            vrf: {"local_asn": str(asn), "router_id": f"10.255.{number}.{asn % 256}", "load_balance_mp_relax": "true"}
            for number, vrf in enumerate(VRFS)
        },
        "BGP_GLOBALS_AF": {f"{vrf}|ipv4_unicast": {"redistribute_connected": "true"} for vrf in VRFS},
        "BGP_NEIGHBOR": {f"{vrf}|{peer}": {"asn": str(theirs)} for vrf, peer, theirs in sessions},
        "BGP_NEIGHBOR_AF": {f"{vrf}|{peer}|ipv4_unicast": {"admin_status": "true"} for vrf, peer, _ in sessions},
    }
    for interface, (vrf, address) in ports.items():
        table = tables.setdefault("VLAN_INTERFACE" if interface.startswith("Vlan") else "INTERFACE", {})
        table[interface] = {"vrf_name": vrf}
        table[f"{interface}|{address}"] = {}
    return tables


def _leaf(number: int) -> Tables:
    links = [(f"Ethernet{4 * at}", vrf) for at, vrf in enumerate(VRFS)]
    ports = {port: (vrf, f"10.0.{number}.1/31") for port, vrf in links}
    ports |= {"Ethernet8": ("VrfBlue", f"10.20.{number}.1/24"), "Vlan10": ("VrfRed", f"10.10.{number}.1/24")}
    tables = _switch(f"leaf{number}", 65000 + number, ports, [(vrf, f"10.0.{number}.0", 65100) for _, vrf in links])
    tables["VLAN"] = {"Vlan10": {"vlanid": "10"}}
    tables["VLAN_MEMBER"] = {f"Vlan10|{port}": {"tagging_mode": "untagged"} for port in ("Ethernet12", "Ethernet16")}
    return tables


def _spine() -> Tables:
    links = [(leaf, at, vrf) for leaf in (1, 2) for at, vrf in enumerate(VRFS)]
    ports = {f"Ethernet{8 * (leaf - 1) + 4 * at}": (vrf, f"10.0.{leaf}.0/31") for leaf, at, vrf in links}
    return _switch("spine1", 65100, ports, [(vrf, f"10.0.{leaf}.1", 65000 + leaf) for leaf, _, vrf in links])


def write_vrfs(directory: Path, changes: Changes | None = None) -> Path:
    """Write the files of two leaves and a spine, with changes of entries by switch, table and key; None takes an entry
    or a field away."""
    return _written(directory, {"leaf1": _leaf(1), "leaf2": _leaf(2), "spine1": _spine()}, changes or {})


def _written(directory: Path, switches: Mapping[str, Tables], changes: Changes) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name, tables in switches.items():
        for table, entries in changes.get(name, {}).items():
            for key, fields in entries.items():
                if fields is None:
                    tables.get(table, {}).pop(key, None)
                else:
                    every = {**tables.get(table, {}).get(key, {}), **fields}
                    tables.setdefault(table, {})[key] = {
                        one: value for one, value in every.items() if value is not None
                    }
        (directory / f"{name}.json").write_text(json.dumps(tables, indent=2))
    return directory


def _core(name: str, asn: int, links: Mapping[str, tuple[str, str, int]]) -> Tables:
    """Return a switch with links of IPv6. `links`: own address, the neighbour's and its AS by port."""
    number = asn % 100
    tables = _switch(name, asn, {}, [("default", peer, theirs) for _, peer, theirs in links.values()])
    tables["VRF"] = {}
    tables["BGP_GLOBALS"] = {"default": {"local_asn": str(asn), "router_id": f"10.255.0.{number}"}}
    tables["BGP_GLOBALS_AF"] = {"default|ipv6_unicast": {"redistribute_connected": "true"}}
    tables["BGP_NEIGHBOR_AF"] = {
        f"default|{peer}|ipv6_unicast": {"admin_status": "true"} for _, peer, _ in links.values()
    }
    tables["INTERFACE"] = {key: {} for port, (own, _, _) in links.items() for key in (port, f"{port}|{own}")}
    tables["LOOPBACK_INTERFACE"] = {f"Loopback0|2001:db8:ff::{number}/128": {}}
    return tables


def _edge(number: int) -> Tables:
    """Return a provider's edge: one VRF, whose routes go to the other edge as a VPN over SRv6 (RFC 9252)."""
    other, asn = 3 - number, 64600 + number
    link = f"2001:db8:{number}::1/126"
    tables = _core(f"pe{number}", asn, {"Ethernet0": (link, f"2001:db8:{number}::2", 65100)})
    peer, sid = f"2001:db8:ff::{other}", f"fd00:20{number}:20{number}:{number}::"
    tables["VRF"] = {"Vrf1": {}}
    tables["INTERFACE"] |= {"Ethernet8": {"vrf_name": "Vrf1"}, f"Ethernet8|10.30.{number}.1/24": {}}
    tables["BGP_GLOBALS"]["default"]["srv6_locator"] = "main"
    router = {"local_asn": str(asn), "router_id": f"10.255.1.{number}", "sid_vpn_per_vrf_export_explicit": sid}
    tables["BGP_GLOBALS"]["Vrf1"] = router
    tables["BGP_GLOBALS_AF"]["default|ipv6_unicast"]["redistribute_static_rmap"] = "ALL"
    vpn = {"export_vpn": "true", "import_vpn": "true", "rd_vpn_export": f"{number}:1", "rt_vpn_both": "1:1"}
    tables["BGP_GLOBALS_AF"]["Vrf1|ipv4_unicast"] = {"redistribute_connected": "true", **vpn}
    tables["ROUTE_MAP"] = {"ALL|10": {"route_operation": "permit"}}
    tables["BGP_NEIGHBOR"][f"default|{peer}"] = {
        "asn": str(64600 + other),
        "ebgp_multihop": "true",
        "capability_ext_nexthop": "true",
        "local_addr": f"2001:db8:ff::{number}",
    }
    tables["BGP_NEIGHBOR_AF"][f"default|{peer}|ipv4_vpn"] = {"admin_status": "true"}
    lengths = {"block_len": "32", "node_len": "16", "func_len": "16"}
    tables["SRV6_MY_LOCATORS"] = {"main": {"prefix": f"fd00:20{number}:20{number}::/48", **lengths}}
    tables["SRV6_MY_SIDS"] = {f"main|{sid}/64": {"action": "uDT46", "decap_vrf": "Vrf1"}}
    tables["SRV6_MY_SOURCE"] = {"tunnel-source": {"source-address": f"2001:db8:ff::{number}"}}
    return tables


def write_vpn(directory: Path, changes: Changes | None = None) -> Path:
    """Write the files of two edges and a core switch between them, with changes as `write_vrfs` takes them."""
    links = {f"Ethernet{4 * (n - 1)}": (f"2001:db8:{n}::2/126", f"2001:db8:{n}::1", 64600 + n) for n in (1, 2)}
    return _written(directory, {"pe1": _edge(1), "pe2": _edge(2), "p": _core("p", 65100, links)}, changes or {})
