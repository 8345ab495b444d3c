"""The course's pages, docs/course: their slides, and the tables and findings in them that labs publish."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from gallery_page import finding
from repository import LABS, ROOT
from ruamel.yaml import YAML

COURSE = ROOT / "docs" / "course"
WIDTH = 120
_REGION = re.compile(r"(<!-- from: (\{[^\n]*\}) -->\n)(?:.*?\n)??(<!-- end -->)", re.DOTALL)
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


def sessions() -> dict[str, str]:
    """Return the text of each session's slides by the file's name, in their order."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(COURSE.glob("[0-9]*.md"))}


def pages() -> dict[str, str]:
    """Return the text of every page by its file's name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(COURSE.glob("*.md"))}


def commands(texts: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the words of each command line of pages, with its page."""
    for name, text in texts.items():
        for line in re.findall(r"^    fabriclab (.+)$", text, re.MULTILINE):
            words = re.findall(r"(?:[^\s']|'[^']*')+", re.split(r" {2,}", line)[0])
            yield name, [word.replace("'", "") for word in words]


def exam_answer() -> dict[str, str]:
    """Return the settings of the command that the trainer's page gives as an answer."""
    (words,) = [words for page, words in commands(pages()) if page == "exam-answers.md" and words[0] == "sweep"]
    return dict(word.split("=", 1) for flag, word in pairwise(words) if flag == "--set")


def front(text: str) -> dict[str, Any]:
    """Return what a page of slides says before its first slide."""
    found = _FRONT.match(text)
    assert found is not None, "slides begin with `---`, `marp: true`"
    return dict(YAML(typ="safe", pure=True).load(found[1]))


def slides(text: str) -> list[str]:
    """Return the slides of a page."""
    return re.split(r"\n---\n", _FRONT.sub("", text))


def with_regions(text: str) -> str:
    """Return a page with every region as it is made of the lab's page now."""
    return _REGION.sub(lambda found: f"{found[1]}\n{_made(found[2])}\n\n{found[3]}", text)


def regions(text: str) -> int:
    """Return how many regions a page has."""
    return len(_REGION.findall(text))


def _made(words: str) -> str:
    asked = YAML(typ="safe", pure=True).load(words)
    page = (LABS / asked["lab"] / "README.md").read_text(encoding="utf-8")
    if asked.get("finding"):
        return textwrap.fill(finding(page), WIDTH, initial_indent="> ", subsequent_indent="> ")
    head, *rows = table(asked["lab"], asked["table"])
    for column, wanted in asked.get("where", {}).items():
        rows = [row for row in rows if row[head.index(column)] in wanted]
    chosen = [head.index(column) for column in asked.get("columns", head)]
    assert rows, f"no row of {asked['table']} is left"
    lines = [[one[index] for index in chosen] for one in (head, ["---"] * len(head), *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@cache
def table(lab: str, name: str) -> list[list[str]]:
    """Return a published table of a lab's page, its head first; a cell that is left out is that above it."""
    page = (LABS / lab / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"<!-- table: {re.escape(name)} -->\n(.*?)<!-- end -->", page, re.DOTALL)
    assert found is not None, f"labs/{lab} publishes no table {name}"
    rows = [
        [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        for line in found[1].splitlines()
        if line.startswith("|") and not re.fullmatch(r"[|\s:-]+", line)
    ]
    for above, line in pairwise(rows[1:]):
        for index, cell in enumerate(line):
            if cell:
                break
            line[index] = above[index]
    return rows
