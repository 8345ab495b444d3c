"""The qdiscs that every port is made of around its queue, and its queue where it has no management: rate,
delay, buffer, classes."""

from __future__ import annotations

from fabriclab.qdiscs.qdisc import Counter, Stock

LINE = (
    Stock("tbf", "tbf rate 1mbit burst 3000 limit 3000", None),
    Stock("netem", "netem delay 1us", None),
    Stock("bfifo", "bfifo limit 3000", ()),
    # `marked` of struct tc_red_xstats.
    Stock(
        "red", "red limit 30000 min 1000 max 1001 probability 1 avpkt 1000 burst 1 bandwidth 1mbit ecn", (Counter(12),)
    ),
    Stock("prio", "prio", None),
    Stock("ets", "ets bands 2 strict 2", None),
)
CLASSFUL = ("prio", "ets")
"""Those whose classes are filled by a classifier, u32."""
SWITCH_PORT_MARKS = (Counter(0, bytes=8),)
"""The machine's own qdisc: the first word of `struct tc_switch_port_xstats`."""
