"""`make audit` fails for what is vulnerable, and for what it could not ask: it never takes silence for good news."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

CI = Path(__file__).parents[2] / ".ci"
WELL = {"name": "dash", "version": "1.0", "vulns": []}
VULNERABLE = {"name": "jinja2", "version": "3.1.2", "vulns": [{"id": "PYSEC-1"}, {"id": "PYSEC-2"}]}
SKIPPED = {"name": "rich", "skip_reason": "Dependency not found on PyPI and could not be audited: rich (15.0.0)"}


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(CI))
    return importlib.import_module("audit")


def python(*packages: object) -> str:
    """What pip-audit writes of packages."""
    return json.dumps({"dependencies": packages, "fixes": []})


def test_a_package_that_the_database_does_not_have_is_not_well(audit: Any) -> None:
    """pip-audit itself says "No known vulnerabilities found" of it, and ends with 0."""
    answer = audit.python_answer(python(WELL, SKIPPED))
    assert (answer.asked, answer.found) == (1, [])
    assert "1 of 2: Dependency not found on PyPI" in answer.unasked
    assert audit.status([answer]) == audit.NOT_ASKED
    assert "1 packages asked for, none known to be vulnerable; not asked: 1 of 2" in audit.told("dev.txt", answer)


def test_what_is_vulnerable_is_named_and_comes_first(audit: Any) -> None:
    answers = [audit.python_answer(python(WELL, VULNERABLE)), audit.python_answer(python(SKIPPED))]
    assert answers[0].found == ["jinja2 3.1.2: PYSEC-1, PYSEC-2"]
    assert audit.status(answers) == audit.VULNERABLE
    assert "jinja2 3.1.2" in audit.told("dev.txt", answers[0])


def test_all_asked_and_all_well_is_the_only_way_to_pass(audit: Any) -> None:
    well = audit.python_answer(python(WELL))
    assert audit.status([well]) == 0
    assert audit.status([well, audit.python_answer(python())]) == audit.NOT_ASKED, "of no package it was not asked"


def test_npm_and_cargo_are_read(audit: Any) -> None:
    counted = {"dependencies": {"total": 30}}
    found = {"esbuild": {"range": "<=0.24.2", "severity": "moderate"}}
    answer = audit.npm_answer(json.dumps({"vulnerabilities": found, "metadata": counted}))
    assert (answer.asked, answer.found, audit.status([answer])) == (
        30,
        ["esbuild <=0.24.2: moderate"],
        audit.VULNERABLE,
    )
    assert audit.status([audit.npm_answer(json.dumps({"vulnerabilities": {}, "metadata": counted}))]) == 0
    refused = audit.npm_answer(
        json.dumps({"message": "405 Method Not Allowed", "error": {"summary": "", "detail": ""}})
    )
    assert (refused.unasked, audit.status([refused])) == ("405 Method Not Allowed", audit.NOT_ASKED)
    one = {"package": {"name": "time", "version": "0.1.0"}, "advisory": {"id": "RUSTSEC-2020-0071"}}
    crates = {"lockfile": {"dependency-count": 40}, "vulnerabilities": {"found": True, "count": 1, "list": [one]}}
    assert audit.cargo_answer(json.dumps(crates)).found == ["time 0.1.0: RUSTSEC-2020-0071"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("echo 'error: could not fetch the database' >&2; exit 1", "error: could not fetch the database"),
        ("echo '{\"dependencies\": 3}'", "said nothing"),
        ("exit 0", "said nothing"),
    ],
)
def test_a_program_that_fails_has_not_answered(audit: Any, body: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "program").write_text(f"#!/bin/sh\n{body}\n")
    (tmp_path / "program").chmod(0o755)
    for reader in (audit.python_answer, audit.npm_answer, audit.cargo_answer):
        answer = audit.ask([tmp_path / "program"], reader, dict(os.environ), tmp_path)
        assert audit.status([answer]) == audit.NOT_ASKED
        assert why in answer.unasked or "dependencies" in answer.unasked
    gone = audit.ask([tmp_path / "gone"], audit.npm_answer, dict(os.environ), tmp_path)
    assert "No such file" in gone.unasked
