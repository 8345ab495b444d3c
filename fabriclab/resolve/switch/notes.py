"""What was made of a profile's figures, as sentences: the same of several queues, groups or ports is said once."""

from __future__ import annotations

from collections.abc import Iterable

from fabriclab.units import format_size

_DIGITS = 4


class Notes:
    """Collects what is said of a switch, in the order in which it was said first."""

    def __init__(self) -> None:
        """Start with nothing said."""
        self._numbers: dict[tuple[str, str], list[int]] = {}

    def add(self, noun: str, number: int | None, text: str) -> None:
        """Say `text` of queue or priority group `number`, or of the one thing that `noun` names."""
        numbers = self._numbers.setdefault((noun, text), [])
        if number is not None and number not in numbers:
            numbers.append(number)

    def sentences(self) -> tuple[str, ...]:
        """Return one line for each thing that was said, of pools first."""
        pools_first = sorted(self._numbers.items(), key=lambda said: not said[0][0].startswith("pool"))
        return tuple(f"{_subject(noun, numbers)}: {text}" for (noun, text), numbers in pools_first)


def _subject(noun: str, numbers: list[int]) -> str:
    if not numbers:
        return noun
    return f"{noun}{'s' if len(numbers) > 1 else ''} {number_ranges(numbers)}"


def number_ranges(numbers: Iterable[int]) -> str:
    """Return numbers in the way the lab language writes them: `0..2, 5`."""
    return ", ".join(joined_runs(numbers, ".."))


def joined_runs(numbers: Iterable[int], to: str) -> list[str]:
    """Return numbers in order as texts, those in a row as one: its first, `to`, its last."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}{to}{run[-1]}" for run in runs]


def size(size_bytes: int) -> str:
    """Return a size exactly where that is short (a decimal unit, four digits), else rounded to four digits."""
    exact = format_size(size_bytes)
    number, unit = exact.split()
    return (
        exact if unit in ("B", "KB", "MB", "GB") and len(number) <= _DIGITS else format_size(float(size_bytes), _DIGITS)
    )


def told_apart(one: int, other: int) -> tuple[str, str]:
    """Return two different sizes as texts that differ."""
    texts = size(one), size(other)
    return texts if texts[0] != texts[1] else (f"{one} B", f"{other} B")
