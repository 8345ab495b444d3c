"""What was sampled of switches with a shared buffer, as tables (columns: `probes/README.md`, `switches`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fabriclab.results.parquet import open_parquet

_FIELDS = {
    "ports": "switch_ports",
    "queues": "switch_queues",
    "groups": "priority_groups",
    "pools": "pools",
    "events": "congestion_events",
    "trimming": "trimming",
}
"""The table of each field below."""


@dataclass(frozen=True)
class SwitchTables:
    """The tables of a run, or of several in one (`joined`), lazy; None where nobody sampled.

    A row holds until the next of its place.
    """

    ports: pl.LazyFrame | None = None
    """Pauses and totals by `port`, hosts' ports among them."""
    queues: pl.LazyFrame | None = None
    """Length, drops by cause, marks and pauses by `port` and `queue`."""
    groups: pl.LazyFrame | None = None
    """What came in, by `port` and priority `group`: buffer and headroom in use, discards, pauses asked for."""
    pools: pl.LazyFrame | None = None
    """Memory in use by `switch` and `pool`, its index in the plan."""
    events: pl.LazyFrame | None = None
    """Congestion events, one row each: start_ns, end_ns (null: it went on), `port`, `queue`, peak_bytes, ingress."""
    trimming: pl.LazyFrame | None = None
    """What queues trimmed, by `port` and `queue`; None also where no switch trims."""

    @classmethod
    def open(cls, run_dir: Path) -> SwitchTables:
        """Open the Parquet files of a run directory. Raises ResultsError for one that is damaged."""
        return cls(**{field: open_parquet(run_dir / f"{table}.parquet") for field, table in _FIELDS.items()})

    @property
    def is_sampled(self) -> bool:
        """Return whether the run sampled any switch with a shared buffer."""
        return any(getattr(self, field) is not None for field in _FIELDS)


def joined(runs: Sequence[tuple[int, SwitchTables]]) -> SwitchTables:
    """Return the tables of runs, each with its seed, in one: with the columns `run`,
    the position among these, and `seed`."""
    tables = {}
    for field in _FIELDS:
        parts = [(number, seed, getattr(run, field)) for number, (seed, run) in enumerate(runs)]
        rows = [
            part.with_columns(pl.lit(number, pl.Int64).alias("run"), pl.lit(seed, pl.Int64).alias("seed"))
            for number, seed, part in parts
            if part is not None
        ]
        if rows:
            tables[field] = pl.concat(rows)
    return SwitchTables(**tables)
