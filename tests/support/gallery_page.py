"""The gallery, docs/gallery.md: a card for each lab, made of what its own pages say. Nothing is written twice."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from repository import ROOT

from fabriclab.api.listing import labs as list_labs

PAGE = ROOT / "docs" / "gallery.md"
_ROW = re.compile(r"^\| \[([^\]]+)\]\(\.\./labs/[^)]+\) \| (.+) \|$", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_ANSWER = re.compile(r"\*\*Answer\.\*\*\s+(.+?)(?:\n\n|\Z)", re.DOTALL)
_PICTURE = re.compile(r"!\[([^\]]+)\]\(([^)/]+\.svg)\)")
_ASIDE = re.compile(r"\s*\((?:before|it was|was)\b[^()]*(?:\([^()]*\)[^()]*)*\)")
_SENTENCE = re.compile(r".+?[.?!](?=\s+[A-Z*`]|$)", re.DOTALL)
_SHORT = 60
_WIDTH = 120
_HEAD = """# The gallery

<!-- tests/house/test_gallery_page.py makes this page of the labs' own: FABRICLAB_ACCEPT=1 writes it. -->

A card for each lab: its question, the beginning of its answer, and a picture where its page has one. `CPU min` is the
time that its first matrix took on one CPU. One point takes seconds: `fabriclab run NAME` runs one.
"""


def gallery() -> str:
    """Return the page."""
    listed = {lab.directory.name: lab for lab in list_labs()}
    rows = _ROW.findall((ROOT / "docs" / "labs.md").read_text(encoding="utf-8"))
    cards = [_card(name, question, listed[name].minutes) for name, question in rows]
    return "\n".join([_HEAD, *cards])


def _card(name: str, question: str, minutes: float | None) -> str:
    text = (ROOT / "labs" / name / "README.md").read_text(encoding="utf-8")
    title = _TITLE.search(text)
    assert title is not None, name
    cost = "" if minutes is None else f", {minutes:g} CPU min"
    head = f"## [{title[1]}](../labs/{name}/README.md)\n"
    words = [f"*{question}*", f"{finding(text)}", f"`fabriclab run {name}`{cost}"]
    return "\n".join([head, *_picture(name, text), *(f"{textwrap.fill(one, _WIDTH)}\n" for one in words)])


def _picture(name: str, text: str) -> Iterator[str]:
    found = _PICTURE.search(text)
    if found is not None:
        yield f"![{found[1]}](../labs/{name}/{found[2]})\n"


def finding(text: str) -> str:
    """Return the first sentence of a lab's answer, two where that is short, without what it was before."""
    answer = _ANSWER.search(text)
    assert answer is not None
    plain = _ASIDE.sub("", " ".join(answer[1].split()).replace("**", ""))
    first, *rest = [found.strip() for found in _SENTENCE.findall(plain)]
    return f"{first} {rest[0]}" if len(first) < _SHORT and rest else first
