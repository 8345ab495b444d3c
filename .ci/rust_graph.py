"""Which module of a Rust crate imports which, read from its sources by regular expressions.

A module imports another by a `use`, or by a path in its code: `crate::a::b`, `super::b`, or `a::b` where `a` is a child
or a name that a `use` brought. A name that a module passes on counts for the module that declares it. A module does not
import its child by `mod` or `pub use` alone. Code behind `#[cfg(test)]` does not count.

Five things are not seen: a glob's names (`use a::*` imports `a` alone), what a macro writes, methods that a child adds
to its parent's type, files that `#[path]` names, and a second root file (`lib.rs` beside `main.rs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Words = tuple[str, ...]

_COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\bb?r(?P<hashes>#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\[^\n']+|\\'|[^'\\\n])'""",
    re.DOTALL,
)
_TEST = re.compile(r"#\[cfg\(test\)\]")
_USE = re.compile(r"(?P<visible>\bpub(?:\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]+);")
_CHILD = re.compile(r"\bmod\s+(\w+)\s*;")
_PATH = re.compile(r"(?<![\w:])\w+(?:\s*::\s*\w+)+")


@dataclass(frozen=True)
class _Use:
    path: Words
    name: str
    """What the path is called here; a glob has none."""
    is_passed_on: bool


@dataclass
class _Module:
    name: Words
    children: list[str]
    uses: list[_Use]
    code: str
    """All but uses and `mod`, without comments, literals and tests."""
    brought: dict[str, Words] = field(init=False)

    def __post_init__(self) -> None:
        self.brought = {use.name: use.path for use in self.uses if use.name}

    def absolute(self, path: Words) -> Words | None:
        """Return a path from the crate's root; nothing where it leads to another crate."""
        first, rest = path[0], path[1:]
        if first == "crate":
            return rest
        if first == "self":
            return self.name + rest
        if first == "super":
            above = self.name[:-1]
            while rest[:1] == ("super",):
                above, rest = above[:-1], rest[1:]
            return above + rest
        return self.name + path if first in self.children else None

    def only_passes_on(self, use: _Use) -> bool:
        """Return whether a name of a child is not used here. A method of the same name is another thing."""
        target = self.absolute(use.path)
        if not use.is_passed_on or target is None or target[: len(self.name)] != self.name:
            return False
        return not (use.name and re.search(rf"(?<![\w.]){use.name}\b", self.code))

    def imported(self) -> Iterator[Words]:
        """Yield the paths that it imports, as they are written."""
        for use in self.uses:
            if not self.only_passes_on(use):
                yield use.path
        for written in _PATH.findall(self.code):
            first, *rest = _words(written)
            yield (*self.brought.get(first, (first,)), *rest)


def rust_graph(crate: Path) -> dict[str, set[str]]:
    """Return the modules that each module of a crate imports; names begin with that of the crate's folder."""
    root = next(root for name in ("main", "lib") if (root := crate / "src" / f"{name}.rs").is_file())
    modules = {module.name: module for module in _modules(root, ())}

    def text(name: Words) -> str:
        return "::".join((crate.name, *name))

    graph = {}
    for name, module in modules.items():
        owners = (_owner(modules, module.absolute(path)) for path in module.imported())
        graph[text(name)] = {text(owner) for owner in owners if owner is not None and owner != name}
    return graph


def _modules(file: Path, name: Words) -> Iterator[_Module]:
    """Yield a module, then those in it."""
    code = _without_tests(_COMMENT_OR_LITERAL.sub(_blank, file.read_text(encoding="utf-8")))
    children = _CHILD.findall(code)
    uses = [
        _Use(path, called, bool(found["visible"]))
        for found in _USE.finditer(code)
        for path, called in _branches(found["tree"], ())
    ]
    yield _Module(name, children, uses, _CHILD.sub("", _USE.sub("", code)))
    folder = file.parent if file.stem in ("main", "lib", "mod") else file.with_suffix("")
    for child in children:
        alone = folder / f"{child}.rs"
        yield from _modules(alone if alone.is_file() else folder / child / "mod.rs", (*name, child))


def _blank(found: re.Match[str]) -> str:
    return " " if found[0].startswith("/") else '""'


def _without_tests(code: str) -> str:
    """Return code without what only tests have: each such item ends at a semicolon, or with its braces."""
    while found := _TEST.search(code):
        end, depth, last = found.end(), 0, ""
        while end < len(code) and not (depth == 0 and last in ("}", ";")):
            last = code[end]
            depth += (last in "([{") - (last in ")]}")
            end += 1
        code = code[: found.start()] + code[end:]
    return code


def _branches(tree: str, before: Words) -> Iterator[tuple[Words, str]]:
    """Yield each path of a `use`, and what it is called."""
    head, brace, rest = tree.partition("{")
    if brace:
        for branch in _split(rest.rpartition("}")[0]):
            yield from _branches(branch, (*before, *_words(head)))
        return
    written, _, called = tree.partition(" as ")
    words = (*before, *_words(written))
    if words[-1] == "*":
        yield words[:-1], ""
    elif words[-1] == "self" and len(words) > 1:
        yield words[:-1], called.strip() or words[-2]
    else:
        yield words, called.strip() or words[-1]


def _split(text: str) -> Iterator[str]:
    """Yield what stands between the commas that are in no braces."""
    depth, branch = 0, ""
    for letter in f"{text},":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if branch.strip():
                yield branch
            branch = ""
        else:
            branch += letter


def _words(path: str) -> list[str]:
    return [word for part in path.split("::") if (word := part.strip())]


def _owner(modules: dict[Words, _Module], path: Words | None) -> Words | None:
    """Return the module that declares what a path names; it follows the modules that pass the name on."""
    followed = set()
    while path is not None and path not in followed:
        followed.add(path)
        length = next(length for length in range(len(path), -1, -1) if path[:length] in modules)
        module, rest = modules[path[:length]], path[length:]
        further = module.absolute(module.brought[rest[0]]) if rest and rest[0] in module.brought else None
        if further is None:
            return module.name
        path = further + rest[1:]
    return None
