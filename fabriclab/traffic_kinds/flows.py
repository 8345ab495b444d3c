"""`kind: flows`: single flows of one size, one every so often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriclab.formats.plan.traffic import FlowsTraffic
from fabriclab.keys.mappings import Key
from fabriclab.lab.reading.section import Section, value_or
from fabriclab.lab.traffic import keys
from fabriclab.lab.traffic.carrier import read_carrier
from fabriclab.lab.traffic.pairs import read_fan_in
from fabriclab.lab.traffic.scope import Scope, read_jitter, read_mode, read_start
from fabriclab.traffic_kinds import words
from fabriclab.traffic_kinds.kind import Kind
from fabriclab.units import format_count, format_size

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site

COUNT = Key("count", keys.REPEATS, "The number of flows that each sender sends.", default=1)
FLOW_INTERVAL = keys.INTERVAL.but(
    value=keys.TIME,
    unset="required with `count` above 1",
    about="The time between two flows of a sender.",
)
KEYS = keys.keys_of_kind(
    "flows",
    "Each sender starts a flow at regular intervals.",
    keys.SENDERS,
    keys.RECEIVER,
    keys.SIZE,
    COUNT,
    keys.START,
    FLOW_INTERVAL,
    keys.JITTER,
    keys.MODE,
    *keys.CARRIER,
)


class Flows(Kind[FlowsTraffic]):
    """Single flows."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> FlowsTraffic | None:
        """Return the flows; None after recording what is wrong."""
        section.require("size", example="size: bytes of a flow, such as 100 KB")
        hosts = read_fan_in(section, scope)
        size = section.read(keys.SIZE)
        count = section.read(COUNT)
        interval = section.read(FLOW_INTERVAL)
        if count is not None and count.value > 1:
            section.require("interval", example="interval: the time between two flows of a sender, such as 10 ms")
        start_ns, jitter_ns = read_start(section), read_jitter(section)
        carrier = read_carrier(section, scope.names)
        mode = read_mode(section, carrier)
        if hosts is None or size is None:
            return None
        senders, receiver = hosts
        return FlowsTraffic(
            name=name,
            senders=senders,
            receiver=receiver,
            size_bytes=size.value,
            count=COUNT.or_default(count),
            start_ns=start_ns,
            interval_ns=value_or(interval, 0),
            jitter_ns=jitter_ns,
            mode=mode,
            carrier=carrier,
        )

    def flows(self, traffic: FlowsTraffic, site: Site) -> pl.DataFrame:
        """Return the flows, in the order of their starts."""
        import numpy as np

        from fabriclab.workload.arrivals import jitters
        from fabriclab.workload.flows import by_start, flow_table

        senders = site.order(traffic.name, traffic.senders)
        starts = traffic.start_ns + np.repeat(np.arange(traffic.count), len(senders)) * traffic.interval_ns
        columns = {
            "start_ns": starts + jitters(traffic.name, senders, traffic.jitter_ns, traffic.count, site).ravel(),
            "src": np.tile(site.indices(senders), traffic.count),
            "dst": site.indices([traffic.receiver])[0],
            "size_bytes": traffic.size_bytes,
            "mode": traffic.mode,
        }
        return by_start(flow_table(site, traffic.name, traffic.carrier, columns))

    def sentences(self, traffic: FlowsTraffic, plan: Plan) -> Iterator[str]:
        """Yield who sends to whom, and how many flows of what."""
        yield f"{words.people(traffic.senders)} to {traffic.receiver}{words.over(traffic.carrier)}"
        each = f", one each {words.time(traffic.interval_ns)}" if traffic.count > 1 else ""
        when = f"{each}, from {words.time(traffic.start_ns)} on{words.jittered(traffic.jitter_ns)}"
        yield f"{format_count(traffic.count, 'flow')} of {format_size(traffic.size_bytes)} from each{when}"


KIND = Flows()
