"""The pause tree as lines of text: from where pauses begin to the last queue that they stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriclab.formats.pauses import Cycle, PauseTree, QueueName, Root, Stopped
from fabriclab.units import format_count, format_duration, format_size

MOST_LINES = 24
_MOST_SIBLINGS = 6
_MOST_CHANCES = 400
"""Lines that are made at most; of several ways to one queue each has a line."""


def pause_lines(tree: PauseTree, most: int = MOST_LINES) -> list[str]:
    """Return the tree, two spaces for each step away from its root; of a run without pauses nothing."""
    if tree.reason is not None:
        return [f"not known: {tree.reason}"]
    lines = [line for cycle in tree.cycles for line in cycle_lines(cycle)]
    for root in tree.roots:
        lines += [root_text(root), *_below(tree, (root.port, root.queue), 1, frozenset())]
        if len(lines) > _MOST_CHANCES:
            break
    left = len(lines) - most
    return lines if left <= 1 else [*lines[:most], f"... {left} more lines, in pauses.json"]


def queue_text(name: QueueName) -> str:
    """Return a queue in words: `t4:eth1 queue 3`."""
    return f"{name[0]} queue {name[1]}"


def root_text(root: Root) -> str:
    """Return where pauses begin, in words."""
    if root.kind == "congested":
        held = f", up to {format_size(root.peak_bytes or 0, 3)}"
        return f"{root.port} queue {root.queue} is congested{held}, and was never paused"
    return (
        f"{root.port} pauses: a host's NIC"
        if root.kind == "host"
        else f"{root.port} pauses: its switch was not sampled"
    )


def cycle_lines(cycle: Cycle) -> Iterator[str]:
    """Yield a cycle, with when it stood still."""
    names = " <- ".join(queue_text(name) for name in (*cycle.queues, cycle.queues[0]))
    if cycle.is_deadlock and cycle.from_ns is not None and cycle.to_ns is not None:
        until = "the run's end" if cycle.ended_by == "run" else "a watchdog ended it"
        lasted = format_duration(cycle.to_ns - cycle.from_ns, 3)
        times = f", the longest of {format_count(cycle.times, 'deadlock')}" if cycle.times > 1 else ""
        yield f"DEADLOCK from {format_duration(cycle.from_ns, 6)} for {lasted}, until {until}{times}: no frame moved"
    else:
        yield "cycle of pauses, which dissolved by itself: these queues wait for each other"
    yield f"  {names}"


def _below(tree: PauseTree, name: tuple[str, int | None], depth: int, above: frozenset[QueueName]) -> Iterator[str]:
    children = tree.due_to(*name)
    for child in children[:_MOST_SIBLINGS]:
        yield f"{'  ' * depth}{stopped_text(child)}"
        if child.name not in above:
            yield from _below(tree, child.name, depth + 1, above | {child.name})
    if len(children) > _MOST_SIBLINGS:
        yield f"{'  ' * depth}and {format_count(len(children) - _MOST_SIBLINGS, 'more queue')}"


def stopped_text(one: Stopped) -> str:
    """Return a queue that was stopped, in words."""
    share = f"{100 * one.share:.{0 if one.share > 0.1 else 1}f} %, {format_count(one.times, 'pause')}"
    return f"{one.by} stops {queue_text(one.name)}: {format_duration(one.paused_ns, 3)} ({share})"


def path_to(tree: PauseTree, name: QueueName) -> Sequence[Stopped]:
    """Return the queues that were stopped from a queue on back to where its pauses begin; of several ways the one of
    the fullest queues."""
    by_name = {one.name: one for one in tree.stopped}
    path: list[Stopped] = []
    while name in by_name and by_name[name] not in path:
        path.append(by_name[name])
        name = by_name[name].due_to[0].name if by_name[name].due_to else ("", 0)
    return path
