"""The tables that one run's flows and those of a pool of runs have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import polars as pl

from fabriclab.results.coflows import coflow_completion_table, coflow_table
from fabriclab.results.completion import DEFAULT_BINS, Value, completion_cdf, completion_table


class FlowTables(ABC):
    """What can be said of flows, wherever they come from."""

    @property
    @abstractmethod
    def flows(self) -> pl.LazyFrame:
        """One row a flow (`fabriclab.results.flows`); a pool's rows say which run they are of."""

    def completion_table(
        self, by: Sequence[str] = ("class", "size_bin"), bins: Sequence[int] = DEFAULT_BINS, of: Value = "fct_ns"
    ) -> pl.DataFrame:
        """Return completion times or slowdowns by class and size (`fabriclab.results.completion`)."""
        return completion_table(self.flows, by=by, bins=bins, of=of)

    def completion_cdf(
        self, by: Sequence[str] = ("class",), bins: Sequence[int] = DEFAULT_BINS, of: Value = "fct_ns"
    ) -> pl.DataFrame:
        """Return distributions of completion times or slowdowns (`fabriclab.results.completion`)."""
        return completion_cdf(self.flows, by=by, bins=bins, of=of)

    def coflows(self) -> pl.DataFrame:
        """Return rounds, queries, phases of jobs and jobs, one row each (`fabriclab.results.coflows`)."""
        return coflow_table(self.flows)

    def coflow_completion_table(self, by: Sequence[str] = ("class",)) -> pl.DataFrame:
        """Return completion times of rounds, queries and phases of jobs by class (`fabriclab.results.coflows`)."""
        return coflow_completion_table(self.flows, by=by)
