"""The import directions inside `fabriclab/` (docs: the layout in the README), and that only engines start processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "fabriclab"
ALLOWED = {
    "files": set(),
    "units": set(),
    "clock": set(),
    "where": set(),
    "distributions": {"units"},
    "lab": {"distributions", "units"},
    "generate": {"lab", "units"},
    "graph": {"units"},
    "plan": {"lab", "units"},
    "workload": {"plan", "distributions", "units"},
    "compile": {"workload", "plan", "lab", "units"},
    "engine": {"units"},
    "run": {"engine", "compile", "plan", "lab", "units"},
    "results": {"clock", "units", "where"},
    "report": {"results", "graph", "clock", "units", "where"},
    "validation": {"results", "plan", "lab", "units"},
    "cli": {
        "validation",
        "run",
        "engine",
        "compile",
        "workload",
        "plan",
        "lab",
        "generate",
        "graph",
        "results",
        "report",
        "clock",
        "units",
        "where",
    },
    "__main__": {"cli"},
    "__init__": set(),
}
EVERYWHERE = {"files"}
PROCESS_STARTERS = {"subprocess", "multiprocessing", "pty"}
STARTING_CALLS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"}
FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and full name of every import, also those inside functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: a relative import; write the full name"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def wrong_imports(file: Path) -> list[str]:
    part = part_of(file)
    wrong = []
    for line, name in imported(file):
        words = name.split(".")
        if words[0] != "fabriclab" or len(words) < 2 or words[1] not in ALLOWED:
            continue
        if words[1] != part and words[1] not in ALLOWED[part] | EVERYWHERE:
            wrong.append(f"{file.relative_to(PACKAGE)}:{line}: {part} imports {words[1]}")
    return wrong


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_one_way(file: Path) -> None:
    assert part_of(file) in ALLOWED, f"{file.name}: a new part of the package; say here what it may import"
    assert wrong_imports(file) == []


def starts_processes(file: Path) -> list[str]:
    found = [f"{line}: {name}" for line, name in imported(file) if name.split(".")[0] in PROCESS_STARTERS]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)):
            continue
        if node.func.value.id == "os" and (node.func.attr in STARTING_CALLS or node.func.attr.startswith(("exec", "spawn"))):
            found.append(f"{node.lineno}: os.{node.func.attr}")
    return found


@pytest.mark.parametrize("file", [file for file in FILES if part_of(file) != "engine"], ids=lambda file: str(file.relative_to(PACKAGE)))
def test_only_engines_start_processes(file: Path) -> None:
    assert starts_processes(file) == []


def test_the_tests_above_would_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("test_imports.PACKAGE", tmp_path)
    bad = tmp_path / "lab" / "bad.py"
    bad.parent.mkdir()
    bad.write_text("import subprocess\ndef f():\n    from fabriclab.plan import Plan\n    import os\n    os.execv('a', [])\n")
    assert wrong_imports(bad) == ["lab/bad.py:3: lab imports plan"]
    assert starts_processes(bad) == ["1: subprocess", "5: os.execv"]
