"""Events: from the experiment to the lines that nodes execute."""

from __future__ import annotations

from pathlib import Path

import pytest
from bgp_fabrics import TWO_LEAVES
from event_lines import lines_of
from sample_plans import CUBIC, star
from small_fabrics import EXPERIMENT, plan_of

from fabriclab.compile import compile_job, compile_node
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.model import Event
from fabriclab.keys.quantities import Percent


def with_events(directory: Path, *events: str, routing: str = "static") -> Plan:
    lines = "".join(f"  {event}\n" for event in events)
    return plan_of(directory, TWO_LEAVES, f"{EXPERIMENT}routing: {{protocol: {routing}}}\nevents:\n{lines}")


def test_a_link_goes_down_at_both_ends_and_comes_back_with_all_it_had(tmp_path: Path) -> None:
    plan = with_events(
        tmp_path, "back: {at: 2 s, link: 'spine1:eth1', action: up}", "cut: {at: 1 s, link: 'leaf1:eth3', action: down}"
    )
    cut, back = compile_job(plan)["events"]
    assert (cut["name"], cut["at_ns"], back["name"]) == ("cut", 10**9, "back")
    assert lines_of(cut) == ["leaf1 ip link set dev eth3 down", "spine1 ip link set dev eth1 down"]
    restored = lines_of(back)
    assert restored[:3] == [
        "leaf1 ip link set dev eth3 up",
        "spine1 ip link set dev eth1 up",
        "leaf1 ip neighbour replace 10.0.0.5 lladdr 02:fa:00:00:00:06 dev eth3 nud permanent",
    ]
    assert "leaf1 ip route replace 10.0.0.2/31 nexthop via 10.0.0.5 dev eth3 nexthop via 10.0.0.7 dev eth4" in restored
    assert "spine1 ip route replace 10.0.0.0/31 via 10.0.0.4 dev eth1" in restored


def test_what_is_still_down_is_no_next_hop_of_a_restored_route(tmp_path: Path) -> None:
    plan = with_events(
        tmp_path,
        "one: {at: 1 s, link: 'leaf1:eth3', action: down}",
        "two: {at: 2 s, link: 'leaf1:eth4', action: down}",
        "back: {at: 3 s, link: 'leaf1:eth3', action: up}",
    )
    assert "leaf1 ip route replace 10.0.0.2/31 via 10.0.0.5 dev eth3" in lines_of(compile_job(plan)["events"][2])


def test_a_host_whose_link_comes_back_gets_the_routes_of_every_window_limit() -> None:
    cut = Event(name="cut", at_ns=10**9, links=(("h1:eth1", "s1:eth1"),), action="down")
    back = cut.model_copy(update={"name": "back", "at_ns": 2 * 10**9, "action": "up"})
    plan = star(4, events=(cut, back))
    nodes = tuple(
        node.model_copy(update={"transport": CUBIC.model_copy(update={"window_limit_segments": 4 + index})})
        if node.transport
        else node
        for index, node in enumerate(plan.nodes)
    )
    plan = plan.model_copy(update={"nodes": nodes})
    configured = [line for line in compile_node(plan.node("h1"), plan).ip.splitlines() if line.startswith("route ")]
    assert len(configured) == 3
    restored = lines_of(compile_job(plan)["events"][1])
    assert {f"h1 ip {line.replace('add', 'replace', 1)}" for line in configured} <= set(restored)


def test_a_node_goes_down_with_all_its_links(tmp_path: Path) -> None:
    plan = with_events(tmp_path, "dead: {at: 1 s, node: spine1, action: down}")
    assert sorted(lines_of(compile_job(plan)["events"][0])) == [
        "leaf1 ip link set dev eth3 down",
        "leaf2 ip link set dev eth3 down",
        "spine1 ip link set dev eth1 down",
        "spine1 ip link set dev eth2 down",
    ]


def test_a_node_that_goes_down_loses_its_processes_and_boots_when_it_comes_back(tmp_path: Path) -> None:
    plan = with_events(
        tmp_path,
        "early: {at: 500 ms, node: spine1, action: up}",
        "dead: {at: 1 s, node: spine1, action: down}",
        "again: {at: 2 s, node: spine1, action: down}",
        "cut: {at: 3 s, link: 'leaf1:eth3', action: down}",
        "back: {at: 4 s, node: spine1, action: up}",
    )
    power = {
        event["name"]: {key: event[key] for key in ("down", "up") if key in event}
        for event in compile_job(plan)["events"]
    }
    # Who is up already does not boot, who is down can't die; a link has no power.
    assert power == {"early": {}, "dead": {"down": ["spine1"]}, "again": {}, "cut": {}, "back": {"up": ["spine1"]}}


def test_a_black_hole_loses_everything_and_heals_to_what_was(tmp_path: Path) -> None:
    plan = with_events(
        tmp_path,
        "lossy: {at: 1 s, link: 'leaf1:eth3', loss: 0.1 %}",
        "hole: {at: 2 s, link: 'leaf1:eth3', action: blackhole}",
        "healed: {at: 3 s, link: 'leaf1:eth3', action: up}",
    )
    assert [lines_of(event)[0] for event in compile_job(plan)["events"]] == [
        "leaf1 wire eth3 0 0 1000",
        "leaf1 wire eth3 0 0 1000000",
        "leaf1 wire eth3 0 0 1000",
    ]
    change = "leaf1 tc qdisc change dev eth3 parent 1:1 handle 2: netem limit 1000000 delay 0ns"
    assert [lines_of(event)[0] for event in compile_job(plan, stock=True)["events"]] == [
        f"{change} loss 0.1000%",
        f"{change} loss 100.0000%",
        f"{change} loss 0.1000%",
    ]


def test_a_container_s_port_that_will_lose_packets_has_a_delay_line_from_the_start(tmp_path: Path) -> None:
    plan = with_events(tmp_path, "lossy: {at: 1 s, link: 'leaf1:eth3', loss: 1 %}")
    tc = compile_node(plan.node("leaf1"), plan, stock=True).tc.splitlines()
    assert [line for line in tc if "netem" in line] == [
        "qdisc add dev eth3 parent 1:1 handle 2: netem limit 1000000 delay 0ns"
    ]


def test_a_rate_changes_without_removing_the_qdisc(tmp_path: Path) -> None:
    plan = with_events(tmp_path, "slower: {at: 1 s, link: 'leaf1:eth3', rate: 100 Mbps}")
    first = lines_of(compile_job(plan)["events"][0])[0]
    assert (
        first
        == "leaf1 tc qdisc change dev eth3 root handle 1: tbf rate 100000000bit burst 1514 limit 64000 overhead 24 "
        "mpu 84"
    )


def test_routing_must_follow_a_dead_link_and_only_where_something_changes(tmp_path: Path) -> None:
    plan = with_events(tmp_path, "cut: {at: 1 s, link: 'leaf1:eth3', action: blackhole}", routing="bgp-numbered")
    expected = {node["node"]: node["routes"] for node in compile_job(plan)["events"][0]["reconvergence"]["nodes"]}
    assert {"prefix": "10.0.0.0/31", "interfaces": ["eth4"], "paths": 1} in expected["leaf2"]
    assert all(route["prefix"] != f"{plan.node('spine2').loopback}/32" for route in expected["leaf2"])


def test_static_routes_follow_nothing(tmp_path: Path) -> None:
    plan = with_events(tmp_path, "cut: {at: 1 s, link: 'leaf1:eth3', action: down}")
    assert "reconvergence" not in compile_job(plan)["events"][0]


def test_a_list_of_events_is_numbered(tmp_path: Path) -> None:
    plan = with_events(
        tmp_path, "- {at: 1 s, link: 'leaf1:eth3', action: down}", "- {at: 500 ms, node: leaf2, action: down}"
    )
    assert [(event.name, event.at_ns) for event in plan.events] == [("2", 500_000_000), ("1", 10**9)]


@pytest.mark.parametrize(("text", "ppm"), [("0 %", 0), ("0.1 %", 1000), ("0.0001%", 1), ("100 %", 1_000_000)])
def test_losses(text: str, ppm: int) -> None:
    assert Percent(0, 10**6).parse(text) == ppm


@pytest.mark.parametrize("text", ["1", "101 %", "-1 %", "0.00001 %", "1e-3 %", "some %"])
def test_what_is_no_loss(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a percentage|is out of range"):
        Percent(0, 10**6).parse(text)
