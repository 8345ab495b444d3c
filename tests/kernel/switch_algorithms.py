"""The switch's algorithms for Python: the functions of algorithms.c over lists."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

QUEUES = 8
STRICT, DWRR, WRR = range(3)
ADMIT, ADMIT_HEADROOM, REFUSE_LIMIT, REFUSE_POOL = range(4)
UNLIMITED = 2**64 - 1
CERTAIN = 2**32


def u64(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * len(values))(*values)


def u32(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * len(values))(*values)


def u8(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint8]:
    return (ctypes.c_uint8 * len(values))(*values)


def line_ends(library: ctypes.CDLL, rate_bps: int, ready: Sequence[int], sizes: Sequence[int]) -> list[int]:
    ends = u64([0] * len(ready))
    library.line_ends(ctypes.c_uint64(rate_bps), len(ready), u64(ready), u32(sizes), ends)
    return list(ends)


def bucket_starts(
    library: ctypes.CDLL, rate_bps: int, burst_bytes: int, ready: Sequence[int], sizes: Sequence[int]
) -> list[int]:
    starts = u64([0] * len(ready))
    library.bucket_starts(
        ctypes.c_uint64(rate_bps), ctypes.c_uint64(burst_bytes), len(ready), u64(ready), u32(sizes), starts
    )
    return list(starts)


def phantom_marks(
    library: ctypes.CDLL, rate_bps: int, threshold_bytes: int, times: Sequence[int], sizes: Sequence[int]
) -> list[bool]:
    marks = u8([0] * len(times))
    library.phantom_marks(
        ctypes.c_uint64(rate_bps), ctypes.c_uint64(threshold_bytes), len(times), u64(times), u32(sizes), marks
    )
    return [bool(mark) for mark in marks]


class PacerConfig(ctypes.Structure):
    """struct switch_pacer_config; eta and probability in parts of 2^32."""

    _fields_ = (
        ("bucket_bytes", ctypes.c_uint64),
        ("interval_ns", ctypes.c_uint64),
        ("idle_ns", ctypes.c_uint64),
        ("eta", ctypes.c_uint32),
        ("beta", ctypes.c_uint32),
        ("probability", ctypes.c_uint32),
    )


def paced(
    library: ctypes.CDLL, config: PacerConfig, line_bps: int, times: Sequence[int], sizes: Sequence[int], ticks: int
) -> tuple[list[int], list[int]]:
    """When frames of paced flows go, and the rate after each of `ticks` intervals."""
    starts, rates = u64([0] * len(times)), u64([0] * ticks)
    line = ctypes.c_uint64(line_bps)
    library.pacer_run(ctypes.byref(config), line, len(times), u64(times), u32(sizes), ticks, starts, rates)
    return list(starts), list(rates)


class QcnPoint(ctypes.Structure):
    """struct switch_qcn_point_config."""

    _fields_ = (("set_point", ctypes.c_uint64), ("sample_bytes", ctypes.c_uint64), ("weight", ctypes.c_uint32))


class QcnLimiter(ctypes.Structure):
    """struct switch_qcn_limiter_config."""

    _fields_ = (
        ("least_bps", ctypes.c_uint64),
        ("active_bps", ctypes.c_uint64),
        ("hyper_bps", ctypes.c_uint64),
        ("cycle_bytes", ctypes.c_uint64),
        ("cycle_ns", ctypes.c_uint64),
    )


BYTE_CYCLE, TIMER_CYCLE = 64, 65
"""What happens to a limiter beside notifications, which are 0 to 63."""


def qcn_told(
    library: ctypes.CDLL, config: QcnPoint, queue: Sequence[int], sizes: Sequence[int], random: Sequence[int]
) -> list[int | None]:
    """What each of these frames tells its source; None: it is not sampled."""
    told = (ctypes.c_int * len(queue))()
    library.qcn_point_run(ctypes.byref(config), len(queue), u64(queue), u32(sizes), u32(random), told)
    return [None if one < 0 else one for one in told]


def qcn_limited(
    library: ctypes.CDLL,
    config: QcnLimiter,
    line_bps: int,
    steps: Sequence[int],
    times: Sequence[int],
    random: Sequence[int],
) -> list[tuple[int, int, int, int]]:
    """A limiter after each step: rate, target, bytes to the end of its byte cycle, when its timer ends."""
    seen = u64([0] * 4 * len(steps))
    line = ctypes.c_uint64(line_bps)
    library.qcn_limiter_run(ctypes.byref(config), line, len(steps), u32(steps), u64(times), u32(random), seen)
    return [(seen[at], seen[at + 1], seen[at + 2], seen[at + 3]) for at in range(0, 4 * len(steps), 4)]


def wred_probability(library: ctypes.CDLL, minimum: int, maximum: int, probability: int, length: int) -> int:
    return int(library.wred_probability(*map(ctypes.c_uint64, (minimum, maximum, probability, length))))


def wred_averages(library: ctypes.CDLL, weight_log: int, lengths: Sequence[int]) -> list[int]:
    averages = u64([0] * len(lengths))
    library.wred_averages(ctypes.c_uint8(weight_log), len(lengths), u64(lengths), averages)
    return list(averages)


def schedule(
    library: ctypes.CDLL, shares: Sequence[tuple[int, int]], frames: Sequence[Sequence[int]], masks: Sequence[int]
) -> list[int | None]:
    """Serve queues with (scheduling, quantum) and lists of frame sizes for as many steps as there are masks of
    queues that may send."""
    shares = [*shares, *[(STRICT, 1)] * (QUEUES - len(shares))]
    frames = [*frames, *[()] * (QUEUES - len(frames))]
    longest = max(map(len, frames))
    sizes = [size for queue in frames for size in [*queue, *[0] * (longest - len(queue))]]
    served = (ctypes.c_int * len(masks))()
    library.schedule(
        u8([scheduling for scheduling, _ in shares]),
        u32([quantum for _, quantum in shares]),
        longest,
        (ctypes.c_int * QUEUES)(*map(len, frames)),
        u32(sizes),
        len(masks),
        u8(masks),
        served,
    )
    return [queue if queue >= 0 else None for queue in served]


@dataclass
class Buffer:
    """A pool of cells and its accounts."""

    algorithms: ctypes.CDLL
    size: int
    headroom: int = 0

    def __enter__(self) -> Buffer:
        self.handle = ctypes.c_void_p(
            self.algorithms.buffer_new(ctypes.c_uint64(self.size), ctypes.c_uint64(self.headroom))
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.algorithms.buffer_free(self.handle)

    def account(
        self, *, reserved: int = 0, alpha_log: int | None = None, limit: int = UNLIMITED, headroom: int = 0
    ) -> int:
        numbers = ctypes.c_uint64(reserved), ctypes.c_bool(alpha_log is not None), ctypes.c_int8(alpha_log or 0)
        return int(
            self.algorithms.buffer_add_account(self.handle, *numbers, ctypes.c_uint64(limit), ctypes.c_uint64(headroom))
        )

    def arrive(self, account: int, cells: int = 1) -> int:
        return int(self.algorithms.buffer_arrive(self.handle, account, ctypes.c_uint64(cells)))

    def leave(self, account: int, cells: int = 1) -> None:
        self.algorithms.buffer_leave(self.handle, account, ctypes.c_uint64(cells))

    def may_resume(self, account: int, xon: int, xon_offset: int = 0) -> bool:
        return bool(
            self.algorithms.buffer_may_resume(self.handle, account, ctypes.c_uint64(xon), ctypes.c_uint64(xon_offset))
        )

    def used(self, account: int) -> int:
        return int(self.algorithms.buffer_used(self.handle, account))

    def used_headroom(self, account: int) -> int:
        return int(self.algorithms.buffer_headroom(self.handle, account))

    def pool_shared(self) -> int:
        return int(self.algorithms.buffer_pool_shared(self.handle))

    def pool_headroom(self) -> int:
        return int(self.algorithms.buffer_pool_headroom(self.handle))

    def pool_free(self) -> int:
        return int(self.algorithms.buffer_pool_free(self.handle))
