"""Figures and tables of switches with a shared buffer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from switch_runs import BURSTS, CLIENT, PERIOD, QUEUE, SERVERS, switch_run, switch_sweep
from synthetic_run import MS, incast_run
from whole_plans import with_plan

from fabriclab.formats.figures import FIGURE_KINDS
from fabriclab.formats.manifest import Manifest
from fabriclab.formats.plan.model import PauseStorm
from fabriclab.report import write_report
from fabriclab.report.drawing.curves import Curve
from fabriclab.report.drawing.exhibits import Absent, DataTable, Exhibit, Picture
from fabriclab.report.drawing.pools import pool_of_run, pools_of
from fabriclab.report.drawing.style import CAUSES
from fabriclab.report.figures.buffer import buffer_picture
from fabriclab.report.figures.causes import dropped, drops_of_points, drops_of_ports, drops_over_time
from fabriclab.report.figures.pauses import paused, pauses_picture
from fabriclab.report.measured.port_facts import Level, port_facts
from fabriclab.report.measured.samples import longest_queue, queue_samples
from fabriclab.report.measured.series import sampled_bins
from fabriclab.report.selection import run_exhibits, sweep_exhibits
from fabriclab.report.switch_notes import SwitchNote, switch_notes
from fabriclab.report.tables.points import key_figures, metric_rows
from fabriclab.report.tables.switches import congestion_event_table, switch_point_table, switch_port_table
from fabriclab.report.warnings import warnings_of
from fabriclab.results import Results, read_run, read_sweep
from fabriclab.results.switch_tables import SwitchTables


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    directory = tmp_path_factory.mktemp("runs")
    return {
        name: read_run(switch_run(directory / name, name)) for name in ("deep", "shallow", "shallow-ecn", "shallow-pfc")
    }


@pytest.fixture(scope="module")
def sweep_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return switch_sweep(tmp_path_factory.mktemp("sweep"))


def titles(exhibits: list[Exhibit]) -> list[str]:
    return [exhibit.title for exhibit in exhibits]


def texts(table: DataTable) -> list[list[str]]:
    return [[cell.text for cell in row] for group in table.groups for row in group.rows]


def test_figures_that_nobody_sampled_for_are_named(runs: dict[str, Results]) -> None:
    asked = Manifest(report={"figures": [{"kind": "pauses"}, {"kind": "queue"}, {"kind": "buffer", "switch": "s1"}]})
    sampled = replace(runs["deep"], manifest=asked)
    blind = replace(sampled, measured=replace(sampled.measured, switches=SwitchTables()))
    found = [each for each in run_exhibits(blind) if isinstance(each, Absent)]
    assert found[0] == Absent("Pauses; Buffer (s1)", "no switch with a shared buffer was sampled (probes.switches)")
    assert [each.title for each in found[1:]] == ["Queue over time"]
    assert not any(isinstance(each, Absent) for each in run_exhibits(replace(blind, manifest=Manifest())))


def test_the_page_has_every_warning_of_a_plan_for_containers(runs: dict[str, Results]) -> None:
    sentences = [f"containerlab: s1: {number}" for number in range(20)]
    warned = with_plan(runs["deep"], warnings=sentences)
    told = [warning for warning in warnings_of(pool_of_run(warned).points) if "containerlab" in warning]
    assert told == [f"{sentence}." for sentence in sentences]


def test_events_that_a_run_ended_before_are_named(runs: dict[str, Results]) -> None:
    def told(status: str) -> list[str]:
        late = PauseStorm(name="late", at_ns=5 * 10**9, until_ns=6 * 10**9, host="h1", interface="eth1", priorities=())
        storms = [late.model_copy(update={"name": "early", "at_ns": 10**6}), late]
        manifest = runs["deep"].manifest.model_copy(update={"status": status, "virtual_s": 2.5})
        run = replace(with_plan(runs["deep"], pause_storms=tuple(storms)), manifest=manifest)
        return [warning for warning in warnings_of(pool_of_run(run).points) if "events." in warning]

    assert told("complete") == ["events.late, at 5 s, never came, because all traffic had ended."]
    # Of a run that was cut its status says so.
    assert told("limit") == []


def test_levels_are_those_of_the_queue(runs: dict[str, Results]) -> None:
    wred = (Level(30_000, "WRED min"), Level(150_000, "WRED max"))
    facts = {queue: port_facts(runs["shallow-ecn"], CLIENT, queue) for queue in (None, 0, QUEUE)}
    levels = {queue: fact.levels for queue, fact in facts.items() if fact is not None}
    assert levels == {
        0: (Level(64_000, "limit", is_limit=True),),
        QUEUE: (Level(320_000, "alone at most", is_limit=True), *wred),
        None: (Level(320_000, "alone at most", is_limit=True), *wred),
    }
    own = facts[QUEUE]
    assert own is not None and (own.title, own.limit_bytes, own.threshold_bytes) == (
        f"Queue 3 at {CLIENT}",
        320_000,
        30_000,
    )


def test_a_host_that_faces_such_a_switch_has_a_limit_of_its_own(runs: dict[str, Results]) -> None:
    facts = port_facts(runs["shallow"], "h1:eth1")
    assert facts is not None and facts.levels == (Level(15_000_000, "limit", is_limit=True),)


def test_samples_of_a_queue_are_the_switchs(runs: dict[str, Results]) -> None:
    samples = queue_samples(runs["shallow"], CLIENT, QUEUE)
    assert samples is not None
    assert (samples.longest_bytes, samples.drops, samples.interval_ns) == (320_000 // 1514 * 1514, 50 * BURSTS, MS)
    levels = [int(320_000 * max(0.0, 1 - abs(phase - 6) / 6)) // 1514 * 1514 for phase in range(20)]
    # The last burst is cut when its last byte is read, 3 ms before it would end.
    mean = (BURSTS * sum(levels)) / (BURSTS * 20 - 3)
    assert samples.mean_bytes == pytest.approx(mean, rel=1e-9)


def test_without_a_place_it_is_the_queue_that_grew_longest(runs: dict[str, Results]) -> None:
    run = runs["shallow"]
    assert longest_queue(run) == (CLIENT, QUEUE)
    assert longest_queue(run, "s1:eth2") == ("s1:eth2", QUEUE)
    assert longest_queue(run, queue=0) == (CLIENT, 0)
    assert longest_queue(run, "s1:eth99", 7) is None


def test_page_of_a_run_shows_the_switch(tmp_path: Path) -> None:
    run = switch_run(
        tmp_path / "run", "shallow-pfc", warnings=["s1: queue 3: wred.min 700 KB is above the 320 KB that it can get"]
    )
    write_report([run], tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text()
    shown = [
        f"Queue 3 at {CLIENT} over time",
        "Buffer of s1 over time",
        "Drops by port",
        "Who pauses whom",
        "Switch ports",
        "Congestion events",
    ]
    assert [title for title in shown if f">{title}</h2>" not in html] == []
    assert "s1: queue 3: wred.min 700 KB is above the 320 KB that it can get." in html.replace("\u00a0", " ")


def test_page_of_other_runs_does_not(tmp_path: Path) -> None:
    found = titles(run_exhibits(read_run(incast_run(tmp_path / "run", 4))))
    assert not {"Who pauses whom", "Switch ports", "Congestion events"} & set(found)
    assert not any(title.startswith("Buffer") or "by cause" in title for title in found)


def test_what_is_asked_for_is_shown(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = [
        {"kind": "queue", "port": CLIENT, "queue": 0},
        {"kind": "drops", "port": CLIENT},
        {"kind": "buffer", "switch": "s1"},
    ]
    found = run_exhibits(read_run(switch_run(tmp_path / "run", "shallow", report=asked)))
    assert titles(found)[:3] == [f"Queue 0 at {CLIENT} over time", f"Drops at {CLIENT}", "Buffer of s1 over time"]


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_each_kind_of_the_language_is_drawn_or_told(kind: str, tmp_path: Path) -> None:
    asked = {"kind": kind, **({"metric": "goodput_bps"} if kind == "metric" else {})}
    run = read_run(switch_run(tmp_path / "run", "shallow", report=[asked]))
    assert run_exhibits(run, kinds=(kind,))


def test_drops_are_by_cause(runs: dict[str, Results]) -> None:
    counts = dropped(runs["shallow"])
    assert list(counts) == [f"s1:eth{number}" for number in range(1, SERVERS + 2)], "hosts' ports are none of a switch"
    assert counts[CLIENT] == dict.fromkeys(CAUSES, 0.0) | {"queue limit": 400.0, "pool full": 100.0}
    assert not any(counts["s1:eth1"].values())
    assert dropped(runs["shallow-pfc"])[CLIENT]["ingress"] == 18


def test_bars_of_ports_are_those_that_dropped(runs: dict[str, Results]) -> None:
    picture = drops_of_ports(runs["shallow"])
    assert (
        picture is not None
        and f">{CLIENT}<" in picture.svg
        and ">s1:eth1<" not in picture.svg
        and ">500<" in picture.svg
    )
    assert picture.caption == "Queue limit: the queue was at its limit; pool full: the pool had no free memory."
    assert drops_of_ports(runs["deep"]) is None


def test_drops_over_time_are_all_drops(runs: dict[str, Results]) -> None:
    picture = drops_over_time(pool_of_run(runs["shallow"]).curve, CLIENT)
    assert picture is not None and picture.caption.startswith("400 packets dropped (queue limit: ")
    assert "; 100 packets dropped (pool full: " in picture.caption and picture.caption.endswith("a bar covers 2 ms.")
    marked = drops_over_time(pool_of_run(runs["shallow-ecn"]).curve, CLIENT)
    assert marked is not None and marked.title == f"Marks at {CLIENT}"
    assert drops_over_time(pool_of_run(runs["deep"]).curve, CLIENT) is None


def test_bars_of_points_are_means_over_seeds(sweep_dir: Path) -> None:
    pools = pools_of(read_sweep(sweep_dir))
    picture = drops_of_points(pools)
    assert picture is not None and [word for word in (">500<", ">18<", ">none<") if word not in picture.svg] == []
    assert picture.caption.endswith(
        "The numbers are sums over all sampled switch ports. The numbers are means over the seeds."
    )


def test_bins_begin_and_end_when_a_sample_was_due() -> None:
    assert sampled_bins(10, 0, 100, 5).tolist() == [0, 20, 40, 60, 80, 100]
    assert sampled_bins(10, 15, 95, 4).tolist() == [0, 20, 40, 60, 80, 100]
    assert sampled_bins(10, 0, 4, 5).tolist() == [0, 10]


def test_who_pauses_whom(runs: dict[str, Results]) -> None:
    run, edges = runs["shallow-pfc"], np.arange(0, BURSTS * PERIOD + 1, MS, dtype=np.float64)
    rows = {row.label: row for row in paused(run, edges)}
    # Only the first server's port was sampled; of the others the switch tells what it asked for.
    expected = ["s1:eth1 stops h1, queue 3"] + [
        f"s1:eth{number} stops h{number}, group 3" for number in range(2, SERVERS + 1)
    ]
    assert list(rows) == expected
    assert {row.total_ns for row in rows.values()} == {BURSTS * 6 * MS}
    shares = rows["s1:eth1 stops h1, queue 3"].share
    assert shares[:20].tolist() == [0.0] * 3 + [1.0] * 6 + [0.0] * 11


def test_pauses_need_some(runs: dict[str, Results]) -> None:
    assert pauses_picture(pool_of_run(runs["shallow"]).curve) is None
    picture = pauses_picture(pool_of_run(runs["shallow-pfc"]).curve)
    assert picture is not None and "60 ms (30 %)" in picture.svg


def test_memory_is_drawn_with_its_bounds(runs: dict[str, Results]) -> None:
    picture = buffer_picture(pool_of_run(runs["shallow-pfc"]).curve)
    assert picture is not None
    labels = [
        f"{CLIENT}, queue 3",
        "s1:eth1, group 3",
        "dynamic limit, 1 x free",
        "dynamic limit, 1/4 x free",
        "shared 640 KB",
        "in use",
    ]
    assert [label for label in [*labels, "Headroom (KB)"] if label not in picture.svg] == []
    assert "its groups' headroom at most 9 KB of 100 KB." in picture.caption


def test_a_large_pool_is_told_not_drawn(runs: dict[str, Results]) -> None:
    picture = buffer_picture(pool_of_run(runs["deep"]).curve)
    assert picture is not None and "shared 40 MB" not in picture.svg
    assert "pool shared held at most 1.9 MB of 40 MB (4.8 %)." in picture.caption


def test_a_switch_that_nobody_sampled_is_not_drawn(tmp_path: Path) -> None:
    run = read_run(incast_run(tmp_path / "run", 2))
    assert buffer_picture(Curve(run, "x", "#000000")) is None


def test_port_table(runs: dict[str, Results]) -> None:
    table = switch_port_table(runs["shallow-pfc"])
    counts = [
        "Longest queue",
        "Queue drops",
        "Ingress discards",
        "Pauses sent",
        "Pauses got",
        "Paused",
        "Events",
        "Headroom",
    ]
    assert table.headings == ["Port", "Leads to", *counts]
    assert [group.heading for group in table.groups] == ["", "Hosts that paused or were paused"]
    rows = {row[0]: row[1:] for row in texts(table)}
    assert rows["s1:eth1"] == ["h1", "0 B", "0", "18", "60", "0", "0 ns", "0", "4 KB"]
    assert rows["h1:eth1"] == ["s1", "0 B", "0", "0", "0", "60", "60 ms", "0", "–"]
    assert rows[CLIENT] == ["client", "320 KB", "0", "0", "0", "0", "0 ns", "10", "–"]
    assert "h1:eth1" not in {row[0] for row in texts(switch_port_table(runs["shallow"]))}, (
        "a host that was never paused tells nothing"
    )


def test_point_table(sweep_dir: Path) -> None:
    table = switch_point_table(pools_of(read_sweep(sweep_dir)))
    counts = ["Queue drops", "Ingress discards", "ECN marks", "Pauses sent", "Events"]
    assert table.headings == ["", *counts, "In XOFF", "Pool", "Headroom"]
    rows = {row[0]: row[1:] for row in texts(table)}
    assert rows["shallow"] == ["500", "0", "0", "0", "10", "0 ns", "320 KB", "0 B"]
    assert rows["shallow-pfc"] == ["0", "18", "0", "900", "10", "300 ms", "320 KB", "9 KB"]


def test_alike_switches_are_told_once(sweep_dir: Path) -> None:
    pools = pools_of(read_sweep(sweep_dir))
    assert switch_notes(pools) == [SwitchNote("Trident 3", "s1", ("pools.shared: 32 MB x 6 Gbps / 3.2 Tbps",))]


def test_other_switches_are_told_with_their_points(tmp_path: Path) -> None:
    directory = switch_sweep(tmp_path, ("deep", "shallow"))
    for path in directory.glob("points/deep-*/plan.json"):
        path.write_text(path.read_text().replace("Trident 3", "Jericho 2"))
    found = switch_notes(pools_of(read_sweep(directory)))
    assert [(note.title, note.where) for note in found] == [("Jericho 2", "s1; deep"), ("Trident 3", "s1; shallow")]
    write_report([directory], tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text().replace("\u00a0", " ")
    assert "<summary>Jericho 2" in html and "32 MB x 6 Gbps / 3.2 Tbps</li>" in html


def test_event_table(runs: dict[str, Results]) -> None:
    table = congestion_event_table(runs["shallow"])
    rows = texts(table)
    assert rows[0] == [
        "3 ms",
        "5 ms",
        CLIENT,
        "3",
        "320 KB",
        "eth5 (h5) 33 %, eth4 (h4) 27 %, eth3 (h3) 20 %, and 2 more",
    ]
    assert (len(rows), rows[-1][1]) == (BURSTS, "to the end")
    assert congestion_event_table(runs["deep"]).row_count == 0


def test_key_figures_are_those_that_tell_something(runs: dict[str, Results]) -> None:
    shallow = {title: (text, context) for title, text, context in key_figures(runs["shallow"])}
    assert shallow["Buffer pool in use, most"] == ("320 KB", "of 640 KB, shared of s1")
    assert shallow["Packets dropped by queues"][0] == "500" and "Pause frames sent" not in shallow
    paused = {title: (text, context) for title, text, context in key_figures(runs["shallow-pfc"])}
    assert paused["Pause frames sent"] == ("900", "at 6 ports, most at s1:eth5: 300")


def test_metrics_of_ports_and_queues_are_in_the_tables_alone(runs: dict[str, Results]) -> None:
    shown = [title for title, _ in metric_rows(runs["shallow-pfc"])]
    assert "Pause frames sent" in shown and "Buffer pool in use, most (s1:shared)" in shown
    assert not any(CLIENT in title for title in shown)


def test_a_warning_names_the_points_that_have_it(tmp_path: Path) -> None:
    directory = switch_sweep(tmp_path, ("deep", "shallow"))
    for path in directory.glob("points/shallow-*/plan.json"):
        path.write_text(
            json.dumps(json.loads(path.read_text()) | {"warnings": ["s1: alpha 8 leaves nothing for others."]})
        )
    write_report([directory], tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text().replace("\u00a0", " ")
    assert "s1: alpha 8 leaves nothing for others (shallow, background off and 1 more point)." in html


def test_sweep_shows_points_side_by_side(sweep_dir: Path) -> None:
    found = titles(sweep_exhibits(read_sweep(sweep_dir)))
    expected = [
        "What the switches did",
        "Drops by cause",
        f"Queue 3 at {CLIENT} over time, side by side",
        f"How long queue 3 at {CLIENT} was",
    ]
    assert [title for title in found if title in expected] == expected


def test_sweep_shows_what_is_asked_of_each_point(tmp_path: Path) -> None:
    directory = switch_sweep(tmp_path, ("shallow", "shallow-pfc"))
    for path in directory.glob("points/*/manifest.json"):
        figures = [{"kind": "pauses"}, {"kind": "congestion-events"}, {"kind": "drops", "port": CLIENT}]
        path.write_text(json.dumps(json.loads(path.read_text()) | {"report": {"figures": figures}}))
    found = sweep_exhibits(read_sweep(directory))
    expected = [
        "Who pauses whom: shallow-pfc",
        "Pause tree: shallow-pfc",
        "Congestion events: shallow",
        "Congestion events: shallow-pfc",
        f"Drops at {CLIENT} by cause",
    ]
    assert titles(found)[:5] == expected
    assert all(not isinstance(one, Absent) and "one run of each point: seed 1" in one.caption for one in found[:3])


def test_same_run_same_pictures(runs: dict[str, Results]) -> None:
    first, second = (run_exhibits(runs["shallow-pfc"]) for _ in range(2))
    assert [exhibit.svg for exhibit in first if isinstance(exhibit, Picture)] == [
        exhibit.svg for exhibit in second if isinstance(exhibit, Picture)
    ]
