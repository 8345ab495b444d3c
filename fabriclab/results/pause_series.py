"""The samples of one queue or priority group as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Series:
    """The samples of one queue, or of one priority group, in the order of time."""

    time_ns: Longs
    columns: Mapping[str, Longs]

    def grown(self, column: str) -> int:
        """Return how much a counter grew after time 0."""
        values = self.columns[column]
        before = values[self.time_ns <= 0]
        return int(values[-1] - (before[-1] if before.size else 0))

    def at(self, times: Longs, column: str) -> Longs:
        """Return the values that held at some times; 0 before the first sample."""
        places = np.searchsorted(self.time_ns, times, side="right") - 1
        return np.where(places >= 0, self.columns[column][np.maximum(places, 0)], 0)
