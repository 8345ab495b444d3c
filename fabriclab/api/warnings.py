"""Warnings of plans: each sentence once; before a run, keys of Containerlab's that are not applied in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from fabriclab.lab.network.not_applied import short_line, unapplied_sentences
from fabriclab.lab.network.topology import Topology


def counted_sentences(warnings_of_plans: Sequence[Sequence[str]]) -> list[str]:
    """Return each sentence of some plans, with the number of plans where not all have it."""
    counts: dict[str, int] = {}
    for warnings in warnings_of_plans:
        for sentence in dict.fromkeys(warnings):
            counts[sentence] = counts.get(sentence, 0) + 1
    total = len(warnings_of_plans)
    return [
        f"{sentence}{'' if count == total else f' ({count} of {total} points)'}" for sentence, count in counts.items()
    ]


def sentences_before_runs(topology: Topology, warnings_of_plans: Sequence[Sequence[str]]) -> list[str]:
    """Return the same shortly: all keys of the topology file that are not applied are one sentence; `check` and the
    report have the list."""
    listed = unapplied_sentences(topology.not_applied)
    others = [[sentence for sentence in warnings if sentence not in listed] for warnings in warnings_of_plans]
    short = short_line(topology.not_applied)
    return [*([short] if short else []), *counted_sentences(others)]
