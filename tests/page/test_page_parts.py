"""The page's parts that need no browser: flows out of growing logs, what is drawn, colours."""

from __future__ import annotations

import re
from pathlib import Path

from fake_lab import LOG, TRACE, plan

from fabriclab.live.adjustable import adjustable
from fabriclab.page.assets import WEB
from fabriclab.page.drawing import drawn
from fabriclab.page.flows import Flows
from fabriclab.report.drawing.style import css_variables


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_flows_start_and_end_as_the_logs_grow(tmp_path: Path) -> None:
    write(tmp_path / "traffic" / "trace.csv", TRACE)
    flows = Flows(tmp_path, idle=False)
    log = tmp_path / "raw" / "flows" / "h1.csv"
    assert [flow["flow"] for flow in flows.look(500, {})["running"]] == [0]
    write(log, LOG[: LOG.index("0,dst") + 5])
    told = flows.look(2000, {})
    assert (told["running_count"], told["ended"]) == (2, [])
    write(log, LOG)
    told = flows.look(3000, {})
    (ended,) = told["ended"]
    assert (ended["flow"], ended["fct_ns"], ended["retransmits"], ended["size_bytes"]) == (0, 9_000_000, 3, 1_000_000)
    assert [flow["flow"] for flow in told["running"]] == [1]
    assert flows.look(4000, {})["ended"] == [] and not told["all_ended"]
    write(tmp_path / "raw" / "flows" / "h2.csv", LOG.replace("\n0,", "\n1,"))
    assert flows.look(5000, {})["all_ended"]


def test_flows_started_by_hand_count_from_the_epoch_of_the_lab(tmp_path: Path) -> None:
    write(tmp_path / "traffic" / "trace.csv", TRACE)
    write(tmp_path / "live" / "1" / "trace.csv", TRACE.replace("\n0,0,", "\n7,0,").replace("\n1,1000,", "\n8,1000,"))
    write(tmp_path / "live" / "1" / "h1.csv", LOG.replace("\n0,", "\n7,"))
    flows = Flows(tmp_path, idle=True)
    assert flows.look(10, {})["running"] == []
    told = flows.look(10**9, {"live/1": 500_000_000})
    (ended,) = told["ended"]
    assert (ended["start_ns"], ended["fct_ns"]) == (500_000_100, 9_000_000)
    assert [flow["start_ns"] for flow in told["running"]] == [500_001_000]


def test_every_link_has_its_line_from_end_to_end() -> None:
    drawing = drawn(plan())
    assert len(drawing["links"]) == 49
    assert {node["name"] for node in drawing["nodes"] if not node["host"]} == {"s1"}
    assert all(link["rack"] for link in drawing["links"])


def test_what_a_slider_moves_has_the_value_of_the_plan() -> None:
    assert list(adjustable(plan())) == [
        {"node": "s1", "name": "buffer", "keys": ["switches.s1.buffer"], "bytes": 64_000},
        {"node": "s1", "name": "ECN threshold", "keys": ["switches.s1.ecn_threshold"], "bytes": None},
    ]


def test_a_shared_buffer_has_pools_and_thresholds() -> None:
    found = {one["name"]: one for one in adjustable(plan("ecn-thresholds"))}
    pool, ramp = found["pool shared"], found["queues 2..7: threshold"]
    assert pool["keys"] == ["switches.s1.pools.shared.size"]
    assert ramp["bytes"] == 18_000
    assert ramp["keys"][0] == "switches.s1.queues.2.wred.min" and ramp["keys"][-1] == "switches.s1.queues.7.wred.max"
    assert "queue 1: threshold" not in found


def test_the_colours_are_those_of_the_report() -> None:
    light, dark = re.findall(r":root \{(.*?)\}", (WEB / "style.css").read_text(), re.DOTALL)
    for declared, is_dark in ((light, False), (dark, True)):
        ours = set(re.findall(r"(--[\w-]+: #\w+);", declared))
        assert ours and ours <= set(css_variables(dark=is_dark).rstrip(";").split("; "))
