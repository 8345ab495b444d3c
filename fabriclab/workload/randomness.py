"""Random numbers that are the same on every machine to the last bit, and independent of each other.

A stream is named: seed, traffic, host and purpose, hashed by BLAKE2b (RFC 7693) into the key of a counter-based
generator (Philox4x64-10; J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011). So another traffic
or another host changes no draw. Only its raw words are used: numpy keeps them as they are, but not what its
distributions make of them. Everything after is +, -, x, / and powers of two, each rounded as IEEE 754 says; no
logarithm of the C library, which differs between machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
T = TypeVar("T")

_LN2_HIGH = 6.93147180369123816490e-01
"""ln 2 with its last bits zero, so that its product with an exponent is exact;
the rest is `_LN2_LOW` (FreeBSD, msun/src/e_log.c)."""
_LN2_LOW = 1.90821492927058770002e-10
_SQRT_HALF = 0.7071067811865476
_SERIES_TERMS = 12
"""s is at most 0.1716 in `natural_logarithm`, so the first term left out is below 1e-19 of the sum."""


class Stream:
    """An endless sequence of random 64-bit words; each draw takes the next ones."""

    def __init__(self, seed: int, *name: str) -> None:
        text = "\0".join((str(seed), *name))
        digest = hashlib.blake2b(text.encode(), digest_size=16, person=b"fabriclab-flows").digest()
        self._generator = np.random.Philox(key=int.from_bytes(digest, "little"))

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` uniform 64-bit words."""
        return self._generator.random_raw(count)

    def uniforms(self, count: int) -> Floats:
        """Return `count` uniform draws of [0, 1), multiples of 2^-53."""
        return (self.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, bound: int, count: int) -> Integers:
        """Return `count` uniform whole numbers from 0 to `bound` - 1; `bound` is at most 2^53."""
        # The product is less than the bound also when rounded: the largest draw is 1 - 2^-53.
        return np.floor(self.uniforms(count) * float(bound)).astype(np.int64)

    def exponentials(self, mean: float, count: int) -> Floats:
        """Return `count` exponential draws of that mean."""
        return natural_logarithm(1.0 - self.uniforms(count)) * -mean

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in a random order, all orders equally likely."""
        return [items[index] for index in np.argsort(self.words(len(items)), kind="stable")]


def natural_logarithm(values: Floats) -> Floats:
    """Return ln of positive values, to 1e-15 of the result.

    x = m 2^e with m between sqrt(1/2) and sqrt(2); ln m = 2 artanh(s) = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1) /
    (m + 1).
    """
    mantissa, exponent = np.frexp(values)
    small = mantissa < _SQRT_HALF
    mantissa = np.where(small, mantissa * 2.0, mantissa)
    power = np.where(small, exponent - 1, exponent).astype(np.float64)
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    series = np.full_like(square, 1.0 / (2 * _SERIES_TERMS + 1))
    for term in range(_SERIES_TERMS - 1, 0, -1):
        series = series * square + 1.0 / (2 * term + 1)
    # ln m = 2 s + 2 s^3 (1/3 + ...): the small part is added to the small part of e ln 2 before the large ones.
    rest = power * _LN2_LOW + 2.0 * ratio * square * series
    return power * _LN2_HIGH + (2.0 * ratio + rest)


def rounded(values: Floats) -> Integers:
    """Return the nearest whole numbers of values that are not negative, halves up."""
    return np.floor(values + 0.5).astype(np.int64)
