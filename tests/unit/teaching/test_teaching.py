"""Exercises of notebooks, and studies beside runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synthetic_run import incast_run, incast_sweep

import fabriclab
from fabriclab.teaching import beside_study, check_answer


def said(answer: Any, expected: Any, **more: Any) -> str:
    return repr(check_answer(2, answer, expected, hint="look", **more))


def test_dots_are_no_answer_whatever_is_expected() -> None:
    def never(_: Any) -> bool:
        raise AssertionError("nothing is tried before there is an answer")

    for expected in (3.0, "dctcp", {"a", "b"}, never):
        assert said(..., expected).startswith("Exercise 2: not answered yet. Replace the dots of answer_2")


@pytest.mark.parametrize(
    ("answer", "expected", "right"),
    [
        (104, 100, True),
        (106, 100, False),
        (0, 0, True),
        (0.001, 0, False),
        (" DCTCP", "dctcp", True),
        ("cubic", "dctcp", False),
        (["deep", "Shallow"], {"shallow", "deep"}, True),
        (set(), {"deep"}, False),
        (4, lambda answer: answer > 3, True),
        (2, lambda answer: answer > 3, False),
    ],
)
def test_an_answer_is_right_or_not_yet(answer: Any, expected: Any, right: bool) -> None:
    verdict = said(answer, expected)
    assert verdict.startswith("Exercise 2: right." if right else "Exercise 2: not yet.")
    assert ("Hint: look" in verdict) is not right


def test_how_near_a_number_must_be_can_be_said() -> None:
    assert "not yet" in said(102, 100, within=0.01)
    assert said(120, 100, within=0.3) == "Exercise 2: right. These runs say 100."


@pytest.mark.parametrize(
    ("answer", "expected", "helped"),
    [
        (5.6, 5600, "The digits are right, the unit is not."),
        (12.5, 100, "Bits or bytes?"),
        ("100", 100, "Write a number"),
        (True, 1, "Write a number"),
        (7, "dctcp", "Write a word in quotes."),
        ("deep", {"deep", "shallow"}, "Write several words"),
        (["deep", "middle"], {"deep", "shallow"}, "1 of these 2 are right."),
        ("one", lambda answer: 1 / 0, "This answer could not be tried: division by zero."),
    ],
)
def test_a_wrong_answer_is_told_what_is_wrong_with_it(answer: Any, expected: Any, helped: str) -> None:
    assert said(answer, expected).startswith(f"Exercise 2: not yet. {helped}")


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_what_was_not_measured_checks_no_answer(nothing: Any) -> None:
    with pytest.raises(ValueError, match="exercise 2: the run did not measure"):
        check_answer(2, 1, nothing, hint="look")


def test_what_a_notebook_shows_has_no_markup_of_the_answer() -> None:
    page = check_answer(1, "x", lambda answer: int(answer) > 1, hint="a < b")._repr_html_()
    assert "a &lt; b" in page and "<b>Exercise 1: not yet.</b>" in page


def test_a_study_stands_beside_a_sweep_and_beside_runs(tmp_path: Path) -> None:
    sweep = fabriclab.open_sweep(incast_sweep(tmp_path / "sweep"))
    whole = beside_study(sweep)
    assert [beside.study.study for beside in whole.studies] == ["S2", "S4"]
    page = whole._repr_html_()
    assert "<th>these runs</th>" in page and "about 900 Mbps" in page and "to be above 600 Mbps" in page
    (_, one) = beside_study([fabriclab.open_run(incast_run(tmp_path / "run", 16))]).studies
    assert [each.claim.claim for each in one.claims][:1] == ["The goodput collapses from eight senders on."]


def test_runs_without_a_study_are_refused(tmp_path: Path) -> None:
    with pytest.raises(fabriclab.ArgumentError, match="the lab of these runs does not reproduce a study"):
        beside_study([])
