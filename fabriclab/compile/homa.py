"""A host's settings of Homa, for labs that have traffic over it.

Source of names and meanings: homa_plumbing.c and man/homa.7 of Homa's module for Linux (PlatformLab/HomaModule).
"""

from __future__ import annotations

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node

_MBPS = 1_000_000


def compile_homa_sysctl(node: Node, plan: Plan) -> list[tuple[str, str]]:
    """Return the settings of a host: none where no traffic goes over Homa.

    A kernel whose Homa is one for all its hosts lacks them in the network namespace of a host, so that the run fails
    before it begins, with this line.
    """
    if node.role != "host" or not any(each.carried_by.transport == "homa" for each in plan.traffic):
        return []
    return [
        # The rate by which a host's packets are paced, that its link never queues more than a few of them.
        ("net.homa.link_mbps", str(min(port.rate_bps for port in node.ports) // _MBPS)),
        # The module's default, 5 %. The time between two grants to the oldest message, which go at a high priority, is
        # made from the rate when this is written, not when the rate is.
        ("net.homa.grant_fifo_fraction", "50"),
        # Who waits for a message sleeps at once: to look for it again and again takes no time here, and gains none.
        ("net.homa.poll_usecs", "0"),
    ]
