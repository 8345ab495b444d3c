"""Checks the import directions of `fabriclab/`, which `imports.toml` says; `make check` runs it.

A folder imports only what the file allows it, the graph of folders has no circle, nor has that of modules, of the
browser's scripts or of a Rust crate's modules, and only the engines start processes. Imports inside functions count;
what a registry loads by name does not. Each finding is a line.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from import_graph import circles, folder_graph, imported, module_graph, parsed, script_graph
from rust_graph import rust_graph

ROOT = Path(__file__).parents[1]
PROCESS_STARTERS = {"subprocess", "multiprocessing", "pty"}
STARTING_CALLS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"}


@dataclass(frozen=True)
class Directions:
    """A package, and what its folders may import and do."""

    package: Path
    may_import: dict[str, set[str]]
    """What each folder may import beside itself and `everywhere`. To others a package is one thing, with all the
    folders in it; these import each other by name."""
    everywhere: set[str]
    """The ground: it imports only what it is allowed, too."""
    start_processes: set[str]
    reasoned: list[list[str]] = field(default_factory=list)
    """Circles of modules that have a reason."""
    crates: list[Path] = field(default_factory=list)
    """The folders of Rust crates, whose modules may have no circles either."""

    @classmethod
    def read(cls, file: Path) -> Directions:
        """Return what a file says."""
        with file.open("rb") as stream:
            written = tomllib.load(stream)
        allowed = {part: set(names) for part, names in written["may_import"].items()}
        reasoned = [sorted(circle["modules"]) for circle in written["circle"] if circle["why"]]
        ground, starters = set(written["everywhere"]), set(written["start_processes"])
        workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
        crates = [ROOT / member for member in workspace["members"]]
        return cls(ROOT / written["package"], allowed, ground, starters, reasoned, crates)

    @cached_property
    def files(self) -> list[Path]:
        """The package's modules."""
        return sorted(self.package.rglob("*.py"))

    def part_of(self, file: Path) -> str:
        """Return the folder of a module, or the module itself where it lies in no folder."""
        return ".".join(file.relative_to(self.package).parent.parts) or file.stem

    def part_named(self, module: str) -> str:
        """Return the innermost part that a module of the package, or a name in one, belongs to; its first word where
        there is none."""
        words = module.split(".")
        outer = (".".join(words[:length]) for length in range(len(words), 0, -1))
        return next((name for name in outer if name in self.may_import), words[0])

    def parts_imported(self, file: Path) -> Iterator[tuple[int, str]]:
        """Yield the line and the part of every import from the package."""
        for line, name in imported(file):
            package, _, module = name.partition(".")
            if package == self.package.name and (part := self.part_named(module)) in self.may_import:
                yield line, part

    def wrong_imports(self, file: Path) -> Iterator[str]:
        """Yield what a module may not import."""
        part, name = self.part_of(file), file.relative_to(self.package)
        if part not in self.may_import:
            yield f"{name}: {part} is a new part of the package; imports.toml has to say what it may import"
            return
        yield from (
            f"{name}:{line}: a relative import; write the full name"
            for line, target in imported(file)
            if target.startswith(".")
        )
        for line, target in self.parts_imported(file):
            if not any(covers(part, allowed, target) for allowed in {part} | self.may_import[part] | self.everywhere):
                yield f"{name}:{line}: {part} imports {target}"

    def unused(self) -> Iterator[str]:
        """Yield what is allowed and nobody does."""
        used: dict[str, set[str]] = {}
        for file in self.files:
            used.setdefault(self.part_of(file), set()).update(part for _, part in self.parts_imported(file))
        for part, names in self.may_import.items():
            if part not in used:
                yield f"imports.toml: {part} is not part of the package"
                continue
            for allowed in sorted(names):
                if not any(covers(part, allowed, target) for target in used[part]):
                    yield f"imports.toml: {part} may import {allowed}, and does not"

    def process_starts(self, file: Path) -> Iterator[str]:
        """Yield where a module starts a process and may not."""
        if self.part_of(file) in self.start_processes:
            return
        name = file.relative_to(self.package)
        for line, module in imported(file):
            if module.split(".")[0] in PROCESS_STARTERS:
                yield f"{name}:{line}: {module}; only engines start processes"
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Call) and (call := _call_of_os(node)) and _starts(call):
                yield f"{name}:{node.lineno}: os.{call}; only engines start processes"

    def circles(self) -> Iterator[str]:
        """Yield the circles of folders, at each depth, then those of modules of Python and of Rust, then of scripts."""
        told = set()
        deepest = max(len(self.part_of(file).split(".")) for file in self.files)
        for depth in range(1, deepest + 1):
            for circle in circles(folder_graph(self.package, depth)):
                told.add(f"folders that import each other: {', '.join(circle)}")
        yield from sorted(told)
        graphs = [module_graph(self.package), *(rust_graph(crate) for crate in self.crates)]
        found = [circle for graph in graphs for circle in circles(graph)]
        yield from (f"modules that import each other: {', '.join(one)}" for one in found if one not in self.reasoned)
        yield from (f"imports.toml: no circle of {', '.join(one)}" for one in self.reasoned if one not in found)
        for folder in sorted({file.parent for file in self.package.rglob("*.js") if "node_modules" not in file.parts}):
            for circle in circles(script_graph(folder)):
                yield f"scripts that import each other, in {folder.relative_to(self.package)}: {', '.join(circle)}"

    def findings(self) -> Iterator[str]:
        """Yield all that is wrong."""
        for file in self.files:
            yield from self.wrong_imports(file)
            yield from self.process_starts(file)
        yield from self.unused()
        yield from self.circles()


def package_of(part: str) -> list[str]:
    """Return what a part is a folder of; each vendor is a package of its own."""
    words = part.split(".")
    return words[:2] if words[0] == "vendors" else words[:1]


def covers(part: str, allowed: str, target: str) -> bool:
    """Return whether the leave to import one part is the leave to import another."""
    return target == allowed or (package_of(part) != package_of(target) == [allowed])


def _call_of_os(node: ast.Call) -> str | None:
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "os":
        return function.attr
    return None


def _starts(call: str) -> bool:
    return call in STARTING_CALLS or call.startswith(("exec", "spawn"))


def findings() -> list[str]:
    """Return all that is wrong in the checkout."""
    return list(Directions.read(Path(__file__).with_suffix(".toml")).findings())


if __name__ == "__main__":
    found = findings()
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    sys.exit(bool(found))
