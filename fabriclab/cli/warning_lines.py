"""Warnings of plans for the terminal: each sentence once."""

from __future__ import annotations

from collections.abc import Sequence


def warning_lines(warnings_of_plans: Sequence[Sequence[str]]) -> list[str]:
    """Return `warning: ...` for each sentence of some plans, with the number of plans where not all have it."""
    counts: dict[str, int] = {}
    for warnings in warnings_of_plans:
        for sentence in dict.fromkeys(warnings):
            counts[sentence] = counts.get(sentence, 0) + 1
    total = len(warnings_of_plans)
    return [f"warning: {sentence}{'' if count == total else f' ({count} of {total} points)'}" for sentence, count in counts.items()]
