"""What the switches of a report are: their profiles, and how the profiles' figures became those of the lab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriclab.report.drawing.pools import PooledRuns

MOST_NAMED = 4


@dataclass(frozen=True)
class SwitchNote:
    """Switches that are alike; `where` names them, and the points that have them where not all do."""

    title: str
    where: str
    notes: tuple[str, ...]


def switch_notes(pools: Sequence[PooledRuns]) -> list[SwitchNote]:
    """Return the kinds of switches with a shared buffer, in the order in which points and plans have
    them; none without any."""
    present = [pool for pool in pools if pool.runs]
    found: dict[tuple[str, tuple[str, ...]], dict[str, list[str]]] = {}
    for pool in present:
        for node in pool.runs[0].plan.nodes:
            if node.switch is not None:
                kind = (node.switch.title or node.switch.profile or "Pools of its own", node.switch.notes)
                found.setdefault(kind, {}).setdefault(pool.label, []).append(node.name)
    return [SwitchNote(title, _where(places, len(present)), notes) for (title, notes), places in found.items()]


def _where(places: dict[str, list[str]], all_points: int) -> str:
    names = _some(list(dict.fromkeys(name for of_point in places.values() for name in of_point)))
    return names if len(places) == all_points else f"{names}; {_some(list(places))}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
