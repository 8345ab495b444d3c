"""What a conversion of an execution trace has to be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fabriclab.errors import ArgumentError
from fabriclab.formats.trace import LARGEST_NS
from fabriclab.workload.collective_schedules import OPERATIONS

GROUP, ONE = "group", "one"


@dataclass(frozen=True)
class ChakraOptions:
    """How the computations and communications of a Chakra execution trace become flows.

    Raises ArgumentError for a value that can't be.
    """

    algorithms: Mapping[str, str] = field(default_factory=dict)
    """The algorithm of a collective, by operation (`fabriclab.workload.collective_schedules.OPERATIONS`), where it is
    not the first that is listed there."""
    chunks: int = 1
    """How many parts of each channel's data flow independently."""
    channels: int = 1
    """How many connections a pair of ranks shares the data of a collective between."""
    peak_tflops: float | None = None
    """Floating-point operations per second of a rank, in 10^12 (ASTRA-sim's `peak-perf`): for computations without a
    duration."""
    memory_gb_per_s: float | None = None
    """Bandwidth of a rank's memory in 10^9 bytes per second (ASTRA-sim's `local-mem-bw`)."""
    default_duration_ns: int | None = None
    """How long a computation takes whose duration is not known otherwise; without it such a computation is an error."""
    groups: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """The ranks of process groups by `pg_name`, beside those that the trace itself has in METADATA_NODEs."""
    dimensions: tuple[int, ...] = ()
    """The sizes of the logical dimensions that `involved_dim` speaks of, of which the first varies fastest."""
    communications: Literal["group", "one"] = "group"
    """`group`: collectives of one process group follow each other on a rank (NCCL). `one`: a rank has one collective
    or send at a time (ASTRA-sim)."""

    def __post_init__(self) -> None:
        for operation, algorithm in self.algorithms.items():
            if algorithm not in OPERATIONS.get(operation, ()):
                known = "; ".join(f"{name}: {', '.join(algorithms)}" for name, algorithms in OPERATIONS.items())
                raise ArgumentError("algorithm {0}={1}: no such; there are {2}", operation, algorithm, known)
        least = {"chunks": self.chunks, "channels": self.channels, "dimensions": min(self.dimensions, default=1)}
        for name, value in least.items():
            if value < 1:
                raise ArgumentError("{0} {1!r}: must be at least 1", name, value)
        for name, rate in (("peak_tflops", self.peak_tflops), ("memory_gb_per_s", self.memory_gb_per_s)):
            if rate is not None and not 0 < rate < float("inf"):
                raise ArgumentError("{0} {1!r}: must be more than 0", name, rate)
        if self.default_duration_ns is not None and not 0 <= self.default_duration_ns <= LARGEST_NS:
            raise ArgumentError(
                "default_duration_ns {0!r}: must be from 0 to {1}", self.default_duration_ns, LARGEST_NS
            )
