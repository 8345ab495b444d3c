"""`kind: rounds`: synchronised rounds, the in-cast of a storage client that asks many servers at once."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.lab.reading import defaults
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.bounds import LARGEST_FLOW_BYTES, MOST_REPEATS, WHY_FOUR_BYTES
from fabriclab.lab.traffic.carrier import CARRIER_KEYS, WrittenCarrier, read_carrier, read_connection
from fabriclab.lab.traffic.fan_in import read_fan_in
from fabriclab.lab.traffic.scope import Scope, read_jitter, read_start

KEYS = ("kind", "senders", "receiver", "size", "rounds", "start", "jitter", "connection", "mode", *CARRIER_KEYS)


@dataclass(frozen=True)
class WrittenRounds:
    """Synchronised rounds (in-cast)."""

    name: str
    senders: tuple[str, ...]
    receiver: str
    size_bytes: int
    rounds: int
    start_ns: int
    jitter_ns: int
    connection: str
    mode: str
    carrier: WrittenCarrier

    @property
    def last_time_ns(self) -> int:
        """The last instant, after the epoch, that the experiment names."""
        return self.start_ns

    @property
    def flows(self) -> int:
        """Return how many flows this traffic has."""
        return len(self.senders) * self.rounds


def read_rounds(section: Section, name: str, scope: Scope) -> WrittenRounds | None:
    """Return the rounds; None after recording what is wrong."""
    section.require("size", example="size: bytes that each sender sends in a round, such as 256 KB")
    section.require("rounds", example="rounds: how many")
    hosts = read_fan_in(section, scope)
    size = section.size("size", SMALLEST_BYTES, LARGEST_FLOW_BYTES, WHY_FOUR_BYTES)
    rounds = section.count("rounds", 1, MOST_REPEATS)
    mode = section.choice("mode", ("pull", "push"))
    if mode is not None and mode.value == "push" and rounds is not None and rounds.value > 1:
        mode.complain(
            section.problems, "with push no sender knows when a round is complete; write mode: pull, or rounds: 1"
        )
    carrier = read_carrier(section)
    connection, start_ns, jitter_ns = read_connection(section, carrier), read_start(section), read_jitter(section)
    if hosts is None or size is None or rounds is None:
        return None
    return WrittenRounds(
        name,
        *hosts,
        size_bytes=size.value,
        rounds=rounds.value,
        start_ns=start_ns,
        jitter_ns=jitter_ns,
        connection=connection,
        mode=mode.value if mode else defaults.ROUNDS_MODE,
        carrier=carrier,
    )
