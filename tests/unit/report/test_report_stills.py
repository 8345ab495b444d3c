"""Figures as still pictures: ticks, where lines and areas go, what stands beside panels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

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
from fabriclab.report.drawing.svg_text import text_width
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
