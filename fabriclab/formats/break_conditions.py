"""Conditions at which a live lab's time stops, as people write them: `s1:eth49 queue > 100 KB`, `s1 drop`."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabriclab.errors import ArgumentError
from fabriclab.formats.live_break import ANY, CONDITION, ConditionKind
from fabriclab.keys.wording import did_you_mean
from fabriclab.units import UnitError, format_count, format_size, parse_size

FORMS = (
    "NODE:PORT queue [N] > SIZE (100 KB, 20 packets)",
    "[NODE[:PORT]] drop",
    "[NODE[:PORT]] mark",
    "[NODE[:PORT]] pause",
    "[NODE] timeout",
    "flow N ends",
)
_QUEUE = re.compile(r"(\S+)\s+queue(?:\s+(\d+))?\s*>\s*(.+)")
_COUNTED = re.compile(r"(?:(\S+)\s+)?(drop|mark|pause|timeout)")
_FLOW = re.compile(r"flow\s+(\d+)\s+ends")
_PACKETS = re.compile(r"(\d{1,12})\s*packets?")
_MOST_CHARACTERS = 200
_MOST_QUEUES = 8
_LARGEST_FLOW = 2**32 - 2
_WORDS = {
    ConditionKind.DROP: ("drops", "drop"),
    ConditionKind.MARK: ("marks", "mark"),
    ConditionKind.PAUSE: ("PFC frames", "PFC frame"),
    ConditionKind.TIMEOUT: ("TCP timeouts", "TCP timeout"),
}


@dataclass(frozen=True)
class Condition:
    """A condition, and how it was written."""

    text: str
    kind: ConditionKind
    node: str | None = None
    interface: str | None = None
    queue: int | None = None
    in_packets: bool = False
    threshold: int = 0
    flow: int | None = None

    def packed(self, numbers: Mapping[str, int]) -> bytes:
        """Return it as the kernel takes it; `numbers`: of the nodes."""
        return struct.pack(
            CONDITION,
            self.kind,
            ANY if self.node is None else numbers[self.node],
            (self.interface or "").encode(),
            ANY if self.queue is None else self.queue,
            self.in_packets,
            self.threshold,
            0 if self.flow is None else self.flow + 1,
            0,
        )

    def came_true(self, value: int) -> str:
        """Return what has come true, in words; `value`: what it compares, as it was then."""
        place = self.node or "the lab"
        if self.interface is not None:
            place += f":{self.interface}"
        if self.kind is ConditionKind.QUEUE:
            number = "" if self.queue is None else f" {self.queue}"
            length = format_count(value, "packet") if self.in_packets else format_size(value, 4)
            return f"{place} queue{number} is {length}"
        if self.kind is ConditionKind.FLOW:
            return f"flow {self.flow} ends"
        several, one = _WORDS[self.kind]
        return f"{place}: {value} {one if value == 1 else several}"


def parse_condition(written: str, ports: Mapping[str, Sequence[str]]) -> Condition:
    """Return the condition that is written; `ports`: the lab's nodes with their ports. Raises ArgumentError."""
    text = " ".join(written[:_MOST_CHARACTERS].split())
    if found := _QUEUE.fullmatch(text):
        return _queue(text, found, ports)
    if found := _FLOW.fullmatch(text):
        flow = int(found[1])
        if flow > _LARGEST_FLOW:
            raise ArgumentError("{0!r}: a flow's number is at most {1}", text, _LARGEST_FLOW)
        return Condition(text, ConditionKind.FLOW, flow=flow)
    if found := _COUNTED.fullmatch(text):
        kind = ConditionKind[found[2].upper()]
        node, interface = (None, None) if found[1] is None else _place(text, found[1], ports)
        if kind is ConditionKind.TIMEOUT and interface is not None:
            raise ArgumentError("{0!r}: a timeout belongs to a node, not to a port; write `{1} timeout`", text, node)
        return Condition(text, kind, node, interface)
    raise ArgumentError("{0!r} is not a condition; write one of: {1}", text, "; ".join(FORMS))


def _place(text: str, written: str, ports: Mapping[str, Sequence[str]]) -> tuple[str, str | None]:
    node, colon, interface = written.partition(":")
    if node not in ports:
        raise ArgumentError("{0!r}: the lab has no node {1!r}; {2}", text, node, did_you_mean(node, list(ports)))
    if colon and interface not in ports[node]:
        message = "{0!r}: {1} has no port {2!r}; {3}"
        raise ArgumentError(message, text, node, interface, did_you_mean(interface, list(ports[node])))
    return node, interface if colon else None


def _queue(text: str, found: re.Match[str], ports: Mapping[str, Sequence[str]]) -> Condition:
    node, interface = _place(text, found[1], ports)
    if interface is None:
        raise ArgumentError("{0!r}: a queue belongs to a port; write `{1}:{2} queue > ...`", text, node, ports[node][0])
    queue = None if found[2] is None else int(found[2])
    if queue is not None and queue >= _MOST_QUEUES:
        raise ArgumentError("{0!r}: queues are 0 to {1}", text, _MOST_QUEUES - 1)
    packets = _PACKETS.fullmatch(found[3])
    if packets:
        threshold = int(packets[1])
    else:
        try:
            threshold = parse_size(found[3])
        except UnitError as error:
            raise ArgumentError("{0!r}: {1}, or a number of packets, such as '20 packets'", text, error) from None
    return Condition(text, ConditionKind.QUEUE, node, interface, queue, packets is not None, threshold)
