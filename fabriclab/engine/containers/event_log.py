"""The events of a run in containers, in the form of the machine's (`images/machine/README.md`, "Events")."""

from __future__ import annotations

import json
import threading
import time
from typing import TextIO

from fabriclab.engine.events import Event, EventCallback


class EventLog:
    """Writes and passes on events in the form of the machine's."""

    def __init__(self, file: TextIO, on_event: EventCallback) -> None:
        """Times count from now until the epoch is known."""
        self._file = file
        self._on_event = on_event
        self._origin_ns = time.monotonic_ns()
        self._lock = threading.Lock()

    def epoch(self, epoch_ns: int) -> None:
        """Let times count from the epoch, on the monotonic clock."""
        self.emit("epoch", clock_ns=epoch_ns)
        self._origin_ns = epoch_ns

    def emit(self, event: str, **fields: str | int) -> int:
        """Write an event and pass it on; returns its time."""
        with self._lock:
            t_ns = time.monotonic_ns() - self._origin_ns
            record = {"event": event, **fields, "t_ns": t_ns}
            self._file.write(json.dumps(record) + "\n")
            self._on_event(Event(event, t_ns, record))
        return t_ns
