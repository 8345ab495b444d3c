"""Sound leaf-spine fabrics of any number of SONiC switches, with the tables of QoS of labs/sonic-leaf-spine."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from repository import ROOT

Tables = dict[str, Any]
_SAME = (
    *("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"),
    *("BUFFER_POOL", "BUFFER_PROFILE", "SCHEDULER", "WRED_PROFILE"),
)
_OF_PORTS = ("PFC_WD", "PORT_QOS_MAP", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE")


@cache
def _spine() -> str:
    return (ROOT / "labs" / "sonic-leaf-spine" / "spine1.json").read_text(encoding="utf-8")


def leaf_spine(spines: int, leaves: int, hosts: int = 2) -> dict[str, Tables]:
    """Return the tables of each switch: a host VLAN behind each leaf, a link from each leaf to each spine."""
    fabric = {}
    for spine in range(spines):
        links = [(f"leaf{leaf + 1}", 4 * (hosts + spine), _link(spine, leaf)) for leaf in range(leaves)]
        fabric[f"spine{spine + 1}"] = _switch(f"spine{spine + 1}", 65000, spine + 1, 0, links, is_leaf=False)
    for leaf in range(leaves):
        links = [(f"spine{spine + 1}", 4 * leaf, _link(spine, leaf)) for spine in range(spines)]
        number = 65001 + leaf
        fabric[f"leaf{leaf + 1}"] = _switch(f"leaf{leaf + 1}", number, 101 + leaf, hosts, links, is_leaf=True)
    return fabric


def write_fabric(fabric: dict[str, Tables], directory: Path) -> list[Path]:
    """Write a file for each switch."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, tables in fabric.items():
        (directory / f"{name}.json").write_text(json.dumps(tables, indent=1), encoding="utf-8")
    return sorted(directory.glob("*.json"))


def _link(spine: int, leaf: int) -> str:
    """Return the address of the spine's end, an even one; the leaf has the next."""
    return f"10.{spine}.{leaf // 128}.{leaf % 128 * 2}"


def _switch(
    name: str, asn: int, number: int, hosts: int, links: list[tuple[str, int, str]], *, is_leaf: bool
) -> Tables:
    pattern = json.loads(_spine())
    ports = [f"Ethernet{4 * port}" for port in range(hosts + len(links))]
    kind = "ToRRouter" if is_leaf else "LeafRouter"
    localhost = {**pattern["DEVICE_METADATA"]["localhost"], "hostname": name, "bgp_asn": str(asn), "type": kind}
    localhost["mac"] = f"02:fa:00:00:01:{number:02x}"
    loopback = f"10.255.{number // 256}.{number % 256}/32"
    tables: Tables = {
        "DEVICE_METADATA": {"localhost": localhost},
        "PORT": {port: {**_port(index)} for index, port in enumerate(ports)},
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(ports, "20m")},
        "LOOPBACK_INTERFACE": {"Loopback0": {}, f"Loopback0|{loopback}": {}},
        **{table: pattern[table] for table in _SAME},
        **{table: _by_port(pattern[table], ports) for table in _OF_PORTS},
    }
    tables |= {"INTERFACE": {}, "DEVICE_NEIGHBOR": {}, "DEVICE_NEIGHBOR_METADATA": {}, "BGP_NEIGHBOR": {}}
    for port, (far, far_port, address) in zip(ports[hosts:], links, strict=True):
        prefix, last = address.rsplit(".", 1)
        own, peer = (int(last) + 1, int(last)) if is_leaf else (int(last), int(last) + 1)
        tables["INTERFACE"] |= {port: {}, f"{port}|{prefix}.{own}/31": {}}
        tables["DEVICE_NEIGHBOR"][port] = {"name": far, "port": f"Ethernet{far_port}"}
        tables["DEVICE_NEIGHBOR_METADATA"][far] = {"type": "LeafRouter" if is_leaf else "ToRRouter"}
        far_asn = 65000 if is_leaf else 65000 + int(far.removeprefix("leaf"))
        tables["BGP_NEIGHBOR"][f"{prefix}.{peer}"] = {"asn": str(far_asn), "name": far, "local_addr": f"{prefix}.{own}"}
    if is_leaf:
        leaf = number - 101
        tables["VLAN"] = {"Vlan1000": {"vlanid": "1000"}}
        tables["VLAN_INTERFACE"] = {"Vlan1000": {}, f"Vlan1000|10.{100 + leaf // 250}.{leaf % 250}.1/24": {}}
        tables["VLAN_MEMBER"] = {f"Vlan1000|{port}": {"tagging_mode": "untagged"} for port in ports[:hosts]}
    return tables


def _port(index: int) -> dict[str, str]:
    lanes = ",".join(str(25 + 4 * index + lane) for lane in range(4))
    return {"lanes": lanes, "speed": "100000", "index": str(index + 1), "admin_status": "up", "mtu": "9100"}


def _by_port(entries: Tables, ports: list[str]) -> Tables:
    """Return the entries of Ethernet0 for each port, and those of no port."""
    kept = {key: fields for key, fields in entries.items() if not key.startswith("Ethernet")}
    for port in ports:
        own = {key: fields for key, fields in entries.items() if key.partition("|")[0] == "Ethernet0"}
        kept |= {key.replace("Ethernet0", port, 1): fields for key, fields in own.items()}
    return kept
