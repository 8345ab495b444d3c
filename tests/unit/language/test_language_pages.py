"""docs/language: its tables are made of the language's records, and its examples are labs that the reader takes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from editors_view import complaints
from language_pages import PAGES, all_keys, examples, told_in, with_tables

from fabriclab.api.generated import LeafSpine, generate
from fabriclab.lab import parse_lab
from fabriclab.lab.reading.document import MappingValue, parse_document
from fabriclab.lab.reading.problems import Problems

TEXTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}
BASE = {
    "title": "title: An example\n",
    "switches": "switches: {default: {buffer: 128 KB}}\n",
    "traffic": "traffic: {one: {kind: flows, senders: [h1], receiver: h4, size: 1 KB}}\n",
}
FILES = {"mine.csv": "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes\n0,0,h1,h2,1000\n"}
"""What the examples name that lies beside a lab's two files."""


def top_keys(text: str) -> list[str]:
    return re.findall(r"^(\w+):", text, flags=re.MULTILINE)


def labs_of(page: str) -> list[tuple[str, str]]:
    """Return the topology and the experiment of each example; an example with nodes is the topology of those below."""
    topology = generate(LeafSpine(spines=2, leaves=2, hosts=4)).topology
    found = []
    for text in examples(TEXTS[page]):
        keys = top_keys(text)
        if "topology" in keys:
            topology = text
            text, keys = "", []
        rest = "".join(line for key, line in BASE.items() if key not in keys)
        if "h4" not in topology:
            rest = rest.replace("receiver: h4", "receiver: h2")
        found.append((topology, rest + text))
    return found


EXAMPLES = [(page, index) for page in TEXTS for index in range(len(examples(TEXTS[page])))]


@pytest.mark.parametrize("page", TEXTS)
def test_the_tables_are_as_they_are_made(page: str) -> None:
    made = with_tables(TEXTS[page])
    if os.environ.get("FABRICLAB_ACCEPT"):
        (PAGES / page).write_text(made, encoding="utf-8")
        return
    assert TEXTS[page] == made, "FABRICLAB_ACCEPT=1 writes the tables as they are made"


def test_every_key_has_its_row() -> None:
    told = {
        ("figure" if name.startswith("figure-") else name, key)
        for text in TEXTS.values()
        for name, key in told_in(text)
    }
    assert all_keys() - told == set()


@pytest.mark.parametrize(("page", "index"), EXAMPLES, ids=lambda value: str(value))
def test_every_example_is_read(page: str, index: int, tmp_path: Path) -> None:
    topology, experiment = labs_of(page)[index]
    files: Mapping[str, str] = {"topology.clab.yml": topology, "experiment.yml": experiment, **FILES}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    parse_lab(tmp_path)
    document = parse_document(experiment, page, Problems())
    assert isinstance(document, MappingValue)
    assert complaints(document) == []


def test_the_page_of_the_labs_has_the_same_whole_lab() -> None:
    labs = (PAGES.parents[1] / "labs" / "README.md").read_text(encoding="utf-8")
    # The other example of that page is of what a lab publishes.
    assert examples(labs)[0] == examples(TEXTS["index.md"])[0]


def test_every_page_is_reached_from_the_first() -> None:
    assert set(TEXTS) - {"index.md"} == set(re.findall(r"\]\(([\w-]+\.md)\)", TEXTS["index.md"]))


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_to_headings_that_are_there(page: str) -> None:
    wrong = []
    for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)]+)\)", TEXTS[page]):
        text = (PAGES / (target or page)).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
        if anchor not in anchors:
            wrong.append(f"{target}#{anchor}")
    assert wrong == []


@pytest.mark.parametrize("page", TEXTS)
def test_lines_and_cells_are_short(page: str) -> None:
    lines = TEXTS[page].splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith(("|", "  ", "    "))] == []
    cells = [cell for line in lines if line.startswith("|") for cell in re.split(r"(?<!\\)\|", line)]
    assert [cell for cell in cells if len(cell) > 302] == []
