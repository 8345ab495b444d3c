"""Events: lines on the machine's standard output (`images/machine/README.md`, "Events")."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """One event. `t_ns` counts from the boot until the epoch, from the epoch after it."""

    name: str
    t_ns: int
    fields: Mapping[str, Any]

    def text(self, key: str) -> str:
        """Return a field as text; empty when it is absent."""
        value = self.fields.get(key)
        return "" if value is None else str(value)


CLOCK = "clock"
"""Tells the time of a machine that says nothing, read from outside: an event of the host's, which no file holds."""
EventCallback = Callable[[Event], None]

_END_OF_TIME_NS = 1 << 63
"""What the machine's own clock can't reach."""


def parse_event(line: str) -> Event | None:
    """Return the event that a line holds; None for a line of the kernel's, which may hold anything."""
    if not line.startswith("@"):
        return None
    try:
        fields = json.loads(line[1:])
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("event"), str):
        return None
    time_ns = fields.get("t_ns")
    return Event(fields["event"], time_ns if type(time_ns) is int and abs(time_ns) < _END_OF_TIME_NS else 0, fields)


def describe_error(event: Event) -> str:
    """Return an error event as one line: where, what was tried, what went wrong."""
    place = ":".join(part for part in (event.text("file"), event.text("line")) if part)
    where = " ".join(part for part in (event.text("phase"), event.text("node"), place) if part)
    tried = f" `{event.text('text')}`" if event.text("text") else ""
    return f"{where}:{tried} {event.text('message')}".strip()
