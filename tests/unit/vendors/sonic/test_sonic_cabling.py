"""Cables from outside the configurations: plans, NetBox's cables, LLDP; and what configurations say without them."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from sonic_fabrics import Tables, addressed, bgp, links_of, pair, port, servers, switch, write
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.lab import LabError
from fabriclab.vendors.sonic.fabric import judge_files
from fabriclab.vendors.sonic.lab import import_fabric
from fabriclab.vendors.sonic.lab.cabling import read_cabling

RUNNER = CliRunner()
LLDP = """admin@a:~$ show lldp table
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet0    h 1             52:54:00:12:34:56  O             eth1
Ethernet8    b.example.net   fortyGigE0/12      BR            Ethernet12
eth0         oob             Ethernet3          BR            Ethernet3
--------------------------------------------------
Total entries displayed:  3
"""
LLDPCTL = """-------------------------------------------------------------------------------
LLDP neighbors:
-------------------------------------------------------------------------------
Interface:    Ethernet8, via: LLDP, RID: 2, Time: 0 day, 00:05:12
  Chassis:
    ChassisID:    mac 52:54:00:00:00:02
    SysName:      b
  Port:
    PortID:       local fortyGigE0/12
    PortDescr:    Ethernet12
    TTL:          120
-------------------------------------------------------------------------------
"""


def silent() -> dict[str, Tables]:
    """Return two switches that say nothing of each other; a server behind each."""
    return {name: switch(name, DEVICE_NEIGHBOR=servers(f"h{name}")) for name in ("a", "b")}


def end(device: str, name: str) -> dict[str, Any]:
    return {"object_type": "dcim.interface", "object_id": 1, "object": {"name": name, "device": {"name": device}}}


def cable(a: str, b: str, status: str) -> dict[str, Any]:
    return {"status": {"value": status}, "a_terminations": [end("a", a)], "b_terminations": [end("b", b)]}


def older(kind: str, a: tuple[str, str], b: tuple[str, str]) -> dict[str, Any]:
    ends = {"a": a, "b": b}
    return {
        **{f"termination_{side}_type": f"dcim.{kind}" for side in ends},
        **{f"termination_{side}": {"name": name, "device": {"name": device}} for side, (device, name) in ends.items()},
    }


NETBOX = {"results": [cable("Ethernet8", "Ethernet12", "connected"), cable("Ethernet12", "Ethernet8", "planned")]}
OLDER = [older("interface", ("a", "Ethernet8"), ("b", "Ethernet12")), older("powerport", ("pdu", "1"), ("a", "psu1"))]
FILES = {
    "plan.csv": ("device_a,port_a,device_b,port_b\na,Ethernet8,b,Ethernet12\n", "cable of plan.csv:2"),
    "semicolons.csv": ("\ufeffDevice A;Port A;Device B;Port B\n\na;Ethernet8;b;eth4\n", "cable of semicolons.csv:3"),
    "import.csv": (
        "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status\n"
        "a,dcim.powerport,psu1,pdu,dcim.poweroutlet,1,connected\n"
        "a,dcim.interface,Ethernet8,b,dcim.interface,Ethernet12,connected\n"
        "a,dcim.interface,Ethernet12,b,dcim.interface,Ethernet8,planned\n",
        "cable of import.csv:3",
    ),
    "table.csv": (
        "ID,Termination A,Termination B,Device A,Device B\n7,Ethernet8,Ethernet12,a,b\n",
        "cable of table.csv:2",
    ),
    "netbox.json": (json.dumps(NETBOX), "cable 1 of netbox.json"),
    "older.json": (json.dumps(OLDER), "cable 1 of older.json"),
    "x.txt": (LLDP, "LLDP of x.txt:6"),
    "a.lldp": (LLDPCTL, "LLDP of a.lldp:4"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_cables_gives_the_link(name: str, tmp_path: Path) -> None:
    files = silent()
    files["b"]["PORT"]["Ethernet12"]["alias"] = "fortyGigE0/12"
    text, source = FILES[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    cables = read_cabling([tmp_path / name])
    fabric = import_fabric(write(files, tmp_path), "fabric", cables=cables)
    assert links_of(fabric) == [("a:Ethernet8", "b:Ethernet12", source)]


def test_without_cables_there_is_no_link(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="give --cables, or leave the file out"):
        import_fabric(write(silent(), tmp_path), "fabric")


def test_a_device_without_a_file_is_a_host_of_its_name(tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text("device_a,port_a,device_b,port_b\na,Ethernet8,b,Ethernet12\nstorage,eth2,a,Ethernet12\n")
    fabric = import_fabric(write(silent(), tmp_path), "fabric", cables=read_cabling([plan]))
    (stub,) = (one for one in fabric.stubs if one.name == "storage")
    assert [(str(link.end), link.interface, link.found_by) for link in stub.links] == [
        ("a:Ethernet12", "eth2", "cable of plan.csv:3")
    ]


MISTAKES = {
    "device_a,port_a\na,Ethernet8\n": "plan.csv:1: has the columns device_a, port_a; a table of",
    "device_a,port_a,device_b,port_b\na,Ethernet8,,Ethernet12\n": "plan.csv:2: device_b missing; a cable has two",
    "device_a,port_a,device_b,port_b\na,Ethernet9,b,Ethernet12\n": "plan.csv:2: a: 'Ethernet9' is not a PORT of a",
    "device_a,port_a,device_b,port_b\na,Ethernet8,b,Ethernet12\na,Ethernet12,b,Ethernet12\n": (
        "plan.csv:3: b:Ethernet12 leads to a:Ethernet12 here, but to a:Ethernet8 by cable of plan.csv:2; a port has one"
    ),
    'device_a,port_a,device_b,port_b\na,"Ethernet8\n': "plan.csv:2: is not CSV",
    "": "plan.csv:1: has the columns none",
    '{"results": [{"a_terminations": [{}], "b_terminations": []}]}': "plan.csv: cable 1 names no device and port",
    '{"results": 3}': "plan.csv:1: is not a list of cables",
    "{": "plan.csv:1: is not JSON",
    "[" * 100_000: "is not JSON",
}


@pytest.mark.parametrize("text", MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_in_a_file_of_cables(text: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text(text, encoding="utf-8")
    result = RUNNER.invoke(app, ["sonic", "check", *map(str, write(silent(), tmp_path)), "--cables", str(plan)])
    assert result.exit_code == 2 and MISTAKES[text] in result.output


def test_a_port_with_several_neighbours_is_no_cable(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    more = LLDP.replace("eth0         oob ", "Ethernet8    other")
    text.write_text(more, encoding="utf-8")
    files = {**silent(), "c": switch("c", DEVICE_NEIGHBOR=servers("hc"))}
    assert not judge_files(write(files, tmp_path), (), read_cabling([text])).was_judged


def test_a_cable_that_contradicts_device_neighbor_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(LLDP.replace("Ethernet12", "Ethernet4 ").replace("fortyGigE0/12", "-            "))
    paths = write(pair(), tmp_path)
    assert judge_files(paths, ()).findings[str(paths[0])] == ()
    result = RUNNER.invoke(app, ["sonic", "check", *map(str, paths), "--cables", str(tmp_path / "a.txt")])
    assert result.exit_code == 1
    assert "link-found" in result.output and "but to b:Ethernet4 by LLDP of a.txt:6" in result.output


def test_techsupport_archives_bring_their_lldp(tmp_path: Path) -> None:
    for name, path in zip("ab", write(silent(), tmp_path), strict=True):
        dump = tmp_path / f"sonic_dump_{name}"
        (dump / "etc" / "sonic").mkdir(parents=True)
        (dump / "dump").mkdir()
        path.rename(dump / "etc" / "sonic" / "config_db.json")
        (dump / "dump" / "lldpctl").write_text(LLDPCTL if name == "a" else "")
        (tmp_path / "all").mkdir(exist_ok=True)
        with tarfile.open(tmp_path / "all" / f"{dump.name}.tar.gz", "w:gz") as archive:
            archive.add(dump, dump.name)
    out = tmp_path / "lab"
    result = RUNNER.invoke(app, ["sonic", "import", str(tmp_path / "all"), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "# LLDP of sonic_dump_a.tar.gz:4" in (out / "topology.clab.yml").read_text()
    result = RUNNER.invoke(app, ["sonic", "check", str(tmp_path / "all")])
    assert "judged together: 2 switches, 1 link between them" in result.output


def test_links_of_an_archive_are_not_followed(tmp_path: Path) -> None:
    (path,) = write({"a": switch("a")}, tmp_path)
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(path, "d/etc/sonic/config_db.json")
        (tmp_path / "heard.txt").write_text(LLDP)
        (tmp_path / "lldpctl").symlink_to(tmp_path / "heard.txt")
        archive.add(tmp_path / "lldpctl", "d/dump/lldpctl")
    (other,) = write({"b": switch("b")}, tmp_path)
    assert not judge_files([tmp_path / "a.tar", other], ()).was_judged


def test_two_ports_alone_in_a_larger_network(tmp_path: Path) -> None:
    files = addressed({"INTERFACE": {"Ethernet8|10.0.0.1/24": {}}}, {"INTERFACE": {"Ethernet12|10.0.0.2/24": {}}})
    fabric = import_fabric(write(files, tmp_path), "fabric")
    assert links_of(fabric) == [("a:Ethernet8", "b:Ethernet12", "addresses of 10.0.0.0/24, in which no other port is")]
    third = switch("c", INTERFACE={"Ethernet8|10.0.0.3/24": {}})
    assert not judge_files(write({**files, "c": third}, tmp_path), ()).was_judged


def unnumbered(own: int, **peers: int) -> Tables:
    ports = {f"Ethernet{number}": port() for number in (0, 4, 8, 12)}
    neighbours = {name: {"asn": str(asn)} for name, asn in peers.items()}
    interfaces = {name: {"ipv6_use_link_local_only": "enable"} for name in peers}
    return {**bgp("1.1.1.1", 0, own), "PORT": ports, "BGP_NEIGHBOR": neighbours, "INTERFACE": interfaces}


def test_unnumbered_sessions_find_their_ends_by_as_numbers(tmp_path: Path) -> None:
    files = silent()
    files["a"] |= unnumbered(65001, Ethernet8=65002)
    files["b"] |= unnumbered(65002, Ethernet12=65001)
    fabric = import_fabric(write(files, tmp_path), "fabric")
    source = "BGP_NEIGHBOR of both, the only one of AS 65001 and AS 65002"
    assert links_of(fabric) == [("a:Ethernet8", "b:Ethernet12", source)]
    files["a"] |= unnumbered(65001, Ethernet8=65002, Ethernet12=65002)
    assert not judge_files(write(files, tmp_path), ()).was_judged


CFGGEN = """#!/bin/sh
[ "$1" = -m ] && [ "$3" = -p ] && [ "$5" = --print-data ] || exit 9
grep -q broken "$2" && { echo "minigraph: no hwsku" >&2; exit 1; }
cat "$(dirname "$4")/made.txt"
"""


def test_a_minigraph_is_read_by_sonic_cfggen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write(pair(), tmp_path)
    graph = tmp_path / "graph"
    graph.mkdir()
    (graph / "port_config.ini").touch()
    paths[0].rename(graph / "made.txt")
    (graph / "a.xml").write_text("<?xml version='1.0'?>\n<DeviceMiniGraph/>\n")
    check = ["sonic", "check", str(graph), str(paths[1])]
    monkeypatch.setenv("PATH", "/nowhere")
    missing = RUNNER.invoke(app, check)
    assert missing.exit_code == 2 and "install sonic-config-engine" in missing.output
    program = tmp_path / "bin" / "sonic-cfggen"
    program.parent.mkdir()
    program.write_text(CFGGEN)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert "judged together: 2 switches, 1 link between them" in RUNNER.invoke(app, check).output
    for text, said in (
        ("<a>\n<b></a>\n", "a.xml:2: is not XML (mismatched tag)"),
        ("<a/>\n<!doctype a [<!ENTITY b SYSTEM '/etc/passwd'>]>", "a.xml:2: has a DTD"),
        ("<broken/>", "made no config_db.json of it (status 1): minigraph: no hwsku"),
    ):
        (graph / "a.xml").write_text(text)
        told = RUNNER.invoke(app, check)
        assert told.exit_code == 2 and said in told.output.replace("\n", " "), told.output
