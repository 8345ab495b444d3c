"""`action.yml`: its steps as GitHub's runner runs them, in a repository with the six configurations of a fabric."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from patience import patient
from ruamel.yaml import YAML
from workflow_steps import Steps

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = YAML(typ="safe", pure=True).load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

GH = """#!/usr/bin/env python3
# Stands in for GitHub's own program: keeps what it was called with, and answers that there are no comments yet.
import json, sys
from pathlib import Path
with open(Path(__file__).with_name("calls"), "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
"""


def git(repository: Path, *arguments: str) -> str:
    own = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(repository), *own, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def repository(directory: Path) -> tuple[Path, str]:
    """Make a repository with a fabric in `fabric`; return it with its first commit."""
    directory.mkdir()
    git(directory, "init", "--quiet")
    (directory / "fabric").mkdir()
    for file in (ROOT / "labs" / "sonic-leaf-spine").glob("*.json"):
        shutil.copy(file, directory / "fabric")
    git(directory, "add", ".")
    git(directory, "commit", "--quiet", "--message", "A fabric")
    return directory, git(directory, "rev-parse", "HEAD")


def change(checkout: Path, how: Callable[[dict[str, Any]], None]) -> None:
    """Commit a change of one switch."""
    leaf = checkout / "fabric" / "leaf1.json"
    tables = json.loads(leaf.read_text())
    how(tables)
    leaf.write_text(json.dumps(tables, indent=2))
    git(checkout, "commit", "--quiet", "--all", "--message", "A slip")


def prepared(tmp_path: Path, checkout: Path, base: str, **inputs: str) -> Steps:
    """Return the action's steps for a pull request, with a `gh` that only writes down its calls."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "gh").write_text(GH)
    (programs / "gh").chmod(0o755)
    (tmp_path / "summary.md").write_text("")
    environment = {
        **os.environ,
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_WORKSPACE": str(checkout),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_REPOSITORY": "somebody/fabric",
    }
    context = {"github.event.pull_request.base.sha": base, "github.token": "x"}
    context["github.event.pull_request.number"] = "7"
    steps = Steps(checkout, tmp_path, environment, context)
    defaults = {name: steps.filled(str(one.get("default", ""))) for name, one in ACTION["inputs"].items()}
    steps.context |= {f"inputs.{name}": value for name, value in {**defaults, **inputs}.items()}
    return steps


def run_all(steps: Steps) -> dict[str, int | None]:
    """Run every step but the installation, for which the wheel's tests have a wheel."""
    return {name: steps.run(step, limit=patient(600)) for name, step in STEPS.items() if name != "Install"}


@pytest.mark.slow("a pull request's two sides are validated and run, as a runner does")
def test_a_pull_request_that_hides_a_rack_fails_with_a_comment(tmp_path: Path) -> None:
    checkout, base = repository(tmp_path / "repository")
    change(
        checkout,
        lambda tables: tables.update(
            ROUTE_MAP_SET={"NO": {}},
            ROUTE_MAP={"NO|10": {"route_operation": "deny"}},
            BGP_NEIGHBOR_AF={f"default|10.0.0.{last}|ipv4_unicast": {"route_map_out": ["NO"]} for last in (0, 2)},
        ),
    )
    steps = prepared(tmp_path, checkout, base, path="fabric", seeds="1")
    statuses = run_all(steps)
    assert statuses.pop("Verdict") == 1, steps.printed
    assert set(statuses.values()) == {0}, steps.printed
    summary = (tmp_path / "fabriclab" / "reports" / "summary.md").read_text()
    assert summary.splitlines()[:2] == ["<!-- fabriclab -->", "### ❌ fabriclab: check, validate, runs failed"]
    # The base's traffic is asked of both: what a host can no longer reach is missing, and not left out.
    assert "| Flows incomplete | 0 | 69 |" in summary
    assert "a time may look better because slow flows are not in it" in summary
    assert summary == (tmp_path / "summary.md").read_text()
    calls = [json.loads(line) for line in (tmp_path / "bin" / "calls").read_text().splitlines()]
    assert [call[:2] for call in calls] == [["api", "--paginate"], ["api", "--silent"]]
    assert "body=@reports/summary.md" in calls[1]
    assert sorted(path.name for path in Path(steps.context["steps.prepare.outputs.directory"]).iterdir()) == [
        *("check.sarif", "check.xml", "compare.html", "report-base.html", "report-head.html"),
        *("summary.md", "validation.xml"),
    ]
    assert git(checkout, "worktree", "list").count("\n") == 0


def test_configurations_that_contradict_each_other_are_not_run(tmp_path: Path) -> None:
    checkout, base = repository(tmp_path / "repository")
    change(checkout, lambda tables: tables["BGP_NEIGHBOR"]["default|10.0.0.0"].update(asn="64999"))
    steps = prepared(tmp_path, checkout, base, path="fabric", comment="false", seeds="0")
    assert run_all(steps)["Verdict"] == 1
    summary = (tmp_path / "fabriclab" / "reports" / "summary.md").read_text()
    assert "### ❌ fabriclab: check, import of the head failed" in summary
    assert "base:fabric/leaf1.json -> fabric/leaf1.json: 1 change" in summary
    assert "Why it was not run" in summary


def test_a_lab_without_a_base_is_checked_and_says_so(tmp_path: Path) -> None:
    checkout = tmp_path / "repository"
    checkout.mkdir()
    git(checkout, "init", "--quiet")
    shutil.copytree(ROOT / "labs" / "incast", checkout / "mine", ignore=shutil.ignore_patterns("published*"))
    steps = prepared(tmp_path, checkout, "", path="mine", seeds="0", validate="false", comment="false")
    assert run_all(steps) == {
        **dict.fromkeys(("Prepare", "Check", "Make labs", "Summarise", "Verdict"), 0),
        **dict.fromkeys(("Validate", "Compare", "Comment")),
    }
    summary = (tmp_path / "fabriclab" / "reports" / "summary.md").read_text()
    assert "### ✅ fabriclab: passed" in summary
    assert "There is nothing to compare with" in summary


def test_a_path_that_is_not_there_ends_it(tmp_path: Path) -> None:
    checkout, base = repository(tmp_path / "repository")
    steps = prepared(tmp_path, checkout, base, path="fabrik")
    statuses = run_all(steps)
    assert statuses.pop("Prepare") == 2
    assert set(statuses.values()) == {None}
    assert "::error::path: fabrik is not in this checkout" in steps.printed["Prepare"]


def test_the_page_names_every_input() -> None:
    page = (ROOT / "docs" / "pipeline.md").read_text(encoding="utf-8")
    assert [name for name in ACTION["inputs"] if f"`{name}`" not in page] == []
