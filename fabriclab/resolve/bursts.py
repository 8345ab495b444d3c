"""ECN thresholds that half a burst of TSO passes: DCTCP's queue is then empty at times, and goodput is lost.

TCP hands its NIC a third of a flow's window at once (`tcp_tso_win_divisor`, `tcp_tso_should_defer()`,
net/ipv4/tcp_output.c), and no more than `tso` allows. DCTCP's window goes up to C x RTT + K, so a burst is about
C x RTT / 2 where K is of that size. Half of it was measured to be enough: docs/language/switches.md has goodputs on
both sides of that bound. Pacing by fq helps as little as acknowledgements of every segment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.units import format_duration, format_size

_DCTCP = "dctcp"
_BITS = 8 * 10**9
_MOST_NAMED = 6
_DIGITS = 3


class _Senders(NamedTuple):
    """What decides how long the bursts of some hosts are."""

    tso_bytes: int
    round_trip_ns: int


def burst_warnings(nodes: Sequence[Node], traffic: Sequence[Traffic]) -> tuple[str, ...]:
    """Return a sentence for each ECN threshold of switches that is below what a flow of DCTCP sends at once."""
    senders = _dctcp_senders(nodes, traffic)
    if senders is None:
        return ()
    found: dict[tuple[int, int], dict[str, None]] = {}
    for node in nodes:
        for port in node.ports if node.role == "switch" else ():
            threshold_bytes = port.queue.ecn_threshold_bytes if port.queue is not None else _least_wred_bytes(port)
            burst_bytes = min(senders.tso_bytes, port.rate_bps * senders.round_trip_ns // _BITS // 2)
            if threshold_bytes is not None and threshold_bytes < burst_bytes // 2:
                found.setdefault((threshold_bytes, burst_bytes), {})[node.name] = None
    return tuple(_sentence(list(names), *key, senders.round_trip_ns) for key, names in found.items())


def _sentence(switches: Sequence[str], threshold_bytes: int, burst_bytes: int, round_trip_ns: int) -> str:
    where = ", ".join(switches) if len(switches) <= _MOST_NAMED else f"{len(switches)} switches"
    burst = format_size(burst_bytes, _DIGITS)
    return (
        f"{where}: the ECN threshold of {format_size(threshold_bytes, 4)} is less than half a burst of TSO "
        f"({burst}, for a round trip of {format_duration(round_trip_ns)}), so the queue of DCTCP is empty at times; "
        f"write at least {format_size(burst_bytes // 2, _DIGITS)}, or a smaller `nic: {{tso: ...}}` for the hosts "
        "(docs/language/switches.md)"
    )


def _least_wred_bytes(port: Port) -> int | None:
    """Return the shortest queue at which a port with classes marks; None where it marks none by its length."""
    assert port.switch_port is not None, "a port has a queue or a switch_port"
    wreds = [queue.wred for queue in port.switch_port.queues if queue.wred is not None and queue.wred.ecn]
    return min((wred.min for wred in wreds if wred.unit == "bytes"), default=None)


def _dctcp_senders(nodes: Sequence[Node], traffic: Sequence[Traffic]) -> _Senders | None:
    """Return the largest burst of those who send by DCTCP, and the longest idle round trip to whom they send; None:
    there are no such."""
    by_name = {node.name: node for node in nodes}
    hosts = [node.name for node in nodes if node.role == "host"]
    pairs = [
        (sender, each.receiving() or frozenset(hosts))
        for each in traffic
        for sender in sorted(each.sending(hosts))
        if _bursts(by_name[sender], each)
    ]
    if not pairs:
        return None
    # Fabrics are regular: one sender's distances are as good as those of all, which would take seconds.
    delays_ns = _delays_ns(by_name, pairs[0][0])
    farthest_ns = max((delays_ns.get(name, 0) for _, receivers in pairs for name in receivers), default=0)
    return _Senders(max(_tso_bytes(by_name[sender]) for sender, _ in pairs), 2 * farthest_ns)


def _bursts(sender: Node, traffic: Traffic) -> bool:
    transport = sender.transport
    if transport is None or _tso_bytes(sender) == 0:
        return False
    return (traffic.carried_by.congestion_control or transport.congestion_control) == _DCTCP


def _tso_bytes(host: Node) -> int:
    """Return the longest burst that a host sends at its line's rate; 0: none is longer than a frame."""
    nics = [port.nic for port in host.ports if port.nic is not None]
    return max((nic.tso_bytes or 0 for nic in nics if nic.pacer is None), default=0)


def _delays_ns(nodes: Mapping[str, Node], source: str) -> dict[str, int]:
    """Return the propagation delay of a shortest path to every node; only switches pass packets on."""
    found = {source: 0}
    frontier = [source]
    while frontier:
        following: list[str] = []
        for name, port in _passable(nodes, source, frontier):
            if port.peer_node not in found:
                found[port.peer_node] = found[name] + port.delay_ns
                following.append(port.peer_node)
        frontier = following
    return found


def _passable(nodes: Mapping[str, Node], source: str, names: Sequence[str]) -> Iterator[tuple[str, Port]]:
    for name in names:
        if name == source or nodes[name].role == "switch":
            for port in nodes[name].ports:
                if port.peer_node in nodes:
                    yield name, port
