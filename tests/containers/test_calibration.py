"""What is measured of a host's links before a run in containers, what its bounds are, and what the run says of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_commands import FakeCommands
from sample_switch_plans import shared_star
from shipped_labs import shipped_lab

from fabriclab.compile.real_time import compile_real_time, standing_ns
from fabriclab.engine.containers import validity
from fabriclab.engine.containers.calibration import Calibration, LineMeasured, PathMeasured, calibrate
from fabriclab.engine.containers.docker import Container
from fabriclab.engine.containers.job import read_job
from fabriclab.engine.containers.starvation import Starvation
from fabriclab.engine.containers.validity import why_invalid
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.switch import Account, Scheduler, SwitchPort, SwitchQueue, Wred
from fabriclab.formats.real_time import RealTime
from fabriclab.resolve import resolve_plan
from fabriclab.runs.directory import write_inputs

LABS = Path(__file__).parents[2] / "labs"
PATH = PathMeasured("h1", "h2", 100_000, 149_000, 140_000, 605_000)
LINE = LineMeasured("s1:eth1", 20_000_000, 20_100_000)
WANTED: RealTime = {
    "format": "fabriclab-real-time-1",
    "stall_ns": 40_000_000,
    "standing_ns": 12_000_000,
    "lines": [
        {
            "node": node,
            "interface": "eth1",
            "rate_bps": 20_000_000,
            "frame_bytes": 1514,
            "wire_bytes": 1538,
            "window_bytes": 50_000,
            "time_ns": 150_000_000,
        }
        for node in ("h1", "s1", "left-out")
    ],
    "paths": [
        {"src": "h1", "dst": "h2", "address": "10.0.0.2", "round_trip_ns": 100_000},
        {"src": "h1", "dst": "left-out", "address": "10.0.0.3", "round_trip_ns": 100_000},
    ],
}
CONTAINERS = {name: Container(name, f"id-{name}", name) for name in ("h1", "h2", "s1")}


def plan(lab: str, **settings: str) -> Plan:
    return resolve_plan(shipped_lab(lab), settings, 1)


def rates(frames: int, time_ns: int) -> str:
    return json.dumps({"interface": "eth1", "frames": frames, "bytes": frames * 1514, "time_ns": time_ns}) + "\n"


def echoes(*times_ns: int) -> str:
    return json.dumps({"address": "10.0.0.2", "sent": 20, "round_trips_ns": times_ns}) + "\n"


def asked(fake: FakeCommands, node: str, what: str, **answer: str | int) -> None:
    fake.answer(["docker", "exec", "--user", "0", f"id-{node}", "/tools/gauge", what], **answer)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCommands:
    """A host of which h1's line is 1 % slow, s1's as planned, and a round trip 49 us too long."""
    commands = FakeCommands(tmp_path / "bin", monkeypatch)
    asked(commands, "h1", "rates", out=rates(161, 100_000_000))
    asked(commands, "s1", "rates", out=rates(325, 200_000_000))
    asked(commands, "h1", "round-trips", out=echoes(145_000, 149_000, 900_000))
    return commands


def test_nodes_that_are_there_are_measured_one_after_the_other(fake: FakeCommands) -> None:
    found = calibrate(WANTED, CONTAINERS, lambda: False)
    assert found.paths == (PathMeasured("h1", "h2", 100_000, 149_000, 145_000, 605_000),)
    assert [line.port for line in found.lines] == ["h1:eth1", "s1:eth1"]
    assert [line.measured_bps for line in found.lines] == [
        round(161 * 1538 * 8 / 0.1),
        round(325 * 1538 * 8 / 0.2),
    ], "of the wire, framing included"
    assert found.reasons() == [] and found.unmeasured == ()
    (asked_for,) = fake.calls("docker", "exec", "--user", "0", "id-h1", "/tools/gauge", "rates")
    assert asked_for[-1] == "eth1:1514:50000:150"


def test_what_cannot_be_measured_is_null_with_a_reason(fake: FakeCommands) -> None:
    asked(fake, "s1", "rates", err="gauge: eth1: No buffer space", status=1)
    found = calibrate(WANTED, CONTAINERS, lambda: False)
    assert [line.port for line in found.lines] == ["h1:eth1"]
    (reason,) = found.unmeasured
    assert reason.startswith("s1: ") and "No buffer space" in reason
    assert found.as_figures()["unmeasured"] == [reason]
    nothing = Calibration(unmeasured=(reason,)).as_figures()
    assert (nothing["slowest_path"], nothing["worst_line"]) == (None, None)


def test_an_interrupted_run_is_not_measured_to_its_end(fake: FakeCommands) -> None:
    assert calibrate(WANTED, CONTAINERS, lambda: True) == Calibration()
    assert fake.calls("docker") == []


def test_a_line_or_a_path_that_carries_nothing_is_invalid(fake: FakeCommands) -> None:
    asked(fake, "s1", "rates", out=rates(0, 100_000_000))
    asked(fake, "h1", "round-trips", out=echoes())
    found = calibrate(WANTED, CONTAINERS, lambda: False)
    slowest, worst = found.slowest_path(), found.worst_line()
    assert slowest is not None and slowest.measured_ns is None and slowest.excess_ns is None
    assert worst is not None and worst.measured_bps is None and worst.deviation is None
    assert found.reasons() == [
        "1 idle paths gave no answer, the first of them from h1 to h2",
        "the link at s1:eth1 carried nothing instead of 20 Mbps: at most 5% of difference is allowed",
    ]


@pytest.mark.parametrize(
    ("measured_ns", "words"),
    [
        (705_000, None),
        (706_000, "took 706 us instead of 100 us: 606 us longer, where at most 605 us is allowed"),
    ],
)
def test_a_path_is_compared_with_the_least_queue_that_stands(measured_ns: int, words: str | None) -> None:
    reasons = Calibration((PathMeasured("h1", "h2", 100_000, measured_ns, 1, 605_000),)).reasons()
    assert reasons == [] if words is None else words in reasons[0]


@pytest.mark.parametrize(("measured_bps", "is_sound"), [(19_000_001, True), (18_990_000, False), (21_100_000, False)])
def test_a_rate_is_sound_to_within_the_tolerance(measured_bps: int, is_sound: bool) -> None:
    found = Calibration(lines=(LINE, LineMeasured("s1:eth2", 20_000_000, measured_bps)))
    assert (found.reasons() == []) is is_sound
    assert found.worst_line() == found.lines[1]


def test_the_record_has_all_and_the_figures_the_worst() -> None:
    better = PathMeasured("h2", "h1", 100_000, 101_000, 100_000, 605_000)
    found = Calibration((better, PATH), (LINE,))
    record, figures = found.as_record(), found.as_figures()
    assert [path["excess_ns"] for path in record["paths"]] == [1_000, 49_000]
    assert record["lines"][0]["deviation"] == pytest.approx(0.005)
    assert figures["slowest_path"]["src"] == "h1" and figures["invalid"] == []
    json.dumps([record, figures])


def test_a_run_says_why_it_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validity, "large_table", lambda: "the table is large: make it smaller")
    sound = Starvation(3.0, 0.2, 0.01, "replay@h1", 0.0, 900_000, 0.01, 5)
    assert why_invalid(None, None) == why_invalid(sound, Calibration((PATH,), (LINE,))) == ""
    slow = Calibration(lines=(LineMeasured("s1:eth2", 20_000_000, None),))
    assert why_invalid(sound, slow) == f"invalid: {slow.reasons()[0]}"
    missed = why_invalid(replace(sound, sampler_late=0.2), slow)
    assert missed.startswith("invalid: the host was too busy for real time: 20.0% of the samples were missed")
    assert "; the table is large: make it smaller; the link at s1:eth2 carried nothing" in missed


def wanted(resolved: Plan, *pairs: tuple[str, str]) -> RealTime:
    return compile_real_time(resolved, pairs)


@pytest.mark.parametrize(
    ("settings", "expected_ns"),
    [
        ({"switches.default.buffer": "100 KB"}, 40_000_000),
        (
            {
                "switches.default.ecn_threshold": "30 KB",
                "hosts.default.congestion_control": "dctcp",
                "hosts.default.ecn": "on",
            },
            12_000_000,
        ),
    ],
)
def test_a_queue_stands_up_to_its_threshold_else_to_its_end(settings: dict[str, str], expected_ns: int) -> None:
    assert standing_ns(plan("dctcp-queue", **{"links.rate": "20 Mbps", **settings})) == expected_ns


def test_a_queue_stands_up_to_its_qdiscs_target() -> None:
    assert standing_ns(plan("bufferbloat")) == 3_200_000, "4 MB at the servers' 10 Gbps"
    assert standing_ns(plan("bufferbloat", variant="codel")) == 3_200_000, "which are less than its target"
    assert standing_ns(plan("bufferbloat", variant="codel-fast")) == 50_000


def test_marks_of_a_shared_buffer_let_a_queue_stand() -> None:
    account = Account(limit_bytes=100_000)
    queue = SwitchQueue(index=0, account=account, wred=Wred(min=12_500, max=12_500))
    assert standing_ns(shared_star(2, buffer=SwitchPort(queues=(queue,)))) == 100_000, "12.5 KB at 1 Gbps"
    assert standing_ns(shared_star(2, buffer=SwitchPort(queues=(SwitchQueue(index=0, account=account),)))) == 800_000


def test_a_line_is_never_dry_and_never_full() -> None:
    found = wanted(plan("dctcp-queue", **{"links.rate": "20 Mbps", "switches.default.buffer": "100 KB"}))
    assert len(found["lines"]) == 6
    line = next(line for line in found["lines"] if (line["node"], line["interface"]) == ("s1", "eth3"))
    assert (line["rate_bps"], line["frame_bytes"], line["wire_bytes"]) == (20_000_000, 1514, 1538)
    assert line["window_bytes"] == 50_000 + 62, "half of the buffer, and what 25 us hold"
    assert line["time_ns"] >= 240 * 1538 * 8 * 10**9 // 20_000_000
    host = next(line for line in found["lines"] if line["node"] == "h1")
    assert host["window_bytes"] == host["time_ns"] // 4 * 20_000_000 // (8 * 10**9) + 62, "of 15 MB what soon has left"


def test_a_queue_with_a_rate_of_its_own_says_nothing_of_its_line() -> None:
    shaped = SwitchPort(
        queues=(
            SwitchQueue(
                index=0, account=Account(limit_bytes=9_000), scheduler=Scheduler(pir_bps=10**8, pbs_bytes=9_000)
            ),
        )
    )
    lines = wanted(shared_star(2, buffer=shaped))["lines"]
    assert {line["node"] for line in lines}.isdisjoint({"s1"})


def test_every_host_that_sends_or_receives_is_on_a_measured_path() -> None:
    resolved = plan("incast", senders="32")
    hosts = [node.name for node in resolved.nodes if node.role == "host"]
    pairs = [(src, dst) for src in hosts for dst in hosts if src != dst]
    paths = wanted(resolved, *pairs)["paths"]
    assert len(paths) == 24 < len(pairs)
    assert len({end for path in paths for end in (path["src"], path["dst"])}) >= 24
    assert {path["round_trip_ns"] for path in paths} == {100_000}
    address = {node.name: node.ports[0].address for node in resolved.nodes}
    assert all(str(address[path["dst"]]).startswith(path["address"] + "/") for path in paths)


def test_the_job_of_containers_says_what_is_measured(tmp_path: Path) -> None:
    resolved = plan("incast", senders="2")
    write_inputs(resolved, LABS / "incast", tmp_path, stock=True)
    found: Any = read_job(tmp_path).real_time
    assert found["stall_ns"] == 512_000 and found["paths"]
    assert {line["node"] for line in found["lines"]} >= {"s1", "client"} or found["lines"]
