"""Changes of a live lab's network, with a stand-in for its machine: what is told, refused, sent and written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import fabriclab
from fabriclab.cli.app import app
from fabriclab.errors import ArgumentError
from fabriclab.formats.live import Input
from fabriclab.live.changes_log import CHANGES_FILE
from fabriclab.live.client import LiveError
from fabriclab.live.completing import (
    complete_live_key,
    complete_live_lab,
    complete_live_node,
    complete_live_place,
    complete_live_port,
)
from fabriclab.live.lab import Live
from fabriclab.live.node import vtysh_in_node
from fabriclab.live.recording import read_recording


def changes_of(live: Live) -> list[dict[str, Any]]:
    """Return what PID 1 was told to change."""
    frames = [taken.frame for taken in read_recording(live.directory).inputs if taken.frame.kind == Input.OPEN]
    return [body["change"] for body in map(json.loads, (frame.data for frame in frames)) if "change" in body]


def done_to(live: Live) -> list[dict[str, Any]]:
    """Return what was written down of what was done."""
    return [json.loads(line) for line in (live.directory / CHANGES_FILE).read_text().splitlines()]


def lines_of(change: dict[str, Any], part: str = "steps") -> list[str]:
    return [f"{step['node']} {step['tool']} {line}" for step in change[part] for line in step["lines"]]


def test_a_setting_is_told_with_what_it_replaced_and_changes_no_more_than_it_says(live: Live) -> None:
    assert live.set({"switches.s1.ecn_threshold": "30 KB"}) == ["switches.s1.ecn_threshold: none -> 30 KB"]
    assert live.set({"switches.default.ecn_threshold": "20 KB"})[1] == "(this changes no node)"
    assert live.set({"switches.s1.ecn_threshold": "30000 B"}) == ["switches.s1.ecn_threshold is 30 KB already"]
    assert live.set({"hosts.h2.delayed_ack": False}) == ["hosts.h2.delayed_ack: true -> false"]
    told, note = live.set({"hosts.h1.congestion_control": "dctcp"})
    assert told == "hosts.h1.congestion_control: cubic -> dctcp" and "listen already do so without ECN" in note
    threshold, _, control = changes_of(live)
    red = "handle 3: red limit 0 min {0} max {1} probability 1 avpkt {2} burst {3} bandwidth 1000000000bit ecn"
    assert lines_of(threshold) == [
        f"s1 tc qdisc change dev {port} parent 1:1 {red.format(30_000, 30_001, 1000, 30)}" for port in ("eth1", "eth2")
    ]
    assert lines_of(threshold, "undo")[0].endswith("bandwidth 1000000000bit ecn nodrop")
    assert lines_of(control) == [
        "h1 sysctl net.ipv4.tcp_congestion_control = dctcp",
        "h1 sysctl net.ipv4.tcp_ecn = 1",
    ]


def test_what_is_wrong_is_said_as_check_says_it_and_the_lab_goes_on(live: Live) -> None:
    for settings, text in (
        ({"switches.s1.ecn_treshold": "1 KB"}, "'ecn_treshold' is unknown; did you mean 'ecn_threshold'"),
        ({"switches.s1.ecn_threshold": "1"}, "'1' has no unit; write one of B, KB"),
        ({"switches.s1.ecn_threshold": "65 KB"}, "'65 KB' is not below the buffer, 64 KB; no packet would be marked"),
        ({"roundz": "3"}, "unknown setting; did you mean 'rounds'"),
        ({"rounds": "3"}, "traffic.one.rounds: the traffic is fixed when the lab begins; `fabriclab flow`"),
        (
            {"links.mtu": "9000"},
            "eth1: its mtu would change: this can't be done while the lab is up; bring the lab up with this value",
        ),
        ({"routing.protocol": "bgp-unnumbered"}, "would learn their routes in a different way"),
        ({"switches.s1.aqm.kind": "codel"}, "s1:eth1: its queue would be a different qdisc, and lose its packets"),
        ({"hosts.h1.mptcp.subflows": "2"}, "h1: MPTCP's endpoints are made only when the lab starts"),
        ({"switches.s1.buffer": "1 GB"}, "a buffer of 536870912 B or more can't change"),
        ({"switches.s1.buffer": "500 MB"}, "MiB of memory, and the virtual machine has"),
    ):
        with pytest.raises(LiveError, match=".*".join(text.split(" ... "))):
            live.set(settings)
    assert changes_of(live) == []
    assert live.exec("h1", ["echo"]).status == 0


def test_links_and_nodes_go_down_and_come_back_once(live: Live) -> None:
    link, line = "h1:eth1 - s1:eth1", "1 Gbps, 0 ns"
    assert live.link_down("s1:eth1") == [f"{link}: up, {line} -> down, {line}"]
    assert live.link_down("h1:eth1") == [f"{link} is down, {line} already"]
    assert live.link_up("h1:eth1") == [f"{link}: down, {line} -> up, {line}"]
    live.link_blackhole("h1:eth1")
    lossy = "100 Mbps, 0 ns"
    assert live.link_set("h1:eth1", {"rate": "100 Mbps"}) == [f"{link}: blackhole, {line} -> blackhole, {lossy}"]
    assert live.link_up("h1:eth1") == [f"{link}: blackhole, {lossy} -> up, {lossy}"]
    assert live.link_set("h1:eth1", {"loss": "1 %"}) == [f"{link}: up, {lossy} -> up, {lossy}, loss 1 %"]
    assert live.node_down("h2") == ["h2: up -> down"]
    assert live.node_down("h2") == ["h2 is down already"]
    assert live.node_up("h2") == ["h2: down -> up"]
    told = [(change.get("down"), change.get("up")) for change in changes_of(live)]
    assert told[-2:] == [(["h2"], None), (None, ["h2"])]
    with pytest.raises(LiveError, match="'s1:eth9' is not a port; did you mean 's1:eth"):
        live.link_down("s1:eth9")
    with pytest.raises(LiveError, match="'h9': the lab has no such node"):
        live.node_down("h9")
    with pytest.raises(LiveError, match="delai: unknown key"):
        live.link_set("s1:eth1", {"delai": "1 ms"})


def test_a_route_over_a_link_that_is_down_comes_with_its_up(live: Live) -> None:
    live.link_down("h1:eth1")
    live.set({"hosts.default.rto_min": "5 ms"})
    live.link_up("h1:eth1")
    _, metrics, up = map(lines_of, changes_of(live))
    assert [line.split()[0] for line in metrics] == ["h2"]
    assert any(line.startswith("h1 ip route replace") and "rto_min 5ms" in line for line in up)


def test_what_the_kernel_refuses_is_undone_and_told(served_here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fabriclab.compile.events import Timeline

    with fabriclab.up("pair", idle=True) as live:
        with monkeypatch.context() as patched:
            steps = [{"node": "s1", "tool": "tc", "lines": ["refused"]}]
            patched.setattr(Timeline, "_steps", lambda *_: steps)
            with pytest.raises(LiveError, match="nothing was changed: the kernel refuses it"):
                live.set({"switches.s1.ecn_threshold": "30 KB"})
        assert live.set({"switches.s1.ecn_threshold": "30 KB"}) == ["switches.s1.ecn_threshold: none -> 30 KB"]
    assert [done["kind"] for done in done_to(live)] == ["set"]


def test_what_was_done_is_written_down_in_the_labs_words(live: Live) -> None:
    live.set({"switches.s1.ecn_threshold": "30 KB"})
    live.link_down("s1:eth1")
    live.start("one")
    live.flow("h1", "h2", "20 KB", congestion_control="reno")
    live.stop("one")
    done = done_to(live)
    assert [(one["kind"], one["words"]) for one in done] == [
        ("set", "set switches.s1.ecn_threshold='30 KB'"),
        ("link", "link down s1:eth1"),
        ("start", "start one"),
        ("flow", "flow h1 h2 --size '20 KB' --cc reno"),
        ("stop", "stop one"),
    ]
    assert done[2]["details"]["directory"] == "live/1"


def test_the_commands_say_what_was_and_is(live: Live) -> None:
    def said(*words: str) -> str:
        result = CliRunner().invoke(app, list(words))
        return result.stdout + result.stderr

    assert said("set", "switches.s1.buffer=70 KB").startswith("switches.s1.buffer: 64 KB -> 70 KB\nat ")
    assert said("set", "switches.s1.buffer=70 KB") == "switches.s1.buffer is 70 KB already\n"
    assert "write KEY=VALUE, such as set switches" in said("set", "buffer")
    assert "given twice ('1' before)" in said("set", "a=1", "a=2")
    told = "h1:eth1 - s1:eth1: up, 1 Gbps, 0 ns -> down, 1 Gbps, 0 ns\nat "
    assert said("link", "down", "pair:s1:eth1").startswith(told)
    assert "write a port of the link" in said("link", "down", "s1")
    assert "link up takes no KEY=VALUE" in said("link", "up", "s1:eth1", "rate=1")
    assert "'dwon' is not an action of a link; did you mean 'down'" in said("link", "dwon", "s1:eth1")
    assert said("node", "down", "h2").startswith("h2: up -> down\n")
    assert "is not an action of a node" in said("node", "set", "h2")
    assert "this lab's routes are static: no node runs FRR" in said("vtysh", "s1", "-c", "show ip route")
    with pytest.raises(ArgumentError, match="s1: this lab's routes are static"):
        vtysh_in_node("s1", ())


def test_a_shell_completes_nodes_ports_and_keys(live: Live) -> None:
    assert complete_live_lab("p") == ["pair"]
    assert complete_live_node("h") == ["h1", "h2"]
    assert complete_live_port("s1:") == ["s1:eth1", "s1:eth2"]
    assert complete_live_place("s1") == ["s1"] and complete_live_place("s1:") == ["s1:eth1", "s1:eth2"]
    assert complete_live_key("r") == ["rounds=", "routing."]
    assert complete_live_key("switches.s") == ["switches.s1."]
    assert complete_live_key("switches.s1.ecn") == ["switches.s1.ecn_threshold="]
    assert complete_live_key("nothing.") == complete_live_key("links.rate.") == []
    with fabriclab.up("pair", idle=True):
        assert complete_live_node("pair-2:h") == ["pair-2:h1", "pair-2:h2"]
        assert complete_live_key("r") == []
