"""The document that the page's script draws: the numbers of the data, packed, and the same as a table."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chart_documents import document, unpacked
from synthetic_run import incast_run, incast_sweep

from fabriclab.report import write_report
from fabriclab.report.assets import CHARTS
from fabriclab.report.drawing.charts import (
    MOST_ROWS,
    Chart,
    ChartAxis,
    ChartMark,
    ChartPanel,
    ChartSeries,
    json_text,
    packed,
)
from fabriclab.results import read_sweep


def chart_of(html: str, title: str) -> dict[str, Any]:
    """The chart below the heading."""
    found = re.search(rf'<h2>{title}</h2>\s*<div class="chart" data-chart="(\d+)"', html)
    assert found is not None, title
    return dict(document(html)["charts"][int(found[1])])


@pytest.mark.parametrize("count", [0, 1, 7, 8, 100])
def test_numbers_survive_packing(count: int) -> None:
    values = np.linspace(0, 12.5, count)
    assert unpacked(packed(values)) == pytest.approx(list(values))


def test_what_is_no_number_is_null_or_a_nan() -> None:
    assert packed([1.0, None, float("nan")]) == [1.0, None, None]
    assert np.isnan([value or 0.0 for value in unpacked(packed([None] * 9))]).all()


def test_json_can_stand_in_a_script_element() -> None:
    assert "</" not in json_text({"name": "</script><script>alert(1)"})


def test_a_table_has_every_number_and_says_what_it_leaves_out() -> None:
    x = list(range(3))
    axis, y = ChartAxis("Size", "", "category", names=("small", "middle", "large")), ChartAxis("Time", "ms")
    short = ChartSeries("one", "#0072b2", x, [1.0, None, 123456.7], low=[0, None, 2], high=[2, None, 4], bars=True)
    table = Chart((ChartPanel(axis, y, (short,), "panel"),)).table
    assert table.headings == ["Panel", "Series", "Size", "Time (ms)", "Low", "High"]
    assert table.rows[0] == ["panel", "one", "small", "1", "0", "2"]
    assert table.rows[1] == ["panel", "one", "middle", "–", "–", "–"]
    assert table.rows[2][3] == "123,457"
    assert (table.texts, table.note) == (2, "")
    long = ChartSeries("all", "#0072b2", range(1000), range(1000))
    reduced = Chart((ChartPanel(ChartAxis("x"), ChartAxis("y"), (long,)),), source="the file").table
    assert len(reduced.rows) <= MOST_ROWS
    assert "the file has all of them" in reduced.note


def test_a_document_leaves_out_what_goes_without_saying() -> None:
    panel = ChartPanel(
        ChartAxis("x", low=0.0),
        ChartAxis("y"),
        (ChartSeries("a", "#0072b2", [0], [0], dash=(0, (5, 2))),),
        levels=(ChartMark("limit", 0.0),),
        events=(ChartMark("storm", 1.0, 2.0),),
    )
    found = Chart((panel,), linked=True).document()
    assert found["linked"] is True
    [only] = found["panels"]
    assert only["x"] == {"title": "x", "scale": "linear", "min": 0.0}
    assert only["levels"] == [{"name": "limit", "at": 0.0}]
    assert only["events"] == [{"name": "storm", "at": 1.0, "until": 2.0}]
    [series] = only["series"]
    assert series["dash"] == [5, 2]
    assert series["y"] == [0.0]


def test_charts_have_the_numbers_of_the_results(tmp_path: Path) -> None:
    directory = incast_sweep(tmp_path / "sweep", senders=(1, 4, 8))
    write_report([directory], tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text()
    sweep = read_sweep(directory)
    drawn = {
        (series["name"], place): value
        for panel in chart_of(html, "Goodput against senders")["panels"]
        for series in panel["series"]
        if not series["name"].startswith("S4")
        for place, value in zip(unpacked(series["x"]), unpacked(series["y"]), strict=True)
    }
    measured = {
        (run.congestion_control.upper(), float(str(run.parameters["senders"]))): float(run.summary["goodput_bps"] or 0)
        / 1e6
        for run in sweep.runs
    }
    assert drawn == pytest.approx(measured, rel=1e-6)
    for value in measured.values():
        assert f'<td class="number">{value:.5g}</td>' in html


def test_without_the_script_the_page_is_still_and_says_what_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = incast_run(tmp_path / "run", 2)
    monkeypatch.setenv(CHARTS.variable, str(tmp_path / "nothing"))
    write_report([run], tmp_path / "report.html")
    html = unescape((tmp_path / "report.html").read_text())
    assert "pictures and do not move: what moves a report's charts is not built: make page" in " ".join(html.split())
    assert '<script type="module">' not in html
    (tmp_path / "made").mkdir()
    (tmp_path / "made/charts.js").write_text('console.log("</script>")')
    monkeypatch.setenv(CHARTS.variable, str(tmp_path / "made"))
    write_report([run], tmp_path / "report.html")
    assert 'console.log("<\\/script>")' in (tmp_path / "report.html").read_text()


def test_a_bundle_is_known_by_what_it_is_made_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(CHARTS.variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert CHARTS.made() == tmp_path / "fabriclab" / "charts" / CHARTS.key()
