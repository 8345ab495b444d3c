"""ECN thresholds that bursts pass: DCTCP's queue is then empty at times, and goodput is lost.

Bursts of TSO: TCP hands its NIC a third of a flow's window at once (`tcp_tso_win_divisor`, `tcp_tso_should_defer()`,
net/ipv4/tcp_output.c), and no more than `tso` allows. DCTCP's window goes up to C x RTT + K, so a burst is about
C x RTT / 2 where K is of that size. Half of it was measured to be enough: docs/language/switches.md has goodputs on
both sides of that bound. Pacing by fq helps as little as acknowledgements of every segment.

Interrupts that wait: what comes in meanwhile is acknowledged together, and sent together. So much comes on top of the
threshold that fluid models of DCTCP ask for, C x RTT / 7 (M. Alizadeh et al., "Analysis of DCTCP", SIGMETRICS 2011).
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
_FLUID = 7
_DIM_US = 62
"""DIM's fourth time of five, as the kernel's ice has them: what a line that is full needs is closest to this."""


class _Flows(NamedTuple):
    """What decides how long the bursts of DCTCP's flows are."""

    tso_bytes: int
    interrupt_ns: int
    round_trip_ns: int

    def tso_burst(self, rate_bps: int) -> int:
        return min(self.tso_bytes, rate_bps * self.round_trip_ns // _BITS // 2)

    def held_back(self, rate_bps: int) -> int:
        """Return the bytes that come in while an interrupt waits."""
        return rate_bps * self.interrupt_ns // _BITS

    def enough(self, rate_bps: int) -> int:
        """Return the least threshold for interrupts that wait."""
        return self.held_back(rate_bps) + rate_bps * self.round_trip_ns // _BITS // _FLUID if self.interrupt_ns else 0


def burst_warnings(nodes: Sequence[Node], traffic: Sequence[Traffic]) -> tuple[str, ...]:
    """Return a sentence for each ECN threshold of switches that is below what flows of DCTCP send at once."""
    flows = _dctcp_flows(nodes, traffic)
    if flows is None:
        return ()
    found: dict[tuple[int, int], dict[str, None]] = {}
    for node in nodes:
        for port in node.ports if node.role == "switch" else ():
            threshold_bytes = port.queue.ecn_threshold_bytes if port.queue is not None else _least_wred_bytes(port)
            if threshold_bytes is not None:
                found.setdefault((threshold_bytes, port.rate_bps), {})[node.name] = None
    sentences = (_sentence(flows, _named(list(names)), *key) for key, names in found.items())
    return tuple(dict.fromkeys(sentence for sentence in sentences if sentence is not None))


def _named(switches: Sequence[str]) -> str:
    return ", ".join(switches) if len(switches) <= _MOST_NAMED else f"{len(switches)} switches"


def _sentence(flows: _Flows, where: str, threshold_bytes: int, rate_bps: int) -> str | None:
    """Return what is wrong with a threshold at a rate, for that which asks for more; None: nothing."""
    burst, enough = flows.tso_burst(rate_bps), flows.enough(rate_bps)
    if threshold_bytes >= max(burst // 2, enough):
        return None
    round_trip = format_duration(flows.round_trip_ns)
    if enough > burst // 2:
        held_back = format_size(flows.held_back(rate_bps), _DIGITS)
        reason = (
            f"what comes in while an interrupt of the hosts waits ({held_back} in "
            f"{format_duration(flows.interrupt_ns)}) and a seventh of a round trip ({round_trip})"
        )
        key = "interrupt_delay"
    else:
        reason = f"half a burst of TSO ({format_size(burst, _DIGITS)}, for a round trip of {round_trip})"
        key = "tso"
    return (
        f"{where}: the ECN threshold of {format_size(threshold_bytes, 4)} is less than {reason}, so the queue of DCTCP "
        f"is empty at times; write at least {format_size(max(burst // 2, enough), _DIGITS)}, or a smaller "
        f"`nic: {{{key}: ...}}` for the hosts (docs/language/switches.md)"
    )


def _least_wred_bytes(port: Port) -> int | None:
    """Return the shortest queue at which a port with classes marks; None where it marks none by its length."""
    assert port.switch_port is not None, "a port has a queue or a switch_port"
    wreds = [queue.wred for queue in port.switch_port.queues if queue.wred is not None and queue.wred.ecn]
    return min((wred.min for wred in wreds if wred.unit == "bytes"), default=None)


def _dctcp_flows(nodes: Sequence[Node], traffic: Sequence[Traffic]) -> _Flows | None:
    """Return the longest bursts of those who send by DCTCP, and the longest idle round trip to whom they send; None:
    there are no such."""
    by_name = {node.name: node for node in nodes}
    hosts = [node.name for node in nodes if node.role == "host"]
    pairs = [
        (sender, each.receiving() or frozenset(hosts))
        for each in traffic
        for sender in sorted(each.sending(hosts))
        if _is_dctcp(by_name[sender], each)
    ]
    if not pairs:
        return None
    # Fabrics are regular: one sender's distances are as good as those of all, which would take seconds.
    delays_ns = _delays_ns(by_name, pairs[0][0])
    farthest_ns = max((delays_ns.get(name, 0) for _, receivers in pairs for name in receivers), default=0)
    ends = {name for sender, receivers in pairs for name in (sender, *receivers)}
    return _Flows(
        tso_bytes=max(_tso_bytes(by_name[sender]) for sender, _ in pairs),
        interrupt_ns=max(_interrupt_ns(by_name[name]) for name in ends if name in by_name),
        round_trip_ns=2 * farthest_ns,
    )


def _is_dctcp(sender: Node, traffic: Traffic) -> bool:
    transport = sender.transport
    return transport is not None and (traffic.carried_by.congestion_control or transport.congestion_control) == _DCTCP


def _tso_bytes(host: Node) -> int:
    """Return the longest burst that a host sends at its line's rate; 0: none is longer than a frame."""
    nics = [port.nic for port in host.ports if port.nic is not None]
    return max((nic.tso_bytes or 0 for nic in nics if nic.pacer is None), default=0)


def _interrupt_ns(host: Node) -> int:
    """Return how long what a host receives waits for its interrupt."""
    delays_us = [port.nic.interrupt_delay_us for port in host.ports if port.nic is not None]
    return max((1_000 * (_DIM_US if us == "adaptive" else us) for us in delays_us), default=0)


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
