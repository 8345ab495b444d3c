"""Several config_db.json as one fabric: how links are found, and contradictions that are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from sonic_fabrics import (
    Tables,
    addressed,
    bgp,
    complaint,
    imported,
    line_of,
    links_of,
    neighbour,
    pair,
    port,
    servers,
    switch,
    write,
)


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
        "leads to b, but neither the field port nor an address says to which of its ports; write port"
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


def test_links_by_sessions(tmp_path: Path) -> None:
    near = bgp("10.0.0.9", 65002, 65001, "Ethernet8|10.0.0.1/24")
    far = bgp("10.0.0.1", 65001, 65002, "Ethernet12|10.0.0.9/24")
    assert links_of(imported(addressed(near, far), tmp_path)) == [
        ("a:Ethernet8", "b:Ethernet12", "BGP_NEIGHBOR 10.0.0.9 of a")
    ]


def test_port_channels(tmp_path: Path) -> None:
    def channel(name: str, address: str) -> Tables:
        return {
            "PORTCHANNEL": {name: {}},
            "PORTCHANNEL_MEMBER": {f"{name}|Ethernet{number}": {} for number in (8, 12)},
            "PORTCHANNEL_INTERFACE": {name: {}, f"{name}|{address}": {}},
            "INTERFACE": {},
        }

    fabric = imported(
        addressed(channel("PortChannel1", "10.0.0.0/31"), channel("PortChannel7", "10.0.0.1/31")), tmp_path
    )
    assert [link[:2] for link in links_of(fabric)] == [("a:Ethernet8", "b:Ethernet8"), ("a:Ethernet12", "b:Ethernet12")]
    assert (
        "a:PortChannel1 and b:PortChannel7: no DEVICE_NEIGHBOR; their members were matched in the order of the files"
        in fabric.notes
    )
    crossed = {
        "DEVICE_NEIGHBOR": {
            **servers("h1"),
            "Ethernet8": neighbour("b", "Ethernet12"),
            "Ethernet12": neighbour("b", "Ethernet8"),
        }
    }
    files = addressed(channel("PortChannel1", "10.0.0.0/31") | crossed, channel("PortChannel7", "10.0.0.1/31"))
    assert [link[:2] for link in links_of(imported(files, tmp_path))] == [
        ("a:Ethernet8", "b:Ethernet12"),
        ("a:Ethernet12", "b:Ethernet8"),
    ]
    files["b"]["PORTCHANNEL_MEMBER"] = {"PortChannel7|Ethernet8": {}}
    (line,) = complaint(files, tmp_path)
    member, lone = line_of("PortChannel1|Ethernet8", tmp_path, "a.json"), line_of('"Ethernet12"', tmp_path, "b.json")
    assert line == (
        f"{member}: PORTCHANNEL_MEMBER|PortChannel1|Ethernet8: leads to b:Ethernet12 ({lone}), "
        "which is not a member of a port channel"
    )


def test_a_link_that_is_down_is_left_out(tmp_path: Path) -> None:
    files = {**pair(), "c": switch("c")}
    files["b"]["PORT"]["Ethernet12"]["admin_status"] = "down"
    files["c"]["DEVICE_NEIGHBOR"] = {
        "Ethernet0": neighbour("a", "Ethernet12"),
        "Ethernet4": neighbour("b", "Ethernet8"),
    }
    fabric = imported(files, tmp_path)
    assert [link[:2] for link in links_of(fabric)] == [("a:Ethernet12", "c:Ethernet0"), ("b:Ethernet8", "c:Ethernet4")]
    assert "the link a:Ethernet8 to b:Ethernet12 is left out: b:Ethernet12 down (admin_status)" in fabric.notes


# Contradictions


def test_two_files_that_disagree_on_a_link(tmp_path: Path) -> None:
    files = pair(theirs={"DEVICE_NEIGHBOR": {**servers("h2"), "Ethernet8": neighbour("a", "Ethernet8")}})
    (line,) = complaint(files, tmp_path)
    there, here = line_of('"Ethernet8"', tmp_path, "b.json", 2), line_of('"Ethernet8"', tmp_path, "a.json", 2)
    assert (
        line
        == f"{there}: DEVICE_NEIGHBOR|Ethernet8: leads to a:Ethernet8, but that port leads to b:Ethernet12 ({here}); "
        "write the same"
    )


def test_two_files_that_name_one_port(tmp_path: Path) -> None:
    files = pair(theirs={"DEVICE_NEIGHBOR": servers("h2")}) | {
        "c": switch("c", DEVICE_NEIGHBOR={"Ethernet0": neighbour("b", "eth4")})
    }
    (line,) = complaint(files, tmp_path)
    assert "c.json:" in line and "leads to b:Ethernet12, and so does a:Ethernet8 (a.json:" in line


def test_a_port_that_is_not_there(tmp_path: Path) -> None:
    files = pair({"DEVICE_NEIGHBOR": {"Ethernet8": neighbour("b", "Ethernet99")}})
    line = complaint(files, tmp_path)[0]
    assert "DEVICE_NEIGHBOR|Ethernet8|port: 'Ethernet99' is not a PORT of b (b.json:" in line and "did you mean" in line


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
    assert (
        f"PORT|Ethernet8|{field}: {ours} here, but {theirs} at the other end, b:Ethernet12 (b.json:" in line
        and line.startswith("a.json:")
    )


def test_an_address_twice(tmp_path: Path) -> None:
    files = addressed(theirs={"LOOPBACK_INTERFACE": {"Loopback0|10.0.0.0/32": {}}})
    first, second = (
        write(files, tmp_path) and line_of("10.0.0.0/31", tmp_path, "a.json"),
        line_of("10.0.0.0/32", tmp_path, "b.json"),
    )
    assert complaint(files, tmp_path) == [
        f"{second}: Loopback0|10.0.0.0/32: 10.0.0.0/32 is also 10.0.0.0/31 of a:Ethernet8 ({first}); "
        "each interface needs its own address"
    ]


def test_networks_that_overlap(tmp_path: Path) -> None:
    files = addressed(theirs={"INTERFACE": {"Ethernet12|10.0.0.1/31": {}, "Ethernet4|10.0.0.5/24": {}}})
    assert any(
        "but no link joins the two; write networks that do not overlap" in line and "a.json:" in line
        for line in complaint(files, tmp_path)
    )


def test_ends_of_different_networks(tmp_path: Path) -> None:
    files = pair({"INTERFACE": {"Ethernet8|10.0.0.0/31": {}}}, {"INTERFACE": {"Ethernet12|10.0.0.3/31": {}}})
    (line,) = complaint(files, tmp_path)
    assert "10.0.0.0/31 and 10.0.0.3/31 of b:Ethernet12 (b.json:" in line
    assert "are in different networks, although a link joins them (DEVICE_NEIGHBOR of both)" in line


def test_as_numbers_that_do_not_match(tmp_path: Path) -> None:
    near, far = bgp("10.0.0.1", 65009, 65001), bgp("10.0.0.0", 65001, 65002)
    (line,) = complaint(addressed(near, far), tmp_path)
    assert line.endswith(
        f"BGP_NEIGHBOR|10.0.0.1|asn: AS 65009, but b has AS 65002 ({line_of('bgp_asn', tmp_path, 'b.json')}); "
        "write the same"
    )
    near = bgp("10.0.0.1", 65002, 65001)
    (line,) = complaint(addressed(near), tmp_path)
    assert "AS 65002, but b has no AS number (b.json:" in line


def test_a_switch_with_sessions_and_no_as_number(tmp_path: Path) -> None:
    far = bgp("10.0.0.0", 65001, 65002)
    del far["DEVICE_METADATA"]["localhost"]["bgp_asn"]
    (line,) = complaint(addressed(bgp("10.0.0.1", 65002, 65001), far), tmp_path)
    assert "DEVICE_METADATA|localhost|bgp_asn: missing, although there are BGP sessions" in line


def test_a_link_with_a_port_that_is_down_is_told_and_taken(tmp_path: Path) -> None:
    tables = addressed(bgp("10.0.0.1", 65002, 65001), bgp("10.0.0.0", 65001, 65002))
    for name, address, state in (("a", "10.0.9.0/31", "up"), ("b", "10.0.9.1/31", "down")):
        fields = next(iter(tables[name]["PORT"].values()))
        tables[name]["PORT"] = {**tables[name]["PORT"], "Ethernet40": {**fields, "admin_status": state}}
        tables[name]["INTERFACE"] = {**tables[name]["INTERFACE"], f"Ethernet40|{address}": {}}
    fabric = imported(tables, tmp_path)
    assert [str(link.a) for link in fabric.links] == ["a:Ethernet8"]
    assert "the link a:Ethernet40 to b:Ethernet40 is left out: b:Ethernet40 down (admin_status)" in fabric.notes
    assert not any("Ethernet40" in str(link.end) for stub in fabric.stubs for link in stub.links)


def test_a_session_with_an_address_that_nobody_has(tmp_path: Path) -> None:
    near = bgp("10.0.0.3", 65002, 65001, "Ethernet8|10.0.0.1/29")
    far = bgp("10.0.0.1", 65001, 65002, "Ethernet12|10.0.0.2/29")
    (line,) = complaint(addressed(near, far), tmp_path)
    assert "10.0.0.3 is the neighbour behind Ethernet8, but b:Ethernet12 has 10.0.0.2 (b.json:" in line


def test_doubts_are_told(tmp_path: Path) -> None:
    near = bgp("10.0.0.1", 65002, 65001) | {"CABLE_LENGTH": {"AZURE": {"Ethernet8": "5m"}}}
    far = {
        "DEVICE_METADATA": {"localhost": {"hostname": "b", "bgp_asn": "65002"}},
        "CABLE_LENGTH": {"AZURE": {"Ethernet12": "7m"}},
    }
    notes = imported(addressed(near, far), tmp_path).notes
    assert "CABLE_LENGTH: 5 m at a:Ethernet8, 7 m at b:Ethernet12; each direction has its own delay" in notes
    assert any("but b has none over b:Ethernet12" in note for note in notes)


def test_all_contradictions_at_once(tmp_path: Path) -> None:
    near, far = bgp("10.0.0.1", 65009, 65001), bgp("10.0.0.0", 65001, 65002)
    files = addressed(near, far | {"LOOPBACK_INTERFACE": {"Loopback0|10.0.0.0/32": {}}})
    files["b"]["PORT"]["Ethernet12"]["speed"] = "40000"
    assert len(complaint(files, tmp_path)) == 3


def test_two_switches_of_one_name(tmp_path: Path) -> None:
    files = pair()
    files["b"]["DEVICE_METADATA"]["localhost"]["hostname"] = "A"
    (line,) = complaint(files, tmp_path)
    assert (
        line.startswith(line_of("hostname", tmp_path, "b.json"))
        and f"({line_of('hostname', tmp_path, 'a.json')}" not in line
    )
    assert (
        f"'A' is the name of the switch in {line_of('hostname', tmp_path, 'a.json')} too ('a'); "
        "give each its own hostname" in line
    )


def test_a_switch_without_a_link(tmp_path: Path) -> None:
    (line,) = complaint({**pair(), "c": switch("c", DEVICE_NEIGHBOR=servers("h3"))}, tmp_path)
    assert line.startswith("c.json: c: no link to a, b was found; write DEVICE_NEIGHBOR")


def test_a_link_at_a_port_that_containerlab_cannot_name(tmp_path: Path) -> None:
    files = pair(
        {"DEVICE_NEIGHBOR": {**servers("h1"), "Ethernet2": neighbour("b", "Ethernet12")}},
        {"DEVICE_NEIGHBOR": servers("h2")},
    )
    files["a"]["PORT"]["Ethernet2"] = port()
    (line,) = complaint(files, tmp_path)
    assert (
        "PORT|Ethernet2: leads to another switch, but a sonic-vs of Containerlab has only Ethernet0, Ethernet4" in line
    )
