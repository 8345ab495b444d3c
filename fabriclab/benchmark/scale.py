"""How large a benchmark is: as much as a laptop does in minutes, or as the draft has it."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats.plan.traffic.collective import Algorithm

_MB = 10**6
_MS = 10**6


@dataclass(frozen=True)
class Scale:
    """Sizes of messages and numbers of repetitions. The defaults are far below the draft's (1 MB to 4 GB, 100
    iterations and more); what repeats itself to the bit needs no more."""

    sizes_bytes: tuple[int, ...] = (_MB, 16 * _MB)
    """Of collective operations."""
    iterations: int = 5
    compute_ns: tuple[int, ...] = (_MS, 10 * _MS)
    """The computation of an iteration of the synthetic job."""
    job_bytes: int = 16 * _MB
    """What an iteration of the synthetic job reduces."""
    queue_pairs: tuple[int, ...] = (1, 4)
    """Of each pair of hosts in the tests of throughput and load balancing."""
    burst_bytes: int = _MB
    """What each sender of an in-cast sends."""
    most_senders: int = 32
    algorithm: Algorithm = "ring"
    """Of an all-reduce."""
    channels: int = 1
