"""The error that a failed run raises."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabriclab.errors import FabriclabError
from fabriclab.runs.point import RunResult

if TYPE_CHECKING:
    from fabriclab.api.measured import Run

FAILED = ("failed", "crashed")
"""Ways for a run to end that leave nothing to trust.

The others (`complete`, `limit`, `interrupted` and so on) are a Run's `status`.
"""


class RunFailed(FabriclabError):  # noqa: N818 - it says what happened, as subprocess.TimeoutExpired does
    """A run failed, or its virtual machine crashed; the text says why.

    The measurements until then are in its directory.
    """

    def __init__(self, result: RunResult) -> None:
        """Take how the run ended."""
        self.result = result
        super().__init__(f"{result.directory}: {result.status}: {result.message or 'it does not say why'}")

    @property
    def directory(self) -> Path:
        """The run directory."""
        return self.result.directory

    @property
    def status(self) -> str:
        """How the run ended: `failed` or `crashed`."""
        return self.result.status

    @property
    def run(self) -> Run:
        """The failed run, with its logs and the tables that could be made. Other tables raise ResultsError."""
        from fabriclab.api.measured import Run

        return Run(self.result.directory)
