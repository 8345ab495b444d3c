"""What a run measured: raw logs to Parquet, summary metrics with their definitions, checks,
reading runs and sweeps back."""

from __future__ import annotations

from fabriclab.results.checks import CheckResult, evaluate_checks, unasked_checks
from fabriclab.results.coflows import coflow_completion_table, coflow_table
from fabriclab.results.completion import completion_cdf, completion_table
from fabriclab.results.csv_logs import ResultsError
from fabriclab.results.ingest import ingest_run
from fabriclab.results.mptcp_fallbacks import fallback_causes
from fabriclab.results.run import Results, read_run
from fabriclab.results.sweep import Pool, Sweep, SweepPoint, is_sweep, pooled, read_sweep

__all__ = [
    "CheckResult",
    "Pool",
    "Results",
    "ResultsError",
    "Sweep",
    "SweepPoint",
    "coflow_completion_table",
    "coflow_table",
    "completion_cdf",
    "completion_table",
    "evaluate_checks",
    "fallback_causes",
    "ingest_run",
    "is_sweep",
    "pooled",
    "read_run",
    "read_sweep",
    "unasked_checks",
]
