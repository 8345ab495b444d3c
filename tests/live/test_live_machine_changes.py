"""Changes of live labs on the real machine: they hold at once, lose nothing, happen again, and become a lab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from replayed_labs import replayed

import fabriclab
from fabriclab.live.lab import Live

# A server as a process of its own, as test_live_machine.py has them, first imports for most of a CPU second.
pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("in_threads")]

TOPOLOGY = """\
name: star
topology:
  nodes:
    s1: {kind: linux, labels: {fabriclab.role: switch}}
    h1: {kind: linux}
    h2: {kind: linux}
    h3: {kind: linux}
  links:
    - {endpoints: ['h1:eth1', 's1:eth1'], vars: {rate: 1 Gbps, delay: 10 us}}
    - {endpoints: ['h2:eth1', 's1:eth2'], vars: {rate: 1 Gbps, delay: 10 us}}
    - {endpoints: ['h3:eth1', 's1:eth3'], vars: {rate: 1 Gbps, delay: 10 us}}
"""
TRAFFIC = "traffic: {one: {kind: flows, senders: 1, receiver: h3, size: 10 KB}}\n"
SHARED = f"""\
title: a shared buffer
switches:
  default:
    pools: {{main: {{size: 1 MB}}}}
    queues: {{default: {{scheduler: dwrr, alpha: 1, wred: {{min: 30 KB, max: 30 KB}}}}}}
hosts: {{default: {{congestion_control: dctcp}}}}
{TRAFFIC}"""


def qdiscs(live: Live, port: str = "eth3") -> str:
    return live.exec("s1", ["tc", "-s", "qdisc", "show", "dev", port]).stdout


def backlog(text: str) -> list[str]:
    return re.findall(r"backlog (\S+ \S+)", text)


def marked(text: str) -> int:
    (found,) = re.findall(r"marked (\d+)", text)
    return int(found)


@pytest.mark.slow("a live lab, replayed once")
def test_a_threshold_holds_at_once_nothing_is_lost_and_all_of_it_happens_again(desk: Path) -> None:
    # The saved lab's connections have other ports, whose hash says in which receive queue a flow is.
    settings = {"variant": "dctcp", "hosts.default.nic.receive_queues": "1"}
    with fabriclab.up("dctcp-queue", idle=True, speed="max", set=settings, out="run") as live:
        live.pause()
        for host in ("h1", "h2"):
            live.flow(host, "h3", "50 MB")
        live.step("100 ms")
        before = qdiscs(live)
        assert live.set({"threshold": "200 KB"}) == ["switches.default.ecn_threshold: 30 KB -> 200 KB"]
        after = qdiscs(live)
        assert backlog(after) == backlog(before) != ["0b 0p"] * 4
        live.step("500 us")
        assert marked(qdiscs(live)) == marked(after) > 0
        live.step("200 ms")
        full = qdiscs(live)
        assert marked(full) > marked(after)
        live.set({"switches.s1.buffer": "60 KB", "threshold": "30 KB", "hosts.h1.congestion_control": "cubic"})
        assert backlog(qdiscs(live)) == backlog(full)
        assert live.exec("h1", ["sysctl", "-n", "net.ipv4.tcp_congestion_control"]).stdout == "cubic\n"
        live.link_set("h2:eth1", {"rate": "100 Mbps"})
        live.flow("h1", "h3", "1 MB")
        live.resume()
        live.exec("h1", ["sleep", "3"])
        run = live.down()
    assert "outputs are the same" in replayed(run.directory, "max")
    saved = fabriclab.save_lab(run.directory, "saved")
    assert (saved.events, saved.flows) == (3, 3)
    assert [sentence.partition(" in nodes")[0] for sentence in saved.left_out[1:]] == ["7 commands"]
    again = fabriclab.run("saved", out="again")
    flows = [done.flows.collect().sort("start_ns").select("src", "start_ns", "end_ns") for done in (run, again)]
    assert flows[0].equals(flows[1])


def test_queues_of_a_shared_buffer_keep_what_stands_in_them(desk: Path) -> None:
    with fabriclab.up(fabriclab.Lab.from_yaml(TOPOLOGY, SHARED), idle=True, speed="max", out="run") as live:
        live.pause()
        for host in ("h1", "h2"):
            live.flow(host, "h3", "20 MB")
        live.step("100 ms")
        before = backlog(qdiscs(live))
        assert live.set({"switches.s1.queues.0.wred.min": "90 KB", "switches.s1.queues.0.wred.max": "90 KB"})
        assert live.set({"switches.s1.queues.0.weight": 7, "switches.s1.pools.main.size": "400 KB"})
        assert live.set({"switches.default.queues.default.alpha": "1/2"})
        assert backlog(qdiscs(live)) == before != ["0b 0p"]
        live.step("50 ms")
        (length, unit) = re.findall(r"backlog (\d+)(K?)b", qdiscs(live))[0]
        assert int(length) * (1024 if unit else 1) > 60_000
        assert live.set({"links.rate": "100 Mbps"}) == ["links.rate: 1 Gbps -> 100 Mbps"]
        live.step("10 ms")
        run = live.down()
    assert "outputs are the same" in replayed(run.directory, "max")


def test_what_the_kernel_refuses_half_way_leaves_all_as_it_was(desk: Path) -> None:
    with fabriclab.up("dctcp-queue", idle=True, out="run") as live:
        before = qdiscs(live, "eth1").split("Sent")[0]
        live.exec("s1", ["tc", "qdisc", "del", "dev", "eth3", "root"])
        with pytest.raises(fabriclab.LiveError, match=r"nothing was changed: s1 .*qdisc change dev eth3"):
            live.set({"links.delay": "1 ms", "switches.default.ecn_threshold": "30 KB"})
        assert qdiscs(live, "eth1").split("Sent")[0] == before
        # Four times 25 us, and not 1 ms.
        assert "time=0.1" in live.exec("h1", ["ping", "-c", "1", "h2"]).stdout


@pytest.mark.slow("FRR's timers run out several times")
def test_routing_follows_a_link_and_what_is_set(desk: Path) -> None:
    def paths(live: Live, leaf: str) -> list[int]:
        routes = live.exec(leaf, ["ip", "route", "show", "proto", "bgp"]).stdout
        return sorted({len(re.findall("via", route)) for route in re.split(r"\n(?=\S)", routes.strip())})

    off = {"events.cut.enabled": False}
    with fabriclab.up("link-failure", idle=True, speed="max", set=off, out="run") as live:
        both = paths(live, "leaf1")
        assert both == [1, 2]  # a spine's own address has one
        live.set({"routing.max_paths": 1})
        live.exec("leaf1", ["sleep", "1"])
        assert paths(live, "leaf1") == [1]
        live.set({"routing.max_paths": 64})
        live.exec("leaf1", ["sleep", "1"])
        assert paths(live, "leaf1") == both
        live.link_down("leaf1:eth3")
        live.exec("leaf1", ["sleep", "1"])
        assert paths(live, "leaf1") == [1]
        live.link_up("leaf1:eth3")
        live.exec("leaf1", ["sleep", "20"])
        assert paths(live, "leaf1") == both
        assert live.node_down("spine1") == ["spine1: up -> down"]
        live.exec("leaf1", ["sleep", "1"])
        assert paths(live, "leaf1") == [1]
