"""Routing's timers and paths while a lab runs: what differs between two configurations of FRR, as lines for its shell.

Words: FRR's user guide, chapters VTYSH and BGP. New timers of BGP hold for a session from its next OPEN message on
(RFC 4271, section 4.2); those of BFD, and the number of paths, at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

Placed = tuple[tuple[str, ...], str]
"""A line, and the lines that it stands below."""


def compile_frr_change(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the lines, from the top of the configuration on; texts by their files, as `compile_frr` makes them: of the
    same daemons."""
    lines: list[str] = []
    for name, text in after.items():
        old, new = list(_placed(before[name])), list(_placed(text))
        for path, line in (entry for entry in new if entry not in old):
            lines += [*path, line, *(["exit"] * len(path))]
        told = {(path, line.split()[0]) for path, line in new}
        for path, line in (entry for entry in old if entry not in new):
            if (path, line.split()[0]) not in told or line.startswith("neighbor "):
                lines += [*path, f"no {line}", *(["exit"] * len(path))]
    return lines


def _placed(text: str) -> Iterator[Placed]:
    path: list[str] = []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        words = line.strip()
        path = path[:depth]
        if not words.startswith("exit"):
            yield tuple(path), words
            path.append(words)
