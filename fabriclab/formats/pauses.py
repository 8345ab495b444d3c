"""Who pauses whom in a run, `pauses.json`: queues that were stopped, by whom, and what that was due to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

PAUSES_FORMAT = "fabriclab-pauses-1"

QueueName = tuple[str, int]
"""A port (`node:interface`) and its queue."""
Ended = Literal["run", "watchdog"]
"""What ended a deadlock: the run itself, or a watchdog."""


@dataclass(frozen=True)
class Held:
    """A queue that held frames while its switch paused a neighbour for them."""

    port: str
    queue: int
    mean_bytes: int
    """Its mean length during those pauses."""

    @property
    def name(self) -> QueueName:
        """The port and the queue."""
        return self.port, self.queue


@dataclass(frozen=True)
class Stopped:
    """A queue that its neighbour's port stopped."""

    port: str
    queue: int
    by: str
    """The port at the other end, which sent the pauses."""
    times: int
    """How often it was stopped."""
    paused_ns: int
    share: float
    """The part of the sampled time in which it was stopped."""
    due_to: tuple[Held, ...]
    """Queues of the pausing switch that held what had come in there, the fullest first; empty: a host paused, or
    nobody sampled that switch."""

    @property
    def name(self) -> QueueName:
        """The port and the queue."""
        return self.port, self.queue


@dataclass(frozen=True)
class Root:
    """Where pauses begin: a queue that is congested and was never stopped itself, or a port that says nothing of its
    reasons."""

    port: str
    queue: int | None
    """None: the port's node gives no reason."""
    kind: Literal["congested", "host", "not sampled"]
    peak_bytes: int | None


@dataclass(frozen=True)
class Cycle:
    """Queues of which each waits for the next one, and the last one for the first."""

    queues: tuple[QueueName, ...]
    is_deadlock: bool
    """Whether all of them stood still at once, and no frame left until the run or a watchdog ended it."""
    from_ns: int | None = None
    """When the last of them came to a stop; None: they never stood still all at once."""
    to_ns: int | None = None
    ended_by: Ended | None = None
    times: int = 0
    """How many deadlocks of these queues there were, one after the other."""
    stood_ns: int = 0
    """How long they lasted together."""


@dataclass(frozen=True)
class PauseTree:
    """Who paused whom, back to where it began."""

    reason: str | None
    """Why it is not known; None: it is."""
    stopped: tuple[Stopped, ...] = ()
    """Those stopped longest first."""
    roots: tuple[Root, ...] = ()
    cycles: tuple[Cycle, ...] = ()

    @property
    def deadlocks(self) -> tuple[Cycle, ...]:
        """The cycles that were a deadlock."""
        return tuple(cycle for cycle in self.cycles if cycle.is_deadlock)

    def due_to(self, port: str, queue: int | None) -> list[Stopped]:
        """Return the queues that were stopped because of a queue; of a port without one: by that port."""
        if queue is None:
            return [one for one in self.stopped if one.by == port]
        return [one for one in self.stopped if (port, queue) in {held.name for held in one.due_to}]

    def document(self) -> dict[str, Any]:
        """Return what `pauses.json` has."""
        record: dict[str, Any] = {"format": PAUSES_FORMAT, "reason": self.reason}
        lists = ("stopped", "roots", "cycles")
        return record | {name: _records(getattr(self, name)) if self.reason is None else None for name in lists}


def _records(items: tuple[Any, ...]) -> list[dict[str, Any]]:
    records = [asdict(item) for item in items]
    for record in records:
        if "queues" in record:
            record["queues"] = [{"port": port, "queue": queue} for port, queue in record["queues"]]
    return records
