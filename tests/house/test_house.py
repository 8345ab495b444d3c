"""House rules that no linter knows: files are short, lines fit a screen, docstrings say something, warnings stay on."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = 400
MOST_COLUMNS = 120
FOLDERS = (".ci", "fabriclab", "images", "probes", "tests", "traffic")
"""Where code is; what is built and fetched lies elsewhere."""
SUFFIXES = {".py", ".rs", ".c", ".h", ".sh"}
NARROW = {".c", ".h", ".rs"}
"""Whose columns are counted here; Python's are by ruff, and rustfmt leaves strings and comments as they are."""
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def is_shell(path: Path) -> bool:
    """Whether a file without a suffix is a shell's: all of ours are text."""
    with path.open("rb") as file:
        return re.match(rb"#!.*\b(ba)?sh\b", file.readline()) is not None


def code_files() -> Iterator[Path]:
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file())
    yield from (path for path in files if path.suffix in SUFFIXES or (not path.suffix and is_shell(path)))
    yield ROOT / "Makefile"


FILES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(code_files())}


def test_no_file_is_longer_than_one_can_keep_in_mind() -> None:
    lengths = {name: len(text.splitlines()) for name, text in FILES.items()}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_no_two_test_modules_share_a_name() -> None:
    # Without packages, pytest knows a module by its name alone: it collects only the first of two.
    names = Counter(Path(name).name for name in FILES if re.fullmatch(r"tests/(.*/)?test_\w+\.py", name))
    assert [name for name, count in names.items() if count > 1] == []


TOP = {
    # GitHub looks for CITATION.cff and action.yml there and nowhere else.
    *("README.md", "CHANGELOG.md", "CITATION.cff", "action.yml", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"),
    *("Makefile", "docker-compose.yml"),
    *("mkdocs.yml", "pyproject.toml", "Cargo.toml", "Cargo.lock", ".gitignore", ".ci", ".devcontainer", ".vscode"),
    *("analysis", "docs", "fabriclab", "images", "labs", "probes", "studies", "tests", "traffic"),
}
"""What lies at the top of the repository: a newcomer sees it first."""


def test_nothing_else_lies_at_the_top() -> None:
    command = ["git", "ls-files"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("no checkout")  # what make builds beside our files can't be told from them without git's list
    assert {name.partition("/")[0] for name in listed.stdout.splitlines()} == TOP


def test_lines_fit_a_screen() -> None:
    assert [
        f"{name}:{number}: {len(line)} columns"
        for name, text in FILES.items()
        if Path(name).suffix in NARROW
        for number, line in enumerate(text.splitlines(), 1)
        if len(line.expandtabs(8)) > MOST_COLUMNS
    ] == []


def empty_docstrings(text: str) -> list[int]:
    """Return the lines of docstrings that begin with "Of": they say whose something is, not what it is."""
    if not re.search(r"[\"']Of[ :]", text):
        return []  # Most files have no text at all that begins so, and need not be parsed.
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, DOCUMENTED)]
    return [
        node.body[0].lineno for node in nodes if (ast.get_docstring(node, clean=False) or "").startswith(("Of ", "Of:"))
    ]


def test_a_docstring_says_what_something_is() -> None:
    texts = {name: text for name, text in FILES.items() if name.endswith(".py")}
    assert [f"{name}:{line}" for name, text in texts.items() for line in empty_docstrings(text)] == []


def test_rust_says_why_a_warning_is_switched_off() -> None:
    """Each `allow` and `expect` of a lint has its reason, as its own word or as a comment in the line before."""
    allowed = re.compile(r"#!?\[(?:allow|expect)\([^\]]*\)\]")
    unexplained = []
    for name, text in FILES.items():
        lines = text.splitlines()
        for number, line in enumerate(lines):
            found = allowed.search(line) if name.endswith(".rs") else None
            if found and "reason" not in found[0] and not lines[number - 1].lstrip().startswith("//"):
                unexplained.append(f"{name}:{number + 1}: {found[0]}")
    assert unexplained == []


def test_the_rules_would_notice() -> None:
    assert empty_docstrings('"""Of the command."""\n\n\ndef f() -> None:\n    """Do it."""\n') == [1]
