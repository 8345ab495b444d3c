"""`fabriclab sonic reach` and `sonic diff` over IPv6: the routes of fabrics of IPv6 alone, and of both families."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from sonic_fabrics import plan_of
from sonic_ipv6 import Style, dual_fabric, ipv6_fabric
from sonic_scale import Tables, write_fabric
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.vendors.sonic.fabric.routing import routings
from fabriclab.vendors.sonic.fabric.view import read_view
from fabriclab.vendors.sonic.lab import import_fabric

RUNNER = CliRunner()
Fabric = dict[str, Tables]
Make = Callable[[int, int, Style], Fabric]
RACK2 = "2001:db8:a64:1::/64"
"""Of leaf2's VLAN."""


def ran(*arguments: str) -> tuple[int, str]:
    result = RUNNER.invoke(app, ["sonic", *arguments])
    return result.exit_code, re.sub(r"\s+", " ", result.output)


def asked(directory: Path, fabric: Fabric, *arguments: str) -> tuple[int, str]:
    write_fabric(fabric, directory / "files")
    return ran("reach", str(directory / "files"), *arguments)


@pytest.mark.parametrize("style", ["bgpcfgd", "frrcfgd"])
@pytest.mark.parametrize("make", [ipv6_fabric, dual_fabric])
def test_the_routes_are_those_of_the_plan(tmp_path: Path, make: Make, style: Style) -> None:
    files = write_fabric(make(2, 3, style), tmp_path / "files")
    tables: dict[str, dict[str, set[str]]] = {}
    for routing in routings(read_view(files, ())):
        for name, table in routing.tables.items():
            tables.setdefault(name, {}).update(
                {str(one): {hop.interface for hop in hops} for one, hops in table.items()}
            )
    plan = plan_of(import_fabric(files, "fabric"), tmp_path / "lab")
    for node in plan.nodes:
        if node.role == "switch":
            planned = {one.destination: {interface for _, interface in one.next_hops} for one in node.routes}
            assert planned == {one: tables[node.name][one] for one in planned}
            assert (RACK2 in planned) is (node.name != "leaf2")


def test_each_family_is_asked_by_itself(tmp_path: Path) -> None:
    status, output = asked(tmp_path, dual_fabric(2, 3))
    assert status == 0 and "12 sessions up, 16 networks" in output
    for family in (4, 6):
        demand = f"pass reach each switch with hosts to all networks of hosts, IPv{family}: 6 of 6 pairs"
        assert demand in output
    assert "12 2 next hops, 2 paths of 2 links" in output


def without_session6(fabric: Fabric) -> None:
    """spine1 and leaf2 have no session over IPv6."""
    del fabric["spine1"]["BGP_NEIGHBOR"]["2001:db8:a00::3"], fabric["leaf2"]["BGP_NEIGHBOR"]["2001:db8:a00::2"]


def static(name: str, prefix: str, **fields: str) -> Callable[[Fabric], None]:
    return lambda fabric: fabric[name].setdefault("STATIC_ROUTE", {}).update({prefix: fields})


def wrong_address(fabric: Fabric) -> None:
    neighbours = fabric["leaf2"]["BGP_NEIGHBOR"]
    for spine in ("a00", "a01"):
        neighbours[f"2001:db8:{spine}::99"] = neighbours.pop(f"2001:db8:{spine}::2")


CASES: dict[str, tuple[Callable[[Fabric], None], int, str]] = {
    "one session less": (without_session6, 0, "4 1 next hop, 1 path of 2 links"),
    "an address that nobody has": (wrong_address, 1, f"leaf1, leaf3 to {RACK2} (leaf2:Vlan1000): packets end there"),
    "a blackhole": (
        static("spine1", "2001:db8:a64:1::/65", blackhole="true"),
        1,
        "of its paths 1 arrive, but others end at spine1 (its part 2001:db8:a64:1::/65): a route that drops",
    ),
    "a static route": (static("leaf1", RACK2, nexthop="2001:db8:a00::"), 0, "1 next hop, 1 path of 2 links"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_with_ipv6_alone_is_told(name: str, tmp_path: Path) -> None:
    change, status, said = CASES[name]
    fabric = dual_fabric(2, 3)
    change(fabric)
    found, output = asked(tmp_path, fabric)
    assert found == status and said in output
    assert "pass reach each switch with hosts to all networks of hosts, IPv4: 6 of 6 pairs" in output


WANTED = {
    "reach: [{from: leaf*, to: hosts}]": (0, "pass reach leaf* to all networks of hosts: 12 of 12 pairs"),
    f"reach: [{{from: leaf1, to: '{RACK2}'}}]": (0, f"leaf1 to {RACK2}: 1 of 1"),
    f"unreachable: [{{from: leaf1, to: '{RACK2}'}}]": (1, f"leaf1 to {RACK2} (leaf2:Vlan1000): 2 paths arrive"),
    f"waypoints: [{{from: leaf*, to: '{RACK2}', through: spine1}}]": (
        1,
        "leaf1 - spine2 - leaf2 passes none of spine1",
    ),
    f"widths: [{{from: leaf*, to: '{RACK2}', next_hops: 2, paths: 2}}]": (0, "2 of 2 pairs"),
    "widths: [{from: leaf1, to: '2001:db8:a64:1::7', next_hops: 3}]": (1, "2 next hops, not 3"),
    "reach: [{from: leaf1, to: '2001:db8:9::/48'}]": (2, "'2001:db8:9::/48' has no network of the fabric in it"),
}


@pytest.mark.parametrize("text", WANTED)
def test_demands_of_ipv6(text: str, tmp_path: Path) -> None:
    (tmp_path / "wanted.yml").write_text(text)
    status, said = WANTED[text]
    found, output = asked(tmp_path, dual_fabric(2, 3), "--wanted", str(tmp_path / "wanted.yml"))
    assert found == status and said in output


def test_ways_to_an_address_of_ipv6(tmp_path: Path) -> None:
    status, output = asked(
        tmp_path, ipv6_fabric(2, 3), "--from", "leaf1", "--to", "2001:db8:a64:1::7", "--without", "spine1:Ethernet4"
    )
    assert status == 0 and "to 2001:db8:a64:1::7/128 (leaf2:Vlan1000) leaf1: 1 next hop, spine2 (Ethernet12)" in output


def test_a_diff_tells_routes_of_ipv6(tmp_path: Path) -> None:
    old, new = dual_fabric(2, 3), dual_fabric(2, 3)
    wrong_address(new)
    write_fabric(old, tmp_path / "old")
    write_fabric(new, tmp_path / "new")
    status, output = ran("diff", str(tmp_path / "old"), str(tmp_path / "new"))
    assert status == 1 and f"leaf1 to {RACK2}: Ethernet12, Ethernet8 -> no route" in output
    assert "10.100.1.0/24" not in output and "session-one-sided BGP_NEIGHBOR|2001:db8:a00::3" in output


def test_check_tells_hosts_that_ipv6_does_not_reach(tmp_path: Path) -> None:
    fabric = dual_fabric(2, 3)
    static("spine1", RACK2, blackhole="true")(fabric)
    write_fabric(fabric, tmp_path / "files")
    status, output = ran("check", str(tmp_path / "files"))
    assert status == 1 and f"drops packets to {RACK2}, the network of leaf2:Vlan1000" in output
