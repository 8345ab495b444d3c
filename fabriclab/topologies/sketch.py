"""A fabric in a few lines of ASCII, for the comment above a topology.

Rows are centred in columns; what is many is cut short.
"""

from __future__ import annotations

from collections.abc import Sequence

_MOST_COLUMNS = 5
_ELLIPSIS = "..."


def leaf_spine_picture(spines: int, leaves: int, hosts_per_leaf: int) -> tuple[str, ...]:
    """Return the picture of a leaf-spine fabric."""
    shown = _shown(leaves)
    ranges = [
        span("h", (leaf - 1) * hosts_per_leaf + 1, leaf * hosts_per_leaf) if leaf else _ELLIPSIS for leaf in shown
    ]
    leaf_names = [f"[leaf{leaf}]" if leaf else _ELLIPSIS for leaf in shown]
    width = max(map(len, leaf_names + ranges)) + 3
    spine_names = [f"[spine{spine}]" if spine else _ELLIPSIS for spine in _shown(spines)]
    total = width * len(shown)
    return _trimmed(
        [
            spread(spine_names, max(total, width * len(spine_names))) + "   every leaf has a link to every spine",
            _columns([_fan(spines) if leaf else "" for leaf in shown], width),
            _columns(leaf_names, width),
            _columns(["|" if leaf else "" for leaf in shown], width),
            _columns(ranges, width),
        ]
    )


def fat_tree_picture(k: int, hosts_per_edge: int) -> tuple[str, ...]:
    """Return the picture of a fat-tree: its cores and its first pod."""
    half = k // 2
    shown = _shown(half)
    aggs = [f"[agg1-{number}]" if number else _ELLIPSIS for number in shown]
    edges = [f"[edge1-{number}]" if number else _ELLIPSIS for number in shown]
    ranges = [span(f"h1-{number}-", 1, hosts_per_edge) if number else _ELLIPSIS for number in shown]
    cores = [f"[core{number}]" if number else _ELLIPSIS for number in _shown(half * half)]
    width = max(map(len, aggs + edges + ranges)) + 3
    gap = " " * 4
    pods = f"pod 1, and {k - 1} more like it" if k > 1 else "pod 1"
    return _trimmed(
        [
            spread(cores, max(width * len(shown), 10 * len(cores))),
            _columns([_fan(half) if number else "" for number in shown], width)
            + gap
            + f"aggregation switch i of every pod: {_core_rule(half)}",
            _columns(aggs, width),
            _columns([_fan(half) if number else "" for number in shown], width) + gap + pods,
            _columns(edges, width),
            _columns(["|" if number else "" for number in shown], width),
            _columns(ranges, width),
        ]
    )


def _core_rule(half: int) -> str:
    return "core i" if half == 1 else f"cores {half}(i-1)+1 to {half}i"


def star_picture(hosts: int) -> tuple[str, ...]:
    """Return the picture of a star."""
    names = [f"h{host}" if host else _ELLIPSIS for host in _shown(hosts)]
    width = max(map(len, names)) + 3
    total = width * len(names)
    return _trimmed([_columns(names, width), "\\   |   /".center(total), "[s1]".center(total)])


def dumbbell_picture(left: int, right: int) -> tuple[str, ...]:
    """Return the picture of a dumbbell."""
    middle = "[s1]=====[s2]"
    left_name, right_name = span("left", 1, left), span("right", 1, right)
    return (f"{left_name} ---{middle}--- {right_name}", " " * (len(left_name) + 8) + "the bottleneck")


def span(stem: str, first: int, last: int) -> str:
    """Return a range of names as an experiment writes it: `h1..h4`, or a single name."""
    return f"{stem}{first}" if first == last else f"{stem}{first}..{stem}{last}"


def spread(names: Sequence[str], width: int) -> str:
    """Return names spread evenly over a line."""
    column = width // len(names)
    return _columns(names, column)


def _shown(count: int) -> list[int]:
    """Return the numbers to show, 0 for those that are left out."""
    if count <= _MOST_COLUMNS:
        return list(range(1, count + 1))
    return [*range(1, _MOST_COLUMNS - 1), 0, count]


def _fan(uplinks: int) -> str:
    return {1: "|", 2: "\\ /"}.get(uplinks, "\\|/")


def _columns(cells: Sequence[str], width: int) -> str:
    return "".join(cell.center(width) for cell in cells)


def _trimmed(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines without blanks that all begin with, and without any at the end."""
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    return tuple(line[indent:].rstrip() for line in lines)
