"""Fabrics of two leaves and a spine whose maps ask for the next hop or its interface, or set another one."""

from __future__ import annotations

from ipaddress import ip_interface
from pathlib import Path
from typing import Any, NamedTuple

from sonic_vs_labs import SWITCHES as SWITCHES
from sonic_vs_labs import Tables, configs_of

FAR = "10.64.1.0/31"
"""The network of leaf2's host."""
HOST, OWN = "10.64.0.1", "10.64.0.0"
"""leaf1's host, and leaf1 there."""
IN, OUT = "route_map_in", "route_map_out"
_PERMIT = {"route_operation": "permit"}
_LINK_LOCAL = "fe80::fa:ff:fe00:6"
"""spine1 at its port to leaf1."""


class NextHopCase(NamedTuple):
    """A map, who has it, and what follows."""

    switch: str
    bound: str
    entry: dict[str, Any]
    """Of the one entry of the map, or with `match_prefix_set` of the one before that which permits all."""
    expected: list[tuple[str, str]]
    """The next hops of FAR at `at`."""
    told: str = ""
    """What `sonic reach` says of it."""
    at: str = "leaf1"
    unnumbered: bool = False

    @property
    def arrives(self) -> bool:
        """Whether packets to FAR arrive."""
        return not self.told


_NUMBERED, _LOCAL = [("10.0.0.0", "Ethernet4")], [(_LINK_LOCAL, "Ethernet4")]
_ONLY = {"match_prefix_set": "FAR"}
_NO_ENTRY = "route-map M, no entry of which matches"
CASES = {
    "host": NextHopCase("leaf1", IN, {**_ONLY, "set_next_hop": HOST}, [(HOST, "Ethernet0")], f"next hop {HOST} is no"),
    "own": NextHopCase("leaf1", IN, {**_ONLY, "set_next_hop": OWN}, [], f"next hop {OWN}, the switch's own address"),
    "nowhere": NextHopCase(
        "leaf1", IN, {**_ONLY, "set_next_hop": "10.99.0.1"}, [], "10.99.0.1, which is in no network"
    ),
    "peer in": NextHopCase("leaf1", IN, {**_ONLY, "set_next_hop": "peer-address"}, _NUMBERED),
    "peer out": NextHopCase("spine1", OUT, {**_ONLY, "set_next_hop": "peer-address"}, _NUMBERED),
    "beyond": NextHopCase("spine1", OUT, {**_ONLY, "set_next_hop": "10.0.0.3"}, [], "10.0.0.3, which is in no network"),
    "unchanged": NextHopCase("spine1", OUT, {**_ONLY, "set_next_hop": "unchanged"}, [], "10.0.0.3, which is in no"),
    "third": NextHopCase("spine1", IN, {**_ONLY, "set_next_hop": "10.0.0.1"}, [], "10.0.0.1, the switch's own address"),
    "asked": NextHopCase("leaf1", IN, {"match_next_hop_set": "SPINE"}, _NUMBERED),
    "asked own": NextHopCase("leaf2", OUT, {"match_next_hop_set": "ZERO"}, _NUMBERED),
    "interface": NextHopCase("leaf1", IN, {"match_interface": "Ethernet4"}, [], _NO_ENTRY),
    "local interface": NextHopCase("leaf1", IN, {"match_interface": "Ethernet4"}, _LOCAL, unnumbered=True),
    "other interface": NextHopCase("leaf1", IN, {"match_interface": "Ethernet0"}, [], _NO_ENTRY, unnumbered=True),
    "local asked": NextHopCase("leaf1", IN, {"match_next_hop_set": "ZERO"}, _LOCAL, unnumbered=True),
    "local out": NextHopCase("spine1", OUT, {**_ONLY, "set_next_hop": "10.9.9.9"}, _LOCAL, unnumbered=True),
    "of a VRF": NextHopCase("leaf1", IN, {"match_src_vrf": "default"}, [], "route-map M, which is not there"),
}


def lab_files(directory: Path, case: NextHopCase) -> dict[str, Tables]:
    """Return the configurations of a case."""
    files = configs_of(directory / "stock", "bgp-unnumbered" if case.unnumbered else "bgp-numbered")
    if not case.unnumbered:
        for tables in files.values():
            _as_frrcfgd(tables)
    own = files[case.switch]
    for fields in own["BGP_NEIGHBOR_AF"].values():
        fields[case.bound] = ["M"]
    own["PREFIX_SET"] = {name: {"mode": "IPv4"} for name in ("FAR", "SPINE", "ZERO")}
    prefixes = {"FAR": FAR, "SPINE": "10.0.0.0/32", "ZERO": "0.0.0.0/32"}
    own["PREFIX"] = {f"{name}|10|{prefix}|exact": {"action": "permit"} for name, prefix in prefixes.items()}
    own["ROUTE_MAP"] = {"M|10": {**_PERMIT, **case.entry}}
    if "match_prefix_set" in case.entry:
        own["ROUTE_MAP"]["M|20"] = _PERMIT
    return files


def _as_frrcfgd(tables: Tables) -> None:
    """Make of bgpcfgd's tables those of frrcfgd, which alone have policies."""
    metadata = tables["DEVICE_METADATA"]["localhost"]
    metadata |= {"frr_mgmt_framework_config": "true", "docker_routing_config_mode": "unified"}
    loopbacks = [key.partition("|")[2] for key in tables["LOOPBACK_INTERFACE"] if "|" in key]
    hosts = [key.partition("|")[2] for key in tables["INTERFACE"] if "|10.64." in key]
    networks = [*loopbacks, *(str(ip_interface(one).network) for one in hosts)]
    neighbours = tables["BGP_NEIGHBOR"]
    router_id = loopbacks[0].partition("/")[0]
    tables["BGP_GLOBALS"] = {"default": {"local_asn": metadata.pop("bgp_asn"), "router_id": router_id}}
    tables["BGP_NEIGHBOR"] = {
        f"default|{key}": {name: fields[name] for name in ("asn", "keepalive", "holdtime", "name")}
        for key, fields in neighbours.items()
    }
    tables["BGP_NEIGHBOR_AF"] = {f"default|{key}|ipv4_unicast": {"admin_status": "true"} for key in neighbours}
    tables["BGP_GLOBALS_AF_NETWORK"] = {f"default|ipv4_unicast|{one}": {} for one in networks}
