"""Several config_db.json as one fabric: neighbours that have no file."""

from __future__ import annotations

from pathlib import Path

from sonic_fabrics import addressed, bgp, complaint, imported, neighbour, pair, plan_of, port
from sonic_stubs import spineless

from fabriclab.vendors.sonic.lab import ImportedFabric


def stubs_of(fabric: ImportedFabric) -> dict[str, list[tuple[str, str]]]:
    return {stub.name: [(str(link.end), link.interface) for link in stub.links] for stub in fabric.stubs}


def test_hosts(tmp_path: Path) -> None:
    """By DEVICE_NEIGHBOR, a VLAN, an address; a port that says nothing is told."""
    ports = {f"Ethernet{4 * number}": port() for number in range(7)}
    fabric = imported(
        pair(
            {
                "PORT": ports,
                "VLAN": {"Vlan10": {}},
                "VLAN_MEMBER": {"Vlan10|Ethernet12": {"tagging_mode": "untagged"}},
                "INTERFACE": {"Ethernet16|10.1.0.1/24": {}},
            }
        ),
        tmp_path,
    )
    assert stubs_of(fabric) == {
        "h1": [("a:Ethernet0", "eth1")],
        "h-a-Ethernet12": [("a:Ethernet12", "eth1")],
        "h-a-Ethernet16": [("a:Ethernet16", "eth1")],
        "h2": [("b:Ethernet0", "eth1")],
    }
    topology = fabric.files["topology.clab.yml"].decode()
    assert (
        "['h-a-Ethernet16:eth1', 'a:eth5'], ipv4: ['10.1.0.2/24', '']" in topology
        and "# a member of Vlan10\n" in topology
    )
    assert any(
        note.startswith("a: up, but without neighbour") and "Ethernet4, Ethernet20, Ethernet24" in note
        for note in fabric.notes
    )


def test_a_host_of_two_switches(tmp_path: Path) -> None:
    far = {
        "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "h1", "port": "eth2"}, "Ethernet4": {"name": "h3", "port": "eth1"}}
    }
    fabric = imported(pair(theirs=far), tmp_path)
    assert stubs_of(fabric)["h1"] == [("a:Ethernet0", "eth1"), ("b:Ethernet0", "eth2")]


def test_one_port_of_a_neighbour_at_two_switches(tmp_path: Path) -> None:
    far = {"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "h1", "port": "eth1"}, "Ethernet12": neighbour("a", "Ethernet8")}}
    fabric = imported(pair(theirs=far), tmp_path)
    assert stubs_of(fabric) == {"h1": [("a:Ethernet0", "eth1")], "h1-2": [("b:Ethernet0", "eth1")]}
    assert "h1:eth1 is the neighbour of several ports; in the lab each port gets a neighbour of its own" in fabric.notes


def test_a_switch_without_a_file(tmp_path: Path) -> None:
    fabric = imported(spineless(), tmp_path)
    assert stubs_of(fabric)["spine"] == [("a:Ethernet8", "eth1"), ("b:Ethernet8", "eth2")]
    plan = plan_of(fabric, tmp_path / "lab")
    spine = plan.node("spine")
    assert (spine.role, spine.asn) == ("switch", 65100)
    assert [(one.peer_node, one.address) for one in spine.ports] == [
        ("a", "10.0.0.1/31"),
        ("b", "10.0.0.3/31"),
        ("spine-host", spine.ports[2].address),
    ]
    assert {node.name for node in plan.nodes if node.role == "host"} == {"h1", "h2", "spine-host"}


def test_switches_of_one_as_number_have_no_hosts(tmp_path: Path) -> None:
    """Neither would take the other's routes, so that hosts there would not reach each other."""
    files = spineless()
    for number, name in enumerate("ab"):
        files[name]["DEVICE_NEIGHBOR"]["Ethernet12"] = neighbour("spine2", f"Ethernet{8 * number}")
        files[name]["INTERFACE"][f"Ethernet12|10.0.1.{2 * number}/31"] = {}
        files[name]["BGP_NEIGHBOR"][f"10.0.1.{2 * number + 1}"] = {"asn": "65100", "name": "spine2"}
    plan = plan_of(imported(files, tmp_path), tmp_path / "lab")
    assert {node.name: node.role for node in plan.nodes} == {
        **dict.fromkeys(("a", "b", "spine", "spine2"), "switch"),
        "h1": "host",
        "h2": "host",
    }


def test_a_switch_without_a_file_has_one_as_number(tmp_path: Path) -> None:
    files = spineless()
    files["b"]["BGP_NEIGHBOR"]["10.0.0.3"]["asn"] = "65200"
    (line,) = complaint(files, tmp_path)
    assert "BGP_NEIGHBOR|10.0.0.3|asn: AS 65200 of 'spine', but 65100 in a.json:" in line


def test_a_switch_without_a_file_may_be_an_error(tmp_path: Path) -> None:
    assert [line.partition(" ")[2] for line in complaint(spineless(), tmp_path, "error")] == [
        f"BGP_NEIGHBOR|10.0.0.{2 * number + 1}: {name}:Ethernet8 leads to spine (BGP_NEIGHBOR "
        f"10.0.0.{2 * number + 1}), "
        "which has no file; give its config_db.json, or --missing hosts or left-out"
        for number, name in enumerate("ab")
    ]


def test_a_switch_without_a_file_may_be_left_out(tmp_path: Path) -> None:
    files = spineless()
    for name, other in ("ab", "ba"):
        files[name]["DEVICE_NEIGHBOR"]["Ethernet12"] = neighbour(other, "Ethernet12")
    fabric = imported(files, tmp_path, "left-out")
    assert [*stubs_of(fabric)] == ["h1", "h2"]
    assert "a:Ethernet8 leads to spine (BGP_NEIGHBOR 10.0.0.1), which has no file: left out" in fabric.notes


def test_hosts_that_bgp_does_not_announce_are_told(tmp_path: Path) -> None:
    near, far = bgp("10.0.0.1", 65002, 65001), bgp("10.0.0.0", 65001, 65002)
    near["INTERFACE"] = {"Ethernet8|10.0.0.0/31": {}, "Ethernet0|10.9.0.0/31": {}}
    notes = imported(addressed(near, far), tmp_path).notes
    assert (
        "bgpcfgd announces only Loopback0 and the networks of VLANs: other switches do not reach hosts behind routed "
        "ports (a)" in notes
    )


def test_fewer_than_two_hosts(tmp_path: Path) -> None:
    files = pair(theirs={"DEVICE_NEIGHBOR": {}})
    (line,) = complaint(files, tmp_path)
    assert line.startswith("a.json: 1 host(s) behind the ports of all files; traffic needs two")
