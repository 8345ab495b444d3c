"""Routes that BGP must find, and FRR's configuration."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path

import pytest
from bgp_fabrics import BGP, TWO_LEAVES, generated, next_hops
from repository import ROOT
from small_fabrics import EXPERIMENT, plan_of

from fabriclab.compile import compile_job, compile_node
from fabriclab.formats.plan import Plan
from fabriclab.resolve.bgp import bgp_routes, link_local

GOLDEN = ROOT / "tests" / "golden" / "compile"


def test_numbers_are_derived_where_labels_say_nothing(tmp_path: Path) -> None:
    labelled = TWO_LEAVES.replace(
        "leaf2: {kind: linux, labels: {",
        "leaf2: {kind: linux, labels: {fabriclab.asn: 65000, fabriclab.loopback: 10.255.0.1, ",
    )
    plan = plan_of(tmp_path, labelled, BGP)
    assert [(node.name, node.asn, node.loopback) for node in plan.nodes if node.role == "switch"] == [
        ("leaf1", 4_200_000_000, "10.255.0.2"),
        ("leaf2", 65000, "10.255.0.1"),
        ("spine1", 4_200_000_001, "10.255.0.3"),
        ("spine2", 4_200_000_002, "10.255.0.4"),
    ]


def test_static_routing_has_no_speakers(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_LEAVES)
    assert plan.bgp is None
    assert {(node.asn, node.loopback) for node in plan.nodes} == {(None, None)}
    assert "ready" not in compile_job(plan)


@pytest.mark.parametrize(
    ("protocol", "gateways"),
    [("bgp-numbered", "10.0.0.5 10.0.0.7"), ("bgp-unnumbered", "fe80::fa:ff:fe00:6 fe80::fa:ff:fe00:8")],
)
def test_a_leaf_uses_both_spines(tmp_path: Path, protocol: str, gateways: str) -> None:
    route = next(
        route
        for route in plan_of(tmp_path, TWO_LEAVES, BGP, **{"routing.protocol": protocol}).node("leaf1").routes
        if route.destination == "10.0.0.2/31"
    )
    assert route.next_hops == tuple(zip(gateways.split(), ("eth3", "eth4"), strict=True))


def test_the_link_local_address_is_that_of_rfc_4291() -> None:
    assert link_local("02:fa:00:00:00:41") == "fe80::fa:ff:fe00:41"


def test_a_switch_refuses_paths_through_its_own_as(tmp_path: Path) -> None:
    """Spines of one AS never learn of each other (RFC 7938, section 5.2.2); spines of different ones
    do, through every leaf."""
    shared = generated(
        tmp_path / "shared", "leaf-spine --spines 2 --leaves 4 --hosts 1", "h1", **{"routing.protocol": "bgp-numbered"}
    )
    assert next_hops(shared, "spine1", "10.255.0.2/32") == []
    assert next_hops(
        plan_of(tmp_path, TWO_LEAVES, BGP), "spine1", f"{plan_of(tmp_path, TWO_LEAVES, BGP).node('spine2').loopback}/32"
    ) == [
        "eth1",
        "eth2",
    ]


def test_bgp_and_static_routes_lead_hosts_the_same_ways(tmp_path: Path) -> None:
    """In a fat-tree the paths of least AS hops are the shortest ones."""
    static = generated(tmp_path / "static", "fat-tree --k 4", "h1-1-1")
    bgp = generated(tmp_path / "bgp", "fat-tree --k 4", "h1-1-1", **{"routing.protocol": "bgp-numbered"})
    compared = 0
    for node in bgp.nodes:
        known = [
            (IPv4Network(route.destination), route.next_hops)
            for route in static.node(node.name).routes
            if node.role == "switch"
        ]
        for route in node.routes if node.role == "switch" else ():
            # Static routes are merged, and lead to no loopback.
            for hops in [ways for network, ways in known if IPv4Network(route.destination).subnet_of(network)]:
                assert route.next_hops == hops
                compared += 1
    assert compared == 20 * 16 - 16  # every host's network at every switch but its own


def test_routes_without_a_dead_link(tmp_path: Path) -> None:
    plan = generated(
        tmp_path, "leaf-spine --spines 2 --leaves 3 --hosts 1", "h1", **{"routing.protocol": "bgp-numbered"}
    )
    dead = {"leaf1:eth2", "spine1:eth1"}
    routes = bgp_routes(plan.nodes, unnumbered=False, dead=dead)
    host = str(IPv4Interface(plan.node("leaf1").ports[0].address).network)
    after = {
        name: {route.destination: [hop[1] for hop in route.next_hops] for route in found}
        for name, found in routes.items()
    }
    assert (next_hops(plan, "leaf2", host), after["leaf2"][host]) == (["eth2", "eth3"], ["eth3"])
    assert host not in after["spine1"]
    assert after["spine2"][host] == ["eth1"]


def frr_files(plan: Plan, node: str) -> str:
    files = compile_node(plan.node(node), plan).root
    return "\n".join(f"# {path}\n{text}" for path, text in files.items())


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("frr-unnumbered", {"routing.protocol": "bgp-unnumbered"}),
        (
            "frr-numbered-bfd",
            {
                "routing.protocol": "bgp-numbered",
                "routing.bfd": "50 ms",
                "routing.hold": "30 s",
                "routing.max_paths": "1",
            },
        ),
    ],
)
def test_frr_files_are_the_golden_ones(tmp_path: Path, name: str, settings: dict[str, str]) -> None:
    assert (
        frr_files(plan_of(tmp_path, TWO_LEAVES, EXPERIMENT, **settings), "leaf1")
        == (GOLDEN / f"{name}.txt").read_text()
    )


def test_fewer_paths_are_expected_where_fewer_are_allowed(tmp_path: Path) -> None:
    job = compile_job(plan_of(tmp_path, TWO_LEAVES, BGP, **{"routing.max_paths": "1"}))
    leaf = next(node for node in job["ready"]["nodes"] if node["node"] == "leaf1")
    assert {"prefix": "10.0.0.2/31", "interfaces": ["eth3", "eth4"], "paths": 1} in leaf["routes"]


def test_ipv6_is_enabled_between_switches_only(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_LEAVES, BGP, **{"routing.protocol": "bgp-unnumbered"})
    enabled = [
        line for line in compile_node(plan.node("leaf1"), plan).sysctl.splitlines() if line.endswith("disable_ipv6 = 0")
    ]
    assert enabled == ["net.ipv6.conf.eth3.disable_ipv6 = 0", "net.ipv6.conf.eth4.disable_ipv6 = 0"]
    assert "disable_ipv6 = 0" not in compile_node(plan.node("h1"), plan).sysctl


def test_daemons_run_on_switches_in_order(tmp_path: Path) -> None:
    daemons = compile_job(plan_of(tmp_path, TWO_LEAVES, BGP, **{"routing.bfd": "on"}))["daemons"]
    assert [daemon["name"] for daemon in daemons[:4]] == ["zebra@leaf1", "bfdd@leaf1", "bgpd@leaf1", "zebra@leaf2"]
    assert len(daemons) == 3 * 4
