"""What moved between two states of a lab's published data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fabriclab.gallery.data import Row

Verdict = Literal["same", "within", "moved", "new", "gone"]


@dataclass(frozen=True)
class Move:
    """A published number: what it was and is. `within`: it changed, and is in its old interval over seeds."""

    matrix: str
    point: str
    metric: str
    old: Row | None
    new: Row | None
    verdict: Verdict


def moves(matrix: str, old: Sequence[Row], new: Sequence[Row]) -> list[Move]:
    """Return each number of a matrix, old and new, in the order of the new data, then those that are gone."""
    before, after = _by_name(old), _by_name(new)
    names = [*after, *(name for name in before if name not in after)]
    return [
        Move(
            matrix,
            _point(name),
            name[1],
            before.get(name),
            after.get(name),
            _verdict(before.get(name), after.get(name)),
        )
        for name in names
    ]


_Name = tuple[frozenset[tuple[str, str]], str]


def _by_name(rows: Sequence[Row]) -> Mapping[_Name, Row]:
    return {(frozenset(row.settings.items()), row.metric): row for row in rows}


def _point(name: _Name) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(name[0]))


def _verdict(old: Row | None, new: Row | None) -> Verdict:
    if old is None or new is None:
        return "new" if old is None else "gone"
    if old.numbers == new.numbers:
        return "same"
    low, high, mean = old.numbers["low"], old.numbers["high"], new.numbers["mean"]
    if old.runs > 1 and None not in (low, high, mean) and low <= mean <= high:  # type: ignore[operator]
        return "within"
    return "moved"


def in_words(lab: str, found: Sequence[Move]) -> str:
    """Return what moved as a section in Markdown: how many of each kind, then each that moved beyond its interval."""
    counts = {verdict: sum(move.verdict == verdict for move in found) for verdict in ("same", "within", "moved")}
    text = [f"## {lab}", ""]
    text.append(
        f"{len(found)} numbers: {counts['same']} the same to the bit, {counts['within']} within the interval that "
        f"their seeds gave, {counts['moved']} moved (an exact number that differs at all, or one out of its interval)."
    )
    others = {verdict: sum(move.verdict == verdict for move in found) for verdict in ("new", "gone")}
    if any(others.values()):
        text.append(f"{others['new']} are new, {others['gone']} are no longer published.")
    listed = [move for move in found if move.verdict == "moved"]
    if listed:
        text += ["", "| matrix | point | metric | was | is |", "|---|---|---|---|---|"]
        text += [
            f"| {move.matrix} | {move.point} | {move.metric} | {_number(move.old)} | {_number(move.new)} |"
            for move in listed
        ]
    return "\n".join([*text, ""])


def _number(row: Row | None) -> str:
    if row is None or row.numbers["mean"] is None:
        return "none"
    low, high = row.numbers["low"], row.numbers["high"]
    spread = "" if low is None or high is None or row.runs < 2 else f" [{low:,.6g}, {high:,.6g}]"
    return f"{row.numbers['mean']:,.6g}{spread}"
