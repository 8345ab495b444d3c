"""Flows that an in-cast should not slow: from its senders to hosts whose ports nobody congests; and the arithmetic of
what the in-cast leaves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from fabriclab.formats.plan.turns import turns
from fabriclab.validation.bench import Bench
from fabriclab.validation.in_cast import InCast

_MOST_VICTIMS = 8


@dataclass(frozen=True)
class Victim:
    """A pair of hosts whose path does not meet the congested port."""

    source: str
    receiver: str
    ports: frozenset[str]
    """The ports that its frames may leave by on their way, the source's own among them."""
    share: float
    """The least part of the slowest line of its path that the in-cast leaves it."""

    @property
    def name(self) -> str:
        """Both ends, in words."""
        return f"{self.source} to {self.receiver}"


def victims_of(bench: Bench, place: InCast) -> Iterator[Victim]:
    """Yield victims: of each rack a sender of the in-cast that also sends to a neighbour, and to the next rack."""
    loads = _loads(bench, place)
    pairs = islice(_pairs(bench, place), _MOST_VICTIMS)
    for source, receiver in pairs:
        ports = _ports(bench, source, receiver)
        if place.name not in ports:
            yield Victim(source, receiver, ports, min(_share(bench, place, port, loads.get(port, 0)) for port in ports))


def _pairs(bench: Bench, place: InCast) -> Iterator[tuple[str, str]]:
    racks = [[host for host in rack if host != place.receiver] for rack in bench.racks().values()]
    for number, rack in enumerate(racks):
        senders = [host for host in rack if host in place.senders]
        if not senders:
            continue
        others = [host for host in rack if host != senders[0]]
        if others:
            yield senders[0], others[-1]
        elsewhere = racks[(number + 1) % len(racks)]
        if len(racks) > 1 and elsewhere:
            yield senders[0], elsewhere[-1]


def _ports(bench: Bench, source: str, receiver: str) -> frozenset[str]:
    """Return the ports of all shortest paths from a host to another one."""
    taken = turns(bench.plan.nodes, bench.plan.events, [(source, receiver)])
    first = bench.plan.node(source).ports[0]
    return frozenset({f"{source}:{first.interface}"}.union(*taken.values()))


def _loads(bench: Bench, place: InCast) -> dict[str, int]:
    """Return how many flows of the in-cast may come by each port."""
    loads: dict[str, int] = {}
    for sender in place.senders:
        for port in _ports(bench, sender, place.receiver):
            loads[port] = loads.get(port, 0) + 1
    return loads


def _share(bench: Bench, place: InCast, name: str, flows: int) -> float:
    """Return the part of a port's line that is left beside flows of the in-cast, each of which has an equal part of the
    congested port; at least an equal part of this one."""
    node, _, interface = name.partition(":")
    port = next(port for port in bench.plan.node(node).ports if port.interface == interface)
    each_bps = place.port.rate_bps / len(place.senders)
    return max(1 / (flows + 1), 1 - flows * each_bps / port.rate_bps)
