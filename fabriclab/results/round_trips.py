"""How much longer than planned a packet's way there and back took that met no queue:
in real time the host's own work adds to it."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl


class RoundTrip(NamedTuple):
    """The quickest round trip of a flow, measured and planned."""

    src: str
    dst: str
    measured_ns: int
    """The smallest that the sender's TCP saw (`min_rtt_us` of the flow log)."""
    planned_ns: int
    """The sum of the links' propagation delays (`base_rtt_ns`, `fabriclab.results.idle_path`)."""

    @property
    def excess_ns(self) -> int:
        """Return by how much it is longer than planned."""
        return self.measured_ns - self.planned_ns


def least_delayed(flows: pl.LazyFrame) -> RoundTrip | None:
    """Return the round trip that is longer than planned by the least, so that queues have the least part in
    it; None without any."""
    measured = pl.col("min_rtt_us") * 1000
    rows = flows.filter(pl.col("min_rtt_us").is_not_null() & pl.col("base_rtt_ns").is_not_null())
    rows = rows.select("src", "dst", measured.alias("measured_ns"), pl.col("base_rtt_ns").alias("planned_ns"), "flow")
    least = (
        rows.sort(pl.col("measured_ns") - pl.col("planned_ns"), "flow").drop("flow").head(1).collect(engine="streaming")
    )
    return RoundTrip(*least.row(0)) if least.height else None
