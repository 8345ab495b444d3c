"""Who imports whom: what Python and the browser's scripts say in their sources, and the circles of such a graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

Graph = Mapping[str, Collection[str]]
_SCRIPT_IMPORT = re.compile(r'^(?:import|export)\b[^;]*?"\./([^"]+)"', re.MULTILINE)


@cache
def parsed(file: Path) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imported(file: Path) -> list[tuple[int, str]]:
    """Return the line and full name of every import, also those inside functions; a relative one begins with a dot."""
    found = []
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.lineno, f"{'.' * node.level}{node.module or ''}.{alias.name}") for alias in node.names]
    return found


def module_name(file: Path, package: Path) -> str:
    """Return what a file is imported as, without the package's own name, which is its `__init__`'s."""
    words = file.relative_to(package).with_suffix("").parts
    if len(words) > 1 and words[-1] == "__init__":
        words = words[:-1]
    return ".".join(words)


@cache
def module_graph(package: Path) -> dict[str, set[str]]:
    """Return the modules of a package that each of them imports."""
    files = {module_name(file, package): file for file in package.rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for name, file in files.items():
        inside = (full.removeprefix(f"{package.name}.") for _, full in imported(file))
        graph[name] = {target for target in (_innermost(words, files) for words in inside) if target} - {name}
    return graph


def folder_graph(package: Path, depth: int) -> dict[str, set[str]]:
    """Return the folders, of at most so many words, that each folder imports; a module in none stands for itself."""
    graph: dict[str, set[str]] = {}
    modules = module_graph(package)
    folders = {name: _folder(package, name, depth) for name in modules}
    for name, targets in modules.items():
        graph.setdefault(folders[name], set()).update({folders[target] for target in targets} - {folders[name]})
    return graph


def script_graph(folder: Path) -> dict[str, set[str]]:
    """Return the scripts of a folder that each of them imports."""
    return {
        file.name: set(_SCRIPT_IMPORT.findall(file.read_text(encoding="utf-8"))) for file in sorted(folder.glob("*.js"))
    }


def circles(graph: Graph) -> list[list[str]]:
    """Return the groups whose members all reach each other, by Tarjan's algorithm, each in the order of its names."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_names: list[str] = []
    found = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        open_names.append(name)
        for target in sorted(graph.get(name, ())):
            if target not in order:
                visit(target)
            if target in open_names:
                lowest[name] = min(lowest[name], lowest[target])
        if lowest[name] == order[name]:
            start = open_names.index(name)
            if len(open_names) - start > 1:
                found.append(sorted(open_names[start:]))
            del open_names[start:]

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return found


def _innermost(words: str, modules: Collection[str]) -> str | None:
    """Return the module that a full name is, or is a name in."""
    while words and words not in modules:
        words = words.rpartition(".")[0]
    return words or None


def _folder(package: Path, module: str, depth: int) -> str:
    words = module.split(".")
    if not (package / Path(*words)).is_dir():
        words = words[:-1] or words
    return ".".join(words[:depth])
