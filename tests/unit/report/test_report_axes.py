"""Settings as horizontal axes: numbers, categories, what has no place; which points and times figures show;
names of vertical axes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_run import incast_sweep, long_run

from fabriclab.report.chosen_points import choice_note
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartPanel, ChartSeries
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.pools import PooledRuns, pool_of_run, pools_of, varied_settings
from fabriclab.report.drawing.setting_axis import SettingAxis
from fabriclab.report.drawing.stills import still
from fabriclab.report.figures.metric import left_out, metric_lines, metric_picture
from fabriclab.report.figures.tcp import throughput_picture
from fabriclab.report.selection import left_out_notes, sweep_exhibits
from fabriclab.results import Results, Sweep, read_run, read_sweep


@pytest.fixture(scope="module")
def sweep_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return incast_sweep(tmp_path_factory.mktemp("sweep"), senders=(1, 4, 8, 16))


def with_settings(sweep: Sweep, name: str, values: Mapping[int, str | None]) -> list[PooledRuns]:
    """Return the sweep's pools with another setting: by its number of senders; None: it has none."""
    points = []
    for point in sweep.points:
        value = values[int(str(point.settings["senders"]))]
        points.append(replace(point, settings=point.settings if value is None else {**point.settings, name: value}))
    return pools_of(replace(sweep, points=tuple(points)))


def panel(title: str, unit: str) -> ChartPanel:
    line = ChartSeries("one", "#0072b2", [0, 1], [0, 5])
    return ChartPanel(ChartAxis("Time", "s"), ChartAxis(title, unit), (line,))


def test_settings_that_are_no_numbers_are_categories_in_the_order_of_the_matrix(sweep_dir: Path) -> None:
    pools = with_settings(read_sweep(sweep_dir), "headroom", {1: "27 KB", 4: "auto", 8: "9 KB", 16: "none"})
    axis = SettingAxis.of("headroom", pools)
    assert axis.categories == ("27 KB", "auto", "9 KB", "none")
    lines = metric_lines(pools, "goodput_bps", axis, ["variant"])
    assert [line.x for line in lines] == [[0, 1, 2, 3]] * 2
    picture = metric_picture(lines, "goodput_bps", axis, log_x=True)
    assert picture is not None
    assert [label for label in axis.categories if f">{label}</text>" not in picture.svg] == []
    # No fall is told of what has no order.
    assert "then" not in picture.caption


def test_numbers_stay_numbers_and_points_without_one_are_named(sweep_dir: Path) -> None:
    pools = with_settings(read_sweep(sweep_dir), "headroom", {1: "27 KB", 4: "9 KB", 8: None, 16: "1 KB"})
    axis = SettingAxis.of("headroom", pools)
    lines = metric_lines(pools, "goodput_bps", axis, ["variant"])
    assert (axis.categories, [line.x for line in lines]) == ((), [[1000, 9000, 27_000]] * 2)
    assert (
        left_out(pools, lines, "goodput_bps", axis)
        == "These points have no headroom and are not drawn: CUBIC, 8 senders; DCTCP, 8 senders."
    )
    assert left_out(pools, lines[:1], "goodput_bps", axis).endswith(
        "These points have no Goodput and are not drawn: DCTCP, 1 sender, 27 KB headroom; DCTCP, 4 senders, 9 KB "
        "headroom; DCTCP, 16 senders, 1 KB headroom."
    )


def test_numbers_of_many_sizes_crowd_on_a_linear_axis(sweep_dir: Path) -> None:
    axis = SettingAxis.of("senders", pools_of(read_sweep(sweep_dir)))
    assert (
        axis.crowds([25e3, 250e3, 20e6])
        and not axis.crowds([1, 10, 15])
        and not axis.crowds([0, 10, 1000])
        and not axis.crowds([1, 100])
    )
    assert not replace(axis, categories=("a", "b", "c")).crowds([1, 10, 1000])


def test_the_name_of_a_vertical_axis_is_no_longer_than_the_axis() -> None:
    long = panel("Flow completion time, 99th percentile (query)", "ms")
    svg = still(Chart((long,), height_in=2.9), "")
    assert re.findall(r"<tspan[^>]*>(Flow.*?)</tspan><tspan[^>]*>(.*?)</tspan>", svg) == [
        ("Flow completion time, 99th", "percentile (query) (ms)")
    ]
    several = still(Chart((panel("Goodput", "Mbps"),) * 4, columns=2, height_in=5.2), "")
    assert several.count(">Goodput (Mbps)<") == 1


def test_a_figure_shows_the_points_that_it_names(sweep_dir: Path) -> None:
    sweep = read_sweep(sweep_dir)
    figure = {"kind": "queue", "where": {"senders": [4, 16], "variant": ["dctcp"]}}
    runs = [
        replace(run, manifest=run.manifest.model_copy(update={"report": {"figures": [figure]}})) for run in sweep.runs
    ]
    points = tuple(replace(point, results=run) for point, run in zip(sweep.points, runs, strict=True))
    (queues,) = sweep_exhibits(replace(sweep, points=points), kinds=("queue",))
    assert isinstance(queues, Picture)
    assert "DCTCP, 4 senders" in queues.caption and "DCTCP, 16 senders" in queues.caption
    assert "CUBIC" not in queues.caption and "8 senders" not in queues.caption


def test_a_default_table_that_is_left_out_is_told(sweep_dir: Path) -> None:
    sweep = read_sweep(sweep_dir)
    (table,) = left_out_notes(sweep, pools_of(sweep) * 2)
    assert table.startswith("With more than 12 points the report has no tables of completion times;")


def test_a_choice_of_points_is_told(sweep_dir: Path) -> None:
    sweep = read_sweep(sweep_dir)
    note = choice_note(pools_of(sweep), varied_settings(sweep))
    assert note.startswith(
        "Figures that show points one by one show 4 of the 8 points, the points before and after goodput collapses "
        "with senders, of CUBIC and DCTCP: CUBIC, 4 senders; CUBIC, 8 senders; DCTCP, 4 senders; DCTCP, 8 senders."
    )
    few = replace(sweep, points=sweep.points[:4])
    assert choice_note(pools_of(few), varied_settings(few)) == ""


def test_where_nothing_was_sampled_no_silence_is_drawn(tmp_path: Path) -> None:
    results = read_run(long_run(tmp_path / "run"))
    assert results.measured.tcp is not None
    early = results.measured.tcp.filter(pl.col("time_ns") < 1_500_000_000)
    # A connection that is gone has a last row without its counters.
    gone = results.measured.tcp.filter(pl.col("time_ns") == 1_900_000_000).with_columns(
        bytes_acked=pl.lit(None, pl.Int64)
    )
    cut = replace(results, measured=replace(results.measured, tcp=pl.concat([early, gone])))

    def together(run: Results) -> float:
        picture = throughput_picture(pool_of_run(run).curve)
        assert picture is not None
        return float(picture.caption.partition("together ")[2].split()[0])

    assert together(cut) == pytest.approx(together(results), rel=0.02)
