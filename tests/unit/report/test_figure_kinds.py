"""Each kind of figure has a drawing, and one that is drawn only when it is asked for stays away otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_run import incast_run, long_run

from fabriclab.formats.figures import FIGURE_KINDS, FIGURES, FigureKind
from fabriclab.report import selection
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.selection import run_exhibits
from fabriclab.results import read_run


def test_a_name_stands_once_and_so_does_a_place() -> None:
    assert len(set(FIGURE_KINDS)) == len(FIGURES)
    for places in ([kind.in_run for kind in FIGURES], [kind.in_sweep for kind in FIGURES]):
        taken = [place for place in places if place is not None]
        assert len(set(taken)) == len(taken)
        assert 0 not in taken


def test_a_kind_without_a_drawing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = FigureKind("pie", "Pie", in_run=99)
    monkeypatch.setattr(selection, "FIGURE_KINDS", (*FIGURE_KINDS, toy.name))
    run = read_run(incast_run(tmp_path / "run", 1, rounds=1))
    run.manifest.report = {"figures": [{"kind": "pie"}]}
    with pytest.raises(AssertionError, match=r"pie: formats/figures\.py has it, and nothing here draws it"):
        run_exhibits(run, kinds=("pie",))


def test_round_trip_times_are_drawn_when_they_are_asked_for(tmp_path: Path) -> None:
    run = read_run(long_run(tmp_path / "run"))
    titles = [exhibit.title for exhibit in run_exhibits(run)]
    assert "Congestion window over time" in titles
    assert "Round-trip time over time" not in titles
    run.manifest.report = {"figures": [{"kind": "rtt"}]}
    (picture,) = run_exhibits(run, kinds=("rtt",))
    assert isinstance(picture, Picture)
    assert picture.title == "Round-trip time over time"
    assert "h1 " in picture.caption
