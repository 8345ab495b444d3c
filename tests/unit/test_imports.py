"""The import directions inside `fabriclab/` (docs: the layout in the README), and that only engines start processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "fabriclab"
ALLOWED = {
    "files": set(),
    "shipped": set(),
    "formats": set(),
    "units": set(),
    "clock": set(),
    "where": set(),
    "vendors": set(),
    "distributions": {"units"},
    "lab": {"vendors", "distributions", "units"},
    "generate": {"lab", "units"},
    "graph": {"units"},
    "plan": {"plan.switch", "lab", "units"},
    "plan.switch": {"lab", "units"},
    "workload": {"distributions", "units"},
    "compile": {"workload", "plan", "plan.switch", "lab", "units"},
    "engine": {"vendors"},
    "run": {"engine", "compile"},
    "results": {"clock", "units", "where"},
    "report": {"results", "graph", "clock", "units", "where"},
    "validation": {"results", "plan", "lab", "units"},
    "vendors.common": {"units"},
    "vendors.arista.profile": {"vendors.common", "lab", "units"},
    "vendors.arista.commands": {"vendors.arista.profile", "cli", "cli.host", "lab"},
    "vendors.sonic.read": {"vendors.common", "lab", "units"},
    "vendors.sonic.profile": {"vendors.common", "vendors.sonic.read", "lab", "units"},
    "vendors.sonic.lab": {"vendors", "vendors.common", "vendors.sonic.read", "vendors.sonic.profile", "lab", "units"},
    "vendors.sonic.kind": {
        "vendors.common",
        "vendors.sonic.read",
        "vendors.sonic.profile",
        "vendors.sonic.lab",
        "lab",
        "units",
    },
    "vendors.sonic.judge": {"vendors.sonic.read", "plan.switch", "lab", "units"},
    "vendors.sonic.export": {"vendors.sonic.read", "plan", "lab", "units"},
    "vendors.sonic.container": {"engine"},
    "vendors.sonic.commands": {
        *("vendors.sonic.read", "vendors.sonic.lab", "vendors.sonic.judge", "vendors.sonic.export"),
        *("cli", "cli.arguments", "cli.host", "engine", "plan", "lab", "units"),
    },
    "cli": {
        "cli.commands",
        "cli.arguments",
        "cli.host",
        "vendors",
        "engine",
        "results",
        "report",
        "run",
        "compile",
        "lab",
        "clock",
    },
    "cli.host": {"cli", "engine", "clock"},
    "cli.arguments": {"cli", "engine", "run", "lab"},
    "cli.text": {"workload", "plan", "plan.switch", "lab", "units", "where"},
    "cli.commands": {
        *(
            "cli",
            "cli.host",
            "cli.arguments",
            "cli.text",
            "vendors",
            "validation",
            "run",
            "engine",
            "compile",
            "workload",
            "plan",
            "lab",
        ),
        *("generate", "graph", "results", "report", "clock", "units"),
    },
    "__main__": {"cli"},
    "__init__": set(),
}
"""What each folder may import beside itself, and EVERYWHERE. Folders within the parts that are not named here are the part's own."""
EVERYWHERE = {"files", "formats", "shipped"}
ENGINES = {"engine", "vendors.sonic.container"}
PROCESS_STARTERS = {"subprocess", "multiprocessing", "pty"}
STARTING_CALLS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"}
FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(file: Path) -> str:
    return part_named(".".join(file.relative_to(PACKAGE).parts).removesuffix(".py"))


def part_named(module: str) -> str:
    """Return the innermost part that a module of the package, or a name in one, belongs to; its first word where there is none."""
    words = module.split(".")
    outer = (".".join(words[:length]) for length in range(len(words), 0, -1))
    return next((name for name in outer if name in ALLOWED), words[0])


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
        package, _, module = name.partition(".")
        target = part_named(module)
        if package == "fabriclab" and target in ALLOWED and target not in {part} | ALLOWED[part] | EVERYWHERE:
            wrong.append(f"{file.relative_to(PACKAGE)}:{line}: {part} imports {target}")
    return wrong


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_one_way(file: Path) -> None:
    assert part_of(file) in ALLOWED, f"{file.name}: a new part of the package; say here what it may import"
    assert wrong_imports(file) == []


def test_nobody_may_import_what_nobody_does() -> None:
    used: dict[str, set[str]] = {}
    for file in FILES:
        names = {name.removeprefix("fabriclab.") for _, name in imported(file) if name.startswith("fabriclab.")}
        used.setdefault(part_of(file), set()).update(map(part_named, names))
    assert {part: unused for part, allowed in ALLOWED.items() if (unused := allowed - used.get(part, set()))} == {}


def starts_processes(file: Path) -> list[str]:
    found = [f"{line}: {name}" for line, name in imported(file) if name.split(".")[0] in PROCESS_STARTERS]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            continue
        if node.func.value.id == "os" and (
            node.func.attr in STARTING_CALLS or node.func.attr.startswith(("exec", "spawn"))
        ):
            found.append(f"{node.lineno}: os.{node.func.attr}")
    return found


@pytest.mark.parametrize(
    "file", [file for file in FILES if part_of(file) not in ENGINES], ids=lambda file: str(file.relative_to(PACKAGE))
)
def test_only_engines_start_processes(file: Path) -> None:
    assert starts_processes(file) == []


def test_the_tests_above_would_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("test_imports.PACKAGE", tmp_path)
    bad = tmp_path / "lab" / "bad.py"
    bad.parent.mkdir()
    bad.write_text(
        "import subprocess\ndef f():\n    from fabriclab.plan import Plan\n    import os\n    os.execv('a', [])\n"
    )
    assert wrong_imports(bad) == ["lab/bad.py:3: lab imports plan"]
    assert starts_processes(bad) == ["1: subprocess", "5: os.execv"]
