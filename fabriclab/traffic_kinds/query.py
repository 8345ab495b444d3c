"""`kind: query`: partition/aggregate, an aggregator asks workers and waits for them all (DCTCP,
SIGCOMM 2010, section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fabriclab.formats.plan.traffic import QueryTraffic
from fabriclab.keys.mappings import Key
from fabriclab.keys.quantities import LARGEST, Number
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.names import HostReader
from fabriclab.lab.reading.section import Section, value_or
from fabriclab.lab.traffic import keys
from fabriclab.lab.traffic.carrier import read_carrier, read_connection
from fabriclab.lab.traffic.process import read_query_arrivals
from fabriclab.lab.traffic.scope import Scope, read_deadline, read_start, read_stop
from fabriclab.lab.traffic.size import read_size
from fabriclab.traffic_kinds import words
from fabriclab.traffic_kinds.kind import Kind
from fabriclab.units import format_size

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site

REQUEST = Key(
    "request",
    keys.BYTES,
    "Bytes of a request.",
    default=1600,
    source="The size of a query's request: DCTCP (SIGCOMM 2010), section 2.2",
)
RESPONSE: Key[Any] = Key(
    "response", keys.SIZES, "Bytes of each worker's answer.", examples=("2 KB", "2 KB .. 16 KB"), required=True
)
AGGREGATORS = Key("aggregators", keys.HOSTS, "The hosts that ask.", examples=(("h1",),), required=True)
WORKERS = Key("workers", keys.HOSTS, "The hosts that answer.", unset="all hosts")
FAN_OUT = Key(
    "fan_out",
    Number(1, LARGEST),
    "The number of workers that a query asks, drawn again for each query.",
    unset="all workers but the aggregator itself",
)
REQUEST_JITTER = keys.JITTER.but(
    about="Each request of a query is late by a random time between 0 and this value: the application spreads them. "
    "Without it they leave together, at the start of the query.",
    default=0,
    source="",
    examples=("10 ms",),
)
KEYS = keys.keys_of_kind(
    "query",
    "Partition and aggregate: an aggregator asks many workers and waits for them all.",
    AGGREGATORS,
    WORKERS,
    FAN_OUT,
    REQUEST,
    RESPONSE,
    keys.ARRIVAL,
    keys.INTERVAL.but(required=True, about="The mean time between two queries of an aggregator."),
    keys.BURST,
    keys.START,
    keys.STOP,
    REQUEST_JITTER,
    keys.DEADLINE,
    keys.CONNECTION,
    *keys.CARRIER,
)


class Query(Kind[QueryTraffic]):
    """Queries."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> QueryTraffic | None:
        """Return the queries; None after recording what is wrong."""
        section.require(
            "aggregators",
            example="aggregators: the hosts that ask: a count, a range such as h1..h4, a group, a list, or all",
        )
        section.require("response", example="response: bytes of each worker's answer, such as 2 KB")
        reader = HostReader(section, scope.names)
        aggregators = reader.hosts("aggregators")
        workers = reader.hosts("workers") if "workers" in section else scope.names.hosts
        fan_out = _fan_out(section, aggregators, workers)
        request = section.read(REQUEST)
        response = read_size(section, "response", scope.directory)
        arrivals = read_query_arrivals(section)
        start_ns, deadline_ns = read_start(section), read_deadline(section)
        jitter_ns = REQUEST_JITTER.or_default(section.read(REQUEST_JITTER))
        stop_ns = read_stop(section, start_ns, "the start", "no more queries start")
        carrier = read_carrier(section, scope.names)
        connection = read_connection(section, carrier)
        if (
            aggregators is None
            or workers is None
            or fan_out is None
            or response is None
            or arrivals is None
            or stop_ns is None
        ):
            return None
        return QueryTraffic(
            name=name,
            aggregators=aggregators,
            workers=workers,
            fan_out=fan_out,
            request_bytes=REQUEST.or_default(request),
            response=response,
            arrivals=arrivals,
            start_ns=start_ns,
            stop_ns=stop_ns,
            jitter_ns=jitter_ns,
            deadline_ns=deadline_ns,
            connection=connection,
            carrier=carrier,
        )

    def flows(self, traffic: QueryTraffic, site: Site) -> pl.DataFrame:
        """Return the responses. A query is the group `NAME/q17`."""
        from fabriclab.workload.queries import query_table

        return query_table(traffic, site)

    def sentences(self, traffic: QueryTraffic, plan: Plan) -> Iterator[str]:
        """Yield who asks whom, sizes, the process, and how many queries it comes to."""
        from fabriclab.workload.sizes import mean_size
        from fabriclab.workload.summary import size_lines

        asks = "asks" if len(traffic.aggregators) == 1 else "ask"
        workers = f"{traffic.fan_out} of {words.people(traffic.workers)}"
        yield f"{words.people(traffic.aggregators)} {asks} {workers}{words.over(traffic.carrier)}"
        fixed = traffic.response.kind == "fixed"
        yield from words.sizes(fixed, mean_size(traffic.response), size_lines(traffic.response))
        request = f"request {format_size(traffic.request_bytes)}{words.jittered(traffic.jitter_ns)}"
        yield f"{words.process(traffic.arrivals, 'query')} of each aggregator, {request}"
        queries = len(traffic.aggregators) * (traffic.stop_ns - traffic.start_ns) / traffic.arrivals.interval_ns
        about = f"about {queries:,.0f} queries, {queries * traffic.fan_out:,.0f} flows"
        span, deadline = words.span(traffic.start_ns, traffic.stop_ns), words.deadline(traffic.deadline_ns)
        yield f"{span}: {about}; connections {traffic.connection}{deadline}"

    def drawn(self, traffic: QueryTraffic, flows: pl.DataFrame, site: Site) -> Iterator[str]:
        """Yield how many queries there are, and the sizes of their answers."""
        from fabriclab.workload.summary import size_lines

        asked = f"each of {traffic.fan_out} workers; requests of {format_size(traffic.request_bytes)}"
        yield f"queries: {flows['group'].n_unique()}, {asked}"
        yield from size_lines(traffic.response)


KIND = Query()


def _fan_out(section: Section, aggregators: Sequence[str] | None, workers: Sequence[str] | None) -> int | None:
    """Return how many workers a query asks: at most, and by default, as many as every aggregator has beside itself."""
    if aggregators is None or workers is None:
        return None
    alone = next((host for host in aggregators if set(workers) <= {host}), None)
    if alone is not None:
        section.complain("workers", f"aggregator {shown(alone)} is the only worker; it does not ask itself")
        return None
    most = min(len(workers) - (host in workers) for host in aggregators)
    fan_out = section.value("fan_out", Number(1, most, why="an aggregator does not ask itself"))
    return None if "fan_out" in section and fan_out is None else value_or(fan_out, most)
