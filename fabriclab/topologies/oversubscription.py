"""Oversubscription: what the hosts below a switch can send against what its uplinks carry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from fabriclab.topologies.fabric import FabricError
from fabriclab.units import format_rate

_RATIO = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?):([0-9]{1,6}(?:\.[0-9]{1,6})?)")


@dataclass(frozen=True)
class Uplinks:
    """What a switch has downwards and upwards."""

    down: int
    down_rate_bps: int
    up: int
    up_rate_bps: int

    @property
    def ratio(self) -> Fraction:
        """Return the rate of all ports downwards over that of all upwards."""
        return Fraction(self.down * self.down_rate_bps, self.up * self.up_rate_bps)

    def __str__(self) -> str:
        down, up = format_rate(self.down_rate_bps), format_rate(self.up_rate_bps)
        return f"{self.down} x {down} to {self.up} x {up} = {format_ratio(self.ratio)}"


def parse_ratio(text: str) -> Fraction:
    """Return `3:1` as 3. Raises FabricError."""
    match = _RATIO.fullmatch(text.strip())
    if match is None or not float(match[2]) or not float(match[1]):
        raise FabricError(f"--oversubscription {text!r} is not a ratio; write downwards:upwards, such as 3:1")
    return Fraction(match[1]) / Fraction(match[2])


def format_ratio(ratio: Fraction) -> str:
    """Return 3 as `3:1`, a half as `0.5:1`, a third with three digits."""
    return f"{float(ratio):.3g}:1"


def resolve_uplinks(
    down: int, down_rate_bps: int, up: int, up_rate_bps: int | None, wanted: Fraction | None, option: str
) -> Uplinks:
    """Return the uplinks of a switch: their rate as given, else as the wanted oversubscription needs it, else that of
    the links below.

    `option` is the one that gives the uplinks' rate. Raises FabricError when both are given and contradict each other,
    and when the ratio needs a rate that is not a whole number of bits per second.
    """
    if wanted is None:
        return Uplinks(down, down_rate_bps, up, down_rate_bps if up_rate_bps is None else up_rate_bps)
    needed = Fraction(down * down_rate_bps, up) / wanted
    if up_rate_bps is not None:
        uplinks = Uplinks(down, down_rate_bps, up, up_rate_bps)
        if uplinks.ratio != wanted:
            given = f"--oversubscription {format_ratio(wanted)}"
            raise FabricError(
                f"{given} contradicts {option} {format_rate(up_rate_bps)!r}: {uplinks}; remove one of the two"
            )
        return uplinks
    if needed.denominator != 1:
        raise FabricError(
            f"--oversubscription {format_ratio(wanted)} can't be reached exactly: {down} x "
            f"{format_rate(down_rate_bps)} over "
            f"{up} uplinks needs "
            f"{float(needed):.3f} bps each; choose another ratio, or give {option}"
        )
    return Uplinks(down, down_rate_bps, up, int(needed))
