"""The pacer of HULL (NSDI 2012) in exact fractions: what the header and the machine are held against."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from switch_algorithms import PacerConfig


def exact_run(
    config: PacerConfig, line_bps: int, begin_ns: int, times: Sequence[int], sizes: Sequence[int], ticks: int
) -> tuple[list[int], list[int]]:
    """Return when frames go that come to the pacer after the first flow was taken in, at `begin_ns`, and the rate after
    each of `ticks` intervals. Tokens are fractions of bits; rates are whole, as in the header."""
    bucket = Fraction(config.bucket_bytes * 8)
    tokens, rate, filled, tick = bucket, line_bps, begin_ns, begin_ns + config.interval_ns
    starts: list[int] = []
    rates: list[int] = []
    come, arrived = 0, 0
    while len(starts) < len(times) or len(rates) < ticks:
        waiting = sum(sizes[len(starts) : come]) * 8
        ready = None
        if len(starts) < come:
            lack = min(Fraction(sizes[len(starts)] * 8), bucket) - tokens
            ready = filled + max(0, ceil(lack * 10**9 / rate))
        moments = [(tick, 0), *([] if ready is None else [(ready, 1)])]
        now, what = min([*moments, *([(times[come], 2)] if come < len(times) else [])])
        tokens = min(bucket, tokens + Fraction((now - filled) * rate, 10**9))
        filled = now
        if what == 0:
            eta = config.eta
            measured = arrived * 10**9 // config.interval_ns
            rate = rate - (rate * eta >> 32) + (measured * eta >> 32) + config.beta * waiting
            rate = min(max(rate, line_bps // 100), 10**12)
            rates.append(rate)
            arrived, tick = 0, tick + config.interval_ns
        elif what == 1:
            tokens -= sizes[len(starts)] * 8
            starts.append(now)
        else:
            arrived += sizes[come] * 8
            come += 1
    return starts, rates[:ticks]
