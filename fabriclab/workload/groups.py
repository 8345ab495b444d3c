"""Groups of flows and who waits for whom.

A group's name is a path: a flow of `job/shuffle/h3` belongs to `job/shuffle` and `job` too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

import polars as pl

from fabriclab.formats.trace import awaited


def parents(group: str) -> Iterator[str]:
    """Yield the groups that a group is part of, the nearest first."""
    while "/" in group:
        group = group.rpartition("/")[0]
        yield group


def unknown_groups(flows: pl.DataFrame) -> set[str]:
    """Return the groups that flows wait for, and to which no flow belongs."""
    unknown = {wait.group for after in flows["after"].drop_nulls().unique() for wait in awaited(after)} - {""}
    if not unknown:
        return unknown
    for group in flows["group"].drop_nulls().unique():
        unknown.discard(group)
        unknown.difference_update(parents(group))
    return unknown


def waiting_loop(flows: pl.DataFrame) -> list[str]:
    """Return groups each of which waits for the next, the last one the first again; empty where there is no loop.

    A group waits for what its flows wait for, and for the groups that are part of it.
    """
    waits = flows.select("group", "after").drop_nulls().unique().sort("group", "after")
    if waits.is_empty():
        return []
    graph: TopologicalSorter[str] = TopologicalSorter()
    for group, after in waits.iter_rows():
        graph.add(group, *(wait.group for wait in awaited(after) if wait.group))
    for whole, part in sorted(_parts(flows["group"].drop_nulls().unique())):
        graph.add(whole, part)
    try:
        graph.prepare()
    except CycleError as error:
        # graphlib gives the loop by predecessors: each is waited for by the next.
        return list(reversed(error.args[1]))
    return []


def _parts(groups: Iterable[str]) -> set[tuple[str, str]]:
    """Return the pairs of a group and one that is directly part of it."""
    pairs: set[tuple[str, str]] = set()
    for group in groups:
        part = group
        for whole in parents(group):
            pairs.add((whole, part))
            part = whole
    return pairs
