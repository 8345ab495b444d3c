"""`kind: iperf3`: long flows that iperf3 sends in place of our replay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriclab.formats.plan.traffic import Iperf3Traffic
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.carrier import read_carrier
from fabriclab.lab.traffic.keys import CARRIER, RECEIVER, SENDERS, START, STOP, keys_of_kind
from fabriclab.lab.traffic.pairs import read_fan_in
from fabriclab.lab.traffic.scope import Scope, read_start, read_stop
from fabriclab.traffic_kinds import words
from fabriclab.traffic_kinds.kind import Kind

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site

KEYS = keys_of_kind(
    "iperf3",
    "Flows that iperf3 sends, one from each sender.",
    SENDERS,
    RECEIVER,
    START,
    STOP,
    *CARRIER,
)


class Iperf3(Kind[Iperf3Traffic]):
    """Flows of iperf3's."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> Iperf3Traffic | None:
        """Return iperf3's flows; None after recording what is wrong."""
        hosts = read_fan_in(section, scope)
        start_ns = read_start(section)
        stop_ns = read_stop(section, start_ns, "the start", "all its flows end")
        carrier = read_carrier(section, scope.names)
        if carrier.transport == "roce":
            section.complain("transport", "is roce, but iperf3 sends over sockets; write tcp or mptcp, or kind: long")
        if carrier.transport == "homa":
            section.complain("transport", "is homa, but iperf3 has streams; write tcp or mptcp, or kind: flows")
        if hosts is None or stop_ns is None:
            return None
        senders, receiver = hosts
        return Iperf3Traffic(
            name=name, senders=senders, receiver=receiver, start_ns=start_ns, stop_ns=stop_ns, carrier=carrier
        )

    def flows(self, traffic: Iperf3Traffic, site: Site) -> pl.DataFrame:
        """Return the flows, in the order in which their senders are asked."""
        import numpy as np

        from fabriclab.workload.flows import flow_table

        senders = site.order(traffic.name, traffic.senders)
        columns = {
            "start_ns": np.full(len(senders), traffic.start_ns),
            "src": site.indices(senders),
            "dst": site.indices([traffic.receiver])[0],
            "stop_ns": traffic.stop_ns,
            "mode": "iperf3",
        }
        return flow_table(site, traffic.name, traffic.carrier, columns)

    def sentences(self, traffic: Iperf3Traffic, plan: Plan) -> Iterator[str]:
        """Yield who sends to whom, and from when to when."""
        yield f"{words.people(traffic.senders)} to {traffic.receiver}{words.over(traffic.carrier)}"
        yield f"sent by iperf3, {words.span(traffic.start_ns, traffic.stop_ns)}"


KIND = Iperf3()
