"""The machine's job, the sampler's configuration, the memory."""

from __future__ import annotations

from pathlib import Path

from sample_plans import DCTCP, LONG, ROUNDS, changed, star

from fabriclab.compile import compile_job, compile_machine_sysctl, compile_sampler, compiled_flows, machine_memory_bytes
from fabriclab.formats.plan.model import Probes
from fabriclab.formats.plan.traffic import (
    Arrivals,
    ArrivalsTraffic,
    Carrier,
    FixedSize,
    LongTraffic,
    Pairs,
    ShuffleTraffic,
    TraceTraffic,
)
from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS

NOWHERE = Path("/nonexistent")


def test_every_link_stands_once_with_both_ends() -> None:
    links = compile_job(star(3))["links"]
    assert [(link["a"]["node"], link["b"]["node"], link["b"]["interface"]) for link in links] == [
        ("h1", "s1", "eth1"),
        ("h2", "s1", "eth2"),
        ("h3", "s1", "eth3"),
    ]
    assert links[0] == {
        "a": {"node": "h1", "interface": "eth1", "mac": "02:fa:00:00:01:01"},
        "b": {"node": "s1", "interface": "eth1", "mac": "02:fa:00:00:01:00"},
        "mtu": 1500,
    }


def test_only_hosts_with_traffic_replay() -> None:
    job = compile_job(star(5))
    assert [entry["name"] for entry in job["traffic"]] == ["replay@h1", "replay@h2", "replay@h3"]
    assert job["traffic"][0]["argv"] == [
        *("/tools/replay", "--host", "h1", "--trace", "/job/traffic/trace.csv"),
        *("--hosts", "/job/traffic/hosts.csv", "--log", "/job/raw/flows/h1.csv"),
        *("--rendezvous", "/run/fabriclab/rendezvous"),
    ]


def test_kept_connections_are_sampled_once() -> None:
    plan = star(3, traffic=(ROUNDS, LONG))
    tcp = compile_sampler(plan, compiled_flows(plan, NOWHERE))["tcp"]
    assert tcp["flows"] == [0, 1, 4, 5]
    assert [node["name"] for node in tcp["nodes"]] == ["h1", "h2"]


def test_queues_are_sampled_at_the_leaf() -> None:
    plan = star(3)
    queues = compile_sampler(plan, compiled_flows(plan, NOWHERE))["queues"]
    assert queues["ports"] == [{"name": "s1:eth3", "netns": "/run/netns/s1", "interface": "eth3", "handle": "3:"}]


def test_without_probes_no_sampler() -> None:
    none = Probes(
        queue_interval_ns=None, queue_ports=(), tcp_interval_ns=None, tcp_classes=(), interface_interval_ns=None
    )
    plan = star(3, probes=none)
    assert compile_job(plan)["probes"] == []
    assert set(compile_sampler(plan, compiled_flows(plan, NOWHERE))) == {"format"}


def test_machine_allows_the_plans_congestion_control() -> None:
    assert "net.ipv4.tcp_allowed_congestion_control = cubic dctcp reno\n" in compile_machine_sysctl(
        star(transport=DCTCP)
    )


def test_no_limit_of_all_nodes_together_is_that_of_one_computer() -> None:
    settings = dict(line.split(" = ") for line in compile_machine_sysctl(star()).splitlines())
    # Linux: net/core/hotdata.c, net/ipv4/arp.c, net/ipv6/ndisc.c, include/linux/threads.h.
    one_computers = {
        "net.core.netdev_max_backlog": 1000,
        "net.ipv4.neigh.default.gc_thresh3": 1024,
        "net.ipv6.neigh.default.gc_thresh3": 1024,
        "kernel.pid_max": 32768,
    }
    assert all(int(settings[key]) >= 100 * limit for key, limit in one_computers.items())
    assert settings["net.ipv4.udp_mem"] == settings["net.ipv4.tcp_mem"]


def test_memory_grows_with_the_plan_in_whole_steps() -> None:
    small, large = machine_memory_bytes(star(3)), machine_memory_bytes(star(60))
    assert small < large
    assert small % (64 << 20) == large % (64 << 20) == 0


def test_memory_grows_with_the_trace_and_with_the_groups_of_a_shuffle() -> None:
    plan = star(16)
    assert machine_memory_bytes(plan, 1_000_000) == machine_memory_bytes(plan)
    assert machine_memory_bytes(plan, 100_000_000) - machine_memory_bytes(plan) >= 700_000_000
    hosts = tuple(f"h{number}" for number in range(1, 17))
    job = ShuffleTraffic(
        name="job", mappers=hosts, reducers=hosts, size_bytes=10**9, parallel_copies=5, replicas=1, start_ns=0
    )
    jobs = tuple(changed(job, name=f"job{number}") for number in range(100))
    assert machine_memory_bytes(star(16, traffic=jobs)) > machine_memory_bytes(star(16, traffic=(job,)))


def arriving(interval_ns: int) -> ArrivalsTraffic:
    """Return a megabyte of each of two hosts every so often for a second."""
    return ArrivalsTraffic(
        name="web",
        pairs=Pairs(pattern="random", senders=("h1", "h2"), receivers=("h3",)),
        size=FixedSize(size_bytes=10**6),
        arrivals=Arrivals(process="poisson", interval_ns=interval_ns),
        start_ns=0,
        stop_ns=10**9,
    )


def test_memory_has_room_for_what_an_open_loop_leaves_unsent() -> None:
    slow, fast, flood = (
        machine_memory_bytes(star(3, traffic=(arriving(interval_ns),))) for interval_ns in (10**9, 10**7, 10**4)
    )
    assert fast - slow >= 2 * 99 * 10**6
    assert flood - slow <= 4 << 30


def test_machine_allows_the_congestion_control_of_traffic() -> None:
    dctcp = changed(LONG, carrier=Carrier(congestion_control="dctcp"))
    assert "net.ipv4.tcp_allowed_congestion_control = cubic dctcp reno\n" in compile_machine_sysctl(
        star(traffic=(ROUNDS, dctcp))
    )
    trace = TraceTraffic(name="mine", file="mine.csv", sha256="")
    allowed = compile_machine_sysctl(star(traffic=(trace,))).splitlines()[0].partition(" = ")[2].split()
    assert allowed == sorted(CONGESTION_CONTROLS)


def test_memory_has_a_send_buffer_for_each_long_flow() -> None:
    """A single one of a host lies in what the host has anyway."""
    hosts = tuple(f"h{number}" for number in range(1, 17))

    def crossing(receivers: tuple[str, ...]) -> LongTraffic:
        pairs = Pairs(pattern="all-to-all", senders=hosts[8:], receivers=receivers)
        return LongTraffic(name="long", senders=hosts[8:], pairs=pairs, start_ns=0, stop_ns=10**9, stagger_ns=0)

    one, eight = (machine_memory_bytes(star(16, traffic=(crossing(hosts[:count]),))) for count in (1, 8))
    # Eight senders with eight flows of 4 MiB each; with one, the receive buffer that a host has is there too. And seven
    # playing hosts more.
    assert eight - one >= 8 * (8 * 4 - 10) << 20
