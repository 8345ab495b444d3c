"""The lines that a plan's nodes execute for events."""

from __future__ import annotations

from fabriclab.formats.job import Change


def lines_of(event: Change) -> list[str]:
    return [f"{step['node']} {step['tool']} {line}" for step in event["steps"] for line in step["lines"]]
