"""Which nodes take part in a piece of traffic, and which of them send its data."""

from __future__ import annotations

from collections.abc import Iterable

from fabriclab.plan.traffic_kinds import (
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
