"""Conditions at which a live lab's time stops: how they are written, and what is said of a wrong one."""

from __future__ import annotations

import struct

import pytest

from fabriclab.errors import ArgumentError
from fabriclab.formats.break_conditions import parse_condition
from fabriclab.formats.live_break import ANY, CONDITION, ConditionKind

PORTS = {"s1": ["eth1", "eth2"], "h1": ["eth1"]}
NUMBERS = {"s1": 0, "h1": 1}


@pytest.mark.parametrize(
    ("text", "kind", "node", "interface", "queue", "in_packets", "threshold", "mark"),
    [
        ("s1:eth2 queue > 100 KB", ConditionKind.QUEUE, 0, b"eth2", ANY, 0, 100_000, 0),
        ("s1:eth2   queue 3>20 packets", ConditionKind.QUEUE, 0, b"eth2", 3, 1, 20, 0),
        ("h1:eth1 queue > 1 packet", ConditionKind.QUEUE, 1, b"eth1", ANY, 1, 1, 0),
        ("drop", ConditionKind.DROP, ANY, b"", ANY, 0, 0, 0),
        ("s1 mark", ConditionKind.MARK, 0, b"", ANY, 0, 0, 0),
        ("s1:eth1 pause", ConditionKind.PAUSE, 0, b"eth1", ANY, 0, 0, 0),
        ("h1 timeout", ConditionKind.TIMEOUT, 1, b"", ANY, 0, 0, 0),
        ("flow 7 ends", ConditionKind.FLOW, ANY, b"", ANY, 0, 0, 8),
    ],
)
def test_what_is_written_is_what_the_kernel_is_told(
    text: str,
    kind: ConditionKind,
    node: int,
    interface: bytes,
    queue: int,
    in_packets: int,
    threshold: int,
    mark: int,
) -> None:
    packed = parse_condition(text, PORTS).packed(NUMBERS)
    words = struct.unpack(CONDITION, packed)
    assert words == (kind, node, interface.ljust(16, b"\0"), queue, in_packets, threshold, mark, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s1 qeueu > 3 KB", "is not a condition; write one of: NODE:PORT queue"),
        ("s2 drop", "the lab has no node 's2'; valid here: s1, h1"),
        ("s1:eth3 drop", "s1 has no port 'eth3'; "),
        ("s1 queue > 3 KB", "a queue belongs to a port; write `s1:eth1 queue > "),
        ("s1:eth1 queue 8 > 3 KB", "queues are 0 to 7"),
        ("s1:eth1 queue > 3", "'3' has no unit.*or a number of packets, such as '20 packets'"),
        ("h1:eth1 timeout", "a timeout belongs to a node, not to a port; write `h1 timeout`"),
        ("flow 4294967295 ends", "a flow's number is at most 4294967294"),
    ],
)
def test_what_is_wrong_is_told_with_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        parse_condition(text, PORTS)


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("s1:eth1 queue > 100 KB", 100_400, "s1:eth1 queue is 100.4 KB"),
        ("s1:eth1 queue 3 > 5 packets", 6, "s1:eth1 queue 3 is 6 packets"),
        ("s1 drop", 1, "s1: 1 drop"),
        ("pause", 2, "the lab: 2 PFC frames"),
        ("h1 timeout", 1, "h1: 1 TCP timeout"),
        ("flow 7 ends", 7, "flow 7 ends"),
    ],
)
def test_what_came_true_is_told_in_words(text: str, value: int, words: str) -> None:
    assert parse_condition(text, PORTS).came_true(value) == words
