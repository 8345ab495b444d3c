"""The commit that a run's manifest names: dirty by what a run can depend on, not by what publishing writes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from fabriclab.engine.host import git_revision


def git(project: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(
        ["git", "-C", str(project), *who, *arguments], check=True, capture_output=True, text=True
    ).stdout


def checkout(project: Path) -> str:
    for name in ("labs/mine/experiment.yml", "labs/mine/README.md", "labs/mine/published/demo.csv", "labs/mine/q.svg"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("as it was\n")
    git(project, "init", "--quiet")
    git(project, "add", "-A")
    git(project, "commit", "--quiet", "-m", "first")
    return git(project, "rev-parse", "--short=12", "HEAD").strip()


def test_what_publishing_writes_leaves_the_commit_clean(tmp_path: Path) -> None:
    commit = checkout(tmp_path)
    for name in ("README.md", "published/demo.csv", "q.svg"):
        (tmp_path / "labs/mine" / name).write_text("measured again\n")
    assert git_revision(tmp_path) == commit


def test_a_changed_lab_is_dirty(tmp_path: Path) -> None:
    commit = checkout(tmp_path)
    (tmp_path / "labs/mine/experiment.yml").write_text("limit: 1 s\n")
    assert git_revision(tmp_path) == f"{commit}-dirty"


def test_no_checkout_has_no_commit(tmp_path: Path) -> None:
    assert git_revision(tmp_path) is None
