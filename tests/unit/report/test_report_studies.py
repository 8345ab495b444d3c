"""Claims of studies beside a report's runs: which points have a claim's numbers, and what a report shows of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from completion_runs import mixed_sweep
from switch_runs import VARIANTS, switch_sweep
from synthetic_run import incast_run, long_run, write_sweep

from fabriclab.report import write_report
from fabriclab.report.drawing.pools import PooledRuns, pool_of_run, pools_of
from fabriclab.report.drawing.studies import BesideStudy, bands_of, beside_studies, studies_of
from fabriclab.results import read_run, read_sweep


def beside(pools: list[PooledRuns], lab: str, study: str) -> BesideStudy:
    (found,) = (one for one in beside_studies(studies_of(lab), pools, lab) if one.study.study == study)
    return found


def changed(run: Path, **plan: Any) -> Path:
    """Change what a run's plan says."""
    text = json.loads((run / "plan.json").read_text())
    (run / "plan.json").write_text(json.dumps(text | plan))
    return run


def dx_sweep(directory: Path, **settings: Any) -> Path:
    """A sweep of the lab dx with DX's queue for what is DCTCP's in the simple model, and CUBIC's for DCTCP's."""
    points = []
    for variant, model in (("dx", "dctcp"), ("dctcp", "cubic")):
        run, own = f"points/{variant}", {"variant": variant, **settings}
        known = {"senders": "h1..h2", "rate": "1 Gbps", "delay": "25 us", "error": "0 ns", "jitter": "50 us", **own}
        changed(long_run(directory / run, model), lab="dx", study="S3", settings=own, parameters=known)
        points.append({"settings": own, "seed": 1, "run": run, "status": "complete"})
    return write_sweep(directory, "dx", "demo", "DX", points)


@pytest.mark.parametrize(
    ("study", "lab"),
    [("S3", "dx"), ("S3", "dx-fat-tree"), ("S2", "hull"), ("S2", "qcn"), ("S2", "incast"), ("S0", "hadoop")],
)
def test_a_lab_has_the_studies_whose_claims_have_its_numbers(study: str, lab: str) -> None:
    assert study in [each.study for each in studies_of(lab)]
    assert studies_of("l4s") == []


def test_a_report_of_dx_has_the_study_with_its_bounds(tmp_path: Path) -> None:
    write_report([dx_sweep(tmp_path / "sweep")], tmp_path / "report.html")
    html = " ".join((tmp_path / "report.html").read_text().replace("\u00a0", " ").split())
    assert "Study S3 and these runs" in html and "KAIST, dissertation, 2015" in html
    assert "At 1 Gbps the queueing delay is 5.33 times smaller than DCTCP&#39;s." in html
    assert "Queue, mean over time, DCTCP: 592.6 KB, to be above 133.2 KB and below 221.8 KB" in html
    assert "At 10 Gbps the queueing delay" not in html and "more claims are about other points" in html


def test_points_with_other_settings_are_not_those_of_a_claim(tmp_path: Path) -> None:
    sweep = read_sweep(dx_sweep(tmp_path, rate="10 Gbps"))
    found = beside(pools_of(sweep), "dx", "S3")
    claims = {one.claim.claim: one for one in found.claims}
    assert "At 1 Gbps the queueing delay is 5.33 times smaller than DCTCP's." not in claims
    # DCTCP has another threshold at 10 Gbps, so only the half of the claim that is DX's goodput is measured.
    assert claims["DX uses the whole link."].numbers == (
        "Goodput, DX: 941 Mbps, to be above 9,227 Mbps",
        "1 more from points that are not here",
    )


def test_the_greatest_of_some_points_may_be_exceeded_by_others(tmp_path: Path) -> None:
    claims = {one.claim.claim: one for one in beside(pools_of(read_sweep(dx_sweep(tmp_path))), "dx", "S3").claims}
    short = claims["DX needs no parameter that depends on the path."]
    assert short.numbers == (
        "Queue, mean over time, DX, greatest: at least 33.3 KB, to be below 7.5 KB",
        "Goodput, DX, least: at most 941 Mbps, to be above 894 Mbps",
    )
    assert short.verdict == "disagrees"


def test_settings_that_a_lab_does_not_vary_are_named(tmp_path: Path) -> None:
    sweep = read_sweep(dx_sweep(tmp_path, **{"traffic.long.stop": "300 ms"}))
    found = beside(pools_of(sweep), "dx", "S3")
    assert (
        found.claims
        and "The bounds were chosen for runs without these settings: traffic.long.stop 300 ms." in found.notes
    )


def test_a_default_that_is_set_is_the_same_point(tmp_path: Path) -> None:
    plain, written = (
        beside(pools_of(read_sweep(dx_sweep(tmp_path / name, **own))), "dx", "S3")
        for name, own in (("plain", {}), ("written", {"rate": "1 Gbps"}))
    )
    assert plain.claims == written.claims and plain.notes == written.notes


def test_runs_of_another_lab_have_no_numbers(tmp_path: Path) -> None:
    directory = mixed_sweep(tmp_path, seeds=2, flows=20, axis="variant", classes=("short",), study="S1")
    sweep = read_sweep(directory)
    (found,) = beside_studies(studies_of(sweep.lab, "S1"), pools_of(sweep), sweep.lab, "S1")
    assert (found.claims, found.tables) == ((), ())
    assert found.notes == ("None of these runs has the study's settings, so no numbers stand side by side.",)
    assert beside_studies(studies_of(sweep.lab, "S1"), pools_of(sweep), sweep.lab) == []


def test_numbers_without_bounds_have_no_verdict(tmp_path: Path) -> None:
    directory = mixed_sweep(tmp_path, seeds=4, flows=60, axis="variant", classes=("short",), study="S1")
    found = beside(pools_of(read_sweep(directory)), "mptcp-short-flows", "S1")
    (early,) = (one for one in found.claims if "just after the connection is set up" in one.claim.claim)
    assert early.verdict is None
    title = "Flows whose connection waited for a timeout (short)"
    assert early.numbers == (f"{title}, tcp: 0", "1 more from points that are not here")


def test_a_study_s_figures_stand_beside_ours_with_their_changes(tmp_path: Path) -> None:
    found = beside(pools_of(read_sweep(switch_sweep(tmp_path, tuple(VARIANTS)))), "buffers", "S0")
    (table,) = found.tables
    assert table.title == "Job completion times, nothing else running"
    assert table.head == ("", "MapReduce, 10 GB", "MapReduce, 200 GB", "Tez, 10 GB", "Tez, 200 GB", "here")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["deep"] == ("46.1 s", "148.4 s", "39.4 s", "104.9 s", "0.2 s")
    assert rows["shallow"] == ("45.4 s (-1.5 %)", "148.4 s", "42.9 s (+8.9 %)", "106.3 s (+1.3 %)", "0.2 s (-1.5 %)")
    assert rows["all-ecn-htcp"][-1] == ""


def test_the_queues_are_compared_under_load(tmp_path: Path) -> None:
    directory = switch_sweep(tmp_path, ("shallow", "shallow-pfc"))
    for path in [directory / "sweep.json", *directory.glob("points/*/plan.json")]:
        path.write_text(path.read_text().replace('"background": false', '"background": true'))
    found = {one.claim.claim: one for one in beside(pools_of(read_sweep(directory)), "buffers", "S0").claims}
    drops = found["Shallow buffers without ECN drop packets nearly always under load."]
    said = "Packets dropped by queues, shallow, background on: 500, to be above 1,000"
    assert (drops.numbers, drops.verdict) == ((said,), "disagrees")
    pauses = found["With PFC only the pause frames are many."]
    assert pauses.numbers == ("Pause frames sent, shallow-pfc, background on: 900, to be above 10,000",)


def test_a_band_is_for_runs_of_its_settings(tmp_path: Path) -> None:
    run = read_run(incast_run(tmp_path / "run", 16))
    studies = studies_of("incast")
    (band,) = bands_of(studies, "goodput_bps", "senders", [pool_of_run(run)])  # its rate is not a parameter
    assert (band.low, band.high, band.label) == (100e6, 200e6, "S4: 100 to 200 Mbps")
    assert band.note.startswith("Grey: 100 to 200 Mbps, which study S4 (In-cast collapse) found with its own set-up")
    assert bands_of(studies, "timeouts", "senders", [pool_of_run(run)]) == []
    for rate, concerned in (("1 Gbps", True), ("1000 Mbps", True), ("10 Gbps", False)):
        run.plan.parameters["rate"] = rate
        assert bool(bands_of(studies, "goodput_bps", "senders", [pool_of_run(run)])) is concerned
