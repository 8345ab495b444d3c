"""OpenConfig's tree of a node, out of a look into the lab: each leaf with its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MODELS = (("openconfig-interfaces", "3.5.0"), ("openconfig-if-ethernet", ""), ("openconfig-qos", "0.7.0"))
"""The models, by name and version, of which the tree has a part. `ecn-marked-pkts` is in later ones, and in SONiC."""
ORIGINS = ("", "openconfig")


@dataclass(frozen=True)
class Element:
    """A part of a path, with the keys of a list's entry. `*` stands for any name, or any value of a key."""

    name: str
    keys: Mapping[str, str] = field(default_factory=dict)

    def takes(self, other: Element) -> bool:
        """Return whether this part, as it is asked for, means that one of the tree."""
        return self.name in ("*", other.name) and all(
            value in ("*", other.keys.get(key)) for key, value in self.keys.items()
        )


Path = tuple[Element, ...]
Leaf = tuple[Path, int | str]


def leaves(look: Mapping[str, Any], node: str) -> list[Leaf]:
    """Return the leaves of a node; what the kernel does not count is left out."""
    ports = [port for port in look["ports"] if port["node"] == node]
    found = [leaf for port in ports for leaf in (*_interface(port), *_queues(port))]
    return [(path, value) for path, value in found if value is not None]


def meant(asked: Path, found: Sequence[Leaf]) -> list[Leaf]:
    """Return the leaves at a path and below it."""
    return [
        (path, value)
        for path, value in found
        if len(asked) <= len(path) and all(part.takes(other) for part, other in zip(asked, path, strict=False))
    ]


def _interface(port: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    name = port["interface"]
    base = (Element("interfaces"), Element("interface", {"name": name}))
    state = (*base, Element("state"))
    yield (*state, Element("name")), name
    yield (*state, Element("oper-status")), "DOWN" if port["up"] is False else "UP"
    counted = {"in-octets": "rx_bytes", "in-pkts": "rx_packets", "out-octets": "tx_bytes", "out-pkts": "tx_packets"}
    for leaf, key in counted.items():
        yield (*state, Element("counters"), Element(leaf)), port[key]
    ethernet = (*base, Element("ethernet"), Element("state"), Element("counters"))
    yield (*ethernet, Element("in-mac-pause-frames")), port["pauses_received"]
    yield (*ethernet, Element("out-mac-pause-frames")), port["pauses_sent"]


def _queues(port: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    base = (
        Element("qos"),
        Element("interfaces"),
        Element("interface", {"interface-id": port["interface"]}),
        Element("output"),
        Element("queues"),
    )
    for queue in port["queues"]:
        state = (*base, Element("queue", {"name": str(queue["queue"])}), Element("state"))
        yield (*state, Element("name")), str(queue["queue"])
        counted = {
            "transmit-pkts": "sent_packets",
            "transmit-octets": "sent_bytes",
            "dropped-pkts": "drops",
            "ecn-marked-pkts": "marks",
            "max-queue-len": "watermark_bytes",
        }
        for leaf, key in counted.items():
            yield (*state, Element(leaf)), queue.get(key)
