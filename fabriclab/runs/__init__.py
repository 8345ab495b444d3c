"""Runs: a plan becomes a run directory, a matrix of plans a sweep directory.

Formats: `fabriclab-run-1` and `fabriclab-sweep-1`.
"""

from fabriclab.runs.point import IngestError, RunContext, RunResult, run_point
from fabriclab.runs.sweep import PointState, Sweep, run_sweep

__all__ = ["IngestError", "PointState", "RunContext", "RunResult", "Sweep", "run_point", "run_sweep"]
