"""A run's raw logs to results, with what that needs imported when a run has ended: a run must begin soon."""

from __future__ import annotations

from pathlib import Path

from fabriclab.runs import IngestError


def ingest_run_logs(directory: Path) -> None:
    """Turn a run's raw logs into results. Raises IngestError, OSError."""
    from polars.exceptions import PolarsError

    from fabriclab.results import ResultsError, ingest_run

    try:
        ingest_run(directory)
    except (ResultsError, PolarsError) as error:
        raise IngestError(str(error)) from error
