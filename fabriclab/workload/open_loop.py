"""Open-loop flows: senders start flows by an arrival process, whatever becomes of those before."""

from __future__ import annotations

import numpy as np
import polars as pl

from fabriclab.formats.plan.traffic import ArrivalsTraffic
from fabriclab.workload.arrivals import draw_starts
from fabriclab.workload.flows import by_start, flow_table
from fabriclab.workload.pairs import Receivers
from fabriclab.workload.site import Site
from fabriclab.workload.sizes import draw_sizes


def arrivals_table(traffic: ArrivalsTraffic, site: Site) -> pl.DataFrame:
    """Return the flows of an arrival process."""
    receivers = Receivers(traffic.pairs, site, traffic.name)
    senders = site.order(traffic.name, traffic.pairs.senders)
    starts = [
        draw_starts(traffic.arrivals, site.stream(traffic.name, sender, "starts"), traffic.start_ns, traffic.stop_ns)
        for sender in senders
    ]
    counts = [len(of_sender) for of_sender in starts]
    columns = {
        "start_ns": np.concatenate(starts),
        "src": np.repeat(site.indices(senders), counts),
        "dst": np.concatenate([receivers.of(sender, count) for sender, count in zip(senders, counts, strict=True)]),
        "size_bytes": np.concatenate(
            [
                draw_sizes(traffic.size, site.stream(traffic.name, sender, "sizes"), count)
                for sender, count in zip(senders, counts, strict=True)
            ]
        ),
        "mode": traffic.mode,
        "deadline_ns": traffic.deadline_ns,
    }
    return by_start(flow_table(site, traffic.name, traffic.carrier, columns))
