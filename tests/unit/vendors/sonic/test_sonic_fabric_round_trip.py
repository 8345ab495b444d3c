"""An export of a fabric as config_db.json of its switches comes back whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from permutation_lab import write_fat_tree
from sonic_fabrics import LABS, plan_of
from sonic_pods import t0_pair

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.resolve.interfaces import fabric_neighbours
from fabriclab.vendors.sonic.export import export_switch
from fabriclab.vendors.sonic.export.interfaces import sonic_names
from fabriclab.vendors.sonic.export.stock import shared_buffer
from fabriclab.vendors.sonic.export.tables import Tables as ConfigTables
from fabriclab.vendors.sonic.lab import import_fabric


def exported(plan: Plan, directory: Path) -> list[Path]:
    """Write each switch's file as `fabriclab sonic export` does, and return them by name."""
    paths = []
    for node in plan.nodes:
        if node.role == "switch":
            paths.append(directory / node.name / "config_db.json")
            paths[-1].parent.mkdir(parents=True)
            paths[-1].write_text(export_switch(node, plan).text, encoding="utf-8")
    return sorted(paths)


def wires(plan: Plan) -> set[frozenset[tuple[str, str, str]]]:
    """Return the links: at each end the node, its interface by SONiC's name (a host's by its own), its address."""
    found = set()
    names = {
        node.name: sonic_names([one.interface for one in node.ports]) if node.role == "switch" else {}
        for node in plan.nodes
    }
    ends = {
        (node.name, one.interface): (node.name, names[node.name].get(one.interface, one.interface), str(one.address))
        for node in plan.nodes
        for one in node.ports
    }
    for node in plan.nodes:
        for one in node.ports:
            found.add(frozenset((ends[node.name, one.interface], ends[one.peer_node, one.peer_interface])))
    return found


def assert_same_fabric(now: Plan, was: Plan) -> None:
    """Hosts, links, addresses, AS numbers, loopbacks, sessions' timers; ports and memory of switches."""
    assert sorted((node.name, node.role) for node in now.nodes) == sorted((node.name, node.role) for node in was.nodes)
    assert wires(now) == wires(was)
    switches = [node for node in was.nodes if node.role == "switch"]
    for node in switches:
        assert memory_of(now.node(node.name), now) == memory_of(node, was)
    assert (now.bgp is None) == (was.bgp is None)
    if now.bgp is not None and was.bgp is not None:
        assert now.bgp.unnumbered == was.bgp.unnumbered
        for node in switches:
            again = now.node(node.name)
            assert (again.asn, again.loopback) == (node.asn, node.loopback)
            assert again.bgp is not None and len(again.bgp.neighbours) == len(fabric_neighbours(node, was.by_name()))
            timers = {(one.keepalive_s, one.hold_s) for one in again.bgp.neighbours}
            assert again.bgp == node.bgp if node.bgp is not None else timers == {(was.bgp.keepalive_s, was.bgp.hold_s)}


def memory_of(node: Node, plan: Plan) -> tuple[Any, ...]:
    """Return ports and memory of a switch; a buffer for each port as the export has it, a limit in a shared one."""
    tables = ConfigTables()
    switch, by_interface = shared_buffer(node, tables)
    names = sonic_names([one.interface for one in node.ports])
    ports = {
        names[one.interface]: (one.rate_bps, one.delay_ns, one.mtu, by_interface[one.interface]) for one in node.ports
    }
    return ports, switch.cell_bytes, switch.pools


def test_the_files_of_a_lab_are_that_lab(tmp_path: Path) -> None:
    lab = LABS / "sonic-leaf-spine"
    was = resolve_plan(parse_lab(lab), {})
    fabric = import_fabric(sorted(lab.glob("*.json")), "again")
    now = plan_of(fabric, tmp_path)
    assert_same_fabric(now, was)
    assert {node.name: node.bgp for node in now.nodes} == {node.name: node.bgp for node in was.nodes}
    assert {link.found_by for link in fabric.links} == {"DEVICE_NEIGHBOR of both"}
    assert {file: fabric.files[file] for file in fabric.sources} == {
        path.name: path.read_bytes() for path in sorted(lab.glob("*.json"))
    }


FABRICS = {
    "leaf-spine": "",
    "sonic-leaf-spine": "",
    "link-failure": "",
    "fat-tree static": "routing: {protocol: static}",
    "fat-tree unnumbered": "routing: {protocol: bgp-unnumbered, keepalive: 1 s, hold: 5 s}",
    "fat-tree numbered": "routing: {protocol: bgp-numbered}",
}


def lab_of(fabric: str, directory: Path) -> Path:
    """Return a lab of the repository, or a fat-tree of twenty switches with a profile."""
    if not fabric.startswith("fat-tree"):
        return LABS / fabric
    write_fat_tree(directory, 4, rate_bps=10**9, delay_ns=500, mtu_bytes=9000)
    experiment = [
        "title: Fat-tree",
        FABRICS[fabric],
        "switches: {default: {profile: trident-3, scale: 1/100, pfc: {priorities: [3]}, queues: {3: {wred: {min: "
        "20 KB, max: 60 KB}}}}}",
        "traffic: {a: {kind: long, senders: [h1-1-1], receiver: h4-2-2, stop: 1 s}}",
    ]
    (directory / "experiment.yml").write_text("\n".join(experiment))
    return directory


@pytest.mark.parametrize("fabric", FABRICS)
def test_an_export_comes_back(fabric: str, tmp_path: Path) -> None:
    was = resolve_plan(parse_lab(lab_of(fabric, tmp_path / "lab")), {})
    paths = exported(was, tmp_path / "files")
    cells = {node.switch.cell_bytes for node in was.nodes if node.switch is not None}
    cell = next(iter(cells), 1)
    now = plan_of(import_fabric(paths, "again", None if cell == 1 else f"{cell} B"), tmp_path / "again")
    assert_same_fabric(now, was)


def test_vlans_and_port_channels(tmp_path: Path) -> None:
    fabric = import_fabric(t0_pair(tmp_path), "pod")
    assert [stub.name for stub in fabric.stubs if stub.role == "switch"] == ["ARISTA01T1", "ARISTA02T1"]
    plan = plan_of(fabric, tmp_path / "lab")
    t0, t1 = plan.node("t0-2"), plan.node("ARISTA01T1")
    assert [(vlan.name, vlan.address, vlan.members) for vlan in t0.vlans] == [
        ("Vlan1000", "192.168.16.1/21", ("Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"))
    ]
    assert [(one.name, one.address, one.members) for one in t0.port_channels] == [
        ("PortChannel101", "10.0.0.60/31", ("Ethernet16", "Ethernet20")),
        ("PortChannel102", "10.0.0.62/31", ("Ethernet24", "Ethernet28")),
    ]
    assert sorted(str(one.address) for one in t1.port_channels) == ["10.0.0.57/31", "10.0.0.61/31"]


def test_vlans_and_port_channels_come_back(tmp_path: Path) -> None:
    """The T1s get files by the export: then all four are SONiC switches."""
    was = plan_of(import_fabric(t0_pair(tmp_path), "pod"), tmp_path / "lab")
    fabric = import_fabric(exported(was, tmp_path / "files"), "again")
    assert len(fabric.switches) == 4 and {link.found_by for link in fabric.links} == {"DEVICE_NEIGHBOR of both"}
    now = plan_of(fabric, tmp_path / "again")
    assert wires(now) == wires(was)
    for node in was.nodes:
        again = now.node(node.name)
        assert {(one.name, one.address) for one in again.vlans} == {(one.name, one.address) for one in node.vlans}
        if node.role == "switch":
            assert {one.address for one in again.port_channels} == {one.address for one in node.port_channels}
            assert again.asn == node.asn


def test_ends_of_a_port_channel_have_its_mtu(tmp_path: Path) -> None:
    """PORT of a member says nothing of it (sonic-swss, teammgrd)."""
    paths = exported(plan_of(import_fabric(t0_pair(tmp_path), "pod"), tmp_path / "lab"), tmp_path / "files")
    (t0,) = (path for path in paths if path.parent.name == "t0-1")
    tables = json.loads(t0.read_text())
    for number in (16, 20):
        tables["PORT"][f"Ethernet{number}"]["mtu"] = "1500"
    tables["PORTCHANNEL"]["PortChannel101"]["mtu"] = "9100"
    t0.write_text(json.dumps(tables))
    assert len(import_fabric(paths, "again").links) == 8
