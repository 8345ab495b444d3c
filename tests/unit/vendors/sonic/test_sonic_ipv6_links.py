"""Fabrics whose links have addresses of IPv6 only, and files without BUFFER_POOL: they come in, and it is said how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabriclab.compile import compile_node
from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.fabric import judge_files
from fabriclab.vendors.sonic.lab import import_fabric, import_lab
from fabriclab.vendors.sonic.read.read import parse_config_db

Tables = dict[str, Any]


def switch(number: int, link: Tables, neighbours: Tables) -> Tables:
    """Return a switch with a host behind Ethernet4, whose link to another one is Ethernet0."""
    ports = {
        f"Ethernet{4 * lane}": {"lanes": f"{4 * lane + 1}", "speed": "100000", "admin_status": "up", "mtu": "9100"}
        for lane in range(2)
    }
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": f"s{number}", "frr_mgmt_framework_config": "true"}},
        "PORT": ports,
        "INTERFACE": {"Ethernet0": {}, **link, "Ethernet4": {}, f"Ethernet4|10.{number}.0.1/24": {}},
        "LOOPBACK_INTERFACE": {"Loopback0": {}, f"Loopback0|10.255.0.{number}/32": {}},
        "BGP_GLOBALS": {"default": {"local_asn": str(65000 + number)}},
        "BGP_GLOBALS_AF_NETWORK": {f"default|ipv4_unicast|10.{number}.0.0/24": {}},
        "BGP_NEIGHBOR": neighbours,
        "QUEUE": {"Ethernet0|3": {"scheduler": "x"}},
        "SCHEDULER": {"x": {"type": "DWRR", "weight": "5"}},
    }


def peer(address: str, number: int) -> Tables:
    return {f"default|{address}": {"asn": str(65000 + number)}}


LINKS = {
    "/127": ("2001:db8::0/127", "2001:db8::1/127"),
    "/126": ("2001:db8::1/126", "2001:db8::2/126"),
}


def pair(directory: Path, one: str, other: str) -> list[Path]:
    """Write two switches whose link has these addresses."""
    addresses = [address.partition("/")[0] for address in (one, other)]
    first = switch(1, {f"Ethernet0|{one}": {}}, peer(addresses[1], 2))
    second = switch(2, {f"Ethernet0|{other}": {}}, peer(addresses[0], 1))
    files = []
    for name, tables in (("s1", first), ("s2", second)):
        files.append(directory / f"{name}.json")
        files[-1].write_text(json.dumps(tables, indent=1))
    return files


def imported(directory: Path, files: list[Path]) -> tuple[Plan, tuple[str, ...]]:
    fabric = import_fabric(files, "pair")
    lab = directory / "lab"
    for file, data in fabric.files.items():
        (lab / file).parent.mkdir(parents=True, exist_ok=True)
        (lab / file).write_bytes(data)
    return resolve_plan(parse_lab(lab), {}), fabric.notes


@pytest.mark.parametrize("link", LINKS)
def test_links_of_ipv6_are_found_and_sessions_run_over_them(tmp_path: Path, link: str) -> None:
    plan, notes = imported(tmp_path, pair(tmp_path, *LINKS[link]))
    own = plan.node("s1").bgp
    assert own is not None and [(one.interface, one.address, one.asn) for one in own.neighbours] == [
        ("Ethernet0", None, 65002)
    ]
    assert "10.2.0.0/24" in {route.destination for route in plan.node("s1").routes}
    assert any("run over the links' link-local addresses" in note for note in notes)
    files = compile_node(plan.node("s1"), plan)
    assert " neighbor Ethernet0 interface v6only remote-as 65002" in files.root["etc/frr/bgpd.conf"].splitlines()
    assert "net.ipv6.conf.Ethernet0.disable_ipv6 = 0" in files.sysctl.splitlines()


def test_a_file_without_buffers_gets_one_at_each_port_and_it_is_said(tmp_path: Path) -> None:
    plan, notes = imported(tmp_path, pair(tmp_path, *LINKS["/127"]))
    (note,) = (note for note in notes if note.startswith("BUFFER_POOL is missing or empty"))
    assert "QUEUE, SCHEDULER left out with it (s1, s2)" in note
    limits = {port.queue.limit_bytes for port in plan.node("s1").ports if port.queue is not None}
    assert limits == {16_000_000}


def test_two_ports_alone_in_a_larger_network_are_linked_and_three_are_not(tmp_path: Path) -> None:
    files = pair(tmp_path, "2001:db8::1/120", "2001:db8::2/120")
    fabric = import_fabric(files, "pair")
    assert [link.found_by for link in fabric.links] == ["addresses of 2001:db8::/120, in which no other port is"]
    third = json.loads(files[1].read_text())
    third["DEVICE_METADATA"]["localhost"]["hostname"] = "s3"
    (tmp_path / "s3.json").write_text(json.dumps(third))
    assert not judge_files([*files, tmp_path / "s3.json"], ()).was_judged


def test_one_file_whose_links_have_ipv6_alone_is_a_lab(tmp_path: Path) -> None:
    """sonic-mgmt, 7nodes: P2 has one address for two and others of a /120, and no IPv4."""
    tables = switch(1, {"Ethernet0|2001:db8::1/120": {}}, {})
    tables["INTERFACE"].pop("Ethernet4|10.1.0.1/24")
    tables["INTERFACE"]["Ethernet4|2001:db8:1::1/120"] = {}
    lab = import_lab(parse_config_db(json.dumps(tables).encode(), "s1.json"))
    assert [link.interface for link in lab.links] == ["Ethernet0", "Ethernet4"]


@pytest.mark.parametrize("word", ["None", "none", "null"])
def test_a_switch_without_an_as_number_by_sonics_words_has_none(word: str) -> None:
    """dockers/docker-fpm-frr/frr/bgpd/bgpd.main.conf.j2."""
    tables = switch(1, {}, {})
    tables["DEVICE_METADATA"]["localhost"] = {"hostname": "s1", "bgp_asn": word}
    tables["BGP_GLOBALS"] = {}
    assert parse_config_db(json.dumps(tables).encode(), "s1.json").asn is None


@pytest.mark.parametrize(("beside", "count"), [({}, 1), (peer("10.0.0.1", 2), 1), (peer("Ethernet0", 2), 1)])
def test_a_link_has_one_session_whatever_its_families_are(beside: Tables, count: int) -> None:
    link: Tables = {"Ethernet0|2001:db8::/127": {}, "Ethernet0|10.0.0.0/31": {}}
    tables = switch(1, link, {**peer("2001:db8::1", 2), **beside})
    config = parse_config_db(json.dumps(tables).encode(), "s1.json")
    assert len(config.bgp_neighbours) == count
    assert [one.over_ipv6 for one in config.bgp_neighbours] == [not beside]


def test_a_numbered_and_an_unnumbered_session_are_both_up(tmp_path: Path) -> None:
    """One leaf's link has IPv4, the other one's IPv6 alone: the ports of the latter have link-local addresses."""
    files = pair(tmp_path, *LINKS["/127"])
    for file, number, other in zip(files, (1, 2), (2, 1), strict=True):
        tables = json.loads(file.read_text())
        tables["PORT"]["Ethernet8"] = {"lanes": "9", "speed": "100000", "admin_status": "up", "mtu": "9100"}
        tables["INTERFACE"] |= {"Ethernet8": {}, f"Ethernet8|10.9.0.{number - 1}/31": {}}
        tables["BGP_NEIGHBOR"] |= peer(f"10.9.0.{other - 1}", other)
        file.write_text(json.dumps(tables, indent=1))
    plan, _ = imported(tmp_path, files)
    own = plan.node("s1").bgp
    assert plan.bgp is not None and not plan.bgp.unnumbered and own is not None
    assert {one.interface: one.address for one in own.neighbours} == {"Ethernet0": None, "Ethernet8": "10.9.0.1"}
    settings = compile_node(plan.node("s1"), plan).sysctl.splitlines()
    assert "net.ipv6.conf.Ethernet0.disable_ipv6 = 0" in settings
    assert "net.ipv6.conf.Ethernet8.disable_ipv6 = 0" not in settings
