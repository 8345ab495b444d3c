"""`trimming` of a switch: what becomes of packets that a queue with `discard: trim` has no room for."""

from __future__ import annotations

from fabriclab.lab.reading.or_none import read_part
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section
from fabriclab.lab.switch.keys import TRIMMING
from fabriclab.lab.switch.written import WrittenQueue, WrittenSwitch, WrittenTrimming


def read_trimming(layer: Section) -> WrittenTrimming | None:
    """Return the `trimming` of a switch's section; None when it is absent."""
    return read_part(
        layer, "trimming", TRIMMING, lambda part: part.fill(WrittenTrimming, TRIMMING, place=part.place), _NONE
    )


_NONE = WrittenTrimming(is_none=True)


def check_trimming(switch: WrittenSwitch, problems: Problems) -> None:
    """Record a queue that trims without `trimming`, and what is wrong in it, for ports alike."""
    trimming = switch.buffer.trimming
    trims = {number: queue for number, queue in switch.buffer.queues.items() if trims_of(queue)}
    if trimming is None or trimming.is_none:
        for queue in trims.values():
            if queue.discard is not None:
                queue.discard.complain(
                    problems, "trim needs to know how; write trimming: {size: 256 B, dscp: 48} beside queues"
                )
        return
    place = switch.place if trimming.place is None else trimming.place
    if trimming.dscp is None:
        problems.add(place, f"{switch.key}.trimming", "needs the DSCP of trimmed packets; write dscp: 48")
    number = None if trimming.queue is None else trimming.queue.value
    if trimming.queue is not None and number in trims:
        trimming.queue.complain(
            problems, f"queue {number} trims itself; write a queue without discard: trim, or discard: drop below it"
        )


def trims_of(queue: WrittenQueue) -> bool:
    """Return whether a queue trims what it has no room for."""
    return queue.discard is not None and queue.discard.value == "trim"
