"""MPTCP on hosts: the language, addresses and routes, node files."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

import pytest
from bgp_fabrics import TWO_LEAVES, generated
from small_fabrics import EXPERIMENT, TWO_HOSTS, forwarded_to, link, plan_of, star

from fabriclab.compile import compile_job, compile_node
from fabriclab.formats.family import AnyNetwork
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.formats.plan.node import Mptcp
from fabriclab.lab import LabError
from fabriclab.resolve.addressing import IPV4, extra_network

MPTCP = EXPERIMENT + "hosts: {default: {mptcp: {subflows: 8}}}\n"
DUAL_HOMED = star(
    link("h1:eth1", "s1:eth1"),
    link("h1:eth2", "s2:eth1"),
    link("h2:eth1", "s1:eth2"),
    link("s1:eth3", "s2:eth3"),
    switches=("s1", "s2"),
)


def mptcp_of(plan: Plan, host: str) -> Mptcp | None:
    transport = plan.node(host).transport
    assert transport is not None
    return transport.mptcp


def extra_of(plan: Plan, host: str) -> list[list[str]]:
    return [list(port.extra_addresses) for port in plan.node(host).ports]


def ip_lines(plan: Plan, node: str, *words: str) -> list[str]:
    lines = compile_node(plan.node(node), plan).ip.splitlines()
    return [line for line in lines if all(word in line for word in words)]


def test_defaults_are_explicit(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_HOSTS, EXPERIMENT + "hosts: {h1: {mptcp: {}}}\n")
    assert mptcp_of(plan, "h1") == Mptcp(subflows=8, add_addr_accepted=8, scheduler="default", path_manager="subflow")
    assert mptcp_of(plan, "h2") is None
    assert parse_plan_json(plan_json(plan)) == plan


def test_layers_override_key_by_key_and_none_ends_it(tmp_path: Path) -> None:
    hosts = (
        "hosts: {default: {mptcp: {subflows: 4, path_manager: fullmesh}}, h1: {mptcp: {subflows: 2}}, h2: {mptcp: "
        "none}}\n"
    )
    plan = plan_of(tmp_path, TWO_HOSTS, EXPERIMENT + hosts)
    assert mptcp_of(plan, "h1") == Mptcp(subflows=2, add_addr_accepted=8, scheduler="default", path_manager="fullmesh")
    assert mptcp_of(plan, "h2") is None


def test_keys_are_set_from_outside(tmp_path: Path) -> None:
    found = mptcp_of(plan_of(tmp_path, TWO_HOSTS, MPTCP, **{"hosts.default.mptcp.subflows": "3"}), "h1")
    assert found is not None and found.subflows == 3
    assert mptcp_of(plan_of(tmp_path, TWO_HOSTS, MPTCP, **{"hosts.default.mptcp": "none"}), "h1") is None
    found = mptcp_of(plan_of(tmp_path, TWO_HOSTS, EXPERIMENT, **{"hosts.h1.mptcp.path_manager": "signal"}), "h1")
    assert found is not None and found.path_manager == "signal"
    with pytest.raises(LabError, match="did you mean 'subflows'"):
        plan_of(tmp_path, TWO_HOSTS, MPTCP, **{"hosts.default.mptcp.subflow": "3"})


def test_parameters_show_what_nobody_set(tmp_path: Path) -> None:
    keys = (
        "parameters: {subflows: hosts.default.mptcp.subflows, h1: hosts.h1.mptcp.subflows, manager: "
        "hosts.default.mptcp.path_manager}\n"
    )
    written = EXPERIMENT + "hosts: {default: {mptcp: {subflows: 4}}}\n" + keys
    assert plan_of(tmp_path, TWO_HOSTS, written).parameters == {"subflows": 4, "h1": 4, "manager": "subflow"}
    assert plan_of(tmp_path, TWO_HOSTS, EXPERIMENT + keys).parameters == {
        "subflows": "none",
        "h1": "none",
        "manager": "none",
    }


@pytest.mark.parametrize("subflows", range(1, 9))
def test_a_host_has_an_address_for_each_subflow(tmp_path: Path, subflows: int) -> None:
    plan = plan_of(tmp_path, DUAL_HOMED, MPTCP, **{"hosts.default.mptcp.subflows": str(subflows)})
    first, second = (len(addresses) for addresses in extra_of(plan, "h1"))
    assert first + second == max(0, subflows - 2) and first - second in (0, 1)
    assert len(extra_of(plan, "h2")[0]) == subflows - 1


def networks(plan: Plan) -> list[AnyNetwork]:
    """Return all networks of the plan: links, loopbacks, extra addresses."""
    links = {IPv4Interface(port.address).network for node in plan.nodes for port in node.ports}
    loopbacks = [IPv4Network(node.loopback) for node in plan.nodes if node.loopback is not None]
    extra = [extra_network(port.extra_addresses) for node in plan.nodes for port in node.ports]
    return [*links, *loopbacks, *(network for network in extra if network is not None)]


def test_networks_of_extra_addresses_overlap_nothing(tmp_path: Path) -> None:
    taken = link("h2:eth1", "s1:eth2", f", ipv4: ['{IPV4.extra[0][2]}/29', '{IPV4.extra[0][3]}/29']")
    plan = plan_of(
        tmp_path, star(link("h1:eth1", "s1:eth1"), taken, link("h3:eth1", "s1:eth3"), hosts=("h1", "h2", "h3")), MPTCP
    )
    every = networks(plan)
    assert not any(a.overlaps(b) for number, a in enumerate(every) for b in every[:number])
    assert {len(extra) for host in ("h1", "h2", "h3") for extra in extra_of(plan, host)} == {7}
    for host in ("h1", "h2", "h3"):
        (extra,) = extra_of(plan, host)
        network = extra_network(extra)
        assert (
            network is not None
            and network.prefixlen == 29
            and all(IPv4Address(address) in network for address in extra)
        )


def test_a_full_pool_is_an_error_that_says_so(tmp_path: Path) -> None:
    full = [f", ipv4: ['{pool[1]}/{pool.prefixlen}', '{pool[2]}/{pool.prefixlen}']" for pool in IPV4.extra]
    links = [link("h1:eth1", "s1:eth1", full[0]), link("h2:eth1", "s1:eth2", full[1])]
    plan_of(tmp_path, star(*links))
    with pytest.raises(LabError, match=r"10.128.0.0/10 and 172.16.0.0/12 has no room left for MPTCP's addresses"):
        plan_of(tmp_path, star(*links), MPTCP)


@pytest.mark.parametrize("protocol", ["static", "bgp-numbered", "bgp-unnumbered"])
def test_every_switch_leads_to_extra_addresses_as_to_the_host(tmp_path: Path, protocol: str) -> None:
    plan = plan_of(tmp_path, TWO_LEAVES, MPTCP + f"routing: {{protocol: {protocol}}}\n")
    (extra,) = extra_of(plan, "h2")
    block = str(extra_network(extra))
    for switch in ("leaf1", "spine1", "spine2"):
        routes = {route.destination: route.next_hops for route in plan.node(switch).routes}
        assert routes[block] == routes["10.0.0.2/31"]
    assert ip_lines(plan, "leaf2", block) == [f"route add {block} via 10.0.0.3 dev eth1"]


def test_a_leaf_announces_its_hosts_extra_addresses_and_convergence_waits_for_them(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_LEAVES, MPTCP + "routing: {protocol: bgp-unnumbered}\n")
    block = str(extra_network(extra_of(plan, "h2")[0]))
    assert f"  network {block}\n" in compile_node(plan.node("leaf2"), plan).root["etc/frr/bgpd.conf"]
    assert f"  network {block}\n" not in compile_node(plan.node("leaf1"), plan).root["etc/frr/bgpd.conf"]
    awaited = {
        ready["node"]: [route["prefix"] for route in ready["routes"]] for ready in compile_job(plan)["ready"]["nodes"]
    }
    assert all(block in awaited[switch] for switch in ("leaf1", "spine1", "spine2"))
    assert block not in awaited["leaf2"]


def test_a_fat_tree_leads_to_every_address_over_all_shortest_paths(tmp_path: Path) -> None:
    plan = generated(tmp_path, "fat-tree --k 4", "h1-1-1", **{"hosts.default.mptcp.subflows": "8"})
    for address in plan.node("h4-2-2").ports[0].extra_addresses:
        assert len(forwarded_to(plan, "h1-1-1", "h4-2-2", IPv4Address(address))) == 4
    without = generated(tmp_path / "without", "fat-tree --k 4", "h1-1-1")
    counts = [sum(len(node.routes) for node in each.nodes if node.role == "switch") for each in (without, plan)]
    assert counts[1] - counts[0] < 20 * 16, "networks of neighbouring hosts are merged"


def test_endpoints_are_all_addresses_of_a_host(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, DUAL_HOMED, MPTCP, **{"hosts.default.mptcp.subflows": "3"})
    assert extra_of(plan, "h1") == [["10.128.0.0"], []]
    assert ip_lines(plan, "h1", "mptcp") == [
        "mptcp limits set subflow 2 add_addr_accepted 8",
        "mptcp endpoint add 10.0.0.1 dev eth1 id 1 subflow",
        "mptcp endpoint add 10.0.0.3 dev eth2 id 2 subflow",
        "mptcp endpoint add 10.128.0.0 dev eth1 id 3 subflow",
    ]
    assert ip_lines(plan, "h1", "address", "10.128.0.0") == ["address add 10.128.0.0/32 dev eth1"]


@pytest.mark.parametrize(("path_manager", "flags"), [("fullmesh", "subflow fullmesh"), ("signal", "signal")])
def test_a_path_manager_is_the_flag_of_the_endpoints(tmp_path: Path, path_manager: str, flags: str) -> None:
    plan = plan_of(tmp_path, TWO_HOSTS, MPTCP, **{"hosts.default.mptcp.path_manager": path_manager})
    endpoints = ip_lines(plan, "h1", "mptcp endpoint")
    assert len(endpoints) == 8 and all(
        line.endswith(f" id {number} {flags}") for number, line in enumerate(endpoints, 1)
    )


def test_replies_leave_by_the_port_whose_address_they_have(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, DUAL_HOMED, MPTCP, **{"hosts.default.mptcp.subflows": "4"})
    assert ip_lines(plan, "h1", "table") == [
        "route add default table 101 rto_min 200ms initcwnd 10 via 10.0.0.0 dev eth1",
        "route add default table 102 rto_min 200ms initcwnd 10 via 10.0.0.2 dev eth2",
        "rule add from 10.0.0.1/32 table 101 priority 101",
        "rule add from 10.128.0.0/32 table 101 priority 101",
        "rule add from 10.0.0.3/32 table 102 priority 102",
        "rule add from 10.128.0.1/32 table 102 priority 102",
    ]
    assert ip_lines(plan, "h2", "table") == []


def test_a_window_limit_holds_for_extra_addresses_too(tmp_path: Path) -> None:
    hosts = "hosts: {default: {mptcp: {subflows: 4}}, h2: {window_limit: 10}}\n"
    topology = star(*(link(f"h{n}:eth1", f"s1:eth{n}") for n in (1, 2, 3, 4)), hosts=("h1", "h2", "h3", "h4"))
    plan = plan_of(tmp_path, topology, EXPERIMENT + hosts)
    own = plan.node("h2").ports[0]
    destinations = [str(own.address).replace("/31", "/32"), str(extra_network(own.extra_addresses))]
    assert ip_lines(plan, "h1", "window") == [
        f"route add {destination} rto_min 200ms initcwnd 10 window 14600 via 10.0.0.0 dev eth1"
        for destination in destinations
    ]


def test_two_hosts_on_one_link_reach_each_others_addresses(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, star(link("h1:eth1", "h2:eth1"), switches=()), MPTCP + "links: {delay: 1 us}\n")
    block = str(extra_network(extra_of(plan, "h2")[0]))
    assert ip_lines(plan, "h1", "route") == [f"route add {block} rto_min 200ms initcwnd 10 via 10.0.0.1 dev eth1"]


def test_a_link_that_comes_back_has_all_that_the_kernel_forgot(tmp_path: Path) -> None:
    events = (
        "events:\n  cut: {at: 1 ms, link: 'h1:eth2', action: down}\n  mended: {at: 2 ms, link: 'h1:eth2', action: up}\n"
    )
    for protocol in ("static", "bgp-numbered"):
        plan = plan_of(tmp_path, DUAL_HOMED, MPTCP + f"routing: {{protocol: {protocol}}}\n" + events)
        steps = {
            step["node"]: step["lines"]
            for step in compile_job(plan)["events"][1]["steps"]
            if step["lines"][0].startswith("neighbour")
        }
        assert "route replace default table 102 rto_min 200ms initcwnd 10 via 10.0.0.2 dev eth2" in steps["h1"]
        block = str(extra_network(plan.node("h1").ports[1].extra_addresses))
        assert steps["s2"].count(f"route replace {block} via 10.0.0.3 dev eth1") == 1


def test_a_host_without_mptcp_takes_one_subflow_where_there_is_some(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_HOSTS, EXPERIMENT + "hosts: {h1: {mptcp: {subflows: 2}}}\n")
    assert ip_lines(plan, "h2", "mptcp") == ["mptcp limits set subflow 0 add_addr_accepted 0"]
    carried = plan_of(tmp_path, TWO_HOSTS, EXPERIMENT.replace("size: 100 KB", "size: 100 KB, transport: mptcp"))
    for host in (plan.node("h2"), carried.node("h1")):
        assert "net.mptcp.blackhole_timeout = 0\n" in compile_node(host, plan).sysctl


def test_without_mptcp_no_file_says_a_word_of_it(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, DUAL_HOMED)
    for node in plan.nodes:
        assert not any(
            word in text for text in compile_node(node, plan).by_name().values() for word in ("mptcp", "table", "rule")
        )
