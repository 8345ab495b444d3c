"""Cycles among queues that wait for each other, and which of them were deadlocks.

A queue stands still from one sample to the next if it was paused for all of the time, held frames, and sent none. A
deadlock is a cycle whose queues all stood still at once, until the run ended or a watchdog intervened: nothing else
ends it, for none of them can send before another one has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fabriclab.formats.pauses import Cycle, Ended, QueueName
from fabriclab.results.queue_series import Series

Waits = Mapping[QueueName, Sequence[QueueName]]
"""By queue that is stopped: the queues that it waits for."""
_Interval = tuple[int, int]


def find_cycles(waits: Waits, queues: Mapping[QueueName, Series]) -> tuple[Cycle, ...]:
    """Return the cycles among queues that wait: deadlocks first, of other knots a shortest cycle each."""
    last_ns = max((int(one.time_ns[-1]) for one in queues.values()), default=0)
    standing = {name: _standing(queues[name]) for name in waits if name in queues}
    stuck = {name for name, intervals in standing.items() if _ended(name, intervals, queues, last_ns)}
    found = [_judged(cycle, standing, queues, last_ns) for cycle in _cycles(_within(waits, stuck))]
    deadlocks = [cycle for cycle in found if cycle.is_deadlock]
    among = {name for cycle in deadlocks for name in cycle.queues}
    others = [cycle for cycle in _cycles(waits) if not among & set(cycle)]
    return (*deadlocks, *(_judged(cycle, standing, queues, last_ns) for cycle in others))


def _within(waits: Waits, names: set[QueueName]) -> Waits:
    return {name: [one for one in those if one in names] for name, those in waits.items() if name in names}


def _standing(series: Series) -> list[_Interval]:
    """Return the intervals in which a queue stood still, neighbouring ones in one."""
    times, columns = series.time_ns, series.columns
    still = (np.diff(columns["paused_ns"]) >= np.diff(times)) & (np.diff(columns["sent_bytes"]) == 0)
    still &= (columns["bytes"][:-1] > 0) & (columns["bytes"][1:] > 0)
    intervals: list[_Interval] = []
    for place in np.flatnonzero(still):
        begin, end = int(times[place]), int(times[place + 1])
        if intervals and intervals[-1][1] == begin:
            intervals[-1] = (intervals[-1][0], end)
        else:
            intervals.append((begin, end))
    return intervals


def _ended(
    name: QueueName, intervals: Sequence[_Interval], queues: Mapping[QueueName, Series], last_ns: int
) -> list[tuple[_Interval, Ended]]:
    """Return the intervals of a queue that only the run's end or its watchdog ended."""
    series = queues[name]
    acted = series.time_ns[np.flatnonzero(np.diff(series.columns["storms"]) > 0) + 1]
    found: list[tuple[_Interval, Ended]] = []
    for begin, end in intervals:
        later = series.time_ns[series.time_ns > end]
        following = int(later[0]) if later.size else end
        if end >= last_ns:
            found.append(((begin, end), "run"))
        elif np.any((acted >= end) & (acted <= following)):
            found.append(((begin, end), "watchdog"))
    return found


def _judged(
    cycle: tuple[QueueName, ...],
    standing: Mapping[QueueName, Sequence[_Interval]],
    queues: Mapping[QueueName, Series],
    last_ns: int,
) -> Cycle:
    """Return a cycle with when all its queues stood still, the longest of the times where there are several."""
    common = list(standing.get(cycle[0], ()))
    for name in cycle[1:]:
        common = list(_overlaps(common, standing.get(name, ())))
    if not common:
        return Cycle(cycle, is_deadlock=False)
    endings: dict[int, Ended] = {
        interval[1]: how for name in cycle for interval, how in _ended(name, standing[name], queues, last_ns)
    }
    deadlocks = [interval for interval in common if interval[1] in endings]
    begin, end = max(deadlocks or common, key=lambda interval: interval[1] - interval[0])
    ended = endings.get(end) if deadlocks else None
    stood_ns = sum(until - since for since, until in deadlocks)
    return Cycle(cycle, bool(deadlocks), begin, end, ended, len(deadlocks), stood_ns)


def _overlaps(some: Sequence[_Interval], others: Sequence[_Interval]) -> Iterator[_Interval]:
    place = 0
    for begin, end in some:
        while place < len(others) and others[place][1] <= begin:
            place += 1
        for other in others[place:]:
            if other[0] >= end:
                break
            yield max(begin, other[0]), min(end, other[1])


def _cycles(waits: Waits) -> Iterator[tuple[QueueName, ...]]:
    """Yield cycles that have no queue in common, the shortest through each queue that is on none yet."""
    taken: set[QueueName] = set()
    for start in sorted(waits):
        cycle = None if start in taken else _shortest(waits, start, taken)
        if cycle is not None:
            taken |= set(cycle)
            yield cycle


def _shortest(waits: Waits, start: QueueName, taken: set[QueueName]) -> tuple[QueueName, ...] | None:
    before: dict[QueueName, QueueName] = {}
    frontier = [start]
    while frontier:
        following = []
        for name in frontier:
            for one in waits.get(name, ()):
                if one == start:
                    path = [name]
                    while path[-1] != start:
                        path.append(before[path[-1]])
                    return tuple(reversed(path))
                if one not in before and one not in taken and one in waits:
                    before[one] = name
                    following.append(one)
        frontier = following
    return None
