"""What a reader of a comparison has to know beside its numbers: completion times lack flows that never completed, and
no drawing has room for some changes."""

from __future__ import annotations

from pathlib import Path

from fabriclab.comparison import words
from fabriclab.comparison.page import write_page
from fabriclab.comparison.records import ComparedMetric, ComparedPoint, Comparison
from fabriclab.results.differences import difference


def comparison(name: str, base: float, other: float) -> Comparison:
    metric = ComparedMetric(name, difference({1: base}, {1: other}), "undecided", "")
    point = ComparedPoint("", {}, 1, (1, 1), None, (metric,))
    return Comparison("before", "after", (), (point,), (), (), "again", 0.95)


def test_times_of_survivors_are_told() -> None:
    assert words.survivors(comparison("flows_incomplete", 0, 0)) == ""
    assert words.survivors(comparison("fct_p99_ns", 5, 3)) == ""
    assert "completed, and not as many did" in words.survivors(comparison("flows_incomplete", 0, 69))


def test_a_change_beyond_the_drawing_is_an_arrow(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for other, arrows in ((150.0, 0), (900.0, 1)):
        write_page([comparison("fct_p99_ns", 100.0, other)], [], page)
        assert page.read_text().count('class="beyond"') == arrows
