"""The families of metrics: one list for finished runs and for labs that are up, so that one dashboard shows both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["gauge", "counter"]
GAUGE: Kind = "gauge"
COUNTER: Kind = "counter"
_QUEUE = ("node", "port", "queue")
_PORT = ("node", "port")
_GROUP = ("node", "port", "group")


@dataclass(frozen=True)
class Family:
    """A family of metrics. Samples of a counter have its name with `_total`."""

    name: str
    kind: Kind
    about: str
    labels: tuple[str, ...]
    unit: str = ""
    """What the name ends with, where it has a unit."""


FAMILIES = {
    family.name.removeprefix("fabriclab_"): family
    for family in (
        Family("fabriclab_virtual_time_seconds", GAUGE, "Virtual time since the lab's epoch.", (), "seconds"),
        Family("fabriclab_queue_bytes", GAUGE, "Bytes that stand in a queue.", _QUEUE, "bytes"),
        Family("fabriclab_queue_packets", GAUGE, "Packets that stand in a queue.", _QUEUE),
        Family("fabriclab_queue_drops", COUNTER, "Packets that a queue dropped.", _QUEUE),
        Family("fabriclab_queue_ecn_marks", COUNTER, "Packets that a queue marked with ECN CE.", _QUEUE),
        Family("fabriclab_queue_sent_bytes", COUNTER, "Bytes that left a queue.", _QUEUE, "bytes"),
        Family("fabriclab_queue_sent_packets", COUNTER, "Packets that left a queue.", _QUEUE),
        Family("fabriclab_queue_paused_seconds", COUNTER, "How long PFC kept a queue from sending.", _QUEUE, "seconds"),
        Family("fabriclab_port_pfc_sent", COUNTER, "PFC frames that a port sent.", _PORT),
        Family("fabriclab_port_pfc_received", COUNTER, "PFC frames that a port received.", _PORT),
        Family("fabriclab_port_sent_bytes", COUNTER, "Bytes that an interface sent.", _PORT, "bytes"),
        Family("fabriclab_port_sent_packets", COUNTER, "Packets that an interface sent.", _PORT),
        Family("fabriclab_port_received_bytes", COUNTER, "Bytes that an interface received.", _PORT, "bytes"),
        Family("fabriclab_port_received_packets", COUNTER, "Packets that an interface received.", _PORT),
        Family("fabriclab_port_up", GAUGE, "Whether a port is up.", _PORT),
        Family(
            "fabriclab_group_bytes", GAUGE, "Bytes that came in by a priority group and are in memory.", _GROUP, "bytes"
        ),
        Family("fabriclab_group_headroom_bytes", GAUGE, "Of these, bytes in headroom.", _GROUP, "bytes"),
        Family("fabriclab_group_pauses", COUNTER, "How often a priority group paused the other end.", _GROUP),
    )
}
"""The families, by their names without `fabriclab_`."""
