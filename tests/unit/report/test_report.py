"""The page and the terminal table: what is in them, and that they need nothing else."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from synthetic_run import QUEUE_HEADER, incast_run, incast_sweep, long_run

from fabriclab.formats.manifest import Manifest
from fabriclab.report import write_report
from fabriclab.report.chosen_points import telling_points
from fabriclab.report.drawing.curves import point_label, setting_label
from fabriclab.report.drawing.pools import pools_of, varied_settings
from fabriclab.report.drawing.setting_axis import SettingAxis, setting_title
from fabriclab.report.figures.metric import collapse_of, metric_lines, panels_of
from fabriclab.report.measured.port_facts import port_facts, receiver_port
from fabriclab.report.measured.quantities import (
    Value,
    format_metric,
    format_share,
    keep_units,
    metric_axis,
    setting_number,
)
from fabriclab.report.measured.series import read_steps
from fabriclab.report.selection import wanted_figures
from fabriclab.report.warnings import warnings_of
from fabriclab.results import ResultsError, read_run, read_sweep
from fabriclab.results.sweep import compare_runs


class Outline(HTMLParser):
    """Collects what a page loads, its headings, and its open elements."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [
            f"{tag} {value}"
            for name, value in attrs
            if name in ("src", "href", "xlink:href") and not str(value).startswith("#")
        ]
        self.loads += [tag] if tag in ("link", "iframe", "object") else []

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page(paths: list[Path], tmp_path: Path) -> tuple[str, Outline]:
    out = tmp_path / "report.html"
    write_report(paths, out)
    html = out.read_text()
    outline = Outline()
    outline.feed(html)
    return html, outline


@pytest.fixture(scope="module")
def sweep_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return incast_sweep(tmp_path_factory.mktemp("sweep"), senders=(1, 4, 8, 16))


@pytest.fixture(scope="module")
def sweep_page(sweep_dir: Path) -> tuple[str, Outline]:
    return page([sweep_dir], sweep_dir)


def test_page_of_a_sweep_needs_nothing_but_itself(sweep_page: tuple[str, Outline]) -> None:
    html, outline = sweep_page
    assert outline.loads == []
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)


def test_page_of_a_sweep_shows_all(sweep_page: tuple[str, Outline]) -> None:
    html, outline = sweep_page
    text = " ".join(" ".join(outline.text).split())
    for expected in (
        "Goodput against senders",
        "Queue over time, side by side",
        "Flow completion times",
        "Study S4 and these runs",
        "about 900 Mbps",
        "Checks",
        "All points",
        "Each point",
        "6.12.48",
        "fabriclab run labs/incast",
    ):
        assert expected in text, expected
    assert 'role="alert"' not in html
    assert html.count('class="outcome pass"') == 3
    assert html.count("<details>") == 8
    assert "<h2>Topology</h2>" in html


def test_identifiers_in_pictures_are_unique(sweep_page: tuple[str, Outline]) -> None:
    html, _ = sweep_page
    identifiers = re.findall(r'\bid="([^"]+)"', html)
    assert len(identifiers) == len(set(identifiers))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(identifiers)


def test_the_same_results_give_the_same_page(sweep_dir: Path, sweep_page: tuple[str, Outline], tmp_path: Path) -> None:
    assert page([sweep_dir], tmp_path)[0] == sweep_page[0]


def test_incomplete_points_are_named_at_the_top(tmp_path: Path) -> None:
    directory = incast_sweep(tmp_path / "sweep", senders=(1, 4, 8))
    broken = directory / "points/cubic-8-00000000"
    manifest = json.loads((broken / "manifest.json").read_text())
    (broken / "manifest.json").write_text(
        json.dumps(manifest | {"status": "crashed", "message": "the virtual machine was killed by signal 9"})
    )
    (broken / "raw/flows/client.csv").write_text("")
    shutil.rmtree(directory / "points/dctcp-4-00000000")
    html, outline = page([directory], tmp_path)
    text = " ".join(outline.text).replace("\u00a0", " ")
    assert (
        "2 of 6 points are incomplete: CUBIC, 8 senders: status crashed (the virtual machine was killed by signal 9)"
        in text
    )
    assert "DCTCP, 4 senders: status missing (not run)" in text
    assert html.index('role="alert"') < html.index("<figure>")
    assert outline.text.index("Status") < outline.text.index("Goodput", outline.text.index("Status"))


def test_points_with_one_reason_are_counted_together(tmp_path: Path) -> None:
    directory = incast_sweep(tmp_path / "sweep", senders=(1, 4, 8))
    for point in (directory / "points").glob("dctcp-*"):
        shutil.rmtree(point)
    (warning,) = warnings_of(read_sweep(directory).points)
    assert warning == "3 of 6 points are incomplete: DCTCP, 1 sender and 2 more points: status missing (not run)."


def test_a_figure_of_some_traffic_says_so(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 4)
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["report"] = {"figures": [{"kind": "fct-cdf", "traffic": ["sru"]}]}
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert "Flow completion times: sru" in page([run], tmp_path)[1].text


def test_a_handshake_that_was_lost_is_told(tmp_path: Path) -> None:
    directory = incast_sweep(tmp_path, senders=(4, 8))
    assert not any("connection" in warning for warning in warnings_of(read_sweep(directory).points))
    file = next(directory.glob("points/*/summary.json"))
    summary = json.loads(file.read_text())
    summary["metrics"]["flows_with_setup_timeouts"] = 3
    file.write_text(json.dumps(summary))
    (warning,) = (text for text in warnings_of(read_sweep(directory).points) if "connection" in text)
    assert warning == (
        "3 flows waited a second or more for a connection, in 1 of 4 runs: the first SYN or SYN-ACK was lost, and "
        "TCP retransmits it only after a second (flows_with_setup_timeouts)."
    )


def test_many_warnings_are_folded_away(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 1, rounds=1)
    file = run / "plan.json"
    file.write_text(
        json.dumps(json.loads(file.read_text()) | {"warnings": [f"warning {number}" for number in range(8)]})
    )
    html, _ = page([run], tmp_path)
    assert html.count('role="alert"') == 1 and "<summary>5 more</summary>" in html
    assert all(f"warning {number}." in html for number in range(8))


def test_page_of_a_run(tmp_path: Path) -> None:
    _, outline = page([long_run(tmp_path / "run", "dctcp")], tmp_path)
    text = " ".join(outline.text).replace("\u00a0", " ")
    for expected in (
        "Queue at s1:eth3 over time",
        "Throughput of long flows",
        "Congestion window over time",
        "K = 30 KB",
        "near 30 KB",
    ):
        assert expected in text, expected


def test_a_caption_tells_of_the_still_picture_alone_only_below_it(tmp_path: Path) -> None:
    """A chart that one can zoom has no second panel."""
    html, _ = page([long_run(tmp_path / "run", "dctcp")], tmp_path)
    assert re.search(r'<span class="of-still"> The lower panel shows [^<]+\.</span></figcaption>', html)
    assert ".interactive .has-chart .of-still { display: none; }" in html


def test_runs_are_compared(tmp_path: Path) -> None:
    html, _ = page([long_run(tmp_path / "a", "cubic"), long_run(tmp_path / "b", "dctcp")], tmp_path)
    assert "comparison" in html
    assert "Goodput, DCTCP: 941\u00a0Mbps, to be above 932\u00a0Mbps and below 951\u00a0Mbps" in html


def test_runs_without_a_variant_are_told_apart_by_congestion_control(tmp_path: Path) -> None:
    runs = []
    for algorithm in ("cubic", "dctcp"):
        run = long_run(tmp_path / algorithm, algorithm)
        plan = json.loads((run / "plan.json").read_text())
        del plan["parameters"]["variant"]
        (run / "plan.json").write_text(json.dumps(plan | {"settings": {}}))
        runs.append(read_run(run))
    assert [point_label(point, ("congestion_control",)) for point in compare_runs(runs).points] == ["CUBIC", "DCTCP"]


def test_page_of_a_run_that_died_at_once(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 2, status="crashed")
    shutil.rmtree(run / "raw")
    html, _ = page([run], tmp_path)
    assert "This run is incomplete: status crashed" in html


def test_an_empty_queue_is_said_and_drawn(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 1)
    (run / "raw/queues.csv").write_text(QUEUE_HEADER + "0,s1:eth2,0,0,0,0,0,0,0\n20000000,s1:eth2,0,0,0,0,9,9,0\n")
    html, _ = page([run], tmp_path)
    assert "no sample found a waiting packet" in html
    assert "buffer 64 KB" in html


def test_text_from_a_lab_is_escaped(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 2)
    plan = json.loads((run / "plan.json").read_text())
    (run / "plan.json").write_text(json.dumps(plan | {"title": "<script>alert(1)</script>"}))
    assert "<script>" not in page([run], tmp_path)[0]


def test_nothing_to_report_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="no run"):
        write_report([], tmp_path / "report.html")
    with pytest.raises(ResultsError, match="missing"):
        write_report([tmp_path], tmp_path / "report.html")


def test_figure_of_unknown_kind_is_an_error() -> None:
    with pytest.raises(ResultsError, match="kind: 'pie'; write one of metric"):
        wanted_figures(Manifest(report={"figures": [{"kind": "pie"}]}), ())


def test_telling_points_are_those_around_the_collapse_and_their_like(sweep_dir: Path) -> None:
    sweep = read_sweep(sweep_dir)
    chosen = [
        tuple(pool.pool.settings.values()) for pool in telling_points(pools_of(sweep), varied_settings(sweep)).pools
    ]
    assert chosen == [("cubic", 4), ("cubic", 8), ("dctcp", 4), ("dctcp", 8)]


def test_collapse_is_the_first_point_below_half_of_the_best(sweep_dir: Path) -> None:
    pools = pools_of(read_sweep(sweep_dir))
    cubic, dctcp = metric_lines(pools, "goodput_bps", SettingAxis.of("senders", pools), ["variant", "buffer"])
    fall = collapse_of(cubic)
    assert fall is not None
    assert [pool.parameters["senders"] for pool in fall] == [4, 8]
    assert collapse_of(dctcp) is None
    assert (cubic.label, dctcp.label) == ("CUBIC", "DCTCP")
    assert cubic.color != dctcp.color


def test_what_varies_and_is_no_series_of_the_figure_sets_lines_apart(tmp_path: Path) -> None:
    directory = incast_sweep(tmp_path / "sweep", senders=(1, 4))
    for run in directory.glob("points/*"):
        manifest = json.loads((run / "manifest.json").read_text())
        manifest["report"] = {
            "figures": [{"kind": "metric", "metric": "goodput_bps", "x": "senders", "series": ["buffer"]}]
        }
        (run / "manifest.json").write_text(json.dumps(manifest))
    html, outline = page([directory], tmp_path)
    captions = [text for text in outline.text if "highest" in text]
    assert any("CUBIC: highest" in caption and "DCTCP: highest" in caption for caption in captions), html[:200]


def test_envelope_keeps_extremes_and_the_mean_over_time() -> None:
    rows = pl.LazyFrame({"time_ns": np.arange(10_000), "bytes": np.where(np.arange(10_000) % 100 == 7, 1000, 10)})
    steps = read_steps(rows, "bytes", 0, 10_000, most=100)
    assert steps.is_envelope
    assert (steps.low.min(), steps.high.max()) == (10, 1000)
    assert len(steps.mean) == 50
    assert steps.mean.mean() == pytest.approx((99 * 10 + 1000) / 100)


def test_steps_begin_with_the_value_that_holds() -> None:
    rows = pl.LazyFrame({"time_ns": [0, 50], "bytes": [5, 9]})
    steps = read_steps(rows, "bytes", 20, 100)
    assert (list(steps.time_ns), list(steps.mean)) == ([20, 50], [5, 9])


def test_a_bin_without_rows_shows_the_value_that_holds() -> None:
    rows = pl.LazyFrame({"time_ns": [0, 1, 2, 3, 4, 1000], "bytes": [1, 2, 3, 1, 4, 0]})
    steps = read_steps(rows, "bytes", 0, 1000, most=4)
    assert (list(steps.low), list(steps.high)) == ([1, 4], [4, 4])


def test_goodput_limit_counts_headers_and_framing(tmp_path: Path) -> None:
    results = read_run(incast_run(tmp_path / "run", 2))
    port = receiver_port(results)
    assert port is not None
    assert port.name == "s1:eth3"
    assert port.goodput_limit_bps == pytest.approx(1e9 * 1448 / 1538)
    assert port_facts(results) == port


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("goodput_bps", 147_312_000.0, "147.3 Mbps"),
        ("queue_max_bytes[s1:eth3]", 63_588, "63.59 KB"),
        ("srtt_mean_us", 342.2, "342.2 us"),
        ("fct_p99_ns", 218_200_000, "218.2 ms"),
        ("timeouts", 1234, "1,234"),
        ("jain_fairness", 0.99999, "1"),
        ("drops", None, "–"),
    ],
)
def test_metrics_have_people_s_units(metric: str, value: float | None, text: str) -> None:
    assert format_metric(metric, value) == text


def test_settings_are_words() -> None:
    settings: dict[str, Value] = {
        "senders": 16,
        "buffer": "64 KB",
        "hosts.default.window_limit": 2,
        "load": "40 %",
        "variant": "dctcp",
        "background": "none",
    }
    assert [setting_label(name, value) for name, value in settings.items()] == [
        *("16 senders", "64 KB buffer", "window limit 2", "40 % load", "DCTCP", "background none")
    ]
    assert setting_label("senders", "1") == "1 sender"
    assert [setting_label("frr", value) for value in ("10.3", "10.5.1")] == ["FRR 10.3", "FRR 10.5.1"]
    assert [setting_label("delayed_ack", value) for value in (True, "False")] == ["delayed ACK on", "delayed ACK off"]
    assert (setting_label("rto_min", "1 ms"), setting_title("hosts.default.rto_min")) == ("1 ms RTO min", "RTO min")


def test_panels_share_one_legend(sweep_dir: Path) -> None:
    pools = pools_of(read_sweep(sweep_dir))
    (line, *_) = metric_lines(pools, "goodput_bps", SettingAxis.of("senders", pools), ["variant"])
    names = [
        f"{rto_min} RTO min, delayed ACK {ack}" for rto_min in ("200 ms", "40 ms", "1 ms") for ack in ("on", "off")
    ]
    lines = [replace(line, label=name, color=f"#{index}", marker=str(index)) for index, name in enumerate(names)]
    panels = panels_of(lines)
    assert list(panels) == ["delayed ACK on", "delayed ACK off"]
    assert [[(each.color, each.marker) for each in members] for members in panels.values()] == [
        [("#0", "0"), ("#2", "2"), ("#4", "4")]
    ] * 2


def test_axes_and_settings_are_numbers() -> None:
    assert (metric_axis("goodput_bps", [9e8]).unit, metric_axis("srtt_mean_us", [4800.0]).scale) == ("Mbps", 1000)
    assert [setting_number(value) for value in ("64 KB", 16, "10 Gbps", "1 ms", "cubic", True)] == [
        64_000,
        16,
        1e10,
        1e6,
        None,
        None,
    ]
    assert [setting_number(value) for value in ("1/8", "0.5", "40 %", "1/0", "none")] == [0.125, 0.5, 40, None, None]
    assert [format_share(share) for share in (0.0, 0.05, 0.193, 0.995, 0.99999)] == [
        "0 %",
        "5.0 %",
        "19 %",
        "99.5 %",
        "100 %",
    ]
    assert keep_units("at least ≥ 7") == "at least ≥\u00a07"
    assert keep_units("2 of 4 flows, 5 ms, 99 % of 64 KB") == "2 of 4 flows, 5\u00a0ms, 99\u00a0% of 64\u00a0KB"


def test_a_study_of_other_settings_is_not_compared(tmp_path: Path) -> None:
    run = long_run(tmp_path / "run")
    plan = json.loads((run / "plan.json").read_text())
    plan["parameters"]["rate"], plan["study"] = "10 Gbps", "S2"
    (run / "plan.json").write_text(json.dumps(plan))
    html, _ = page([run], tmp_path)
    assert "None of these runs has the study&#39;s settings" in html
    assert "hundreds of KB</td>" not in html
