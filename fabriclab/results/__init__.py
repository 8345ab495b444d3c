"""What a run measured: raw logs to Parquet, summary metrics with their definitions, checks, reading runs and sweeps back."""

from __future__ import annotations

from fabriclab.results.checks import CheckResult, evaluate_checks
from fabriclab.results.formats import ResultsError
from fabriclab.results.ingest import ingest_run
from fabriclab.results.run import Results, read_run
from fabriclab.results.sweep import Sweep, SweepPoint, is_sweep, read_sweep

__all__ = [
    "CheckResult",
    "Results",
    "ResultsError",
    "Sweep",
    "SweepPoint",
    "evaluate_checks",
    "ingest_run",
    "is_sweep",
    "read_run",
    "read_sweep",
]
