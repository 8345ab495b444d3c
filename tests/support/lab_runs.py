"""Runs a point of a shipped lab as a user does: the lab's own checks are asked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.lab import Lab
from fabriclab.resolve import Resolver
from fabriclab.resolve.where_clauses import Parameters, told_of_idle_clauses

LABS = Path(__file__).parents[2] / "labs"
_ALL_CONCERN_A_POINT: set[Path] = set()
"""Shipped labs each of whose clauses was seen to concern a point."""


@dataclass(frozen=True)
class LabRun:
    """A run that has ended well: a check that fails would have failed the command."""

    directory: Path
    said: str
    """What the command wrote."""

    def metrics(self) -> dict[str, Any]:
        """Return the metrics of summary.json."""
        metrics: dict[str, Any] = json.loads((self.directory / "summary.json").read_text())["metrics"]
        return metrics

    def complete_metrics(self) -> dict[str, Any]:
        """Return the metrics; all flows are complete, and a check of the lab was there to pass."""
        assert "pass: " in self.said
        metrics = self.metrics()
        assert metrics["flows_complete"] == metrics["flows"]
        return metrics

    def flows(self) -> pl.DataFrame:
        """Return flows.parquet; the lab's own check says that all are complete."""
        assert "pass: flows_incomplete" in self.said
        return pl.read_parquet(self.directory / "flows.parquet")


def run_lab(directory: Path, lab: str, *settings: str, out: str = "run") -> LabRun:
    """Run a lab with some settings (`stop=300 ms`), each of which may be several, separated by semicolons.

    The command runs in this process, which has loaded already what each command of its own would load (a CPU second);
    the command as a process is what test_commands.py is about. Whether each clause of the lab concerns a point is asked
    once: for that all points of its matrices are planned, forty of incast's.
    """
    words = [word for text in settings for setting in text.split("; ") for word in ("--set", setting)]
    ran = directory / out
    with patch("fabriclab.api.run.told_of_idle_clauses", _told_of_idle_clauses):
        result = CliRunner().invoke(
            app, ["run", str(LABS / lab), *words, "--out", str(ran), "--force", "--no-report"], catch_exceptions=False
        )
    assert result.exit_code == 0, result.output
    return LabRun(ran, result.stdout)


def _told_of_idle_clauses(lab: Lab, resolver: Resolver, point: Parameters) -> list[str]:
    if lab.directory in _ALL_CONCERN_A_POINT:
        return []
    told = told_of_idle_clauses(lab, resolver, point)
    if not told and lab.directory.parent == LABS:
        _ALL_CONCERN_A_POINT.add(lab.directory)
    return told
