"""When communications start: by the ends of earlier communications and the computing time since them.

In the algebra of maximum and sum, a task's start is the latest of some terms: a time since the epoch, and the end of
each communication before it plus the longest path of computations from there. A communication's end is a term of its
own, because nobody knows it before the run; what a computation's end depends on is that of its start, later by the
time that it takes.

Source: F. Baccelli, G. Cohen, G. J. Olsder, J.-P. Quadrat, "Synchronization and Linearity", 1992, chapter 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fabriclab.flow_importers.chakra.tasks import Collective, Task


class Moment(NamedTuple):
    """The latest of a time since the epoch and of times since groups of flows are complete, all in nanoseconds."""

    since_epoch_ns: int
    since_ns: Mapping[str, int]
    """By the group's name."""

    def later(self, by_ns: int) -> Moment:
        """Return the moment some time after."""
        if by_ns == 0:
            return self
        return Moment(self.since_epoch_ns + by_ns, {group: since + by_ns for group, since in self.since_ns.items()})


def group_of_place(job: str, collective: Collective, place: int) -> str:
    """Return the group of what one rank receives in a collective."""
    return f"{job}/{collective.name}/r{collective.group.ranks[place]}"


def group_of_transfer(job: str, collective: Collective, number: int) -> str:
    """Return the group of one transfer of a collective."""
    transfer = collective.shape.transfers[number]
    return f"{group_of_place(job, collective, transfer.dst)}/{transfer.tag}"


def group_of_message(job: str, name: str) -> str:
    """Return the group of a message."""
    return f"{job}/{name}"


class Starts:
    """The starts of all communications."""

    def __init__(self, job: str) -> None:
        self._job = job
        self._ends: dict[Task, Moment] = {}
        self._starts: dict[str, Moment] = {}
        """By the group whose completion implies that start: the start of what a rank has done for it."""
        self._earliest_ns: dict[str, int] = {}
        """By group: when it is complete at the earliest."""

    def of(self, ordered: Sequence[Task]) -> dict[Task, Moment]:
        """Return the start of each task that communicates, of tasks in the order in which they begin."""
        starts: dict[Task, Moment] = {}
        for task in ordered:
            start = self._pruned(_latest(self._ends[other] for other in task.before))
            if task.collective is None and task.message is None:
                self._ends[task] = start.later(task.duration_ns)
                continue
            starts[task] = start
            self._ends[task] = self._end(task, start)
        return starts

    def _end(self, task: Task, start: Moment) -> Moment:
        """Return the end of a communication: when its groups are complete, and it has begun."""
        groups, implied = self._groups(task)
        for group in groups:
            self._earliest_ns[group] = task.ended_ns
            if implied:
                self._starts[group] = start
        waits = Moment(0, dict.fromkeys(groups, 0))
        return waits if implied and groups else _latest((start, waits))

    def _groups(self, task: Task) -> tuple[list[str], bool]:
        """Return what is complete when a communication ends, and whether that implies that the rank has begun it."""
        if task.message is not None:
            return [group_of_message(self._job, task.message.name)], not task.receives
        collective = task.collective
        assert collective is not None, "it communicates"
        shape = collective.shape
        implied = bool(shape.completed_by[task.place] >> task.place & 1)
        if shape.receives[task.place]:
            return [group_of_place(self._job, collective, task.place)], implied
        return [group_of_transfer(self._job, collective, number) for number in shape.sent[task.place]], implied

    def _pruned(self, moment: Moment) -> Moment:
        """Return the moment without terms that others imply."""
        since = moment.since_ns
        if not since:
            return moment
        kept = {group: since_ns for group, since_ns in since.items() if not self._is_implied(group, since_ns, since)}
        least_ns = max(self._earliest_ns[group] + since_ns for group, since_ns in since.items())
        return Moment(0 if moment.since_epoch_ns <= least_ns else moment.since_epoch_ns, kept)

    def _is_implied(self, group: str, since_ns: int, others: Mapping[str, int]) -> bool:
        """Return whether another group, which is complete later than this one, is the later term in any network."""
        for other, other_ns in others.items():
            start = self._starts.get(other)
            if start is not None and group in start.since_ns and since_ns <= start.since_ns[group] + other_ns:
                return True
        return False


def _latest(moments: Iterable[Moment]) -> Moment:
    """Return the latest of moments; of none the epoch."""
    epoch_ns = 0
    since: dict[str, int] = {}
    for moment in moments:
        epoch_ns = max(epoch_ns, moment.since_epoch_ns)
        for group, since_ns in moment.since_ns.items():
            since[group] = max(since.get(group, 0), since_ns)
    return Moment(epoch_ns, since)
