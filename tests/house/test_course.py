"""The course, docs/course: slides that fit, figures that labs publish, commands and exercises that there are."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from itertools import pairwise

import pytest
from course_pages import COURSE, commands, front, pages, regions, sessions, slides, with_regions
from repository import LABS, ROOT
from shipped_labs import shipped_lab, shipped_resolver

from fabriclab.cli.arguments.settings import parse_settings

SESSIONS = sessions()
PAGES = pages()
LEAST_SLIDES, MOST_SLIDES = 8, 12
MOST_LINES, MOST_WORDS = 24, 170
"""Of a slide, so that it fits a beamer; regions count as their rows."""
MOST_BESIDE = 12
"""Lines of a slide with a picture, which fills half of it."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


COMMANDS = list(commands(PAGES))
OF_A_LAB = [(name, words) for name, words in COMMANDS if words[0] in ("run", "sweep", "up", "validate", "check")]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_has_slides_that_fit(name: str) -> None:
    text = SESSIONS[name]
    assert front(text)["marp"] is True and front(text)["paginate"] is True
    every = slides(text)
    assert LEAST_SLIDES <= len(every) <= MOST_SLIDES
    plain = [_COMMENT.sub("", slide).strip() for slide in every]
    assert [slide[:40] for slide in plain if not re.match(r"##? \S", slide)] == []
    assert [slide[:40] for slide in plain if len(slide.splitlines()) > MOST_LINES] == []
    assert [slide[:40] for slide in plain if len(slide.split()) > MOST_WORDS] == []
    pictures = [slide for slide in plain if "![" in slide]
    assert [slide[:40] for slide in pictures if "\n|" in slide or len(slide.splitlines()) > MOST_BESIDE] == []


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_asks_tries_and_concludes(name: str) -> None:
    headings = re.findall(r"^## (.+)$", SESSIONS[name], re.MULTILINE)
    assert {"Guess first", "Exercises", "Remember"} <= set(headings)
    assert headings.index("Guess first") < headings.index("Exercises") < headings.index("Remember")
    assert re.search(r"\*\*Question\.\*\* .+\*\*Minutes:\*\* \d+\.", SESSIONS[name], re.DOTALL)
    assert sum(page == name for page, _ in OF_A_LAB) >= 3


@pytest.mark.parametrize("name", PAGES)
def test_figures_are_what_labs_publish(name: str) -> None:
    right = with_regions(PAGES[name])
    if os.environ.get("FABRICLAB_ACCEPT") == "1":
        (COURSE / name).write_text(right, encoding="utf-8")
        return
    assert PAGES[name] == right, "FABRICLAB_ACCEPT=1 pytest tests/house/test_course.py writes it"
    assert name not in SESSIONS or regions(right) >= 2


def test_a_region_that_would_be_wrong_is_found() -> None:
    page = "<!-- from: {lab: incast, table: rto-min, columns: [RTOmin, '8']} -->\n\n| a |\n\n<!-- end -->\n"
    assert with_regions(page) != page and with_regions(with_regions(page)) == with_regions(page)
    with pytest.raises(AssertionError, match="publishes no table"):
        with_regions(page.replace("rto-min", "nothing"))


def lab_of(words: list[str]) -> str | None:
    """Return the shipped lab that a command names; None for a directory that the reader makes."""
    name = words[1].removeprefix("labs/")
    return name if (LABS / name / "experiment.yml").is_file() else None


@pytest.mark.parametrize(("page", "words"), OF_A_LAB, ids=lambda value: str(value) if isinstance(value, str) else None)
def test_a_command_names_a_lab_and_settings_that_there_are(page: str, words: list[str]) -> None:
    name = lab_of(words)
    if name is None:
        assert page in ("exam.md", "exam-answers.md", "index.md") and words[1].startswith(("room/", "docs/course/")), (
            words
        )
        return
    values = {
        flag: [after for word, after in pairwise(words) if word == flag] for flag in ("--set", "--matrix", "--story")
    }
    assert set(values["--matrix"]) <= set(shipped_lab(name).matrices)
    assert all((LABS / name / "stories" / f"{story}.yml").is_file() for story in values["--story"])
    if values["--set"]:
        shipped_resolver(name).resolve(parse_settings(values["--set"]))


@cache
def exercises_of(notebook: str) -> set[str]:
    """Return the numbers of a notebook's exercises that a cell checks."""
    cells = json.loads((ROOT / "analysis" / notebook).read_text(encoding="utf-8"))["cells"]
    return {found[1] for cell in cells if (found := re.fullmatch(r"exercise-(\d+)-check", cell["id"]))}


@pytest.mark.parametrize("name", SESSIONS)
def test_an_exercise_is_one_that_a_notebook_checks(name: str) -> None:
    (slide,) = [one for one in slides(SESSIONS[name]) if one.strip().startswith("## Exercises")]
    (notebook,) = re.findall(r"\]\(\.\./\.\./analysis/([\w-]+\.ipynb)\)", slide)
    named = re.findall(r"[Ee]xercise (\d+)", slide)
    assert len(named) >= 2 and set(named) <= exercises_of(notebook)


def test_the_trainers_page_has_every_session_with_its_minutes() -> None:
    rows = re.findall(r"^\| \[(\d)\. [^\]]+\]\(([\w-]+\.md)\) \|", PAGES["index.md"], re.MULTILINE)
    assert rows == [(name[0], name) for name in SESSIONS]
    minutes = {name: re.findall(r"\*\*Minutes:\*\* (\d+)\.", text) for name, text in SESSIONS.items()}
    planned = re.findall(r"^\| (\d+) \| (\d+) \|", PAGES["index.md"], re.MULTILINE)
    ends = [int(begin) + int(length) for begin, length in planned]
    assert [int(begin) for begin, _ in planned] == [0, *ends[:-1]], "each part begins when the one before it ends"
    assert all(found == [str(ends[-1])] for found in minutes.values())
