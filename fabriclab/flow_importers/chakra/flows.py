"""The flows of communications, in an order in which each stands behind those that it waits for.

Flows of one connection are sent in the order of the trace (over RoCE), so it is the order in which they start where
communications take no time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabriclab.flow_importers.chakra.starts import Moment, group_of_message, group_of_place
from fabriclab.flow_importers.chakra.tasks import Collective, Task
from fabriclab.formats.trace import SMALLEST_BYTES

_OF_MESSAGES = "p2p"
"""The connection of messages."""


class RankFlow(NamedTuple):
    """A flow between two ranks."""

    src: int
    dst: int
    size_bytes: int
    start_ns: int
    connection: str
    group: str
    after: str | None
    operation: str
    is_raised: bool
    """Whether the trace has fewer bytes than a flow can have."""


def rank_flows(job: str, starts: Mapping[Task, Moment]) -> list[RankFlow]:
    """Return the flows of all communications."""
    keyed: list[tuple[tuple[int, int], RankFlow]] = []
    done: set[Collective] = set()
    for task, start in starts.items():
        if task.collective is not None and task.collective not in done:
            done.add(task.collective)
            keyed += _of_collective(job, task.collective, starts)
        elif task.message is not None and not task.receives:
            since_ns, after = _written(start, ())
            message = task.message
            group = group_of_message(job, message.name)
            size_bytes, is_small = message.size_bytes, message.size_bytes < SMALLEST_BYTES
            flow = RankFlow(
                message.src, message.dst, size_bytes, since_ns, _OF_MESSAGES, group, after, "send", is_small
            )
            keyed.append(((task.begun, 0), flow))
    keyed.sort(key=lambda one: one[0])
    return [flow for _, flow in keyed]


def _of_collective(
    job: str, collective: Collective, starts: Mapping[Task, Moment]
) -> Iterator[tuple[tuple[int, int], RankFlow]]:
    """Yield the flows of a collective, each with its place among all: the last start that it needs, then its own."""
    shape, ranks = collective.shape, collective.group.ranks
    groups = [group_of_place(job, collective, place) for place in range(len(ranks))]
    alone = [_written(starts[collective.tasks[place]], ()) for place in range(len(ranks))]
    begun: list[int] = []
    for number, transfer in enumerate(shape.transfers):
        task = collective.tasks[transfer.src]
        begun.append(max([task.begun, *(begun[other] for other in shape.needed[number])]))
        needs = tuple(f"{groups[transfer.src]}/{tag}" for tag in transfer.needs)
        if not needs:
            since_ns, after = alone[transfer.src]
        elif shape.starts_itself[number]:
            since_ns, after = _written(starts[task], needs)
        else:
            since_ns, after = 0, ";".join(needs)
        yield (
            (begun[number], number),
            RankFlow(
                ranks[transfer.src],
                ranks[transfer.dst],
                transfer.size_bytes,
                since_ns,
                f"{collective.connection}.{transfer.channel}",
                f"{groups[transfer.dst]}/{transfer.tag}",
                after,
                collective.operation,
                collective.is_raised,
            ),
        )


def _written(start: Moment, needs: tuple[str, ...]) -> tuple[int, str | None]:
    """Return `start_ns` and `after` of a flow that starts at a moment, when what it needs is complete."""
    terms = [*needs, *(f"{group}+{since_ns}" if since_ns else group for group, since_ns in start.since_ns.items())]
    if not terms:
        return start.since_epoch_ns, None
    return 0, ";".join([*terms, *([f"+{start.since_epoch_ns}"] if start.since_epoch_ns else [])])
