"""A leaf's WRED profile, imported from its config_db.json: the share of marked frames at each length of the queue is
the profile's curve.

One host sends datagrams at the rate of the receiver's line all the time, so that the queue keeps its length; bursts of
another host raise it from one length to the next.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pytest
from machine import FULL_FRAME, FULL_PAYLOAD, FULL_WIRE, START_NS, Boot, Device, Star, show_at
from switch_port import read_shown

from fabriclab.compile.switch_port import compile_switch_port
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import parse_config_db

pytestmark = pytest.mark.vm
LEAF = Path(__file__).parents[2] / "labs" / "sonic-qos" / "leaf.json"
DSCP, QUEUE = 3, 3
"""The DSCP and the queue of the lossless class that the file marks (DSCP_TO_TC_MAP, TC_TO_QUEUE_MAP)."""
RATE_BPS = 100 * 10**9
TOLERANCE = 0.02
"""How far a share may lie from the profile's probability."""
DRAWN, CERTAIN = 150_000, 15_000
"""Frames at a length on the ramp: the standard deviation of the share is then half of the tolerance at most. Off it no
mark is chance: one frame that is treated wrong would show."""
HELD_FRAMES = {
    600_000: CERTAIN,
    1_000_000: DRAWN,
    1_200_000: DRAWN,
    1_400_000: DRAWN,
    1_600_000: DRAWN,
    2_000_000: CERTAIN,
}
"""At each length of the queue."""
MS = 10**6
SETTLE_NS = 100_000
"""Before and after a burst. The largest, 600 KB, comes in within 49 us."""
HELD_NS = {length: frames * FULL_WIRE * 8 * 10**9 // RATE_BPS for length, frames in HELD_FRAMES.items()}
ENDS_NS = dict(zip(HELD_NS, accumulate(held + 2 * SETTLE_NS for held in HELD_NS.values()), strict=True))
"""When each length ends, from the start on."""


@dataclass(frozen=True)
class Curve:
    """A WRED profile as the file has it."""

    minimum: int
    maximum: int
    probability: float

    def at(self, length: float) -> float:
        if length < self.minimum:
            return 0.0
        return (
            1.0
            if length >= self.maximum
            else self.probability * (length - self.minimum) / (self.maximum - self.minimum)
        )


def written_curve() -> Curve:
    (profile,) = json.loads(LEAF.read_text())["WRED_PROFILE"].values()
    return Curve(
        int(profile["green_min_threshold"]),
        int(profile["green_max_threshold"]),
        int(profile["green_drop_probability"]) / 100,
    )


def imported(directory: Path) -> Plan:
    """Return the plan of the leaf as `fabriclab sonic import` makes it, without its BGP: its hosts alone."""
    config = json.loads(LEAF.read_text())
    del config["BGP_NEIGHBOR"]
    directory.mkdir()
    for name, text in import_lab(parse_config_db(json.dumps(config).encode(), LEAF.name), "leaf1").files.items():
        (directory / name).write_text(text)
    return resolve_plan(parse_lab(directory), {})


def device(node: Node, port: Port) -> Device:
    assert port.switch_port is not None and port.rate_bps == RATE_BPS
    return [compile_switch_port(node, port, port.switch_port).replace(f"dev {port.interface} ", "dev DEV ")]


def exact(port: Port) -> Port:
    """Return the port with a clock that is right: the queue must stay as it is for as long as it is looked at."""
    assert port.nic is not None
    return port.model_copy(update={"nic": port.nic.model_copy(update={"clock_ppb": 0})})


def star(plan: Plan) -> Star:
    """Return the leaf with its first three servers: a sender, a sender of bursts, a receiver."""
    leaf = plan.node("leaf1")
    hosts = [plan.node(port.peer_node) for port in leaf.ports[:3]]
    return Star([device(host, exact(host.ports[0])) for host in hosts], [device(leaf, port) for port in leaf.ports[:3]])


def line_rate() -> str:
    """Return the bursts of a host whose line is never idle: each millisecond what the line takes in it, and a frame."""
    count = MS * RATE_BPS // (FULL_WIRE * 8 * 10**9) + 1
    return "".join(f"{START_NS + number * MS} {count}\n" for number in range(max(ENDS_NS.values()) // MS + 1))


def rises() -> str:
    """Return the bursts that bring the queue to each length."""
    steps = zip((0, *HELD_NS), (0, *ENDS_NS.values()), HELD_NS, strict=False)
    return "".join(
        f"{START_NS + begin + SETTLE_NS} {(after - before) // FULL_FRAME}\n" for before, begin, after in steps
    )


def send(name: str) -> str:
    return f"/job/port-tool bursts 10.3.0.2 7000 {DSCP} {FULL_PAYLOAD} /job/{name} &"


@pytest.mark.slow("sends 150,000 frames at each of six lengths")
def test_the_share_of_marks_at_each_length_is_the_curve(boot: Boot, tmp_path: Path) -> None:
    looks = [
        show_at("eth3", START_NS + end - early, f"{length}-{early}")
        for length, end in ENDS_NS.items()
        for early in (HELD_NS[length], 0)
    ]
    senders = [("h1", [send("line-rate")]), ("h2", [send("rises")])]
    run = boot.run(
        star(imported(tmp_path / "lab")), [*senders, ("s1", looks)], files={"line-rate": line_rate(), "rises": rises()}
    )
    curve = written_curve()
    for length, held_frames in HELD_FRAMES.items():
        before, after = (
            read_shown((run / f"{length}-{early}").read_text()).queues[QUEUE] for early in (HELD_NS[length], 0)
        )
        frames = after["sent_packets"] - before["sent_packets"]
        share = (after["marks"]["wred"] - before["marks"]["wred"]) / frames
        assert before["bytes"] == after["bytes"] == pytest.approx(length, abs=2 * FULL_FRAME) and frames == held_frames
        assert share == pytest.approx(curve.at(after["bytes"]), abs=TOLERANCE * curve.probability)
        assert share == curve.at(after["bytes"]) or curve.minimum <= length < curve.maximum
