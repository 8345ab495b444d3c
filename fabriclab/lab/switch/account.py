"""What a queue or a priority group may take of the memory: pool, reserved bytes, and a limit, static or dynamic."""

from __future__ import annotations

from fractions import Fraction

from fabriclab.formats import ranges
from fabriclab.lab.reading.fraction import format_fraction, parse_fraction
from fabriclab.lab.reading.or_none import NONE
from fabriclab.lab.reading.problems import shown
from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.switch.written import WrittenAccount
from fabriclab.units import parse_size

ACCOUNT_KEYS = ("pool", "reserved", "alpha", "limit")
SMALLEST_ALPHA_LOG, LARGEST_ALPHA_LOG = ranges.ALPHA_LOG
"""SAI's dynamic_th (saibuffer.h; SONiC's sonic-buffer-profile.yang)."""
LARGEST_BYTES = 10**12
"""The largest size of a memory that may be written: far above any switch's, far below what the kernel counts in."""


def read_account(section: Section) -> WrittenAccount:
    """Return what stands in a queue's or a group's section."""
    account = WrittenAccount(
        pool=section.read("pool", f"a pool's name, or '{NONE}'", lambda text: None if text == NONE else text),
        reserved=section.size("reserved", 0, LARGEST_BYTES),
        alpha_log=section.read("alpha", "a power of two such as 1/8", parse_alpha),
        limit=read_optional_size(section, "limit"),
    )
    if account.alpha_log is not None and account.limit is not None:
        section.complain(
            "alpha", "stands beside limit; write alpha (dynamic, a share of the pool's free memory) or limit (static)"
        )
    return account


def read_optional_size(section: Section, name: str) -> Written[int | None] | None:
    """Return bytes of at least 1, or None for `none`."""
    return section.read(name, f"a size such as '64 KB', or '{NONE}'", _optional_size)


def _optional_size(text: str) -> int | None:
    if text == NONE:
        return None
    size = parse_size(text)
    if not 1 <= size <= LARGEST_BYTES:
        raise ValueError(f"{shown(text)} is out of range; write a size from 1 B to 1000 GB, or '{NONE}'")
    return size


def parse_alpha(text: str) -> int:
    """Return the binary logarithm of a dynamic threshold's factor: `1/8` is -3. Raises ValueError."""
    alpha = parse_fraction(text)
    if alpha is None:
        raise ValueError(f"{shown(text)} is no factor; write a power of two from 1/256 to 128, such as 1/8")
    if not _power(SMALLEST_ALPHA_LOG) <= alpha <= _power(LARGEST_ALPHA_LOG):
        raise ValueError(f"{shown(text)} is out of range; write a power of two from 1/256 to 128")
    below = max(log for log in range(SMALLEST_ALPHA_LOG, LARGEST_ALPHA_LOG + 1) if _power(log) <= alpha)
    if _power(below) != alpha:
        neighbours = f"{format_fraction(_power(below))} or {format_fraction(_power(below + 1))}"
        raise ValueError(f"{shown(text)} is no power of two, as switches have them; write {neighbours}")
    return below


def _power(log: int) -> Fraction:
    return Fraction(2) ** log
