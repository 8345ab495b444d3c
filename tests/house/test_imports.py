"""The import directions inside `fabriclab/` (docs: the layout in the README), and that only engines start processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "fabriclab"
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "files": set(),
    "scratch": set(),
    "shipped": set(),
    "formats": set(),
    "formats.plan": {"formats.plan.traffic"},
    "formats.plan.traffic": set(),
    "qdiscs": set(),
    "traffic": set(),
    "units": set(),
    "consent": set(),
    "vendors": set(),
    "distributions": set(),
    "lab.reading": set(),
    "lab.setup": {"lab.reading"},
    "lab.network": {"lab.setup", "lab.reading", "vendors"},
    "lab.ports": {"lab.reading"},
    "lab.hosts": {"lab.ports", "lab.network", "lab.reading"},
    "lab.switch": {"lab.ports", "lab.network", "lab.reading"},
    "lab.traffic": {"lab.hosts", "lab.reading", "distributions", "traffic"},
    "lab": {"lab.traffic", "lab.switch", "lab.hosts", "lab.ports", "lab.network", "lab.reading"},
    "picture": set(),
    "theory": set(),
    "topologies": {"lab"},
    "foreign": {"lab", "vendors"},
    "resolve.switch": {"lab"},
    "resolve": {"resolve.switch", "lab"},
    "workload": {"distributions", "traffic"},
    "traffic.kinds": {"workload", "lab"},
    "importers": {"workload"},
    "language": {"lab", "distributions"},
    "compile": {"workload", "resolve", "lab"},
    "engine": set(),
    "bundles": {"engine"},
    "engine.containers": {"engine", "vendors"},
    "runs": {"engine", "compile", "lab.reading"},
    "cluster": {"runs", "engine"},
    "results": set(),
    "report.measured": {"results"},
    "report.drawing": {"report.measured", "results"},
    "report.figures": {"report.drawing", "report.measured", "results"},
    "report.tables": {"report.drawing", "report.measured", "results"},
    "report": {"report.tables", "report.figures", "report.drawing", "report.measured", "results", "picture", "bundles"},
    "comparison": {"report", "report.drawing", "report.measured", "results", "lab.reading"},
    "gallery": {"results", "lab.reading"},
    "exchange": {"engine", "results"},
    "validation": {"results", "resolve", "lab"},
    "vendors.common": {"lab"},
    "vendors.arista": set(),
    "vendors.arista.profile": {"vendors.common", "lab"},
    "vendors.arista.foreign": {"vendors", "vendors.common", "vendors.arista.profile", "lab"},
    "vendors.arista.commands": {"vendors.arista.profile", "cli.host", "lab"},
    "vendors.nokia": set(),
    "vendors.nokia.foreign": {"vendors", "vendors.common", "lab"},
    "vendors.cumulus": set(),
    "vendors.cumulus.foreign": {"vendors", "vendors.common", "lab"},
    "vendors.frr": set(),
    "vendors.frr.read": {"vendors.common", "lab"},
    "vendors.frr.lab": {"vendors.common", "vendors.frr.read", "lab"},
    "vendors.frr.foreign": {"vendors", "vendors.common", "vendors.frr.read", "lab"},
    "vendors.frr.commands": {"vendors.frr.lab", "cli.host", "resolve", "lab"},
    "vendors.sonic": {"vendors.sonic.image", "engine"},
    "vendors.sonic.image": {"engine"},
    "vendors.sonic.read": {"vendors.common", "lab"},
    "vendors.sonic.profile": {"vendors.common", "vendors.sonic.read", "lab"},
    "vendors.sonic.lab": {"vendors", "vendors.common", "vendors.sonic.read", "vendors.sonic.profile", "lab"},
    "vendors.sonic.kind": {"vendors.common", "vendors.sonic.read", "vendors.sonic.profile", "vendors.sonic.lab", "lab"},
    "vendors.sonic.foreign": {"vendors", "vendors.sonic.read"},
    "vendors.sonic.judge": {"vendors.sonic.read", "resolve.switch", "lab"},
    "vendors.sonic.oracle": {"vendors.sonic.read", "lab"},
    "vendors.sonic.daemons": set(),
    "vendors.sonic.export": {"vendors.sonic.read", "resolve", "lab"},
    "vendors.sonic.commands": {
        *("vendors.sonic.read", "vendors.sonic.lab", "vendors.sonic.judge", "vendors.sonic.export"),
        *("vendors.sonic.oracle", "vendors.sonic.daemons"),
        *("api", "cli.arguments", "cli.host", "cli.text", "engine", "resolve", "lab"),
    },
    "api": {
        *("validation", "comparison", "report", "results", "cluster", "runs", "engine", "compile", "workload"),
        *("resolve", "lab", "importers", "topologies", "foreign", "picture", "vendors", "language", "exchange"),
        "consent",
    },
    "teaching": {"api", "report"},
    "live": {"api", "runs", "engine", "compile", "resolve", "lab", "consent"},
    "cli.host": {"api", "runs", "engine", "consent"},
    "cli.arguments": {"api", "cli.host", "importers", "lab"},
    "cli.text": {"api", "resolve", "traffic", "traffic.kinds", "lab"},
    "cli.commands": {
        *("api", "cli.arguments", "cli.text", "cli.host", "validation", "comparison", "report", "results", "runs"),
        *("lab", "language", "gallery"),
    },
    "page": {"live", "engine", "picture", "bundles"},
    "cli.commands.live": {"page", "live", "api", "runs", "cli.arguments", "cli.host"},
    "cli": {"cli.commands", "cli.commands.live", "cli.arguments", "cli.host", "live", "vendors", "engine"},
    "__main__": {"cli"},
    "__init__": {"api", "consent", "exchange", "live", "engine", "lab", "results", "workload"},
}
"""What each folder may import beside itself, and EVERYWHERE. To others a package is one thing, with all the folders in
it; these import each other by name, and one way only. EVERYWHERE is the ground, which imports nothing but itself."""
EVERYWHERE = {"errors", "files", "formats", "qdiscs", "scratch", "shipped", "units"}
ENGINES = {"engine", "engine.containers", "vendors.sonic", "vendors.sonic.daemons"}
PROCESS_STARTERS = {"subprocess", "multiprocessing", "pty"}
STARTING_CALLS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"}
FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(file: Path) -> str:
    """Return the folder of a module, or the module itself where it lies in no folder."""
    folder = file.relative_to(PACKAGE).parent
    return ".".join(folder.parts) or file.stem


def part_named(module: str) -> str:
    """Return the innermost part that a module of the package, or a name in one, belongs to;
    its first word where there is none."""
    words = module.split(".")
    outer = (".".join(words[:length]) for length in range(len(words), 0, -1))
    return next((name for name in outer if name in ALLOWED), words[0])


def package_of(part: str) -> list[str]:
    """Return what a part is a folder of; each vendor is a package of its own, and `vendors` is their list alone."""
    words = part.split(".")
    return words[:2] if words[0] == "vendors" else words[:1]


def is_covered(part: str, allowed: str, target: str) -> bool:
    return target == allowed or (package_of(part) != package_of(target) == [allowed])


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
        if package != "fabriclab" or target not in ALLOWED:
            continue
        if not any(is_covered(part, allowed, target) for allowed in {part} | ALLOWED[part] | EVERYWHERE):
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
    unused = [
        f"{part}: {allowed}"
        for part, names in ALLOWED.items()
        for allowed in names
        if not any(is_covered(part, allowed, target) for target in used.get(part, set()))
    ]
    assert unused == []


def test_no_door_within_a_package_goes_both_ways() -> None:
    both = [(one, other) for one, names in ALLOWED.items() for other in names if one in ALLOWED[other]]
    assert both == []


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
        "import subprocess\ndef f():\n    from fabriclab.resolve import Plan\n    import os\n    os.execv('a', [])\n"
    )
    assert wrong_imports(bad) == ["lab/bad.py:3: lab imports resolve"]
    assert starts_processes(bad) == ["1: subprocess", "5: os.execv"]
