"""Values of the lab language, each with the table|key|field that it was taken from; and their text as YAML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

V = TypeVar("V")


class Figure(NamedTuple):
    """A value as it is written, and where it is from."""

    text: str
    origin: str


Block: TypeAlias = "Mapping[str, Figure | Block]"
"""A mapping of the lab language."""


def texts(block: Block) -> dict[str, object]:
    """Return a mapping without origins."""
    return {key: value.text if isinstance(value, Figure) else texts(value) for key, value in block.items()}


def block_lines(block: Block, indent: int) -> Iterator[str]:
    """Yield the lines of a mapping, each figure's origin as a comment."""
    for key, value in block.items():
        if isinstance(value, Figure):
            yield f"{' ' * indent}{key}: {value.text}{_comment(value.origin)}"
        else:
            yield f"{' ' * indent}{key}:"
            yield from block_lines(value, indent + 2)


def numbered_lines(blocks: Mapping[int, Block], indent: int) -> Iterator[str]:
    """Yield the lines of queues or groups, those alike in a row as one range."""
    for first, last, block in runs(blocks):
        yield f"{' ' * indent}{range_text(first, last)}:"
        yield from block_lines(block, indent + 2)


def map_text(values: Sequence[int]) -> str:
    """Return a map by index as a mapping of ranges: `{0..2: 1, 3: 3}`."""
    return (
        "{"
        + ", ".join(f"{range_text(first, last)}: {value}" for first, last, value in runs(dict(enumerate(values))))
        + "}"
    )


def runs(values: Mapping[int, V]) -> list[tuple[int, int, V]]:
    """Return first and last number of each run of neighbours with equal values."""
    found: list[tuple[int, int, V]] = []
    for number, value in sorted(values.items()):
        if found and found[-1][1] == number - 1 and found[-1][2] == value:
            found[-1] = (found[-1][0], number, value)
        else:
            found.append((number, number, value))
    return found


def range_text(first: int, last: int) -> str:
    """Return a range as the lab language writes it."""
    return str(first) if first == last else f"{first}..{last}"


def joined(words: Iterable[str]) -> str:
    """Return a list for a sentence."""
    return ", ".join(words)


def _comment(origin: str) -> str:
    """Return the origin as a comment: names of a file may hold anything, a comment is one line."""
    return f"  # {''.join(letter if letter.isprintable() else '?' for letter in origin)}" if origin else ""
