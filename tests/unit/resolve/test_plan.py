"""The plan: golden plans of our labs, defaults made explicit, addresses and routes.

`FABRICLAB_ACCEPT=1 pytest tests/unit/resolve/test_plan.py` writes the golden plans as they are now; read the difference
before you commit it.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from repository import ROOT
from shipped_labs import shipped_lab
from small_fabrics import EXPERIMENT, TWO_HOSTS, forwarded, link, plan_of, star

from fabriclab.formats.plan import parse_plan_json, plan_json
from fabriclab.formats.plan.node import Nic, Queue
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import Resolver, resolve_plan

GOLDEN = ROOT / "tests" / "golden" / "plan"
POINTS = {
    "incast": ("incast", {"variant": "dctcp", "senders": "16"}),
    "dctcp-queue": ("dctcp-queue", {}),
    "dctcp-queue-ten-gigabit": ("dctcp-queue", {"rate": "10 Gbps", "variant": "dctcp"}),
}


@pytest.mark.parametrize("name", POINTS)
def test_golden_plans(name: str) -> None:
    lab, settings = POINTS[name]
    text = plan_json(resolve_plan(shipped_lab(lab), settings, seed=7))
    file = GOLDEN / f"{name}.json"
    if os.environ.get("FABRICLAB_ACCEPT"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", POINTS)
def test_a_plan_is_read_back_from_its_json(name: str) -> None:
    lab, settings = POINTS[name]
    plan = resolve_plan(shipped_lab(lab), settings, seed=7)
    assert parse_plan_json(plan_json(plan)) == plan


def test_a_copy_of_a_plan_knows_its_own_nodes() -> None:
    plan = resolve_plan(shipped_lab("incast"), {})
    assert "client" in plan.host_names and plan.node("s1").role == "switch" and plan.families == (4,)
    copy = plan.model_copy(update={"nodes": plan.nodes[1:3]})
    assert copy.host_names == {"h1", "h2"} and set(copy.by_name()) == {"h1", "h2"}
    assert plan == resolve_plan(shipped_lab("incast"), {})


@pytest.mark.parametrize("lab", ["incast", "dctcp-queue"])
@pytest.mark.no_cover
@pytest.mark.slow("plans each point of a lab's matrices")
def test_every_point_of_every_matrix_resolves(lab: str) -> None:
    parsed, resolver = shipped_lab(lab), Resolver(shipped_lab(lab))
    for matrix in parsed.matrices:
        plans = {plan_json(resolver.resolve(point)) for point in parsed.points(matrix)}
        assert len(plans) == len(parsed.points(matrix))


def test_points_that_are_resolved_together_are_those_resolved_alone() -> None:
    lab = parse_lab(ROOT / "labs" / "incast")
    resolver = Resolver(lab)
    for point in lab.points("window-limit")[::5] + lab.points("buffers")[::9]:
        assert resolver.resolve(point, 3) == resolve_plan(lab, point, 3)


def test_points_that_differ_in_their_seed_share_their_nodes() -> None:
    resolver = Resolver(parse_lab(ROOT / "labs" / "leaf-spine"))
    first, second, other = resolver.resolve({}, 1), resolver.resolve({}, 2), resolver.resolve({"variant": "dctcp"}, 2)
    # A host has a clock of its own in each of them.
    assert all(one is another for one, another in zip(first.nodes, second.nodes, strict=True) if one.role == "switch")
    assert first.nodes != other.nodes


def test_defaults_are_explicit(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_HOSTS)
    host, switch = plan.node("h1"), plan.node("s1")
    assert host.transport is not None
    assert host.transport.model_dump() == {
        "congestion_control": "cubic",
        "ecn": "accept",
        "rto_min_us": 200_000,
        "delayed_ack": True,
        "initial_window_segments": 10,
        "window_limit_segments": None,
        "receive_buffer_bytes": 6_291_456,
        "send_buffer_bytes": 4_194_304,
        "mptcp": None,
    }
    nic = host.ports[0].nic
    assert nic is not None and nic.model_copy(update={"clock_ppb": 0}) == Nic(
        queue=Queue(limit_bytes=15_000_000),
        tso_bytes=65_536,
        gro=True,
        interrupt_delay_us="adaptive",
        receive_queues=8,
    )
    assert (switch.ports[0].queue, switch.ports[0].mtu) == (Queue(limit_bytes=64_000), 1500)
    assert (plan.seed, plan.limit_ns, plan.probes.queue_interval_ns) == (1, 60 * 10**9, 1_000_000)


def test_connections_are_sampled_of_traffic_that_is_sent(tmp_path: Path) -> None:
    other = "  two: {kind: flows, senders: [h2], receiver: h1, size: 100 KB}\n"
    experiment = EXPERIMENT + other + "probes: {tcp: {interval: 5 ms, traffic: [one]}}\n"
    assert plan_of(tmp_path, TWO_HOSTS, experiment).probes.tcp_classes == ("one",)
    probes = plan_of(tmp_path, TWO_HOSTS, experiment, **{"traffic.one.enabled": "false"}).probes
    assert (probes.tcp_interval_ns, probes.tcp_classes) == (None, ())


def test_dctcp_implies_ecn(tmp_path: Path) -> None:
    transport = plan_of(tmp_path, TWO_HOSTS, **{"hosts.default.congestion_control": "dctcp"}).node("h1").transport
    assert transport is not None and transport.ecn == "on"


def test_ranges_and_names_override_the_default_key_by_key(tmp_path: Path) -> None:
    experiment = (
        EXPERIMENT
        + "hosts:\n  h2: {ecn: on}\n  h1..h2: {ecn: off, congestion_control: reno}\n  default: {rto_min: 5 ms}\n"
    )
    plan = plan_of(tmp_path, TWO_HOSTS, experiment)
    transports = [plan.node(name).transport for name in ("h1", "h2")]
    assert [(t.congestion_control, t.ecn, t.rto_min_us) for t in transports if t] == [
        ("reno", "off", 5000),
        ("reno", "on", 5000),
    ]


def test_a_switch_overrides_the_default_profile(tmp_path: Path) -> None:
    experiment = EXPERIMENT.replace(
        "buffer: 64 KB}", "buffer: 64 KB, ecn_threshold: 20 KB}, s1: {buffer: 1 MB, ecn_threshold: none}"
    )
    ports = plan_of(tmp_path, TWO_HOSTS, experiment).node("s1").ports
    assert {port.queue for port in ports} == {Queue(limit_bytes=1_000_000)}


def test_links_of_the_experiment_override_the_topology(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_HOSTS, EXPERIMENT + "links: {rate: 10 Gbps, delay: 5 us, mtu: 9000}\n")
    assert {(port.rate_bps, port.delay_ns, port.mtu) for node in plan.nodes for port in node.ports} == {
        (10**10, 5000, 9000)
    }


def test_parameters_show_values_that_nobody_set(tmp_path: Path) -> None:
    keys = (
        "rate: links.rate, rto: hosts.default.rto_min, h1: hosts.h1.rto_min, threshold: "
        "switches.default.ecn_threshold, limit: limit"
    )
    experiment = (
        EXPERIMENT + f"hosts: {{default: {{rto_min: 10 ms}}}}\nparameters: {{{keys}, count: traffic.one.count}}\n"
    )
    plan = plan_of(tmp_path, TWO_HOSTS, experiment)
    expected = {"rate": "1 Gbps", "rto": "10 ms", "h1": "10 ms", "threshold": "none", "limit": "60 s", "count": 1}
    assert plan.parameters == expected
    assert plan.settings == {}


def test_addresses_follow_the_file_and_step_over_what_is_taken(tmp_path: Path) -> None:
    topology = star(
        link("s1:eth1", "h1:eth1"),
        link("h2:eth1", "s1:eth2", ", ipv4: [10.0.0.9/29, 10.0.0.10/29]"),
        link("h3:eth1", "s1:eth3", ", ipv4: ['', 10.0.0.2/31]"),
        link("h4:eth1", "s1:eth4"),
        link("h5:eth1", "s1:eth5"),
        link("h6:eth1", "s1:eth6"),
        hosts=("h1", "h2", "h3", "h4", "h5", "h6"),
    )
    plan = plan_of(tmp_path, topology)
    addresses = [plan.node(f"h{number}").ports[0].address for number in range(1, 7)]
    assert addresses == ["10.0.0.1/31", "10.0.0.9/29", "10.0.0.3/31", "10.0.0.5/31", "10.0.0.7/31", "10.0.0.17/31"]
    assert [plan.node("h1").ports[0].mac, plan.node("s1").ports[0].mac] == ["02:fa:00:00:00:02", "02:fa:00:00:00:01"]


def test_a_given_mac_is_kept_and_given_to_nobody_else(tmp_path: Path) -> None:
    ends = "{node: h1, interface: eth1, mac: '02:FA:00:00:00:03'}, {node: s1, interface: eth1}"
    first = f"{{type: veth, endpoints: [{ends}], vars: {{rate: 1 Gbps}}}}"
    plan = plan_of(tmp_path, star(first, link("h2:eth1", "s1:eth2")))
    macs = [port.mac for node in plan.nodes for port in node.ports]
    assert plan.node("h1").ports[0].mac == "02:fa:00:00:00:03"
    assert len(set(macs)) == len(macs)


def test_a_star_needs_one_route_a_host(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_HOSTS)
    assert [len(node.routes) for node in plan.nodes] == [0, 1, 1]
    assert forwarded(plan, "h1", "h2") == [["h1", "s1", "h2"]]


def test_a_dumbbell(tmp_path: Path) -> None:
    links = [
        link("h1:eth1", "s1:eth1"),
        link("h3:eth1", "s1:eth2"),
        link("h2:eth1", "s2:eth1"),
        link("h4:eth1", "s2:eth2"),
    ]
    plan = plan_of(
        tmp_path, star(*links, link("s1:eth9", "s2:eth9"), switches=("s1", "s2"), hosts=("h1", "h2", "h3", "h4"))
    )
    assert [len(plan.node(name).routes) for name in ("s1", "s2", "h1")] == [1, 1, 1]  # two /31 side by side are one /30
    assert forwarded(plan, "h1", "h4") == [["h1", "s1", "s2", "h4"]]
    assert forwarded(plan, "h4", "h3") == [["h4", "s2", "s1", "h3"]]


def test_a_leaf_spine_uses_all_shortest_paths(tmp_path: Path) -> None:
    leaves, spines = ("l1", "l2", "l3"), ("p1", "p2")
    fabric = [
        link(f"{leaf}:up{j}", f"{spine}:down{i}")
        for (i, leaf), (j, spine) in itertools.product(enumerate(leaves), enumerate(spines))
    ]
    hosts = [link(f"h{index}:eth1", f"{leaf}:eth1") for index, leaf in enumerate(leaves, 1)]
    plan = plan_of(tmp_path, star(*fabric, *hosts, switches=leaves + spines, hosts=("h1", "h2", "h3")))
    assert sorted(forwarded(plan, "h1", "h3")) == [["h1", "l1", "p1", "l3", "h3"], ["h1", "l1", "p2", "l3", "h3"]]


def test_parallel_links_share_the_load(tmp_path: Path) -> None:
    links = [
        link("h1:eth1", "s1:eth1"),
        link("h2:eth1", "s2:eth1"),
        link("s1:eth2", "s2:eth2"),
        link("s1:eth3", "s2:eth3"),
    ]
    plan = plan_of(tmp_path, star(*links, switches=("s1", "s2")))
    (route,) = plan.node("s1").routes
    assert [interface for _, interface in route.next_hops] == ["eth2", "eth3"]


def test_hosts_with_two_ports_forward_nothing(tmp_path: Path) -> None:
    links = [
        link("h1:eth1", "s1:eth1"),
        link("h1:eth2", "s2:eth1"),
        link("h2:eth1", "s2:eth2"),
        link("h3:eth1", "s1:eth2"),
    ]
    with pytest.raises(LabError, match="no path from host 'h1' to here"):
        plan_of(tmp_path, star(*links, switches=("s1", "s2"), hosts=("h1", "h2", "h3")))
    plan = plan_of(tmp_path, star(*links, link("s1:eth3", "s2:eth3"), switches=("s1", "s2"), hosts=("h1", "h2", "h3")))
    assert len(plan.node("h1").routes[0].next_hops) == 2
    assert forwarded(plan, "h2", "h3") == [["h2", "s2", "s1", "h3"]]


def test_two_hosts_need_no_switch(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, star(link("h1:eth1", "h2:eth1"), switches=()))
    assert forwarded(plan, "h1", "h2") == [["h1", "h2"]]
    assert plan.node("h1").routes == ()


def test_the_seed_is_the_experiments_unless_given(tmp_path: Path) -> None:
    lab = parse_lab(_written(tmp_path, EXPERIMENT + "seed: 5\n"))
    assert (resolve_plan(lab, {}).seed, resolve_plan(lab, {}, seed=9).seed) == (5, 9)


def _written(directory: Path, experiment: str) -> Path:
    plan_of(directory, TWO_HOSTS, experiment)
    return directory
