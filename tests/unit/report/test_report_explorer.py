"""What a report's reader explores: the flows, queues, TCP samples and links of the points, as the document has them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from chart_documents import document, unpacked
from synthetic_run import incast_run, incast_sweep, long_run

from fabriclab.report import write_report
from fabriclab.report.coflow_chart import coflow_picture
from fabriclab.report.drawing.curves import shown_interval
from fabriclab.report.drawing.pools import pool_of_run
from fabriclab.report.explored_flows import explored_flows
from fabriclab.report.explorer import MOST_POINTS, explorer_of
from fabriclab.report.link_use import link_use, topology_of
from fabriclab.report.measured.quantities import axis_for
from fabriclab.results import Results, ingest_run, read_run


def results_of(run: Path) -> Results:
    ingest_run(run)
    return read_run(run)


def explorer(directory: Path, place: Path) -> dict[str, Any]:
    write_report([directory], place / "report.html")
    return dict(document((place / "report.html").read_text())["explorer"])


def test_every_point_of_a_sweep_is_there_with_its_settings(tmp_path: Path) -> None:
    found = explorer(incast_sweep(tmp_path / "sweep", senders=(1, 8, 16)), tmp_path)
    assert [setting["title"] for setting in found["settings"]] == ["variant", "senders"]
    assert [setting["values"] for setting in found["settings"]] == [["CUBIC", "DCTCP"], ["1", "8", "16"]]
    assert [point["choice"] for point in found["points"]] == [[v, s] for v in (0, 1) for s in (0, 1, 2)]
    assert any(point["start"] for point in found["points"])
    assert [point["flows"]["total"] for point in found["points"]] == [8, 64, 128] * 2


def test_flows_have_the_times_of_the_results(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 3)
    found = explorer(run, tmp_path)
    assert found["settings"] == []
    flows, measured = found["points"][0]["flows"], results_of(run).flows.collect().sort("start_ns")
    assert unpacked(flows["fct"]) == pytest.approx([value / 1e6 for value in measured["fct_ns"]], rel=1e-6)
    assert [flows["src"]["names"][int(place or 0)] for place in unpacked(flows["src"]["of"])] == list(measured["src"])
    assert "counts" not in flows


def test_of_many_flows_a_page_has_shares_the_slowest_and_exact_counts(tmp_path: Path) -> None:
    run = results_of(incast_run(tmp_path / "run", 40, rounds=50))
    time, total = axis_for("ns", [10**9]), 2000
    found = explored_flows(run, time, 0, 250)
    kept = unpacked(found["flow"])
    assert (found["total"], found["incomplete"]) == (total, 0)
    assert 250 <= len(kept) < total
    assert np.nansum(np.array(unpacked(found["sample"]), dtype=float)) == 250
    slowest = run.flows.collect()["fct_ns"].cast(pl.Float64).to_numpy().max()
    assert np.array(unpacked(found["fct"]), dtype=float).max() == pytest.approx(slowest / 1e6)
    begun, ended = (unpacked(found["counts"][name]) for name in ("begun", "ended"))
    assert (begun[-1], ended[0]) == (total, 0)
    table = run.flows.collect()
    edge = float(unpacked(found["counts"]["x"])[200] or 0) * time.scale
    assert begun[200] == pytest.approx(table.filter(pl.col("start_ns") <= edge + 1e3).height, abs=40)


def test_queue_and_tcp_samples_are_those_of_the_run(tmp_path: Path) -> None:
    found = explorer(long_run(tmp_path / "run", "dctcp"), tmp_path)
    (point,) = found["points"]
    assert found["queue"] == "Queue at s1:eth3"
    assert [mark["name"] for mark in point["queue"]["levels"]] == ["K = 30 KB"]
    x, y = (np.array(unpacked(point["queue"][name]), dtype=float) for name in ("x", "y"))
    assert (np.diff(x) >= 0).all()
    assert 30 < y[len(y) // 2] < 40
    assert [each["name"] for each in point["tcp"]] == ["h1, flow 0", "h2, flow 1"]
    assert {len(unpacked(each["cwnd"]["x"])) for each in point["tcp"]} <= set(range(1, 400))


def test_of_very_many_points_the_first_are_in_the_page_and_it_says_so(tmp_path: Path) -> None:
    pool = pool_of_run(results_of(incast_run(tmp_path / "run", 1, rounds=1)))
    found = explorer_of([pool] * (MOST_POINTS + 1), ())
    assert found is not None
    assert len(found["points"]) == MOST_POINTS
    assert found["note"].startswith(f"The first {MOST_POINTS} of {MOST_POINTS + 1} points are here.")
    assert explorer_of([], ()) is None


def test_rounds_are_bars_from_their_start_to_their_last_byte(tmp_path: Path) -> None:
    run = results_of(incast_run(tmp_path / "run", 4, rounds=6))
    picture = coflow_picture(pool_of_run(run).curve)
    assert picture is not None and picture.chart is not None
    assert picture.caption.startswith("6 of 6 coflows completed, half of them within ")
    table = picture.chart.table
    assert [row[0] for row in table.rows] == [f"r{number}" for number in range(6)]
    assert {row[2] for row in table.rows} == {"4 of 4"}
    (bars,) = picture.chart.panels[0].bars
    assert list(bars.places) == [1, 2, 3, 4, 5, 6]
    assert (np.array(bars.end) > np.array(bars.begin)).all()
    assert coflow_picture(pool_of_run(results_of(long_run(tmp_path / "long"))).curve) is None


def test_the_use_of_a_link_is_what_left_its_port(tmp_path: Path) -> None:
    run = results_of(long_run(tmp_path / "run"))
    (port,) = link_use(run)
    begin, end = shown_interval(run)
    assert run.measured.queues is not None
    sent = run.measured.queues.select(pl.col("sent_bytes").max() - pl.col("sent_bytes").min()).collect().item()
    assert port == "s1:eth3"
    assert link_use(run)[port] == pytest.approx(8 * sent / (end - begin), rel=0.02)
    topology = topology_of(run, "CUBIC")
    assert topology is not None and topology.table is not None
    assert topology.caption.startswith("CUBIC: the busiest link is s1:eth3 to h3:eth1: it used ")
    assert "2 of 3 links, which are grey, were not sampled" in topology.caption
    assert re.search(r"80 to 100 % used", topology.svg)
    assert json.dumps(topology.table.rows)


def test_there_is_nothing_to_explore_where_no_flows_are_known(tmp_path: Path) -> None:
    results = results_of(incast_run(tmp_path / "run", 1, rounds=1))
    assert explorer_of([pool_of_run(results)], ()) is not None
    without = replace(results, summary={**results.summary, "flows": 0})
    assert explorer_of([pool_of_run(without)], ()) is None
