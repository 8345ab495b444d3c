"""`fabriclab inspect` and `break` as people use them, on the real machine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fabriclab
from fabriclab.live.lab import Live

# The commands are processes, as people use them; the server is in this one (test_live_machine.py has it in its own).
pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("in_threads")]


def fabriclab_says(*arguments: str, status: int = 0) -> str:
    argv = [sys.executable, "-m", "fabriclab", *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def lossless(desk: Path) -> Iterator[Live]:
    settings = {"stop": "60 ms"}
    condition = "leaf2:eth1 queue 3 > 60 packets"
    with fabriclab.up("pfc-storm", set=settings, speed="max", breaks=[condition], name="storm", out="run") as live:
        while live.stopped is None:
            assert live.now < 10**9
        yield live


@pytest.mark.slow("types commands, each a process of its own, at a live lab")
def test_a_person_looks_around_where_a_break_point_stopped_time(lossless: Live) -> None:
    assert "stopped: leaf2:eth1 queue 3 is 61 packets" in fabriclab_says("ps")
    port = fabriclab_says("inspect", "leaf2:eth1")
    assert f"leaf2:eth1 at {lossless.now / 1e9:.9f} s\nup, 1 Gbps; stands: " in port
    assert "queue 3: " in port and "ECT" in port and " us" in port and "shared memory of leaf2: " in port
    standing = lossless.inspect("leaf2:eth1").ports[0].queues
    waited = [packet.waited_ns for queue in standing for packet in queue.standing if packet.waited_ns is not None]
    assert len(waited) == 61 and waited == sorted(waited, reverse=True) and min(waited) >= 0
    switch = fabriclab_says("inspect", "storm:leaf2")
    assert [line.split()[0] for line in switch.splitlines()[1:7]] == ["port", "eth1", "eth2", "eth3", "eth4", "eth5"]
    assert "congestion control cubic" in fabriclab_says("inspect", "h9", "--flow", "2")
    assert "10.64.1.1:7000" in fabriclab_says("inspect", "h9")
    found = json.loads(fabriclab_says("inspect", "h9", "--flow", "2", "--json"))["connections"]
    assert [connection["flow"] for connection in found] == [2]
    memory = lossless.inspect("leaf2").memory
    assert memory is not None and memory.shared_bytes > 61 * 1500 and memory.shared_limit_bytes == 1_000_000


@pytest.mark.slow("types a dozen commands, each a process of its own, at a live lab")
def test_mistakes_are_told_with_what_would_be_right(lossless: Live) -> None:
    for words, message in (
        (["inspect", "leaf9"], "'leaf9': the lab has no such node; did you mean 'leaf"),
        (["inspect", "leaf2:eth11"], "leaf2 has no such port; did you mean 'eth"),
        (["inspect", "a:b:c:d"], "is not a node or a port; write"),
        (["inspect", "h9", "--flow", "77"], "flow 77: h9 has no connection of this flow; open there now: 2"),
        (["break"], "a condition is missing: NODE:PORT queue [N] > SIZE"),
        (["break", "--clear", "x"], "write the number of a break point"),
    ):
        assert message in fabriclab_says(*words, status=2)
    assert fabriclab_says("break", "h9 timeout") == "storm: break point 2: h9 timeout\n"
    assert " 1  leaf2:eth1 queue 3 > 60 packets\n 2  h9 timeout\n" in fabriclab_says("break", "--list")
    assert fabriclab_says("break", "--clear", "1").startswith(" 2  h9 timeout\n")
    assert fabriclab_says("break", "--clear").startswith("storm: no break points\n")
    lossless.resume()
    assert lossless.stopped is None


def test_over_ipv6_addresses_stand_in_brackets(desk: Path) -> None:
    stop = "s1:eth3 queue > 20 packets"
    with fabriclab.up("dctcp-queue", set={"addresses": "ipv6"}, speed="max", breaks=[stop], out="run") as live:
        while live.stopped is None:
            assert live.now < 10**9
        said = fabriclab_says("inspect", "h1")
        assert "[fdfa:b1ab::1]:" in said and "[fdfa:b1ab::5]:7000" in said
        assert "[fdfa:b1ab::1]:" in fabriclab_says("inspect", "s1:eth3")
