"""The exam's lab of the course: as given it fails, by the trainer's answer it passes, by half of one it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from course_pages import COURSE, exam_answer

import fabriclab
from fabriclab.engine.artefacts import EngineError, find_artefacts

pytestmark = pytest.mark.vm

EXAM = COURSE / "exam"
OF_DROPS = ("congestion_control", "threshold")


def failing(directory: Path, settings: dict[str, str]) -> set[str]:
    """Return the metrics whose checks do not pass with each of the exam's seeds."""
    try:
        find_artefacts()
    except EngineError as error:
        pytest.skip(f"not run: {error}")
    sweep = fabriclab.sweep(EXAM, "exam", set=settings, out=directory, jobs=1)
    assert len(sweep.runs) == 3 and all(len(run.checks) == 4 for run in sweep.runs)
    return {check.metric for run in sweep.runs for check in run.checks if check.outcome != "pass"}


def test_the_parameters_are_those_that_the_answer_names_and_the_pages_tell() -> None:
    checked = fabriclab.check(EXAM)
    assert isinstance(checked, fabriclab.CheckedLab)
    assert set(exam_answer()) < set(checked.parameters) and checked.checks == 4 and checked.matrices == {"exam": 3}
    text = (COURSE / "exam-answers.md").read_text(encoding="utf-8")
    assert [name for name in checked.parameters if f"`{name}`" not in text] == []


@pytest.mark.slow("six sweeps of three seeds")
def test_the_answer_repairs_what_its_halves_do_not(tmp_path: Path) -> None:
    answer = exam_answer()
    assert failing(tmp_path / "given", {}) == {"drops", "fct_p99_ns[query]", "throughput_bps[copy]"}
    assert failing(tmp_path / "answer", answer) == set()
    for name in OF_DROPS:
        assert "drops" in failing(tmp_path / name, {name: answer[name]})
    alone = failing(tmp_path / "paths", {"paths": answer["paths"]})
    assert {"drops", "fct_p99_ns[query]"} <= alone and "throughput_bps[copy]" not in alone
    assert "throughput_bps[copy]" in failing(tmp_path / "flowlets", {"paths": "flowlet-quality"})


@pytest.mark.slow("four sweeps of three seeds")
def test_other_answers_that_the_page_names_pass_too(tmp_path: Path) -> None:
    for number, change in enumerate(({"threshold": "60 KB"}, {"paths": "flowlet-quality"}, {"rto_min": "10 ms"})):
        assert failing(tmp_path / str(number), {**exam_answer(), **change}) == set()
    late = {name: value for name, value in exam_answer().items() if name != "threshold"}
    assert "timeouts" in failing(tmp_path / "late", late)
