"""Looks into a live lab on the real machine: figures as tc and ss have them, and nothing that moves by them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from slow_labs import SLOWLY, flows_of

import fabriclab
from fabriclab.api.lab import Settings
from fabriclab.live.client import LiveError, ask
from fabriclab.live.lab import Live

# A server as a process of its own, as test_live_machine.py has them, first imports for most of a CPU second.
pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("in_threads")]

"""Next to no time passes before the lab is paused."""


@pytest.fixture
def incast(desk: Path) -> Iterator[Live]:
    with fabriclab.up("incast", set={"senders": 8, "rounds": 2}, speed=SLOWLY, out="run") as lab:
        lab.pause()
        lab.speed = "max"
        yield lab


def port(live: Live, name: str, *, packets: bool = False) -> dict[str, Any]:
    found = ask(live.name, {"do": "look", "ports": [name.split(":")], "packets": packets})["ports"]
    return dict(found[0])


def busy(live: Live, name: str) -> dict[str, Any]:
    """Step until packets stand at a port."""
    for _ in range(400):
        live.step("50 us")
        found = port(live, name, packets=True)
        if sum(queue["packets"] for queue in found["queues"]) > 3:
            return found
    raise AssertionError(f"nothing ever stood at {name}")


def test_a_port_s_figures_are_those_of_tc_and_its_packets_those_of_the_queue(incast: Live) -> None:
    found = busy(incast, "s1:eth49")
    (queue,) = found["queues"]
    text = incast.exec("s1", ["tc", "-s", "qdisc", "show", "dev", "eth49"]).stdout
    leaf = text[text.index("bfifo") :]
    sent = re.search(r"Sent (\d+) bytes (\d+) pkt \(dropped (\d+)", leaf)
    backlog = re.search(r"backlog (\d+)b (\d+)p", leaf.replace("Kb", "000b"))
    assert sent is not None and backlog is not None
    assert [queue[key] for key in ("sent_bytes", "sent_packets", "drops")] == [int(word) for word in sent.groups()]
    assert queue["packets"] == int(backlog[2]) == len(queue["standing"])
    assert queue["bytes"] == sum(packet["bytes"] for packet in queue["standing"])
    assert (found["rate_bps"], found["up"], queue["marks"]) == (10**9, True, 0)
    for packet in queue["standing"]:
        assert packet["dst"].startswith("10.0.0.97:") and packet["protocol"] == "tcp" and packet["flow"] is not None
        assert packet["ecn"] == "not-ECT" and "ACK" in packet["flags"] and packet["waited_ns"] is None
    link = incast.exec("s1", ["cat", "/sys/class/net/eth49/statistics/tx_bytes"]).stdout
    assert found["tx_bytes"] == int(link)


def test_connections_are_those_of_ss(incast: Live) -> None:
    busy(incast, "s1:eth49")
    found = ask(incast.name, {"do": "connections", "node": "h1"})["connections"]
    (connection,) = [one for one in found if one["state"] == "established"]
    text = incast.exec("h1", ["ss", "-tino", "state", "established"]).stdout
    assert f"{connection['local']} " in text and connection["remote"] in text
    for word, value in (
        ("cwnd", connection["cwnd_segments"]),
        ("mss", connection["mss_bytes"]),
        ("bytes_sent", connection["bytes_sent"]),
        ("unacked", connection["unacked"]),
        ("rto", connection["rto_ns"] // 10**6),
    ):
        assert re.search(rf"\b{word}:{value}\b", text), (word, value, text)
    assert connection["congestion_control"] == "cubic" and "cubic" in text
    times = re.search(r"rtt:([\d.]+)/([\d.]+)", text)
    assert times is not None
    srtt_ms, variation_ms = map(float, times.groups())
    assert int(connection["srtt_ns"] / 1000) == round(srtt_ms * 1000)
    assert int(connection["rttvar_ns"] / 1000) == round(variation_ms * 1000)
    assert any(one["state"] == "listen" for one in found)


def test_what_is_not_there_is_told_and_the_lab_goes_on(incast: Live) -> None:
    for question, message in (
        ({"do": "look", "ports": [["s2", "eth1"]]}, "'s2': the lab has no such node; valid here: s1"),
        ({"do": "look", "ports": [["s1", "eht49"]]}, "'eht49': s1 has no such port; did you mean 'eth"),
        ({"do": "look", "ports": "s1"}, "must be a list of .node, interface."),
        ({"do": "look", "ports": [["s1"]]}, "is not a port; write .node, interface."),
        ({"do": "connections"}, "None: the lab has no such node"),
    ):
        with pytest.raises(LiveError, match=message):
            ask(incast.name, question)
    assert len(ask(incast.name, {"do": "look"})["ports"]) == 2 * 49


@pytest.mark.parametrize(
    ("lab", "settings"), [("incast", {"senders": 8, "rounds": 2}), ("pfc-storm", {"stop": "60 ms"})]
)
@pytest.mark.slow("a live lab, once looked at and once not")
def test_looking_moves_nothing(desk: Path, lab: str, settings: Settings) -> None:
    plain = fabriclab.run(lab, set=settings, out="plain")
    with fabriclab.up(lab, set=settings, speed=SLOWLY, out="looked-at") as live:
        live.pause()
        live.speed = "max"
        nodes = list(live.nodes)
        for number in range(100):
            live.step("1 ms" if number % 2 else 333_333)
            ask(live.name, {"do": "look", "packets": True})
            ask(live.name, {"do": "connections", "node": nodes[number % len(nodes)]})
        live.step("1 s")
        live.down()
    assert flows_of(Path("looked-at")) == flows_of(plain.directory)
