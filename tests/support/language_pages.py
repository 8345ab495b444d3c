"""The tables of docs/language, made of the language's records, and the examples that stand in its pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fabriclab.keys.mappings import Key, Keys, Kinds
from fabriclab.keys.values import Value
from fabriclab.language.document import SCHEMAS

PAGES = Path(__file__).parents[2] / "docs" / "language"
_LONGEST_CELL = 300
OF_EVERY_TRAFFIC = ("transport", "congestion_control", "dscp", "enabled")
"""Keys that have a table of their own, and stand in no kind's."""
_BLOCK = re.compile(
    r"<!-- (?P<what>keys|kinds): (?P<name>[\w-]+)(?P<chosen>(?: \w+)*) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL
)
_EXAMPLE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@cache
def mappings() -> Mapping[str, Keys | Kinds]:
    """Return every mapping of the language that has a name."""
    found: dict[str, Keys | Kinds] = {}

    def collect(value: Value[Any]) -> None:
        if isinstance(value, Keys | Kinds):
            found[value.name] = value
        for part in value.parts():
            collect(part)

    for root in SCHEMAS.values():
        found[root.name] = root
        collect(root)
    return found


def told_in(page: str) -> set[tuple[str, str]]:
    """Return the keys whose rows stand in a page, each with its mapping's name."""
    return {
        (match["name"], key.name)
        for match in _BLOCK.finditer(page)
        if match["what"] == "keys"
        for key in _chosen(match)
    }


def with_tables(page: str) -> str:
    """Return a page with every table as it is made now."""
    return _BLOCK.sub(_made, page)


def _chosen(match: re.Match[str]) -> list[Key[Any]]:
    """Return the keys that a table has: those that are named, or all but those of every kind of traffic."""
    value = mappings()[match["name"]]
    assert isinstance(value, Keys)
    by_name = {key.name: key for key in value.keys}
    if match["chosen"]:
        return [by_name[name] for name in match["chosen"].split()]
    left_out = OF_EVERY_TRAFFIC if value.name.startswith("traffic-") and value.name != "traffic-trace" else ()
    return [key for name, key in by_name.items() if name not in ("kind", *left_out)]


def _made(match: re.Match[str]) -> str:
    value = mappings()[match["name"]]
    if isinstance(value, Kinds):
        lines = ["| kind | what it is | its keys |", "|---|---|---|"]
        lines += [
            f"| {name} | {keys.keys[0].about} | {', '.join(key.name for key in keys.keys[1:])} |"
            for name, keys in value.kinds.items()
        ]
    else:
        lines = ["| key | value | default | meaning |", "|---|---|---|---|", *map(row, _chosen(match))]
    head = f"<!-- {match['what']}: {match['name']}{match['chosen']} -->"
    return f"{head}\n\n" + "\n".join(lines) + "\n\n<!-- end -->"


def row(key: Key[Any]) -> str:
    """Return a key's row of a table."""
    source = f" ({key.source})" if key.source else ""
    told = key.value.told()
    cells = (
        key.name,
        told if len(told) <= _LONGEST_CELL else f"{told[:60].rpartition(',')[0]}, and so on",
        key.holds() + source,
        key.about,
    )
    assert max(map(len, cells)) <= _LONGEST_CELL, cells
    return " | ".join(("", *(cell.replace("|", "\\|") for cell in cells), "")).strip()


def all_keys() -> set[tuple[str, str]]:
    """Return every key of the language, each with the name of its mapping, which is one for all kinds of figures."""
    same = {"switch-default": "switch", "switch-port": "switch"}
    return {
        (same.get(name, "figure" if name.startswith("figure-") else name), key.name)
        for name, value in mappings().items()
        if isinstance(value, Keys) and not name.startswith(("switch-profile", "story"))
        for key in value.keys
        if key.name != "kind" and not (name.startswith("traffic-") and key.name in OF_EVERY_TRAFFIC)
    }


def examples(page: str) -> list[str]:
    """Return the YAML that stands in a page, in its order."""
    return _EXAMPLE.findall(page)
