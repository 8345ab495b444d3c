"""The import directions inside `fabriclab/` (`.ci/imports.toml`), circles of modules in Python and Rust, and that only
engines start processes."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

CI = Path(__file__).parents[2] / ".ci"


@pytest.fixture(scope="module")
def imports() -> Any:
    """Return the checker that `make check` runs."""
    sys.path.insert(0, str(CI))
    try:
        return import_module("imports")
    finally:
        sys.path.remove(str(CI))


def made_up(
    imports: Any, place: Path, files: dict[str, str], allowed: dict[str, set[str]], *reasoned: list[str]
) -> Any:
    """Return the directions of a package `fabriclab` of some modules."""
    for name, text in files.items():
        file = place / "fabriclab" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return imports.Directions(place / "fabriclab", allowed, {"ground"}, {"engine"}, list(reasoned))


@pytest.mark.slow("parses every module of the package")
def test_imports_point_one_way_and_only_engines_start_processes(imports: Any) -> None:
    assert imports.findings() == []


def test_a_wrong_import_and_a_process_are_found(imports: Any, tmp_path: Path) -> None:
    bad = "import subprocess\nfrom . import x\ndef f():\n    from fabriclab.resolve import Plan\n"
    bad += "    import os\n    os.execv('a', [])\n"
    files = {"lab/bad.py": bad, "engine/fine.py": "import subprocess\n", "resolve/plan.py": "import fabriclab.ground\n"}
    allowed: dict[str, set[str]] = {"lab": set(), "engine": set(), "resolve": set(), "ground": set()}
    assert list(made_up(imports, tmp_path, {**files, "ground.py": ""}, allowed).findings()) == [
        "lab/bad.py:2: a relative import; write the full name",
        "lab/bad.py:4: lab imports resolve",
        "lab/bad.py:1: subprocess; only engines start processes",
        "lab/bad.py:6: os.execv; only engines start processes",
    ]


def test_a_part_that_is_not_named_and_leave_that_nobody_takes_are_found(imports: Any, tmp_path: Path) -> None:
    allowed: dict[str, set[str]] = {"lab": {"units"}, "units": set(), "gone": set()}
    directions = made_up(imports, tmp_path, {"lab/a.py": "", "units.py": "", "new/b.py": ""}, allowed)
    assert list(directions.findings()) == [
        "new/b.py: new is a new part of the package; imports.toml has to say what it may import",
        "imports.toml: lab may import units, and does not",
        "imports.toml: gone is not part of the package",
    ]


def test_circles_of_folders_modules_and_scripts_are_found(imports: Any, tmp_path: Path) -> None:
    files = {
        "lab/a.py": "from fabriclab.vendors.sonic import kind\n",
        "vendors/sonic/kind.py": "def f():\n    from fabriclab.lab.b import words\n",
        "lab/b.py": "from fabriclab.lab import c\n",
        "lab/c.py": "import fabriclab.lab.b\n",
        "web/one.js": 'import {\n  two,\n} from "./two.js";\n',
        "web/two.js": 'export { one } from "./one.js";\n',
    }
    allowed = {"lab": {"vendors.sonic"}, "vendors.sonic": {"lab"}}
    assert list(made_up(imports, tmp_path, files, allowed).findings()) == [
        "folders that import each other: lab, vendors",
        "folders that import each other: lab, vendors.sonic",
        "modules that import each other: lab.b, lab.c",
        "scripts that import each other, in web: one.js, two.js",
    ]


def test_a_circle_with_a_reason_may_stand_and_a_reason_without_one_not(imports: Any, tmp_path: Path) -> None:
    files = {"lab/a.py": "import fabriclab.lab.b\n", "lab/b.py": "import fabriclab.lab.a\n"}
    directions = made_up(imports, tmp_path, files, {"lab": set()}, ["lab.a", "lab.b"], ["lab.a", "lab.c"])
    assert list(directions.findings()) == ["imports.toml: no circle of lab.a, lab.c"]


def crate(place: Path, files: dict[str, str]) -> Path:
    """Write the sources of a crate."""
    for name, text in files.items():
        file = place / "src" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return place


def test_a_circle_of_rust_modules_is_found_unless_it_has_a_reason(imports: Any, tmp_path: Path) -> None:
    files = {
        "main.rs": "mod a;\nmod b;\nmod c;\nuse a::run;\nfn main() { run() }\n",
        "a.rs": "use crate::b::Thing;\npub fn run() {}\n",
        "b.rs": "pub struct Thing;\nfn f() { crate::a::run() }\n",
        "c.rs": "fn f() -> Result<(), crate::Failure> { super::main() }\n",
    }
    tool = crate(tmp_path / "tool", files)
    found = imports.Directions(tmp_path, {}, set(), set(), [], [tool])
    (tmp_path / "empty.py").write_text("")
    assert list(found.circles()) == ["modules that import each other: tool::a, tool::b"]
    reasoned = imports.Directions(tmp_path, {}, set(), set(), [["tool::a", "tool::b"]], [tool])
    assert list(reasoned.circles()) == []


def test_what_rust_modules_import(imports: Any, tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod low;\npub mod high;\nmod user;\npub use low::{Passed, parse};\nfn f() { x.parse() }\n",
        "low.rs": "mod part;\npub use part::Passed;\n#[cfg(test)]\nmod tests { use crate::high::*; }\n",
        "low/part.rs": '// crate::high::f()\npub struct Passed([u8; 2], &\'static str);\nconst A: &str = "super::x";\n',
        "high/mod.rs": "use std::{fmt, io};\nuse super::{\n    low::{self, parse as read},\n};\nmod below;\n",
        "high/below.rs": "use super::super::user;\nfn f(c: char) -> bool { c == '\"' || user::deep() }\n",
        "user.rs": "use crate::Passed;\n#[cfg(test)]\nfn g() -> [u8; 2] { crate::high::f() }\nfn h() { fmt::x() }\n",
    }
    assert sys.modules["rust_graph"].rust_graph(crate(tmp_path / "own", files)) == {
        "own": set(),
        "own::low": set(),
        "own::low::part": set(),
        "own::high": {"own::low"},
        "own::high::below": {"own::user"},
        "own::user": {"own::low::part"},
    }
