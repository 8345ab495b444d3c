"""Several config_db.json as one fabric: links found, neighbours made up, contradictions told; and an export comes back whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sonic_pods import t0_pair
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.compile.sonic import export_switch
from fabriclab.compile.sonic.interfaces import sonic_names
from fabriclab.compile.sonic.stock import shared_buffer
from fabriclab.compile.sonic.tables import Tables as ConfigTables
from fabriclab.generate import fat_tree, topology_text
from fabriclab.lab import LabErrors, parse_lab
from fabriclab.lab.sonic import ImportedFabric, import_fabric
from fabriclab.lab.sonic.fabric_stubs import Missing
from fabriclab.plan import Plan, resolve_plan
from fabriclab.plan.interfaces import fabric_neighbours
from fabriclab.plan.node import Node

LABS = Path(__file__).parents[2] / "labs"
Tables = dict[str, Any]
RUNNER = CliRunner()


# Files by hand: switches with two hosts' ports (Ethernet0 and 4) and links from Ethernet8 on.


def port(speed: str = "1000", mtu: str = "1500", **more: str) -> dict[str, str]:
    return {"speed": speed, "mtu": mtu, "admin_status": "up", **more}


def switch(name: str, **tables: Any) -> Tables:
    """Return a switch with four ports and a buffer; `tables` take the place of its own."""
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": name}},
        "PORT": {f"Ethernet{4 * number}": port() for number in range(4)},
        "BUFFER_POOL": {"egress": {"type": "egress", "mode": "dynamic", "size": "1000000"}},
        **tables,
    }


def servers(*names: str) -> Tables:
    return {f"Ethernet{4 * number}": {"name": name, "port": "eth1"} for number, name in enumerate(names)}


def neighbour(name: str, far_port: str = "") -> dict[str, str]:
    return {"name": name, **({"port": far_port} if far_port else {})}


def pair(ours: Tables | None = None, theirs: Tables | None = None) -> dict[str, Tables]:
    """Return two switches that name each other at Ethernet8 and Ethernet12."""
    near = {"DEVICE_NEIGHBOR": {**servers("h1"), "Ethernet8": neighbour("b", "Ethernet12")}, **(ours or {})}
    far = {"DEVICE_NEIGHBOR": {**servers("h2"), "Ethernet12": neighbour("a", "Ethernet8")}, **(theirs or {})}
    return {"a": switch("a", **near), "b": switch("b", **far)}


def addressed(ours: Tables | None = None, theirs: Tables | None = None) -> dict[str, Tables]:
    """Return two switches without DEVICE_NEIGHBOR of each other, with addresses of one /31."""
    near = {"DEVICE_NEIGHBOR": servers("h1"), "INTERFACE": {"Ethernet8": {}, "Ethernet8|10.0.0.0/31": {}}, **(ours or {})}
    far = {"DEVICE_NEIGHBOR": servers("h2"), "INTERFACE": {"Ethernet12": {}, "Ethernet12|10.0.0.1/31": {}}, **(theirs or {})}
    return {"a": switch("a", **near), "b": switch("b", **far)}


def write(files: dict[str, Tables], directory: Path) -> list[Path]:
    """Write files, a line for each field, and return them in order."""
    paths = []
    for name, tables in files.items():
        paths.append(directory / f"{name}.json")
        paths[-1].write_text(json.dumps(tables, indent=1), encoding="utf-8")
    return paths


def imported(files: dict[str, Tables], directory: Path, missing: Missing = "hosts") -> ImportedFabric:
    return import_fabric(write(files, directory), "fabric", missing=missing)


def links_of(fabric: ImportedFabric) -> list[tuple[str, str, str]]:
    return [(str(link.a), str(link.b), link.found_by) for link in fabric.links]


def complaint(files: dict[str, Tables], directory: Path, missing: Missing = "hosts") -> list[str]:
    """Return the lines of the error without the directory's name and the number of the line in front."""
    with pytest.raises(LabErrors) as caught:
        imported(files, directory, missing)
    return str(caught.value).replace(f"{directory}/", "").splitlines()


def line_of(text: str, directory: Path, file: str, nth: int = 1) -> str:
    """Return `file:line` of the nth line that holds a text."""
    lines = (directory / file).read_text(encoding="utf-8").splitlines()
    return f"{file}:{[number for number, line in enumerate(lines, start=1) if text in line][nth - 1]}"


def plan_of(fabric: ImportedFabric, directory: Path) -> Plan:
    directory.mkdir(parents=True, exist_ok=True)
    for file, data in fabric.files.items():
        (directory / file).write_bytes(data)
    return resolve_plan(parse_lab(directory), {})


# Round trips


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
    names = {node.name: sonic_names([one.interface for one in node.ports]) if node.role == "switch" else {} for node in plan.nodes}
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
    ports = {names[one.interface]: (one.rate_bps, one.delay_ns, one.mtu, by_interface[one.interface]) for one in node.ports}
    return ports, switch.cell_bytes, switch.pools


def test_the_files_of_a_lab_are_that_lab(tmp_path: Path) -> None:
    lab = LABS / "sonic-leaf-spine"
    was = resolve_plan(parse_lab(lab), {})
    fabric = import_fabric(sorted(lab.glob("*.json")), "again")
    now = plan_of(fabric, tmp_path)
    assert_same_fabric(now, was)
    assert {node.name: node.bgp for node in now.nodes} == {node.name: node.bgp for node in was.nodes}
    assert {link.found_by for link in fabric.links} == {"DEVICE_NEIGHBOR of both"}
    assert {file: fabric.files[file] for file in fabric.sources} == {path.name: path.read_bytes() for path in sorted(lab.glob("*.json"))}


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
    sizes = {"hosts_per_edge": None, "host_rate_bps": 10**9, "edge_rate_bps": None, "core_rate_bps": None, "oversubscription": None}
    directory.mkdir()
    (directory / "topology.clab.yml").write_text(topology_text(fat_tree("fat-tree", k=4, delay_ns=500, mtu_bytes=9000, **sizes)))
    experiment = [
        "title: Fat-tree",
        FABRICS[fabric],
        "switches: {default: {profile: trident-3, scale: 1/100, pfc: {priorities: [3]}, queues: {3: {wred: {min: 20 KB, max: 60 KB}}}}}",
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


# Links


def test_links_by_device_neighbour(tmp_path: Path) -> None:
    assert links_of(imported(pair(), tmp_path)) == [("a:Ethernet8", "b:Ethernet12", "DEVICE_NEIGHBOR of both")]


def test_a_neighbour_that_only_one_file_names(tmp_path: Path) -> None:
    files = pair(theirs={"DEVICE_NEIGHBOR": servers("h2")})
    assert links_of(imported(files, tmp_path)) == [("a:Ethernet8", "b:Ethernet12", "DEVICE_NEIGHBOR of a")]


@pytest.mark.parametrize("word", ["Ethernet12", "eth4", "fortyGigE0/12"])
def test_a_port_by_its_other_names(word: str, tmp_path: Path) -> None:
    ports = {**pair()["b"]["PORT"], "Ethernet12": port(alias="fortyGigE0/12")}
    files = pair({"DEVICE_NEIGHBOR": {**servers("h1"), "Ethernet8": neighbour("b", word)}}, {"PORT": ports})
    assert links_of(imported(files, tmp_path)) == [("a:Ethernet8", "b:Ethernet12", "DEVICE_NEIGHBOR of both")]


def test_an_alias_wins_over_the_counting_of_ports(tmp_path: Path) -> None:
    ports = {**pair()["b"]["PORT"], "Ethernet12": port(alias="eth1")}
    files = pair({"DEVICE_NEIGHBOR": {**servers("h1"), "Ethernet8": neighbour("b", "eth1")}}, {"PORT": ports})
    assert links_of(imported(files, tmp_path))[0][1] == "b:Ethernet12"


def test_neighbours_without_ports(tmp_path: Path) -> None:
    near = {"DEVICE_NEIGHBOR": {**servers("h1"), "Ethernet8": neighbour("b")}}
    one = imported(pair(near, {"DEVICE_NEIGHBOR": {**servers("h2"), "Ethernet12": neighbour("a")}}), tmp_path)
    assert links_of(one) == [("a:Ethernet8", "b:Ethernet12", "DEVICE_NEIGHBOR of both, the only link between them")]
    other = imported(pair(near), tmp_path)
    assert links_of(other) == [("a:Ethernet8", "b:Ethernet12", "DEVICE_NEIGHBOR of both")]


def test_several_neighbours_without_ports_need_addresses(tmp_path: Path) -> None:
    twice = {"Ethernet8": neighbour("b"), "Ethernet12": neighbour("b")}
    near, far = {"DEVICE_NEIGHBOR": {**servers("h1"), **twice}}, {"DEVICE_NEIGHBOR": servers("h2")}
    files = pair(near, far)
    assert complaint(files, tmp_path) == [
        f"{line_of(f'Ethernet{number}', tmp_path, 'a.json', 2)}: DEVICE_NEIGHBOR|Ethernet{number}|port: "
        "leads to b, and neither a port of it nor an address says to which port; write port"
        for number in (8, 12)
    ]
    near["INTERFACE"] = {"Ethernet8|10.0.0.0/31": {}, "Ethernet12|10.0.0.4/30".replace(".4/", ".5/"): {}}
    far["INTERFACE"] = {"Ethernet12|10.0.0.1/31": {}, "Ethernet8|10.0.0.6/30": {}}
    assert links_of(imported(pair(near, far), tmp_path)) == [
        ("a:Ethernet8", "b:Ethernet12", "addresses of 10.0.0.0/31"),
        ("a:Ethernet12", "b:Ethernet8", "addresses of 10.0.0.4/30"),
    ]


def test_links_by_addresses(tmp_path: Path) -> None:
    fabric = imported(addressed(), tmp_path)
    assert links_of(fabric) == [("a:Ethernet8", "b:Ethernet12", "addresses of 10.0.0.0/31")]
    assert b"{endpoints: ['a:eth3', 'b:eth4']}  # addresses of 10.0.0.0/31" in fabric.files["topology.clab.yml"]


def bgp(address: str, asn: int, own: int, network: str = "") -> Tables:
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": "a" if own == 65001 else "b", "bgp_asn": str(own)}},
        "BGP_NEIGHBOR": {address: {"asn": str(asn), "name": "peer"}},
        **({"INTERFACE": {network: {}}} if network else {}),
    }


def test_links_by_sessions(tmp_path: Path) -> None:
    near = bgp("10.0.0.9", 65002, 65001, "Ethernet8|10.0.0.1/24")
    far = bgp("10.0.0.1", 65001, 65002, "Ethernet12|10.0.0.9/24")
    assert links_of(imported(addressed(near, far), tmp_path)) == [("a:Ethernet8", "b:Ethernet12", "BGP_NEIGHBOR 10.0.0.9 of a")]


def test_port_channels(tmp_path: Path) -> None:
    def channel(name: str, address: str) -> Tables:
        return {
            "PORTCHANNEL": {name: {}},
            "PORTCHANNEL_MEMBER": {f"{name}|Ethernet{number}": {} for number in (8, 12)},
            "PORTCHANNEL_INTERFACE": {name: {}, f"{name}|{address}": {}},
            "INTERFACE": {},
        }

    fabric = imported(addressed(channel("PortChannel1", "10.0.0.0/31"), channel("PortChannel7", "10.0.0.1/31")), tmp_path)
    assert [link[:2] for link in links_of(fabric)] == [("a:Ethernet8", "b:Ethernet8"), ("a:Ethernet12", "b:Ethernet12")]
    assert "a:PortChannel1 and b:PortChannel7: no DEVICE_NEIGHBOR; their members were matched in the order of the files" in fabric.notes
    crossed = {"DEVICE_NEIGHBOR": {**servers("h1"), "Ethernet8": neighbour("b", "Ethernet12"), "Ethernet12": neighbour("b", "Ethernet8")}}
    files = addressed(channel("PortChannel1", "10.0.0.0/31") | crossed, channel("PortChannel7", "10.0.0.1/31"))
    assert [link[:2] for link in links_of(imported(files, tmp_path))] == [("a:Ethernet8", "b:Ethernet12"), ("a:Ethernet12", "b:Ethernet8")]
    files["b"]["PORTCHANNEL_MEMBER"] = {"PortChannel7|Ethernet8": {}}
    (line,) = complaint(files, tmp_path)
    member, lone = line_of("PortChannel1|Ethernet8", tmp_path, "a.json"), line_of('"Ethernet12"', tmp_path, "b.json")
    assert line == (
        f"{member}: PORTCHANNEL_MEMBER|PortChannel1|Ethernet8: leads to b:Ethernet12 ({lone}), which is a member of no port channel"
    )


def test_a_link_that_is_down_is_left_out(tmp_path: Path) -> None:
    files = {**pair(), "c": switch("c")}
    files["b"]["PORT"]["Ethernet12"]["admin_status"] = "down"
    files["c"]["DEVICE_NEIGHBOR"] = {"Ethernet0": neighbour("a", "Ethernet12"), "Ethernet4": neighbour("b", "Ethernet8")}
    fabric = imported(files, tmp_path)
    assert [link[:2] for link in links_of(fabric)] == [("a:Ethernet12", "c:Ethernet0"), ("b:Ethernet8", "c:Ethernet4")]
    assert "the link a:Ethernet8 to b:Ethernet12 is left out: b:Ethernet12 down (admin_status)" in fabric.notes


# Contradictions


def test_two_files_that_disagree_on_a_link(tmp_path: Path) -> None:
    files = pair(theirs={"DEVICE_NEIGHBOR": {**servers("h2"), "Ethernet8": neighbour("a", "Ethernet8")}})
    (line,) = complaint(files, tmp_path)
    there, here = line_of('"Ethernet8"', tmp_path, "b.json", 2), line_of('"Ethernet8"', tmp_path, "a.json", 2)
    assert line == f"{there}: DEVICE_NEIGHBOR|Ethernet8: leads to a:Ethernet8, and that to b:Ethernet12 ({here}); write the same"


def test_two_files_that_name_one_port(tmp_path: Path) -> None:
    files = pair(theirs={"DEVICE_NEIGHBOR": servers("h2")}) | {"c": switch("c", DEVICE_NEIGHBOR={"Ethernet0": neighbour("b", "eth4")})}
    (line,) = complaint(files, tmp_path)
    assert "c.json:" in line and "leads to b:Ethernet12, and so does a:Ethernet8 (a.json:" in line


def test_a_port_that_is_not_there(tmp_path: Path) -> None:
    files = pair({"DEVICE_NEIGHBOR": {"Ethernet8": neighbour("b", "Ethernet99")}})
    line = complaint(files, tmp_path)[0]
    assert "DEVICE_NEIGHBOR|Ethernet8|port: 'Ethernet99' is no PORT of b (b.json:" in line and "did you mean" in line


def test_a_switch_that_leads_to_itself(tmp_path: Path) -> None:
    files = pair({"DEVICE_NEIGHBOR": {"Ethernet8": neighbour("a", "Ethernet4")}})
    assert "DEVICE_NEIGHBOR|Ethernet8: leads to a, the switch itself" in complaint(files, tmp_path)[0]


@pytest.mark.parametrize(("field", "ours", "theirs"), [("speed", "1 Gbps", "10 Gbps"), ("mtu", "1500", "9100")])
def test_ends_that_differ(field: str, ours: str, theirs: str, tmp_path: Path) -> None:
    files = pair()
    files["b"]["PORT"]["Ethernet12"] = {"speed": "10000", **port()} | ({"speed": "10000"} if field == "speed" else {})
    if field == "mtu":
        files["b"]["PORT"]["Ethernet12"] = {"speed": "1000", "admin_status": "up"}  # 9100 is SONiC's default
    (line,) = complaint(files, tmp_path)
    assert f"PORT|Ethernet8|{field}: {ours}, and {theirs} at the other end, b:Ethernet12 (b.json:" in line and line.startswith("a.json:")


def test_an_address_twice(tmp_path: Path) -> None:
    files = addressed(theirs={"LOOPBACK_INTERFACE": {"Loopback0|10.0.0.0/32": {}}})
    first, second = write(files, tmp_path) and line_of("10.0.0.0/31", tmp_path, "a.json"), line_of("10.0.0.0/32", tmp_path, "b.json")
    assert complaint(files, tmp_path) == [
        f"{second}: Loopback0|10.0.0.0/32: 10.0.0.0/32 is 10.0.0.0/31 of a:Ethernet8 ({first}) too; each interface has its own"
    ]


def test_networks_that_overlap(tmp_path: Path) -> None:
    files = addressed(theirs={"INTERFACE": {"Ethernet12|10.0.0.1/31": {}, "Ethernet4|10.0.0.5/24": {}}})
    assert any("and no link joins them; networks are apart" in line and "a.json:" in line for line in complaint(files, tmp_path))


def test_ends_of_different_networks(tmp_path: Path) -> None:
    files = pair({"INTERFACE": {"Ethernet8|10.0.0.0/31": {}}}, {"INTERFACE": {"Ethernet12|10.0.0.3/31": {}}})
    (line,) = complaint(files, tmp_path)
    assert "10.0.0.0/31 and 10.0.0.3/31 of b:Ethernet12 (b.json:" in line
    assert "are of different networks, and a link joins them (DEVICE_NEIGHBOR of both)" in line


def test_as_numbers_that_do_not_match(tmp_path: Path) -> None:
    near, far = bgp("10.0.0.1", 65009, 65001), bgp("10.0.0.0", 65001, 65002)
    (line,) = complaint(addressed(near, far), tmp_path)
    assert line.endswith(
        f"BGP_NEIGHBOR|10.0.0.1|asn: AS 65009, and b has AS 65002 ({line_of('bgp_asn', tmp_path, 'b.json')}); write the same"
    )
    near = bgp("10.0.0.1", 65002, 65001)
    (line,) = complaint(addressed(near), tmp_path)
    assert "AS 65002, and b has no AS number (b.json:" in line


def test_a_session_with_an_address_that_nobody_has(tmp_path: Path) -> None:
    near = bgp("10.0.0.3", 65002, 65001, "Ethernet8|10.0.0.1/29")
    far = bgp("10.0.0.1", 65001, 65002, "Ethernet12|10.0.0.2/29")
    (line,) = complaint(addressed(near, far), tmp_path)
    assert "10.0.0.3 is the neighbour behind Ethernet8, and b:Ethernet12 has 10.0.0.2 (b.json:" in line


def test_doubts_are_told(tmp_path: Path) -> None:
    near = bgp("10.0.0.1", 65002, 65001) | {"CABLE_LENGTH": {"AZURE": {"Ethernet8": "5m"}}}
    far = {"DEVICE_METADATA": {"localhost": {"hostname": "b", "bgp_asn": "65002"}}, "CABLE_LENGTH": {"AZURE": {"Ethernet12": "7m"}}}
    notes = imported(addressed(near, far), tmp_path).notes
    assert "CABLE_LENGTH: 5 m at a:Ethernet8, 7 m at b:Ethernet12; each direction has its own delay" in notes
    assert any(note.startswith("b has no BGP session over b:Ethernet12, and a has (") for note in notes)


def test_all_contradictions_at_once(tmp_path: Path) -> None:
    near, far = bgp("10.0.0.1", 65009, 65001), bgp("10.0.0.0", 65001, 65002)
    files = addressed(near, far | {"LOOPBACK_INTERFACE": {"Loopback0|10.0.0.0/32": {}}})
    files["b"]["PORT"]["Ethernet12"]["speed"] = "40000"
    assert len(complaint(files, tmp_path)) == 3


def test_two_switches_of_one_name(tmp_path: Path) -> None:
    files = pair()
    files["b"]["DEVICE_METADATA"]["localhost"]["hostname"] = "A"
    (line,) = complaint(files, tmp_path)
    assert line.startswith(line_of("hostname", tmp_path, "b.json")) and f"({line_of('hostname', tmp_path, 'a.json')}" not in line
    assert f"'A' is the name of the switch in {line_of('hostname', tmp_path, 'a.json')} too ('a'); give each its own hostname" in line


def test_a_switch_without_a_link(tmp_path: Path) -> None:
    (line,) = complaint({**pair(), "c": switch("c", DEVICE_NEIGHBOR=servers("h3"))}, tmp_path)
    assert line.startswith("c.json: c: no link to a, b was found; write DEVICE_NEIGHBOR")


def test_a_link_at_a_port_that_containerlab_cannot_name(tmp_path: Path) -> None:
    files = pair({"DEVICE_NEIGHBOR": {**servers("h1"), "Ethernet2": neighbour("b", "Ethernet12")}}, {"DEVICE_NEIGHBOR": servers("h2")})
    files["a"]["PORT"]["Ethernet2"] = port()
    (line,) = complaint(files, tmp_path)
    assert "PORT|Ethernet2: leads to another switch, but a sonic-vs of Containerlab has Ethernet0, Ethernet4" in line


# Neighbours without a file


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
    assert "['h-a-Ethernet16:eth1', 'a:eth5'], ipv4: ['10.1.0.2/24', '']" in topology and "# a member of Vlan10\n" in topology
    assert any(note.startswith("a: up, but without neighbour") and "Ethernet4, Ethernet20, Ethernet24" in note for note in fabric.notes)


def test_a_host_of_two_switches(tmp_path: Path) -> None:
    far = {"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "h1", "port": "eth2"}, "Ethernet4": {"name": "h3", "port": "eth1"}}}
    fabric = imported(pair(theirs=far), tmp_path)
    assert stubs_of(fabric)["h1"] == [("a:Ethernet0", "eth1"), ("b:Ethernet0", "eth2")]


def test_one_port_of_a_neighbour_at_two_switches(tmp_path: Path) -> None:
    far = {"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "h1", "port": "eth1"}, "Ethernet12": neighbour("a", "Ethernet8")}}
    fabric = imported(pair(theirs=far), tmp_path)
    assert stubs_of(fabric) == {"h1": [("a:Ethernet0", "eth1")], "h1-2": [("b:Ethernet0", "eth1")]}
    assert "h1:eth1 is the neighbour of several ports; in the lab each has a node of its own" in fabric.notes


def spineless() -> dict[str, Tables]:
    """Return two leaves that are joined by a spine of which there is no file."""
    files = {}
    for number, name in enumerate("ab"):
        files[name] = switch(
            name,
            DEVICE_METADATA={"localhost": {"hostname": name, "bgp_asn": str(65001 + number)}},
            DEVICE_NEIGHBOR={**servers(f"h{number + 1}"), "Ethernet8": neighbour("spine", f"Ethernet{8 * number}")},
            INTERFACE={"Ethernet8": {}, f"Ethernet8|10.0.0.{2 * number}/31": {}},
            BGP_NEIGHBOR={f"10.0.0.{2 * number + 1}": {"asn": "65100", "name": "spine", "keepalive": "3", "holdtime": "9"}},
        )
    return files


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
    assert "BGP_NEIGHBOR|10.0.0.3|asn: AS 65200 of 'spine', and 65100 in a.json:" in line


def test_a_switch_without_a_file_may_be_an_error(tmp_path: Path) -> None:
    assert [line.partition(" ")[2] for line in complaint(spineless(), tmp_path, "error")] == [
        f"BGP_NEIGHBOR|10.0.0.{2 * number + 1}: {name}:Ethernet8 leads to spine (BGP_NEIGHBOR 10.0.0.{2 * number + 1}), "
        "of which there is no file; give its config_db.json, or --missing hosts or left-out"
        for number, name in enumerate("ab")
    ]


def test_a_switch_without_a_file_may_be_left_out(tmp_path: Path) -> None:
    files = spineless()
    for name, other in ("ab", "ba"):
        files[name]["DEVICE_NEIGHBOR"]["Ethernet12"] = neighbour(other, "Ethernet12")
    fabric = imported(files, tmp_path, "left-out")
    assert [*stubs_of(fabric)] == ["h1", "h2"]
    assert "a:Ethernet8 leads to spine (BGP_NEIGHBOR 10.0.0.1), of which there is no file: left out" in fabric.notes


def test_hosts_that_bgp_does_not_announce_are_told(tmp_path: Path) -> None:
    near, far = bgp("10.0.0.1", 65002, 65001), bgp("10.0.0.0", 65001, 65002)
    near["INTERFACE"] = {"Ethernet8|10.0.0.0/31": {}, "Ethernet0|10.9.0.0/31": {}}
    notes = imported(addressed(near, far), tmp_path).notes
    assert "bgpcfgd announces Loopback0 and the networks of VLANs only: other switches do not reach hosts behind routed ports (a)" in notes


def test_fewer_than_two_hosts(tmp_path: Path) -> None:
    files = pair(theirs={"DEVICE_NEIGHBOR": {}})
    (line,) = complaint(files, tmp_path)
    assert line.startswith("a.json: 1 host(s) behind the ports of all files; traffic needs two")


# VLANs and port channels


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


# The command


def run(*arguments: str | Path) -> tuple[int, str]:
    result = RUNNER.invoke(app, ["sonic", "import", *map(str, arguments)])
    return result.exit_code, result.output


def test_the_command(tmp_path: Path) -> None:
    paths = write(pair(), tmp_path)
    out = tmp_path / "new" / "mine"
    status, output = run(*paths, "-o", out)
    assert status == 0, output
    assert f"{out}: 2 switches, 1 links between them, 2 hosts" in output and "DEVICE_NEIGHBOR (1)" in output
    assert sorted(path.name for path in out.iterdir()) == ["a.json", "b.json", "experiment.yml", "topology.clab.yml"]
    assert [(out / path.name).read_bytes() for path in paths] == [path.read_bytes() for path in paths]
    assert RUNNER.invoke(app, ["check", str(out)]).exit_code == 0
    status, output = run(*paths, "-o", out)
    assert status == 2 and "is there already; --force replaces it" in output
    assert run(*paths, "-o", out, "--force", "--cell", "208 B", "--name", "other")[0] == 0
    plan = resolve_plan(parse_lab(out), {})
    assert plan.lab == "other" and {node.switch.cell_bytes for node in plan.nodes if node.switch} == {208}


def bad_input(*arguments: str | Path, out: Path) -> str:
    """Return what the command says of bad input, which leaves nothing behind."""
    before = sorted(out.parent.rglob("*"))
    status, output = run(*arguments, "-o", out)
    assert status == 2
    assert sorted(out.parent.rglob("*")) == before
    return output


def test_bad_input(tmp_path: Path) -> None:
    paths = write(pair(), tmp_path)
    out = tmp_path / "out"
    assert "no such file" in bad_input(*paths, tmp_path / "c.json", out=out)
    assert f"the same file as {paths[0]}; give each switch's file once" in bad_input(*paths, paths[0], out=out)
    assert "a directory; give the files in it" in bad_input(paths[0], tmp_path, out=out)
    (tmp_path / "c.json").write_text("{ports")
    (tmp_path / "d.json").write_text('{"PORT": {"Ethernet0": {"speed": "fast"}}}')
    output = bad_input(*paths, tmp_path / "c.json", tmp_path / "d.json", out=out)
    assert "c.json:1: no JSON" in output and "d.json:1: PORT|Ethernet0|speed: 'fast'" in output
    assert "is no name" in bad_input(*paths, "--name", "a lab", out=out)
    assert "--cell: " in bad_input(*paths, "--cell", "8", out=out)
    assert "--missing: is of several files" in bad_input(paths[0], "--missing", "error", out=out)
    assert "is a file; give a directory" in bad_input(*paths, out=paths[0])


def test_what_only_the_lab_finds_names_the_file_that_was_given(tmp_path: Path) -> None:
    files = pair({"INTERFACE": {"Ethernet0|10.0.0.4/32": {}}})
    output = bad_input(*write(files, tmp_path), out=tmp_path / "out")
    assert str(tmp_path / "a.json") in output and "/tmp/tmp" not in output.replace(str(tmp_path), "")


def test_an_interrupted_command_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write(pair(), tmp_path)
    written = []
    original = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(target)
        return original(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    status, output = run(*paths, "-o", tmp_path / "new" / "out")
    assert (status, "interrupted" in output, len(written)) == (130, True, 2)
    assert sorted(tmp_path.iterdir()) == paths
