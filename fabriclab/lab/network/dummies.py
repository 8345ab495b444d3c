"""Links of Containerlab's type dummy: a device of one node, which is up and leads nowhere.

Source: Containerlab, links/link_dummy.go, constants (`DefaultLinkMTU`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabriclab.formats.plan.setup import Dummy
from fabriclab.lab.network.apart import node_of
from fabriclab.lab.network.keys import CONTAINERLAB_MTU_BYTES
from fabriclab.lab.network.topology import Endpoint
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value
from fabriclab.lab.reading.section import Written, value_of, value_or

_TYPE = "dummy"


@dataclass(frozen=True)
class DummyLink:
    """A dummy device as written."""

    end: Endpoint
    mtu: Written[int] | None


class DummyEnd(NamedTuple):
    """The end of a link that is a dummy device, before anything of it is checked."""

    node: str
    key: str
    value: Value | None
    is_extended: bool


def dummy_end(link: MappingValue, nodes: Collection[str]) -> DummyEnd | None:
    """Return the device of a link of type dummy, or of one whose other end is called so; None of any other link."""
    kind = link.entries.get("type")
    if isinstance(kind, ScalarValue):
        end = link.entries.get("endpoint")
        return DummyEnd(node_of(end), "endpoint", end, is_extended=True) if kind.text == _TYPE else None
    ends = link.entries.get("endpoints")
    names = [node_of(end) for end in ends.items] if isinstance(ends, SequenceValue) else []
    if not isinstance(ends, SequenceValue) or len(names) != 2 or _TYPE not in names or _TYPE in nodes:
        return None
    at = 1 - names.index(_TYPE)
    return DummyEnd(names[at], f"endpoints[{at}]", ends.items[at], is_extended=False)


def dummies_of(node: str, links: Sequence[DummyLink]) -> tuple[Dummy, ...]:
    """Return the dummy devices of a node."""
    return tuple(_device(link) for link in links if link.end.node == node)


def _device(link: DummyLink) -> Dummy:
    ipv4, ipv6 = value_of(link.end.ipv4), value_of(link.end.ipv6)
    return Dummy(
        interface=link.end.interface,
        mtu=value_or(link.mtu, CONTAINERLAB_MTU_BYTES),
        mac=value_of(link.end.mac),
        address=None if ipv4 is None else str(ipv4),
        ipv6=None if ipv6 is None else str(ipv6),
    )
