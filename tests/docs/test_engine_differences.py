"""All differences between the engines are one list, docs/engine-differences.json, which docs/engines.md has as a table.

What in the code treats the engines differently is found here. Each such place belongs to a difference with words."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from repository import ROOT

PACKAGE = ROOT / "fabriclab"
DOCS = ROOT / "docs"
TABLE = re.compile(r"(<!-- differences -->\n).*?(<!-- end of differences -->)", re.DOTALL)
FLAGS = {"stock", "_stock", "has_stock_qdiscs_only", "_has_stock_qdiscs_only"}
NAMES = {"containerlab", "real"}
ENGINE = "ContainerLab"
SPEAKING = ("lab", "compile", "resolve", "other_labs", "runs", "api", "traffic_kinds", "hadoop", "vendors")
"""Folders whose sentences say what an engine does not do."""
SAYS = ("virtual machine", "containers")
NOT_ENGINES = {"compile.sampler:mark_counters", "live.records:_marks"}
"""Here `stock` is one of the kernel's qdiscs."""
SILENT = {"compile.labels", "lab.network.apart", "lab.network.netem"}
"""Modules that make a difference and name no engine in their sentences."""


@cache
def differences() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DOCS / "engine-differences.json").read_text(encoding="utf-8"))
    return found


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax of each module by its name below the package."""
    files = sorted(PACKAGE.rglob("*.py"))
    named = ((".".join(file.relative_to(PACKAGE).with_suffix("").parts), file) for file in files)
    return {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in named}


def asks_for_the_engine(test: ast.expr) -> bool:
    for node in ast.walk(test):
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        compares = any(isinstance(side, ast.Constant) and side.value in NAMES for side in sides)
        if name in {*FLAGS, ENGINE} or compares:
            return True
    return False


def conditions(function: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs
        elif isinstance(node, ast.BoolOp) or (isinstance(node, ast.Compare) and asks_for_the_engine(node)):
            yield node


def places_in_code() -> set[str]:
    """Return each function that does something else for one of the engines."""
    return {
        f"{module}:{function.name}"
        for module, tree in modules().items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(map(asks_for_the_engine, conditions(function)))
    }


def speaking_modules() -> set[str]:
    """Return each module with a sentence about an engine, docstrings aside."""
    found = set()
    for module, tree in modules().items():
        if module.partition(".")[0] in SPEAKING:
            words = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in words]
            if any(isinstance(one.value, str) and any(say in one.value for say in SAYS) for one in texts):
                found.add(module)
    return found


def test_each_place_belongs_to_a_difference_with_words() -> None:
    listed = [place for one in differences() for place in one["code"]]
    assert len(listed) == len(set(listed)), "a place belongs to one difference"
    found = (places_in_code() - NOT_ENGINES) | speaking_modules() | SILENT
    assert sorted(found - set(listed)) == [], "give it a difference in docs/engine-differences.json"
    assert sorted(set(listed) - found) == [], "remove it from docs/engine-differences.json"
    assert places_in_code() >= NOT_ENGINES and set(modules()) >= SILENT
    for one in differences():
        assert all(isinstance(one[key], str) and one[key] for key in ("name", "about", "virtual_machine", "containers"))
    names = [one["name"] for one in differences()]
    assert len(names) == len(set(names))


def test_the_page_has_the_table() -> None:
    rows = [f"| {one['about']} | {one['virtual_machine']} | {one['containers']} |" for one in differences()]
    table = "\n".join(["| what | virtual machine | containers |", "|---|---|---|", *rows])
    page = (DOCS / "engines.md").read_text(encoding="utf-8")
    right, regions = TABLE.subn(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", page)
    assert regions == 1
    if os.environ.get("FABRICLAB_ACCEPT") == "1":
        (DOCS / "engines.md").write_text(right, encoding="utf-8")
        return
    assert page == right, "FABRICLAB_ACCEPT=1 pytest tests/docs/test_engine_differences.py writes it"
