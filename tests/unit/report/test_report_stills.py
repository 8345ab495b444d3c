"""Figures as still pictures: ticks, where lines and areas go, what stands beside panels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from synthetic_run import incast_sweep

from fabriclab.report import write_pictures
from fabriclab.report.drawing.charts import (
    Chart,
    ChartAxis,
    ChartBars,
    ChartMark,
    ChartPanel,
    ChartSeries,
    ChartText,
)
from fabriclab.report.drawing.paths import area_path, line_path
from fabriclab.report.drawing.stills import WIDTH, still
from fabriclab.report.drawing.svg_text import LINE, text_width
from fabriclab.report.drawing.ticks import linear_ticks, log_ticks, tick_texts

NAN = float("nan")
X, Y = ChartAxis("Time", "s", low=0, high=10), ChartAxis("Queue", "KB", low=0, high=100)


def line(name: str, y: Sequence[float] = (0, 50, 100), **more: Any) -> ChartSeries:
    return ChartSeries(name, "#0072b2", [0, 5, 10][: len(y)], y, **more)


def texts(svg: str) -> list[str]:
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [" ".join("".join(each.itertext()).split()) for each in found]


@pytest.mark.parametrize(
    ("low", "high", "most", "whole", "expected"),
    [
        (0, 10, 5, False, ["0", "2", "4", "6", "8", "10"]),
        (0, 1, 4, False, ["0.00", "0.25", "0.50", "0.75", "1.00"]),
        (0, 3, 9, True, ["0", "1", "2", "3"]),
        (0, 2.5e6, 5, True, ["0", "500,000", "1,000,000", "1,500,000", "2,000,000", "2,500,000"]),
        (-0.1, 0.1, 4, False, ["-0.10", "-0.05", "0.00", "0.05", "0.10"]),
        (1.067, 1.113, 5, False, ["1.07", "1.08", "1.09", "1.10", "1.11"]),
    ],
)
def test_ticks_are_round_and_have_as_many_decimals(
    low: float, high: float, most: int, whole: bool, expected: list[str]
) -> None:
    assert tick_texts(linear_ticks(low, high, most, whole=whole)) == expected


def test_ticks_of_a_logarithmic_axis_are_fewer_where_it_has_many_decades() -> None:
    assert log_ticks(0.9, 60)[0] == [1, 2, 5, 10, 20, 50]
    assert log_ticks(1, 1e4)[0] == [1, 10, 100, 1000, 10_000]
    assert log_ticks(1e-9, 1e9)[0] == pytest.approx([10.0**power for power in range(-9, 10, 3)])


def test_a_step_holds_until_the_next_and_a_gap_interrupts_it() -> None:
    x = np.array([0.0, 1, 2, 3, 4, 5])
    assert line_path(x, np.array([1.0, 1, 2, NAN, 3, 3]), steps=True) == "M0 1H2V2M4 3H5"
    assert line_path(x, np.array([1.0, 1, 1, 2, 3, 3]), steps=False) == "M0 1L2 1L3 2L4 3L5 3"
    assert line_path(x, np.full(6, NAN), steps=True) == ""


def test_an_area_goes_along_both_of_its_lines() -> None:
    x, low, high = np.array([0.0, 1, 2]), np.zeros(3), np.array([2.0, 3, 3])
    assert area_path(x, low, high, steps=True) == "M0 2L1 2L1 3L2 3L2 0L0 0z"
    assert area_path(x, low, high, steps=False) == "M0 2L1 3L2 3L2 0L0 0z"


def test_lines_are_where_their_values_are_on_both_kinds_of_axis() -> None:
    """One series: its path's corners are a linear function of the values, or of their logarithms."""
    for scale, place in (("linear", np.asarray), ("log", np.log10)):
        axis = ChartAxis("Slowdown", scale=scale, low=1, high=1000)  # type: ignore[arg-type]
        values = [1.0, 10.0, 500.0]
        svg = still(Chart((ChartPanel(X, axis, (line("one", values),)),)), "")
        found = re.search(r'<path d="M([^"]+)" fill="none" stroke-width="1.6"', svg)
        assert found is not None
        corners = np.array([[float(each) for each in pair.split()] for pair in found[1].split("L")])
        for pixels, measured in ((corners[:, 0], np.array([0.0, 5, 10])), (corners[:, 1], place(values))):
            slope, begin = np.polyfit(measured, pixels, 1)
            assert begin + slope * measured == pytest.approx(pixels, abs=0.02)


def test_a_picture_is_well_formed_and_within_its_width() -> None:
    names = tuple(f"leaf{index}:eth1 stops spine{index}:eth2, queue 3" for index in range(3))
    rows = ChartAxis("", scale="category", names=names, low=-0.6, high=2.4, downward=True)
    bars = ChartBars("map & <reduce>", "#00865f", [0, 1, 2], [0, 1, 2], [5, 6, 10], is_hatched=True)
    beside = tuple(ChartText(f"{index} ms (10 %)", None, index) for index in range(3))
    panels = (
        ChartPanel(X, rows, bars=(bars,), texts=beside),
        ChartPanel(X, Y, (line("in use"), line("limit")), levels=(ChartMark("buffer 64 KB", 64),)),
    )
    svg = still(Chart(panels, has_own_legends=True), 'a "caption" <&>')
    assert set(names) < set(texts(svg)) and "map & <reduce>" not in texts(svg), "one name needs no legend"
    assert {"in use", "limit", "buffer 64 KB", "2 ms (10 %)", "Queue (KB)", "Time (s)"} < set(texts(svg))
    assert ElementTree.fromstring(svg).attrib["aria-label"] == 'a "caption" <&>'
    places = [float(each) for each in re.findall(r'<text x="([\d.]+)"', svg)]
    assert all(0 <= place <= WIDTH for place in places)
    assert svg == still(Chart(panels, has_own_legends=True), 'a "caption" <&>')
    assert 'id="' not in svg


def test_an_axis_that_panels_share_is_named_once() -> None:
    panel = ChartPanel(X, Y, (line("one"),))
    below = texts(still(Chart((panel, panel)), ""))
    assert (below.count("Time (s)"), below.count("Queue (KB)")) == (1, 2)
    beside = texts(still(Chart((panel, panel), columns=2), ""))
    assert (beside.count("Time (s)"), beside.count("Queue (KB)"), beside.count("40")) == (2, 1, 1)


def test_a_chart_in_the_page_has_the_legends_of_the_still_picture() -> None:
    panels = (ChartPanel(X, Y, (line("one"), line("two"))),) * 2
    whole = Chart(panels).document()
    own, none = Chart(panels, has_own_legends=True).document(), Chart(panels, has_legend=False).document()
    assert "legend" not in whole
    assert (own["legend"], none["legend"]) == ("own", "none")


def test_levels_without_room_for_their_names_share_one() -> None:
    levels = tuple(ChartMark(name, at) for name, at in (("K = 30 KB", 30), ("buffer 35 KB", 35), ("pool 90 KB", 90)))
    found = texts(still(Chart((ChartPanel(X, Y, (line("one"),), levels=levels),)), ""))
    assert "K = 30 KB, buffer 35 KB" in found and "pool 90 KB" in found


def test_names_of_events_that_would_cover_each_other_stand_below_each_other() -> None:
    events = tuple(ChartMark(f"link-down s1-s{index}", 1.0 + 0.1 * index) for index in range(2))
    svg = still(Chart((ChartPanel(X, Y, (line("one"),), events=events),)), "")
    heights = [float(each) for each in re.findall(r'y="([\d.]+)"[^>]*>link-down', svg)]
    assert len(heights) == 2 and heights[1] - heights[0] > 8


def test_what_only_one_of_the_two_shows_is_not_in_the_other() -> None:
    whole = ChartPanel(X, Y, (line("one"),), larger=(1, 2))
    chart = Chart((whole, ChartPanel(ChartAxis("Part", "ms", low=1000, high=2000), Y, (line("one"),), only="still")))
    assert "Part (ms)" in texts(still(chart, "")) and "shown below" in texts(still(chart, ""))
    assert [panel["x"]["title"] for panel in chart.document()["panels"]] == ["Time"]


def test_a_mark_is_hollow_where_a_run_is_incomplete() -> None:
    series = line("one", marker="o", hollow=[False, True, False])
    svg = still(Chart((ChartPanel(X, Y, (series,)),)), "")
    assert len(re.findall(r"fill: var\(--ground, #fffffe\); stroke: var\(--c-0072b2", svg)) == 1


def test_a_column_of_nothing_is_drawn_empty() -> None:
    empty = ChartSeries("one", "#0072b2", [], [])
    svg = still(Chart((ChartPanel(ChartAxis("Time"), ChartAxis("Queue"), (empty,)),)), "")
    assert "Time" in texts(svg)


def test_names_without_room_stand_aslant_and_within_the_picture() -> None:
    names = ("unlosslessheadroomofsonicitself" * 2, *(f"another{index}withoutblank" for index in range(5)))
    x = ChartAxis("Headroom", scale="category", names=names)
    points = ChartSeries("one", "#0072b2", range(6), range(6), marker="o", line=False)
    svg = still(Chart((ChartPanel(x, Y, (points,)),), height_in=5), "")
    found = re.findall(r'<text x="([\d.]+)"[^>]*rotate\(-30 [^>]*>([^<]+)<', svg)
    assert tuple(name for _, name in found) == names
    assert all(float(end) - text_width(name, 8.5) * np.cos(np.radians(30)) >= 0 for end, name in found)


def boxes(svg: str) -> list[tuple[str, float, float, float, float]]:
    """Return the left, top, right and bottom of each text that stands level or upright, as wide as it is at most."""
    found = []
    for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        size, lines = float(each.attrib["font-size"]), list(each) or [each]
        wide = max(text_width(line.text or "", size) for line in lines)
        x, y = float(each.attrib["x"]), float(each.attrib["y"])
        before = {"start": 0.0, "middle": 0.5, "end": 1.0}[each.get("text-anchor", "start")] * wide
        ascent, more = 0.72 * size, LINE * size * (len(lines) - 1)
        turned = "rotate(-90" in each.get("transform", "")
        if turned:
            found.append(("".join(each.itertext()), x - ascent, y - wide + before, x + more, y + before))
        elif "rotate" not in each.get("transform", ""):
            found.append(("".join(each.itertext()), x - before, y - ascent, x - before + wide, y + more))
    return found


def covered(svg: str) -> list[str]:
    """Return what is wrong with the places of texts: those that leave the picture, or cover each other."""
    _, _, width, height = map(float, ElementTree.fromstring(svg).attrib["viewBox"].split())
    every = boxes(svg)
    wrong = [f"{one[0]!r} leaves it" for one in every if min(one[1:3]) < 0 or one[3] > width or one[4] > height]
    pairs = ((one, two) for index, one in enumerate(every) for two in every[index + 1 :])
    overlaps = (
        (one[0], two[0])
        for one, two in pairs
        if min(one[3], two[3]) - max(one[1], two[1]) > 1 and min(one[4], two[4]) - max(one[2], two[2]) > 1
    )
    return wrong + [f"{one!r} covers {two!r}" for one, two in overlaps]


def test_a_legend_as_wide_as_the_picture_is_within_it() -> None:
    names = [f"d{index}, flow {index}" for index in range(6)]
    chart = Chart((ChartPanel(X, Y, tuple(line(name) for name in names)),))
    assert covered(still(chart, "")) == []
    assert set(names) < set(texts(still(chart, "")))


def test_names_of_levels_near_the_top_do_not_stand_in_the_title() -> None:
    levels = tuple(ChartMark(f"p{at}", at, place="start") for at in (50, 95, 99))
    panels = tuple(ChartPanel(X, Y, (line("one"),), title, levels) for title in ("mice", "query"))
    svg = still(Chart(panels, height_in=5), "")
    assert covered(svg) == []
    assert texts(svg).count("p95, p99") == 2


def test_the_name_of_a_level_stands_where_no_line_is() -> None:
    """The usual place is the right end above the line; here the queue goes up there, or is there all the time."""
    late = ChartSeries("one", "#0072b2", [0, 9, 10], [0, 0, 100])
    noisy = ChartSeries("two", "#0072b2", np.linspace(0, 10, 500), 38 + 4 * np.sin(np.arange(500)))
    places = {}
    for series in (late, noisy):
        svg = still(Chart((ChartPanel(X, Y, (series,), levels=(ChartMark("K = 34 KB", 34),)),)), "")
        places[series.name] = next(each for each in boxes(svg) if each[0] == "K = 34 KB")
    usual = still(Chart((ChartPanel(X, Y, (line("one", (0, 0, 0)),), levels=(ChartMark("K = 34 KB", 34),)),)), "")
    there = next(each for each in boxes(usual) if each[0] == "K = 34 KB")
    assert there[3] > WIDTH - 15
    assert places["one"][3] < WIDTH - 100 and places["one"][2] == there[2]
    assert places["two"][2] > there[2] + 8, "it stands below the line"


def test_the_name_at_the_foot_of_an_event_stands_beyond_what_ended() -> None:
    ended = ChartSeries("one", "#0072b2", np.linspace(0, 9, 300), 50 + 50 * np.sin(np.arange(300)))
    for at in (5.0, 9.0):
        events = (ChartMark("all received", at, place="start"),)
        series = replace(ended, x=np.linspace(0, at, 300))
        svg = still(Chart((ChartPanel(X, Y, (series,), events=events),)), "")
        name = next(each for each in boxes(svg) if each[0] == "all received")
        zero, ten = (next(each for each in boxes(svg) if each[0] == text) for text in ("0", "10"))
        assert name[1] > (zero[1] + zero[3]) / 2 + at / 10 * ((ten[1] + ten[3]) / 2 - (zero[1] + zero[3]) / 2) - 8
        assert covered(svg) == []


@pytest.mark.parametrize(("low", "high"), [(5.7, 12.0), (2.1, 2.9), (0.9, 60), (1, 1e5), (3e-3, 4e8)])
def test_a_logarithmic_axis_has_two_texts_or_more_and_none_covers_another(low: float, high: float) -> None:
    x = ChartAxis("Flow completion time", "us", "log", low=low, high=high)
    panel = ChartPanel(x, Y, (ChartSeries("one", "#0072b2", [low, high], [0, 100]),))
    svg = still(Chart((panel, panel), columns=2), "")
    assert covered(svg) == []
    bottom = max(each[4] for each in boxes(svg) if each[0] == "0")
    assert sum(each[2] > bottom and each[0] != x.label for each in boxes(svg)) >= 4


@pytest.mark.parametrize("kind", ["sweep", "point"])
def test_no_text_of_a_report_covers_another_or_leaves_its_picture(kind: str, tmp_path: Path) -> None:
    sweep = incast_sweep(tmp_path / "sweep", senders=(1, 4, 8, 16))
    chosen = sweep if kind == "sweep" else next((sweep / "points").iterdir())
    write_pictures([chosen], tmp_path / "pictures")
    found = {path.name: covered(path.read_text(encoding="utf-8")) for path in (tmp_path / "pictures").glob("*.svg")}
    assert len(found) > 3
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
