"""Flow completion times as a histogram: flows that are complete, by their class."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

COMPLETION = "fabriclab_flow_completion_seconds"
BOUNDS_S = (*(digit * 10.0**power for power in range(-5, 2) for digit in (1, 2, 5)), 100.0)
"""Upper bounds of the buckets: 10 us to 100 s."""
_BOUNDS_NS = tuple(round(bound * 1e9) for bound in BOUNDS_S)


class Completions:
    """How many flows of each class took how long, so far."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}
        self._sums_ns: dict[str, int] = {}

    def add(self, class_: str, fct_ns: int) -> None:
        """Take a flow that is complete."""
        counts = self._counts.setdefault(class_, [0] * (len(BOUNDS_S) + 1))
        counts[bisect_left(_BOUNDS_NS, fct_ns)] += 1
        self._sums_ns[class_] = self._sums_ns.get(class_, 0) + fct_ns

    def now(self) -> Iterator[tuple[str, list[tuple[str, int]], float]]:
        """Yield each class with its cumulative buckets by upper bound, and the sum of its times in seconds."""
        for class_, counts in self._counts.items():
            total, buckets = 0, []
            for bound, count in zip((*BOUNDS_S, None), counts, strict=True):
                total += count
                buckets.append(("+Inf" if bound is None else f"{bound:g}", total))
            yield class_, buckets, self._sums_ns[class_] / 1e9
