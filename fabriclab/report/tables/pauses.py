"""The pause tree of a run as a table: each queue that was stopped, by whom, and what that was due to."""

from __future__ import annotations

from fabriclab.formats.pauses import PauseTree, Stopped
from fabriclab.report.drawing.exhibits import Cell, DataTable, RowGroup
from fabriclab.report.measured.quantities import format_metric, format_share
from fabriclab.results import Results
from fabriclab.results.pause_text import cycle_lines, queue_text, root_text
from fabriclab.units import format_count

_TITLE = "Pause tree"
_MOST_ROWS = 40
_MOST_CAUSES = 3
_EXPLAINED = (
    "Each row is a queue that its neighbour stopped. Due to are the queues that held the frames for which the "
    "neighbour paused, with their mean length in the samples of that time; the rows are in groups by where the pauses "
    "began. Paused and share are of the whole run, those of the figure above of the time that it shows."
)
_IN_CYCLES = "Queues that wait for each other"
_ELSEWHERE = "Paused by these"


def pause_tree_table(results: Results) -> DataTable | None:
    """Return the table; None where nothing was paused, or where pauses were not measured."""
    tree = results.pause_tree
    if not tree.stopped:
        return None
    cycles = {name for cycle in tree.cycles for name in cycle.queues}
    groups = [(_IN_CYCLES, [one for one in tree.stopped if one.name in cycles])]
    shown = set(cycles)
    for root in tree.roots:
        rows = [one for one in _all_below(tree, root.port, root.queue) if one.name not in shown]
        shown |= {one.name for one in rows}
        groups.append((f"Root: {root_text(root)}", rows))
    groups.append((_ELSEWHERE, [one for one in tree.stopped if one.name not in shown]))
    left = len(tree.stopped) - _MOST_ROWS
    row_groups, room = [], _MOST_ROWS
    for heading, rows in groups:
        if rows[:room]:
            row_groups.append(RowGroup(heading, [_row(one) for one in rows[:room]]))
            room -= len(rows[:room])
    caption = " ".join([_EXPLAINED, *_of_cycles(tree)])
    caption += f" {format_count(left, 'more queue')} are in pauses.json." if left > 0 else ""
    headings = ["Queue", "Stopped by", "Paused", "Share", "Times", "Due to"]
    return DataTable(_TITLE, caption, headings, [False, False, True, True, True, False], row_groups)


def _all_below(tree: PauseTree, port: str, queue: int | None) -> list[Stopped]:
    """Return the queues that were stopped because of a queue, directly and by others, the nearest first."""
    found = tree.due_to(port, queue)
    for one in found:
        found += [other for other in tree.due_to(*one.name) if other not in found]
    return found


def _row(one: Stopped) -> list[Cell]:
    held = [
        f"{queue_text(held.name)} ({format_metric('_bytes', held.mean_bytes, 3)})" for held in one.due_to[:_MOST_CAUSES]
    ]
    more = len(one.due_to) - _MOST_CAUSES
    due_to = ", ".join(held) + (f" and {more} more" if more > 0 else "") or "not told"
    cells = (
        queue_text(one.name),
        one.by,
        format_metric("_ns", one.paused_ns, 3),
        format_share(one.share),
        f"{one.times:,}",
        due_to,
    )
    return [Cell(text) for text in cells]


def _of_cycles(tree: PauseTree) -> list[str]:
    return [f"{first}: {names.strip()}." for first, names in (tuple(cycle_lines(cycle)) for cycle in tree.cycles)]
