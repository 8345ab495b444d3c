"""`kind: rounds`: synchronised rounds, the in-cast of a storage client that asks many servers at once."""

from __future__ import annotations

from fabriclab.formats.plan.traffic import Mode, RoundsTraffic
from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.lab.reading import defaults
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.bounds import LARGEST_FLOW_BYTES, MOST_REPEATS, WHY_FOUR_BYTES
from fabriclab.lab.traffic.carrier import CARRIER_KEYS, read_carrier, read_connection
from fabriclab.lab.traffic.fan_in import read_fan_in
from fabriclab.lab.traffic.scope import Scope, read_jitter, read_start

KEYS = ("kind", "senders", "receiver", "size", "rounds", "start", "jitter", "connection", "mode", *CARRIER_KEYS)
_MODES: tuple[Mode, ...] = ("pull", "push")


def read_rounds(section: Section, name: str, scope: Scope) -> RoundsTraffic | None:
    """Return the rounds; None after recording what is wrong."""
    section.require("size", example="size: bytes that each sender sends in a round, such as 256 KB")
    section.require("rounds", example="rounds: how many")
    hosts = read_fan_in(section, scope)
    size = section.size("size", SMALLEST_BYTES, LARGEST_FLOW_BYTES, WHY_FOUR_BYTES)
    rounds = section.count("rounds", 1, MOST_REPEATS)
    mode = section.choice("mode", _MODES)
    if mode is not None and mode.value == "push" and rounds is not None and rounds.value > 1:
        mode.complain(
            section.problems, "with push no sender knows when a round is complete; write mode: pull, or rounds: 1"
        )
    carrier = read_carrier(section)
    connection, start_ns, jitter_ns = read_connection(section, carrier), read_start(section), read_jitter(section)
    if hosts is None or size is None or rounds is None:
        return None
    senders, receiver = hosts
    return RoundsTraffic(
        name=name,
        senders=senders,
        receiver=receiver,
        size_bytes=size.value,
        rounds=rounds.value,
        start_ns=start_ns,
        jitter_ns=jitter_ns,
        connection=connection,
        mode=mode.value if mode else defaults.ROUNDS_MODE,
        carrier=carrier,
    )
