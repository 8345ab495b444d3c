"""How much of its rate each link carried: paths and ECMP, as far as counters were sampled."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from fabriclab.picture import network_svg
from fabriclab.picture.network import network_of_plan
from fabriclab.report.drawing.charts import ChartTable
from fabriclab.report.drawing.style import themed
from fabriclab.report.measured.quantities import format_share
from fabriclab.results import Results
from fabriclab.results.summary import busy_interval


@dataclass(frozen=True)
class Topology:
    """The drawing of a network whose links have the colour of their use, and the same as a table."""

    svg: str
    caption: str
    table: ChartTable | None


def link_use(results: Results) -> dict[str, float]:
    """Return the share of its rate that each port sent in the run's busy time, by `node:interface`.

    Bytes are those of the interface's counters where they were sampled, else those that left the port's queues; a port
    of which nothing was sampled is not there. A port's peer tells of it, too.
    """
    begin, end = busy_interval(results.measured)
    sent: dict[str, float] = {}
    for table, port, counter, by in _sources(results):
        counts = (
            table.filter(pl.col("time_ns").is_between(begin, end))
            .group_by("port", *by)
            .agg((pl.col(counter).max() - pl.col(counter).min()).alias("sent"))
            .group_by("port")
            .agg(pl.col("sent").sum())
            .collect(engine="streaming")
        )
        peers = _peers(results) if port == "peer" else {}
        for name, count in counts.iter_rows():
            place = peers.get(name) if port == "peer" else name
            if place is not None and count is not None:
                sent.setdefault(place, float(count))
    rates = {f"{node.name}:{port.interface}": port.rate_bps for node in results.plan.nodes for port in node.ports}
    seconds = max(end - begin, 1) / 1e9
    return {port: 8 * count / (rates[port] * seconds) for port, count in sorted(sent.items()) if port in rates}


def _sources(results: Results) -> list[tuple[pl.LazyFrame, str, str, tuple[str, ...]]]:
    """Return tables with a counter of bytes, best first: whose port sent them, the counter, what else sets its rows
    apart."""
    measured = results.measured
    every = [
        (measured.interfaces, "own", "tx_bytes", ()),
        (measured.interfaces, "peer", "rx_bytes", ()),
        (measured.queues, "own", "sent_bytes", ()),
        (results.switches.queues, "own", "sent_bytes", ("queue",)),
    ]
    return [(table, port, counter, by) for table, port, counter, by in every if table is not None]


def _peers(results: Results) -> dict[str, str]:
    return {
        f"{node.name}:{port.interface}": f"{port.peer_node}:{port.peer_interface}"
        for node in results.plan.nodes
        for port in node.ports
    }


def topology_of(results: Results, label: str = "") -> Topology | None:
    """Return the drawing of a run's network with the use of its links, of the run called `label`; None without a
    plan of nodes."""
    if not results.plan.nodes:
        return None
    use = link_use(results)
    svg = themed(network_svg(network_of_plan(results.plan), use or None))
    if not use:
        return Topology(
            svg, "No link was sampled. To sample all links, write probes: {interfaces: {interval: 10 ms}}.", None
        )
    peers = _peers(results)
    rows = [[port, peers[port], format_share(share)] for port, share in sorted(use.items(), key=lambda pair: -pair[1])]
    most = rows[0]
    links = {frozenset((port, peer)) for port, peer in peers.items()}
    known = {frozenset((port, peers[port])) for port in use}
    text = f"{label}: the" if label else "The"
    caption = (
        f"{text} busiest link is {most[0]} to {most[1]}: it used {most[2]} of its rate, on average over the time of "
        "the traffic"
    )
    missing = len(links) - len(known)
    rest = f"; {missing} of {len(links)} links, which are grey, were not sampled" if missing else ""
    return Topology(svg, f"{caption}{rest}.", ChartTable(["From", "To", "Share of the rate"], rows, 2))
