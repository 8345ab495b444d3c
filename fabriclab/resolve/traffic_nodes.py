"""Which nodes take part in a piece of traffic, and which of them send its data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from fabriclab.formats.plan.traffic import (
    ArrivalsTraffic,
    FlowsTraffic,
    Iperf3Traffic,
    LongTraffic,
    QueryTraffic,
    RoundsTraffic,
    ShuffleTraffic,
    TraceTraffic,
    Traffic,
)


class Direction(NamedTuple):
    """Flows that some hosts may send to others."""

    mode: Literal["push", "pull"]
    """Who opens the connections: push, those that send; pull, those that receive."""
    senders: frozenset[str]
    receivers: frozenset[str]


def participants(traffic: Traffic, every: Iterable[str]) -> frozenset[str]:
    """Return the nodes that send or receive data; a user's trace may name any of `every`."""
    return data_senders(traffic, every) | _data_receivers(traffic)


def data_senders(traffic: Traffic, every: Iterable[str]) -> frozenset[str]:
    """Return the nodes that send data, whoever asks for them."""
    match traffic:
        case TraceTraffic():
            return frozenset(every)
        case ArrivalsTraffic(pairs=pairs):
            return frozenset(pairs.senders)
        case QueryTraffic():
            return frozenset(traffic.workers)
        case ShuffleTraffic():
            return frozenset((*traffic.sources, *traffic.mappers, *traffic.reducers))
        case LongTraffic() | RoundsTraffic() | FlowsTraffic() | Iperf3Traffic():
            return frozenset(traffic.senders)


def _data_receivers(traffic: Traffic) -> frozenset[str]:
    match traffic:
        case ArrivalsTraffic(pairs=pairs):
            return frozenset(pairs.receivers)
        case LongTraffic(receiver=receiver, pairs=pairs):
            return frozenset(() if receiver is None else (receiver,)).union(() if pairs is None else pairs.receivers)
        case QueryTraffic():
            return frozenset(traffic.aggregators)
        case RoundsTraffic() | FlowsTraffic() | Iperf3Traffic():
            return frozenset((traffic.receiver,))
        case TraceTraffic() | ShuffleTraffic():
            return frozenset()


def directions(traffic: Traffic, every: Iterable[str]) -> Iterator[Direction]:
    """Yield which hosts may send to which, and who opens; of a user's trace that is everybody,
    in the usual mode, push."""
    senders, receivers = data_senders(traffic, every), _data_receivers(traffic)
    match traffic:
        case TraceTraffic():
            yield Direction("push", senders, senders)
        case QueryTraffic():
            yield Direction("pull", senders, receivers)
        case ShuffleTraffic(mappers=mappers, reducers=reducers):
            yield Direction("pull", frozenset(traffic.sources), frozenset(mappers))
            yield Direction("pull", frozenset(mappers), frozenset(reducers))
            if traffic.replicas > 1:
                yield Direction("push", frozenset(reducers) if traffic.replicas == 2 else senders, senders)
        case RoundsTraffic(mode=mode) | FlowsTraffic(mode=mode) | ArrivalsTraffic(mode=mode):
            yield Direction(mode, senders, receivers)
        case LongTraffic() | Iperf3Traffic():
            yield Direction("push", senders, receivers)
