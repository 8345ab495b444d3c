"""`kind: rounds`: synchronised rounds, the in-cast of a storage client that asks many servers at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriclab.formats.plan.traffic import Mode, RoundsTraffic
from fabriclab.keys.mappings import Key
from fabriclab.keys.values import Word
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic import keys
from fabriclab.lab.traffic.carrier import read_carrier, read_connection
from fabriclab.lab.traffic.pairs import read_fan_in
from fabriclab.lab.traffic.scope import Scope, read_jitter, read_mode, read_start
from fabriclab.traffic_kinds import words
from fabriclab.traffic_kinds.kind import Kind
from fabriclab.units import format_count, format_size

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site


ROUNDS = Key("rounds", keys.REPEATS, "The number of rounds.", examples=(10,), required=True)
ROUND_SIZE = keys.SIZE.but(about="Bytes that each sender sends in a round.")
ROUND_MODE = keys.MODE.but(
    value=Word[Mode](("pull", "read", "push")),
    default="pull",
    about="With `pull` the receiver asks for each round when the last one is complete; `push` is for a single round. "
    "With `read` the receiver's NIC reads each round (RDMA READ; `transport: roce` only).",
)
KEYS = keys.keys_of_kind(
    "rounds",
    "In-cast: all senders send at once, and the next round follows when the last one is complete.",
    keys.SENDERS,
    keys.RECEIVER,
    ROUND_SIZE,
    ROUNDS,
    keys.START,
    keys.JITTER,
    keys.CONNECTION,
    ROUND_MODE,
    *keys.CARRIER,
)


class Rounds(Kind[RoundsTraffic]):
    """Synchronised rounds."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> RoundsTraffic | None:
        """Return the rounds; None after recording what is wrong."""
        section.require("size", example="size: bytes that each sender sends in a round, such as 256 KB")
        section.require("rounds", example="rounds: how many")
        hosts = read_fan_in(section, scope)
        size = section.read(ROUND_SIZE)
        rounds = section.read(ROUNDS)
        mode = section.read(ROUND_MODE)
        if mode is not None and mode.value == "push" and rounds is not None and rounds.value > 1:
            mode.complain(
                section.problems, "with push no sender knows when a round is complete; write mode: pull, or rounds: 1"
            )
        carrier = read_carrier(section, scope.names)
        wanted = read_mode(section, carrier, ROUND_MODE)
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
            mode=wanted,
            carrier=carrier,
        )

    def flows(self, traffic: RoundsTraffic, site: Site) -> pl.DataFrame:
        """Return the flows: group `NAME.r2` waits for `NAME.r1`."""
        import numpy as np
        import polars as pl

        from fabriclab.workload.arrivals import jitters
        from fabriclab.workload.flows import flow_table

        senders = site.order(traffic.name, traffic.senders)
        rounds = np.repeat(np.arange(traffic.rounds), len(senders))
        shifts = jitters(traffic.name, senders, traffic.jitter_ns, traffic.rounds, site)
        table = flow_table(
            site,
            traffic.name,
            traffic.carrier,
            {
                "start_ns": np.where(rounds == 0, traffic.start_ns, 0) + shifts.ravel(),
                "src": np.tile(site.indices(senders), traffic.rounds),
                "dst": site.indices([traffic.receiver])[0],
                "size_bytes": traffic.size_bytes,
                "mode": traffic.mode,
                "connection": traffic.name if traffic.connection == "kept" else None,
            },
        )
        number = pl.Series("round", rounds)
        table = table.with_columns(number).with_columns(
            group=pl.format(f"{traffic.name}.r{{}}", "round"),
            after=pl.when(pl.col("round") > 0).then(pl.format(f"{traffic.name}.r{{}}", pl.col("round") - 1)),
        )
        return table.sort("round", "start_ns", maintain_order=True).drop("round")

    def sentences(self, traffic: RoundsTraffic, plan: Plan) -> Iterator[str]:
        """Yield who sends to whom, and how many rounds of what."""
        yield f"{words.people(traffic.senders)} to {traffic.receiver}{words.over(traffic.carrier)}"
        rounds, size = format_count(traffic.rounds, "round"), format_size(traffic.size_bytes)
        start, jitter = words.time(traffic.start_ns), words.jittered(traffic.jitter_ns)
        yield f"{rounds} of {size} from each, from {start} on{jitter}"


KIND = Rounds()
