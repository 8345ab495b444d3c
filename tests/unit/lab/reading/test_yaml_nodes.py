"""Both parsers read a text alike, and nobody sees which one it was."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from repository import ROOT
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from fabriclab.lab.reading import yaml_nodes
from fabriclab.lab.reading.document import parse_document
from fabriclab.lab.reading.problems import Problems

PIECES = [*"abc:,[]{}'\"@`#- \n~<=/0x.é\n\n", ": ", "- ", "---\n", "...\n", "\n  ", "<<: ", "a: ", "\n- ", "''", '""']
PIECES += ["http://a:1", "10:20", "a:b", "[a:b]", "{a:1,b: 2}", "{a}", "{a,b: }", "- - x\n", "# c\n", "'it''s'"]
ALIKE = 200
"""How many of the drawn texts both can read, at least; the others are broken."""


def shape(node: Node | None) -> object:
    """What the reader of a lab sees of a node: kind, text, whether it is quoted, line, what is below."""
    if node is None:
        return None
    if isinstance(node, ScalarNode):
        is_nothing = node.value == "" and not node.style
        return node.value, bool(node.style), None if is_nothing else node.start_mark.line
    below = [shape(each) for pair in node.value for each in (pair if isinstance(pair, tuple) else (pair,))]
    return isinstance(node, MappingNode), node.start_mark.line, below


def plain_files() -> Iterator[str]:
    for path in sorted(ROOT.glob("labs/**/*.y*ml")):
        text = re.sub(r"[^\n\x20-\x7e]|[!&*%?|>\\]", "", path.read_text(errors="replace"))
        if text:
            yield text[:900]


def drawn(count: int) -> Iterator[str]:
    """Texts of pieces that mean something in YAML, and of labs' files with such pieces in them."""
    rng, files = random.Random(7), list(plain_files())
    for number in range(count):
        if number % 3:
            yield "".join(rng.choices(PIECES, k=rng.randint(1, 14)))
        else:
            at = rng.randrange(len(text := rng.choice(files)))
            yield text[:at] + rng.choice(PIECES) + text[at + rng.randint(0, 5) :]


def in_python(text: str) -> object:
    try:
        return shape(yaml_nodes.composed_in_python(text))
    except YAMLError as error:
        return str(error)


@pytest.fixture
def by_python(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the parser in Python was given."""
    given: list[str] = []
    real = yaml_nodes.composed_in_python

    def noting(text: str) -> Node | None:
        given.append(text)
        return real(text)

    monkeypatch.setattr(yaml_nodes, "composed_in_python", noting)
    return given


def test_a_drawn_text_is_read_alike(by_python: list[str]) -> None:
    read = []
    for text in drawn(1000):
        before = len(by_python)
        try:
            found = shape(yaml_nodes.composed(text))
        except YAMLError as error:
            found = str(error)
        if len(by_python) == before:
            read.append(text)
            assert found == in_python(text), text
    assert len(read) >= ALIKE


@pytest.mark.parametrize("has_libyaml", [True, False])
def test_a_large_topology_is_read_at_once(
    by_python: list[str], monkeypatch: pytest.MonkeyPatch, has_libyaml: bool
) -> None:
    if not has_libyaml:
        monkeypatch.setattr("ruamel.yaml.main.CParser", None)
    yaml_nodes._composed_once.cache_clear()
    text = "# made by: a \\\n#   b & c\n\ntopology:\n  nodes:\n" + "".join(
        f"    h{i}: {{kind: linux, env: {{N: '{i}'}}}}\n" for i in range(50)
    )
    assert yaml_nodes.composed(text) is not None
    assert by_python == []


@pytest.mark.parametrize(
    "text", ["a: &x 1\nb: *x\n", "a:\t1\n", "a: |\n  text\n", 'a: "\\ud800"\n', "%YAML 1.1\n---\na: 1\n"]
)
def test_what_the_two_may_read_differently_is_read_in_python(by_python: list[str], text: str) -> None:
    with suppress(YAMLError):
        yaml_nodes.composed(text)
    assert by_python == [text]


@pytest.mark.parametrize(
    "text", ["a: [1, 2\nb: 3\n", "a: 1\n b: 2\n", "a: 'x\n", "a: 1\n---\nb: 1\n", "[" * 900, "- " * 300_000]
)
def test_messages_are_those_of_the_parser_in_python(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    problems = [Problems(), Problems()]
    assert parse_document(text, "lab.yml", problems[0]) is None
    monkeypatch.setattr(yaml_nodes, "_is_plain", lambda _text: False)
    yaml_nodes._composed_once.cache_clear()
    assert parse_document(text, "lab.yml", problems[1]) is None
    assert problems[0].found() == problems[1].found() != []
