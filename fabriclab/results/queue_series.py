"""The samples of one queue or priority group as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from fabriclab.formats.pauses import QueueName

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Series:
    """The samples of one queue, or of one priority group, in the order of time."""

    time_ns: Longs
    columns: Mapping[str, Longs]

    def grown(self, column: str, begin_ns: int = 0, end_ns: int | None = None) -> int:
        """Return how much a counter grew after a time and until another; None: the last sample."""
        last_ns = int(self.time_ns[-1]) if end_ns is None else end_ns
        before, after = self.at(np.array([begin_ns, max(begin_ns, last_ns)]), column)
        return int(after - before)

    def at(self, times: Longs, column: str) -> Longs:
        """Return the values that held at some times; 0 before the first sample."""
        places = np.searchsorted(self.time_ns, times, side="right") - 1
        return np.where(places >= 0, self.columns[column][np.maximum(places, 0)], 0)

    def mean(self, begin_ns: int, end_ns: int, column: str) -> float:
        """Return the mean over a time of positive length, in which each sample holds until the next."""
        inside = self.time_ns[(self.time_ns > begin_ns) & (self.time_ns < end_ns)]
        times = np.concatenate([[begin_ns], inside, [end_ns]]).astype(np.int64)
        return float((self.at(times[:-1], column) * np.diff(times)).sum() / (end_ns - begin_ns))


def queue_series(table: pl.LazyFrame | None, number: str, columns: Sequence[str]) -> dict[QueueName, Series]:
    """Return the samples of each queue, or group, of the switches' table; `number`: the column of its number."""
    if table is None:
        return {}
    rows = table.select("time_ns", "port", number, *columns).drop_nulls().sort("time_ns").collect(engine="streaming")
    parts = rows.partition_by("port", number, as_dict=True, maintain_order=True)
    return {
        (str(port), int(value)): Series(
            part["time_ns"].to_numpy().astype(np.int64),
            {name: part[name].to_numpy().astype(np.int64) for name in columns},
        )
        for (port, value), part in sorted(parts.items())
    }
