"""The schema of stories: it takes every story that is right, and sees the mistakes that are no lab's own."""

from __future__ import annotations

import re
from typing import Any

import pytest
from editors_view import complaints, document_in
from repository import ROOT

from fabriclab.keys.mappings import Keys
from fabriclab.lab.reading.document import MappingValue, parse_document
from fabriclab.lab.reading.problems import Problems
from fabriclab.language.document import schema_of
from fabriclab.stories.keys import ACTION, BARE, STORY

STORIES = sorted(ROOT.glob("labs/*/stories/*.yml"))
PAGE = (ROOT / "docs" / "stories.md").read_text(encoding="utf-8")


def story(do: str) -> list[str]:
    """Return what the schema says of a story with one action."""
    document = parse_document(f"title: A story\nsteps:\n  - title: First\n    do:\n      - {do}\n", "x", Problems())
    assert isinstance(document, MappingValue)
    return complaints(document, "story")


def test_every_story_that_ships_is_right() -> None:
    documents = {path.name: document_in(path) for path in STORIES}
    said = {name: complaints(one, "story") for name, one in documents.items() if one is not None}
    assert {name: wrong for name, wrong in said.items() if wrong} == {} and len(said) == len(documents)
    assert len(documents) >= 3


def test_the_example_of_the_page_is_right() -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    document = parse_document(text, "stories.md", Problems())
    assert isinstance(document, MappingValue) and complaints(document, "story") == []


def test_every_action_of_the_page_is_right_and_none_is_left_out() -> None:
    rows = re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE)
    actions = [action for row in rows for action in re.findall(r"`([^`]+)`", row)]
    assert [(action, said) for action in actions if (said := story(action))] == []
    assert {name for name in (*BARE, *ACTION.forms) if not any(re.search(rf"\b{name}\b", one) for one in actions)} <= {
        "clear"  # the row of `break` tells of it
    }


@pytest.mark.parametrize(
    "action",
    [
        "brake: s1 drop",
        "contniue",
        "step: soon",
        "{node: h1, action: off}",
        "{node: h1}",
        "{flow: h1, to: h2}",
        "{flow: h1, to: h2, size: much}",
        "{flow: h1, to: h2, size: 1 MB, congestion_control: cubik}",
        "link: s1:eth1",
        "{link: 's1:eth1', action: cut}",
        "{break: s1 drop, until: s1 drop}",
        "set: {}",
    ],
)
def test_a_mistake_in_an_action_is_seen(action: str) -> None:
    assert story(action) != []


@pytest.mark.parametrize(
    "text", ["titel: x\nsteps: [{title: x}]", "title: x", "title: x\nsteps: []", "title: x\nsteps: [{}]"]
)
def test_a_mistake_in_the_rest_is_seen(text: str) -> None:
    document = parse_document(text, "x", Problems())
    assert isinstance(document, MappingValue) and complaints(document, "story") != []


def test_each_key_explains_itself() -> None:
    def keys_of(value: Any) -> list[Any]:
        own = list(value.keys) if isinstance(value, Keys) else []
        return own + [key for part in value.parts() for key in keys_of(part)]

    told = keys_of(STORY)
    assert len(told) > 20 and [key.name for key in told if not key.about.endswith(".")] == []
    assert "markdownDescription" in schema_of("story")["properties"]["steps"]
