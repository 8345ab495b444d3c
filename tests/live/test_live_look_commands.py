"""`inspect` and `break` as commands, over the real machine, with the server in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from slow_labs import SLOWLY
from typer.testing import CliRunner

import fabriclab
from fabriclab.api.lab import Settings
from fabriclab.cli.app import app
from fabriclab.live.lab import Live

pytestmark = [pytest.mark.vm, pytest.mark.covered, pytest.mark.usefixtures("in_threads")]


@pytest.fixture
def incast(desk: Path) -> Iterator[Live]:
    """A small in-cast, paused at its beginning."""
    with fabriclab.up("incast", set={"senders": 8, "rounds": 2}, speed=SLOWLY, out="run") as lab:
        lab.pause()
        lab.speed = "max"
        yield lab


def said(*arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == status, done.output
    return done.output


def test_a_condition_stops_time_and_what_stands_there_is_shown(incast: Live) -> None:
    assert said("break", "s1:eth49 queue > 20 KB") == "incast: break point 1: s1:eth49 queue > 20 KB\n"
    assert "the lab has no node 's9'" in said("break", "s9 drop", status=2)
    assert "a condition is missing" in said("break", status=2)
    assert "write the number of a break point" in said("break", "--clear", "one", status=2)
    incast.resume()
    while incast.stopped is None:
        pass
    assert "stopped: s1:eth49 queue is " in said("break", "--list")
    shown = said("inspect", "s1:eth49")
    assert f"s1:eth49 at {incast.now / 1e9:.9f} s" in shown and "10.0.0.97:" in shown and "not-ECT" in shown
    packets = json.loads(said("inspect", "s1:eth49", "--json"))["ports"][0]["queues"][0]["standing"]
    assert f"{len(packets)} packets" in shown
    assert len(said("inspect", "s1").splitlines()) == 2 + 49
    flow = packets[0]["flow"]
    assert said("inspect", "s1:eth49", "--flow", str(flow)).count("\n") < shown.count("\n")
    assert "established" in said("inspect", "client") and '"connections"' in said("inspect", "h1", "--json")
    assert "cubic" in said("inspect", "client", "--flow", str(flow))
    assert "has no connection of this flow" in said("inspect", "client", "--flow", "99", status=2)
    assert "did you mean 'eth4" in said("inspect", "s1:eth409", status=2)
    assert "no break points" in said("break", "--clear")


@pytest.mark.parametrize(
    ("lab", "settings", "condition", "words"),
    [
        ("pfc-storm", {"stop": "60 ms"}, "leaf2:eth5 pause", ["pauses the other end", "shared memory of leaf2"]),
        ("dctcp-queue", {"variant": "dctcp"}, "s1 mark", ["ECT(0)", "1 mark"]),
        ("incast", {"senders": 24}, "timeout", ["in flight"]),
        ("incast", {"senders": 2, "rounds": 1}, "flow 0 ends", ["10.0.0.97:", "flow"]),
    ],
)
def test_conditions_of_each_kind(desk: Path, lab: str, settings: Settings, condition: str, words: list[str]) -> None:
    with fabriclab.up(lab, set=settings, speed="max", breaks=[condition], out="run") as live:
        while live.stopped is None:
            assert live.now < 10**10
        place = live.stopped.partition(" ")[0].rstrip(":")
        node = place.partition(":")[0] if place.partition(":")[0] in live.nodes else "client"
        text = said("inspect", place if ":" in place and node != "client" else node)
        ports = "".join(
            said("inspect", f"{node}:{port.interface}") for port in live.inspect(node).ports if port.packets
        )
        for word in words:
            assert word in text + ports, (live.stopped, text, ports)
        live.clear_break()
