"""Fabrics whose hosts have IPv4 and IPv6 by the files: the lab has both, with a session of each over every link."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sonic_fabrics import plan_of
from sonic_ipv6 import Style, dual_fabric
from sonic_pods import t0_pair
from sonic_scale import Tables, leaf_spine, write_fabric

import fabriclab.api.validation as validating
from fabriclab.compile import compile_node
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.validation import Bench, with_reasons
from fabriclab.validation.finding import judged
from fabriclab.vendors.sonic.export.switch import export_switch
from fabriclab.vendors.sonic.lab import import_fabric

RACK4, RACK6 = "10.100.1.0/24", "2001:db8:a64:1::/64"
"""Of leaf2's VLAN."""


def imported(directory: Path, fabric: dict[str, Tables]) -> tuple[Plan, tuple[str, ...]]:
    found = import_fabric(write_fabric(fabric, directory / "files"), "fabric")
    return plan_of(found, directory / "lab"), found.notes


def bgpd(plan: Plan, switch: str) -> list[str]:
    return compile_node(plan.node(switch), plan).root["etc/frr/bgpd.conf"].splitlines()


def family_of(lines: list[str], family: int) -> set[str]:
    rest = lines[lines.index(f" address-family ipv{family} unicast") :]
    return {line.strip() for line in rest[: rest.index(" exit-address-family")]}


@pytest.mark.parametrize("style", ["bgpcfgd", "frrcfgd"])
def test_hosts_and_routes_have_both_families(tmp_path: Path, style: Style) -> None:
    plan, notes = imported(tmp_path, dual_fabric(2, 2, style))
    assert plan.families == (4, 6) and plan.warnings == ()
    leaf = plan.node("leaf2")
    assert [(vlan.address, vlan.ipv6) for vlan in leaf.vlans] == [("10.100.1.1/24", "2001:db8:a64:1::1/64")]
    assert leaf.loopback6 == "2001:db8:aff::66"
    hosts = [port for node in plan.nodes if node.role == "host" for port in node.ports]
    assert hosts and all(port.address and port.ipv6 for port in hosts)
    hops = {route.destination: len(route.next_hops) for route in plan.node("leaf1").routes}
    assert (hops[RACK4], hops[RACK6]) == (2, 2)
    assert not any("IPv6" in note for note in notes)
    assert parse_plan_json(plan_json(plan)) == plan


@pytest.mark.parametrize("style", ["bgpcfgd", "frrcfgd"])
def test_a_session_carries_the_routes_of_its_own_family(tmp_path: Path, style: Style) -> None:
    plan, _ = imported(tmp_path, dual_fabric(1, 2, style))
    text = bgpd(plan, "leaf2")
    assert " neighbor 10.0.0.2 remote-as 65000" in text and " neighbor 2001:db8:a00::2 remote-as 65000" in text
    assert {"neighbor 10.0.0.2 activate", f"network {RACK4}"} <= family_of(text, 4)
    assert {"neighbor 2001:db8:a00::2 activate", f"network {RACK6}"} <= family_of(text, 6)
    assert not any(":" in line for line in family_of(text, 4))
    assert "neighbor 10.0.0.2 activate" not in family_of(text, 6)


def without_session6(fabric: dict[str, Tables]) -> None:
    """One of the two links to leaf2 has no session over IPv6."""
    for switch, peer in (("spine1", "2001:db8:a00::3"), ("leaf2", "2001:db8:a00::2")):
        del fabric[switch]["BGP_NEIGHBOR"][peer]


def test_a_link_without_a_session_over_ipv6_has_no_route_of_it(tmp_path: Path) -> None:
    fabric = dual_fabric(2, 2)
    without_session6(fabric)
    plan, _ = imported(tmp_path, fabric)
    hops = {route.destination: len(route.next_hops) for route in plan.node("leaf1").routes}
    assert (hops[RACK4], hops[RACK6]) == (2, 1)


def test_a_session_of_frrcfgd_carries_what_it_is_told(tmp_path: Path) -> None:
    """Over addresses of IPv4 both families, and nothing over those of IPv6."""
    fabric = dual_fabric(1, 2, "frrcfgd")
    for tables in fabric.values():
        families = tables["BGP_NEIGHBOR_AF"]
        for key in list(families):
            peer = key.rpartition("|")[0]
            if ":" in peer:
                families[key] = {"admin_status": "false"}
            else:
                families[f"{peer}|ipv6_unicast"] = {"admin_status": "up"}
    plan, _ = imported(tmp_path, fabric)
    text = bgpd(plan, "leaf2")
    assert "neighbor 10.0.0.2 activate" in family_of(text, 4) & family_of(text, 6)
    assert not any("2001" in line for line in text if "neighbor" in line)
    assert RACK6 in {route.destination for route in plan.node("leaf1").routes}


def test_the_key_of_the_experiment_chooses_one_family(tmp_path: Path) -> None:
    imported(tmp_path, dual_fabric(1, 2))
    for word, family in (("ipv4", 4), ("ipv6", 6)):
        plan = resolve_plan(parse_lab(tmp_path / "lab"), {"addresses": word})
        assert plan.families == (family,) and len(plan.node("leaf1").routes) > 0
        text = bgpd(plan, "leaf1")
        assert sum(" activate" in line for line in text) == 1
        other = " remote-as 65000"
        assert [":" in line for line in text if line.endswith(other)] == [family == 6]


def test_traffic_may_be_asked_in_either_family(tmp_path: Path) -> None:
    imported(tmp_path, dual_fabric(1, 2))
    experiment = tmp_path / "lab" / "experiment.yml"
    text = experiment.read_text(encoding="utf-8")
    line = next(one for one in text.splitlines() if one.startswith("  incast:"))
    six = line.replace("incast", "six").replace("}", ", ip: 6}")
    experiment.write_text(text.replace(line, f"{line}\n{six}"), encoding="utf-8")
    plan = resolve_plan(parse_lab(tmp_path / "lab"), {})
    assert {one.name: one.carried_by.ip for one in plan.traffic} == {"incast": None, "six": 6}


def test_hosts_with_one_family_alone_are_told_with_their_line(tmp_path: Path) -> None:
    fabric = dual_fabric(1, 2)
    del fabric["leaf2"]["VLAN_INTERFACE"]["Vlan1000|2001:db8:a64:1::1/64"]
    plan, _ = imported(tmp_path, fabric)
    (said,) = (one for one in plan.warnings if "without an address of IPv6" in one)
    assert "leaf2.json:" in said and "VLAN_INTERFACE|Vlan1000" in said
    # What hosts reach over addresses that no file has is no pass.
    lab = parse_lab(tmp_path / "lab")
    bench = Bench(plan, plan, lab.experiment.validation, *validating._of_files(lab.topology, "vm"))
    places = [f"{check} of hosts, IPv{family}" for check in ("reach", "mtu") for family in (4, 6)]
    found = [judged(place.split()[0], place, "1", "1", holds=True) for place in places]
    assert [one.verdict for one in with_reasons(bench, found)] == ["pass", "not judged", "pass", "not judged"]
    assert with_reasons(bench, [judged("reach", "h1 to h2, IPv6", "1", "0", holds=False)])[0].verdict == "fail"
    assert RACK6 not in {route.destination for route in plan.node("leaf1").routes}


def test_a_session_to_an_address_that_nobody_has_is_left_out_and_told(tmp_path: Path) -> None:
    fabric = dual_fabric(1, 2)
    neighbours = fabric["leaf2"]["BGP_NEIGHBOR"]
    neighbours["2001:db8:a00::3"] = neighbours.pop("2001:db8:a00::2")
    plan, _ = imported(tmp_path, fabric)
    assert any("2001:db8:a00::3 is the neighbour behind" in one and "leaf2.json:" in one for one in plan.warnings)
    assert RACK6 not in {route.destination for route in plan.node("leaf1").routes}


def test_links_of_both_families_alone_make_no_lab_of_both(tmp_path: Path) -> None:
    """Hosts have IPv4: the lab is the one that it was, and it is said what is left out."""
    fabric = dual_fabric(1, 2)
    for tables in fabric.values():
        for key in [key for key in tables.get("VLAN_INTERFACE", {}) if ":" in key]:
            del tables["VLAN_INTERFACE"][key]
    plan, notes = imported(tmp_path, fabric)
    assert plan.families == (4,)
    assert any(
        "IPv6 addresses were left out; a lab has IPv6 where an interface of hosts has it" in one for one in notes
    )
    plain, _ = imported(tmp_path / "plain", leaf_spine(1, 2))
    assert plan.nodes == plain.nodes


def test_without_a_session_over_ipv6_the_lab_has_ipv4_alone(tmp_path: Path) -> None:
    fabric = dual_fabric(1, 2)
    for tables in fabric.values():
        tables["BGP_NEIGHBOR"] = {key: one for key, one in tables["BGP_NEIGHBOR"].items() if ":" not in key}
    plan, notes = imported(tmp_path, fabric)
    assert plan.families == (4,) and any("a BGP session carries its routes" in note for note in notes)


@pytest.mark.parametrize("style", ["bgpcfgd", "frrcfgd"])
def test_an_export_has_the_ipv4_of_the_lab_and_says_so(tmp_path: Path, style: Style) -> None:
    plan, _ = imported(tmp_path, with_static(dual_fabric(1, 2, style)))
    exported = {node.name: export_switch(node, plan) for node in plan.nodes if node.role == "switch"}
    assert not any("2001" in one.text for one in exported.values())
    assert all(any("only IPv4 is written" in said for said in one.unsaid) for one in exported.values())


def with_static(fabric: dict[str, Tables]) -> dict[str, Tables]:
    """leaf1 has a static route of each family to leaf2's hosts."""
    routes = {RACK4: {"nexthop": "10.0.0.0"}, RACK6: {"nexthop": "2001:db8:a00::", "distance": "5"}}
    fabric["leaf1"]["STATIC_ROUTE"] = {f"default|{prefix}": fields for prefix, fields in routes.items()}
    return fabric


def test_static_routes_of_both_families_act(tmp_path: Path) -> None:
    plan, _ = imported(tmp_path, with_static(dual_fabric(2, 2)))
    leaf = plan.node("leaf1")
    assert [(one.destination, one.next_hops, one.distance) for one in leaf.static_routes] == [
        (RACK4, (("10.0.0.0", "Ethernet8"),), 1),
        (RACK6, (("2001:db8:a00::", "Ethernet8"),), 5),
    ]
    assert {len(one.next_hops) for one in leaf.routes if one.destination in (RACK4, RACK6)} == {1}
    line = f"route add {RACK6} metric {5 << 24} via 2001:db8:a00:: dev Ethernet8"
    assert line in compile_node(leaf, plan).ip.splitlines()


def test_a_static_route_of_ipv6_without_a_neighbour_is_told(tmp_path: Path) -> None:
    fabric = dual_fabric(1, 2)
    fabric["leaf1"]["STATIC_ROUTE"] = {"2001:db8:9::/64": {"nexthop": "2001:db8:ff::1"}}
    plan, _ = imported(tmp_path, fabric)
    assert any("2001:db8:ff::1 is not on a link that the switch has there" in one for one in plan.warnings)


def pod(directory: Path, length: int = 126) -> list[Path]:
    """Return two T0s of tests/golden, whose port channels to T1s without files have IPv6 and a session over it."""
    files = []
    for number, file in enumerate(t0_pair(directory)):
        text = file.read_text(encoding="utf-8").replace("/126", f"/{length}")
        if number:
            for old, new in (("fc00::71", "fc00:0:0:1::71"), ("fc00::75", "fc00:0:0:2::75"), ("fc00:1::", "fc00:2::")):
                text = text.replace(old, new)
            text = text.replace("fc02:1000::", "fc02:2000::")
        else:
            text = text.replace("fc00::75", "fc00:0:0:3::75")
        tables = json.loads(text)
        own = [key.partition("|")[2].partition("/")[0] for key in tables["PORTCHANNEL_INTERFACE"] if ":" in key]
        for address, name in zip(own, ("ARISTA01T1", "ARISTA02T1"), strict=True):
            peer = f"{address[:-1]}{int(address[-1]) + 1}"
            tables["BGP_NEIGHBOR"][peer] = {"asn": "64600", "name": name, "local_addr": address}
        files.append(directory / f"pod{number}.json")
        files[-1].write_text(json.dumps(tables, indent=1), encoding="utf-8")
    return files


@pytest.mark.parametrize(("length", "address"), [(126, "fc00::72"), (64, "fc00::70")])
def test_a_session_to_a_switch_without_a_file_is_to_its_address_in_the_lab(
    tmp_path: Path, length: int, address: str
) -> None:
    """The lab gives its port channels addresses: of a /126 the one that SONiC's minigraphs have there."""
    plan = plan_of(import_fabric(pod(tmp_path, length), "pod"), tmp_path / "lab")
    assert plan.families == (4, 6)
    own = plan.node("t0-1").bgp
    assert own is not None
    told = {one.address for one in own.neighbours}
    theirs = {channel.ipv6 for node in plan.nodes for channel in node.port_channels if node.bgp is None}
    assert {"10.0.0.57", address} <= told and f"{address}/{length}" in theirs
    assert "fc02:2000::/64" in {route.destination for route in plan.node("t0-1").routes}
