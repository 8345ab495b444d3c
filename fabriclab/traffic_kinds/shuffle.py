"""`kind: shuffle`: the network phases of a MapReduce job as flows that wait for each other: input, shuffle, output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fabriclab.formats.plan.traffic import ShuffleTraffic
from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.keys.mappings import Key
from fabriclab.keys.quantities import LARGEST, Number
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.names import HostReader
from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.traffic.carrier import read_carrier
from fabriclab.lab.traffic.keys import CARRIER, HOSTS, REPEATS, SIZE, START, keys_of_kind
from fabriclab.lab.traffic.scope import Scope, read_start
from fabriclab.traffic_kinds import words
from fabriclab.traffic_kinds.kind import Kind
from fabriclab.units import format_count, format_size

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site

MAPPERS = Key("mappers", HOSTS, "The hosts that map.", examples=("h1..h4",), required=True)
REDUCERS = Key("reducers", HOSTS, "The hosts that reduce.", examples=("h5..h8",), required=True)
SOURCES = Key("sources", HOSTS, "The hosts that the input is read from.", unset="the mappers' own disks")
PARALLEL_COPIES = Key(
    "parallel_copies",
    REPEATS,
    "The number of partitions that a reducer fetches at a time.",
    default=5,
    source="Hadoop: mapreduce.reduce.shuffle.parallelcopies",
)
REPLICAS = Key(
    "replicas",
    Number(1, LARGEST),
    "The number of copies of the output; each is on a host of its own.",
    default=1,
    source="What TeraSort writes; HDFS itself has dfs.replication 3",
)
JOB_SIZE = SIZE.but(about="Bytes of the job's input; the same amount is shuffled and written.", examples=("1 GB",))
KEYS = keys_of_kind(
    "shuffle",
    "The network phases of a MapReduce job: its input, its shuffle, its output.",
    SOURCES,
    MAPPERS,
    REDUCERS,
    JOB_SIZE,
    PARALLEL_COPIES,
    REPLICAS,
    START,
    *CARRIER,
)


class Shuffle(Kind[ShuffleTraffic]):
    """A MapReduce job."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> ShuffleTraffic | None:
        """Return the job; None after recording what is wrong."""
        section.require("mappers", example="mappers: a count, a range such as h1..h4, a group, a list, or all")
        section.require("reducers", example="reducers: a count, a range such as h1..h4, a group, a list, or all")
        section.require("size", example="size: bytes of the job's input, such as 1 GB")
        reader = HostReader(section, scope.names)
        sources = reader.hosts("sources") if "sources" in section else ()
        mappers, reducers = reader.hosts("mappers"), reader.hosts("reducers")
        size = section.read(JOB_SIZE)
        copies = section.read(PARALLEL_COPIES)
        members = len({*(sources or ()), *(mappers or ()), *(reducers or ())})
        replicas = section.value(
            "replicas",
            Number(
                1,
                max(1, members or len(scope.names.hosts)),
                why="each copy lies on a host of its own, and the job has no more",
            ),
        )
        start_ns, carrier = read_start(section), read_carrier(section, scope.names)
        if sources is None or mappers is None or reducers is None or size is None:
            return None
        _check_partitions(size, mappers, reducers, section)
        if sources and len(sources) == 1 and sources[0] in mappers:
            section.complain(
                "sources", f"mapper {shown(sources[0])} is the only source; add one, or leave it out of the mappers"
            )
        if set(mappers) == set(reducers) and len(mappers) == 1 and not sources and REPLICAS.or_default(replicas) == 1:
            section.complain(
                "reducers", f"{shown(reducers[0])} is the only mapper too; nothing would cross the network"
            )
        return ShuffleTraffic(
            name=name,
            sources=sources,
            mappers=mappers,
            reducers=reducers,
            size_bytes=size.value,
            parallel_copies=PARALLEL_COPIES.or_default(copies),
            replicas=REPLICAS.or_default(replicas),
            start_ns=start_ns,
            carrier=carrier,
        )

    def flows(self, traffic: ShuffleTraffic, site: Site) -> pl.DataFrame:
        """Return the flows of the job phase by phase."""
        from fabriclab.workload.shuffle import shuffle_table

        return shuffle_table(traffic, site)

    def sentences(self, traffic: ShuffleTraffic, plan: Plan) -> Iterator[str]:
        """Yield how large the job is, and what crosses the network."""
        mappers = format_count(len(traffic.mappers), "mapper")
        reducers = format_count(len(traffic.reducers), "reducer")
        yield f"{mappers}, {reducers}{words.over(traffic.carrier)}"
        partition = format_size(traffic.size_bytes / (len(traffic.mappers) * len(traffic.reducers)), 4)
        sources = words.people(traffic.sources) if traffic.sources else "the mappers' own disks"
        yield f"{format_size(traffic.size_bytes)} read from {sources}, from {words.time(traffic.start_ns)} on"
        copies = f"{format_count(traffic.replicas, 'copy')} of the output"
        yield f"partitions of {partition}, {traffic.parallel_copies} at a time for each reducer; {copies}"

    def drawn(self, traffic: ShuffleTraffic, flows: pl.DataFrame, site: Site) -> Iterator[str]:
        """Yield the flows and bytes of each phase."""
        import polars as pl

        phase = pl.col("group").str.split("/").list.get(1)
        phases = flows.group_by(phase.alias("phase"), maintain_order=True).agg(pl.len(), pl.col("size_bytes").sum())
        for name, count, size_bytes in phases.iter_rows():
            yield f"{name}: {format_count(count, 'flow')}, {format_size(float(size_bytes), 4)}"


KIND = Shuffle()


def _check_partitions(size: Written[int], mappers: Sequence[str], reducers: Sequence[str], section: Section) -> None:
    """The smallest flow, one mapper's part for one reducer, can carry its number."""
    least = SMALLEST_BYTES * len(mappers) * len(reducers)
    if size.value < least:
        parts = f"{len(mappers)} x {len(reducers)} parts of at least {SMALLEST_BYTES} B"
        size.complain(
            section.problems, f"{shown(size.text)} is too small for {parts}; write at least {format_size(least)}"
        )
