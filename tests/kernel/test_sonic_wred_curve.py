"""A leaf's WRED profile, imported from its config_db.json: the share of marked frames at each length of the queue is the profile's curve.

One host sends datagrams at the rate of the receiver's line all the time, so that the queue keeps its length; bursts of another host raise
it from one length to the next.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from machine import FULL_FRAME, FULL_PAYLOAD, FULL_WIRE, START_NS, Boot, Device, Star, show_at
from switch_port import read_shown

from fabriclab.compile.switch_port import compile_switch_port
from fabriclab.lab import parse_lab
from fabriclab.plan import resolve_plan
from fabriclab.plan.model import Plan
from fabriclab.plan.node import Node, Port
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import parse_config_db

pytestmark = pytest.mark.vm
LEAF = Path(__file__).parents[2] / "labs" / "sonic-qos" / "leaf.json"
DSCP, QUEUE = 3, 3
"""Of the lossless class that the file marks (DSCP_TO_TC_MAP, TC_TO_QUEUE_MAP)."""
RATE_BPS = 100 * 10**9
TOLERANCE = 0.02
"""Of the profile's probability."""
HELD_FRAMES = 150_000
"""At each length: the standard deviation of the share is then half of the tolerance at most."""
LENGTHS = (600_000, 1_000_000, 1_200_000, 1_400_000, 1_600_000, 2_000_000)
MS = 10**6
SETTLE_NS = 100_000
"""Before and after a burst. The largest, 600 KB, comes in within 49 us."""
HELD_NS = HELD_FRAMES * FULL_WIRE * 8 * 10**9 // RATE_BPS
STEP_NS = HELD_NS + 2 * SETTLE_NS


@dataclass(frozen=True)
class Curve:
    """A WRED profile as the file has it."""

    minimum: int
    maximum: int
    probability: float

    def at(self, length: float) -> float:
        if length < self.minimum:
            return 0.0
        return 1.0 if length >= self.maximum else self.probability * (length - self.minimum) / (self.maximum - self.minimum)


def written_curve() -> Curve:
    (profile,) = json.loads(LEAF.read_text())["WRED_PROFILE"].values()
    return Curve(int(profile["green_min_threshold"]), int(profile["green_max_threshold"]), int(profile["green_drop_probability"]) / 100)


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


def star(plan: Plan) -> Star:
    """Return the leaf with its first three servers: a sender, a sender of bursts, a receiver."""
    leaf = plan.node("leaf1")
    hosts = [plan.node(port.peer_node) for port in leaf.ports[:3]]
    return Star([device(host, host.ports[0]) for host in hosts], [device(leaf, port) for port in leaf.ports[:3]])


def line_rate() -> str:
    """Return the bursts of a host whose line is never idle: each millisecond what the line takes in it, and a frame."""
    count = MS * RATE_BPS // (FULL_WIRE * 8 * 10**9) + 1
    return "".join(f"{START_NS + number * MS} {count}\n" for number in range(len(LENGTHS) * STEP_NS // MS + 1))


def rises() -> str:
    """Return the bursts that bring the queue to each length."""
    frames = [(after - before) // FULL_FRAME for before, after in zip((0, *LENGTHS), LENGTHS, strict=False)]
    return "".join(f"{START_NS + SETTLE_NS + number * STEP_NS} {count}\n" for number, count in enumerate(frames))


def send(name: str) -> str:
    return f"/job/port-tool bursts 10.3.0.2 7000 {DSCP} {FULL_PAYLOAD} /job/{name} &"


def test_the_share_of_marks_at_each_length_is_the_curve(boot: Boot, tmp_path: Path) -> None:
    ends = {length: START_NS + (number + 1) * STEP_NS for number, length in enumerate(LENGTHS)}
    looks = [show_at("eth3", end - early, f"{length}-{early}") for length, end in ends.items() for early in (HELD_NS, 0)]
    senders = [("h1", [send("line-rate")]), ("h2", [send("rises")])]
    run = boot.run(star(imported(tmp_path / "lab")), [*senders, ("s1", looks)], files={"line-rate": line_rate(), "rises": rises()})
    curve = written_curve()
    for length in LENGTHS:
        before, after = (read_shown((run / f"{length}-{early}").read_text()).queues[QUEUE] for early in (HELD_NS, 0))
        frames = after["sent_packets"] - before["sent_packets"]
        share = (after["marks"]["wred"] - before["marks"]["wred"]) / frames
        assert before["bytes"] == after["bytes"] == pytest.approx(length, abs=2 * FULL_FRAME) and frames == HELD_FRAMES
        assert share == pytest.approx(curve.at(after["bytes"]), abs=TOLERANCE * curve.probability)
        assert share == curve.at(after["bytes"]) or curve.minimum <= length < curve.maximum
