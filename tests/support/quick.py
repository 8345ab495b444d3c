"""`make quick`: the tests that a change touches, in less than a minute; the core where nothing is changed.

    python tests/support/quick.py [--base COMMIT] [--list] [pytest's words]

Changed is what differs from where this branch left `main`, and on `main` what is not committed. A test is touched if it
is changed itself, if it or a helper of its own imports what is changed, or if it lies in the folder of `tests/unit`
that mirrors the folder of what is changed. Nearest tests come first. pytest leaves out those that boot the machine, and
the last ones where the costs of the last runs say that they would take too long (`--budget`, costs.py).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from repository import ROOT

BUDGET_S = 40
"""Seconds of tests; to start pytest and to collect comes on top."""
TESTS = ROOT / "tests"
CORE = (
    *("tests/house/test_house.py", "tests/house/test_imports.py", "tests/unit/test_units.py", "tests/unit/lab"),
    *("tests/unit/resolve", "tests/unit/compile", "tests/unit/formats", "tests/unit/results", "tests/errors"),
)
ALWAYS = ("tests/house/test_house.py", "tests/house/test_imports.py")
ELSEWHERE = {
    "docs/language/": ("tests/unit/language",),
    "docs/": ("tests/house/test_documents.py",),
    "labs/": ("tests/house/test_documents.py", "tests/unit/gallery", "tests/unit/resolve/test_plan.py"),
    "images/": ("tests/unit/images", "tests/house/test_deps.py", "tests/boundary/test_cache_keys.py"),
    "probes/": ("tests/unit/formats",),
    "traffic/": ("tests/unit/formats", "tests/unit/workload"),
    "tests/errors/": ("tests/errors",),
    ".ci/": ("tests/house", "tests/boundary/test_supply.py"),
    "Makefile": ("tests/house",),
    "pyproject.toml": ("tests/boundary/test_supply.py",),
}
"""Tests of what is no Python of the package, by how its path begins; documents are everywhere."""
SLOW_FOLDERS = ("vm", "kernel", "wheel", "notebooks", "docs", "fuzz", "bench", "containers")
_IMPORT = re.compile(r"^\s*(?:from ([\w.]+) import \(?([^#\n(]*)|import ([\w., ]+))", re.MULTILINE)


def git(*words: str) -> list[str]:
    """Return the lines that git says, none where it fails."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()


def changed_files(base: str | None) -> list[str]:
    """Return the paths of what differs from the base, of what is not committed, and of what git does not know yet."""
    branch = git("rev-parse", "--abbrev-ref", "HEAD")
    if base is None:
        base = "HEAD" if branch == ["main"] else next(iter(git("merge-base", "HEAD", "main")), "HEAD")
    return sorted({*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")})


@cache
def imported(file: Path) -> frozenset[str]:
    """Return the modules that a file imports, wherever in it; a name of a package may be one as well."""
    found = set()
    for module, names, modules in _IMPORT.findall(file.read_text(encoding="utf-8")):
        if module:
            found |= {module, *(f"{module}.{name.split()[0]}" for name in names.split(",") if name.strip(" \\"))}
        else:
            found |= {name.split()[0] for name in modules.split(",") if name.strip()}
    return frozenset(found)


@cache
def test_files() -> tuple[Path, ...]:
    """Return all test files but those that boot machines or build for minutes."""
    files = TESTS.rglob("test_*.py")
    return tuple(sorted(file for file in files if file.relative_to(TESTS).parts[0] not in SLOW_FOLDERS))


def importers(modules: Iterable[str]) -> list[Path]:
    """Return the test files that import one of these modules, themselves or by helpers of tests."""
    wanted = set(modules)
    helpers = {file.stem: file for file in (TESTS / "support").glob("*.py")}
    while more := {name for name, file in helpers.items() if name not in wanted and imported(file) & wanted}:
        wanted |= more
    return [file for file in test_files() if imported(file) & wanted]


def mirrored(path: Path) -> Path | None:
    """Return the folder of tests that mirrors a module of the package, or its nearest parent that has one."""
    folder = TESTS / "unit" / path.relative_to("fabriclab").parent
    while folder != TESTS / "unit":
        if folder.is_dir():
            return folder
        folder = folder.parent
    return None


def module_of(path: Path) -> str:
    """Return a module's name."""
    return ".".join((path.parent if path.name == "__init__.py" else path.with_suffix("")).parts)


def touched(changed: Iterable[str]) -> list[str]:
    """Return the files of the tests that a change touches, the nearest first."""
    tiers: tuple[list[Path], list[Path], list[Path]] = ([], [], [])
    for name in changed:
        path = Path(name)
        if path.suffix == ".py" and path.parts[0] == "fabriclab":
            tiers[0].extend(importers([module_of(path)]))
            folder = mirrored(path)
            tiers[1].extend(sorted(folder.rglob("test_*.py")) if folder else [])
            tiers[2].extend(importers([module_of(path.parent / "__init__.py")]))
        elif path.parts[0] == "tests" and path.suffix == ".py":
            is_test = path.name.startswith("test_")
            tiers[0].extend([ROOT / path] if is_test and (ROOT / path).exists() else importers([path.stem]))
        else:
            tiers[1].extend(_elsewhere(name))
    known = set(test_files())
    files = [file for tier in tiers for file in tier if file in known]
    return list(dict.fromkeys(str(file.relative_to(ROOT)) for file in files))


def _elsewhere(name: str) -> Iterator[Path]:
    for begin, places in ELSEWHERE.items():
        if name.startswith(begin) or (begin == "docs/" and name.endswith(".md")):
            for place in places:
                found = ROOT / place
                yield from sorted(found.rglob("test_*.py")) if found.is_dir() else [found]


def main(arguments: list[str]) -> int:
    """Run the tests; the status is pytest's."""
    base = arguments.pop(arguments.index("--base") + 1) if "--base" in arguments else None
    words = [word for word in arguments if word not in ("--base", "--list")]
    changed = changed_files(base)
    files = list(dict.fromkeys([*touched(changed), *ALWAYS])) if changed else list(CORE)
    print(f"{len(changed)} files changed: {len(files)} files of tests" if changed else "nothing changed: the core")
    if "--list" in arguments:
        print("\n".join(files))
        return 0
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "-m", "not vm"]
    command = [*pytest, f"--budget={BUDGET_S}", *words, *files]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
