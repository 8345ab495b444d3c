"""Node files: what a reader of the golden files sees is what the machine gets."""

from __future__ import annotations

import math

import pytest
from repository import ROOT
from sample_plans import CUBIC, DCTCP, GBPS, star

from fabriclab.compile import compile_node
from fabriclab.compile.qdisc import red_average
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Queue, Route

GOLDEN = ROOT / "tests" / "golden" / "compile"

PLANS = {
    "cubic-droptail": star(),
    "dctcp": star(
        transport=DCTCP.model_copy(update={"window_limit_segments": 20}),
        queue=Queue(limit_bytes=64_000, ecn_threshold_bytes=30_000),
        rate_bps=10 * GBPS,
    ),
    "no-delay-queue-non-ect": star(
        delay_ns=0, queue=Queue(limit_bytes=64_000, ecn_threshold_bytes=1600, non_ect="queue")
    ),
}


def rendered(plan: Plan) -> str:
    """Return the files of a host and of the switch as one text."""
    parts = []
    for name in ("h1", "s1"):
        parts += [f"# {name}/{file}\n{text}" for file, text in compile_node(plan.node(name), plan).by_name().items()]
    return "\n".join(parts)


@pytest.mark.parametrize("name", PLANS)
def test_node_files_are_the_golden_ones(name: str) -> None:
    assert rendered(PLANS[name]) == (GOLDEN / f"{name}.txt").read_text()


@pytest.mark.parametrize(
    ("rate_bps", "bandwidth_bps"), [(34_359_738_360, 34_359_738_360), (100 * GBPS, 34_359_738_360)]
)
def test_red_has_no_more_bandwidth_than_tc_can_say(rate_bps: int, bandwidth_bps: int) -> None:
    plan = star(queue=Queue(limit_bytes=1_000_000, ecn_threshold_bytes=100_000), rate_bps=rate_bps)
    assert f" bandwidth {bandwidth_bps}bit" in compile_node(plan.node("s1"), plan).tc


def tc_red_wlog(minimum: int, burst: int, average_packet: int) -> int:
    """The averaging constant as iproute2 computes it (tc/tc_red.c, tc_red_eval_ewma); -1 when it refuses."""
    left = burst + 1 - minimum / average_packet
    if left < 1:
        return -1
    weight = 0.5
    for wlog in range(1, 32):
        if left <= (1 - (1 - weight) ** burst) / weight:
            return wlog
        weight /= 2
    return -1


def test_red_average_is_tcs_shortest() -> None:
    thresholds = [*range(200, 5000, 7), 9_999, 30_000, 97_500, 98_421, 1_000_001, 50_000_000]
    wlogs = {
        threshold: tc_red_wlog(threshold, burst, average)
        for threshold in thresholds
        for average, burst in [red_average(threshold)]
    }
    assert wlogs == dict.fromkeys(thresholds, 1)


def test_several_next_hops_stand_after_the_metrics() -> None:
    plan = star(2)
    route = Route(destination="10.9.0.0/16", next_hops=(("10.0.1.0", "eth1"), ("10.0.2.0", "eth2")))
    host = plan.node("h1").model_copy(update={"routes": (route,)})
    line = compile_node(host, plan).ip.splitlines()[-1]
    assert line == (
        "route add 10.9.0.0/16 rto_min 200ms initcwnd 10 nexthop via 10.0.1.0 dev eth1 nexthop via 10.0.2.0 dev eth2"
    )


def with_limits(plan: Plan, limits: dict[str, int | None]) -> Plan:
    """Return the plan with other window limits of some hosts."""
    nodes = []
    for node in plan.nodes:
        if node.name in limits and node.transport is not None:
            node = node.model_copy(
                update={"transport": node.transport.model_copy(update={"window_limit_segments": limits[node.name]})},
            )
        nodes.append(node)
    return plan.model_copy(update={"nodes": tuple(nodes)})


def routes_of(plan: Plan, name: str) -> list[str]:
    return [line for line in compile_node(plan.node(name), plan).ip.splitlines() if line.startswith("route ")]


def test_a_hosts_window_limit_is_the_window_that_its_peers_offer() -> None:
    plan = with_limits(star(3), {"h1": 20})
    # Nobody but h1 has a limit, so h1 itself offers what its buffer holds.
    assert routes_of(plan, "h1") == ["route add 10.0.0.0/16 rto_min 200ms initcwnd 10 via 10.0.1.0 dev eth1"]
    plan = with_limits(star(3), {"h1": 20, "h2": 20, "h3": 20})
    assert routes_of(plan, "h1") == [
        "route add 10.0.0.0/16 rto_min 200ms initcwnd 10 window 29200 via 10.0.1.0 dev eth1"
    ]


def test_peers_with_another_window_limit_than_most_have_routes_of_their_own() -> None:
    plan = with_limits(star(5), {"h1": 2, "h2": 4, "h3": 4, "h4": None, "h5": 1})
    metrics = "rto_min 200ms initcwnd 1"
    assert routes_of(plan, "h5") == [
        f"route add 10.0.0.0/16 {metrics} window {4 * 1460} via 10.0.5.0 dev eth1",
        f"route add 10.0.1.1/32 {metrics} window {2 * 1460} via 10.0.5.0 dev eth1",
        f"route add 10.0.4.1/32 {metrics} via 10.0.5.0 dev eth1",
    ]


def test_a_window_counts_the_segments_of_the_smaller_mtu() -> None:
    plan = with_limits(star(2), {"h1": 3})
    jumbo = [
        node.model_copy(update={"ports": tuple(port.model_copy(update={"mtu": 9000}) for port in node.ports)})
        if node.name == "h1"
        else node
        for node in plan.nodes
    ]
    assert "window 4380 " in routes_of(plan.model_copy(update={"nodes": tuple(jumbo)}), "h2")[0]


def test_a_window_is_at_most_what_tcp_can_say() -> None:
    assert f"window {65_535 << 14} " in routes_of(with_limits(star(2), {"h1": 999_999_999}), "h2")[0]


def test_switches_that_share_paths_hash_differently() -> None:
    plan = star(2)
    routes = (Route(destination="10.9.0.0/16", next_hops=(("10.0.1.1", "eth1"), ("10.0.2.1", "eth2"))),)
    switch = plan.node("s1").model_copy(update={"routes": routes})

    def seed_of(node: Node, of: Plan) -> str:
        return next(line for line in compile_node(node, of).sysctl.splitlines() if "hash_seed" in line)

    assert seed_of(switch, plan) != seed_of(switch.model_copy(update={"name": "s2"}), plan)
    assert seed_of(switch, plan) != seed_of(switch, plan.model_copy(update={"seed": 2}))
    assert seed_of(switch, plan) == seed_of(switch, plan)


def test_rto_min_is_never_shorter_than_asked() -> None:
    plan = star(transport=CUBIC.model_copy(update={"rto_min_us": 1001}))
    assert f"rto_min {math.ceil(1.001)}ms" in compile_node(plan.node("h1"), plan).ip
