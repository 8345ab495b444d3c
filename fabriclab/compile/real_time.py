"""What real time must keep up with in a lab: how long its buffers bridge a pause, and what is measured of its links
before the traffic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabriclab.compile.qdisc import frame_bytes, wire_bytes
from fabriclab.compile.stock_switch import static_limit_bytes, stock_memory, used_queues, wred_bytes
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port, Queue
from fabriclab.formats.real_time import REAL_TIME_FORMAT, IdlePath, Line, RealTime

_MOST_PATHS = 24
"""Pairs of hosts between which idle round trips are measured."""
_LEAST_FRAMES = 240
_LEAST_NS = 40_000_000
"""How long a line is kept busy: so many full frames, so that one more or less changes little, and so long at least."""


def compile_real_time(plan: Plan, pairs: Iterable[tuple[str, str]]) -> RealTime:
    """Return what an engine in real time has to know of a plan (`machine/real_time.json`). `pairs` send to each other;
    of many, some are measured: each host that sends or receives, as far as there is room."""
    return {
        "format": REAL_TIME_FORMAT,
        "stall_ns": stall_ns(plan),
        "standing_ns": standing_ns(plan),
        "lines": [_line(plan, node, port) for node in plan.nodes for port in node.ports if _is_plain(port)],
        "paths": list(_idle_paths(plan, _covering(sorted(set(pairs))))),
    }


def stall_ns(plan: Plan) -> int | None:
    """Return the time in which the smallest buffer of a switch drains at its line's rate; None for a lab without
    switches.

    A pause of the host's that is longer lets a line run dry whose buffer was full, and the burst after it may overflow
    the buffer.
    """
    return min((_drain_ns(_buffer_bytes(plan, node, port), port) for node, port in _switch_ports(plan)), default=None)


def standing_ns(plan: Plan) -> int | None:
    """Return the shortest wait in a queue that congestion controls let stand at a switch's port: up to its threshold of
    marks, its qdisc's target, else its end; None for a lab without switches."""
    return min((_standing_ns(plan, node, port) for node, port in _switch_ports(plan)), default=None)


def _switch_ports(plan: Plan) -> Iterator[tuple[Node, Port]]:
    return ((node, port) for node in plan.nodes if node.role == "switch" for port in node.ports)


def _standing_ns(plan: Plan, node: Node, port: Port) -> int:
    full_ns = _drain_ns(_buffer_bytes(plan, node, port), port)
    if port.queue is not None:
        return min(full_ns, _queue_standing_ns(port.queue, port))
    assert port.switch_port is not None, "a port has a queue or a switch_port"
    wreds = (queue.wred for queue in used_queues(port.switch_port) if queue.wred is not None)
    return min([full_ns, *(_drain_ns(wred_bytes(wred, port.rate_bps)[0], port) for wred in wreds)])


def _queue_standing_ns(queue: Queue, port: Port) -> int:
    # A qdisc that aims at a delay has it among its keys.
    target_ns: int | None = getattr(queue.aqm, "target_ns", None)
    if target_ns is not None:
        return target_ns
    return _drain_ns(queue.limit_bytes if queue.ecn_threshold_bytes is None else queue.ecn_threshold_bytes, port)


def _drain_ns(waiting_bytes: int, port: Port) -> int:
    return 8 * 10**9 * waiting_bytes // port.rate_bps


def _sent_bytes(time_ns: int, port: Port) -> int:
    return port.rate_bps * time_ns // (8 * 10**9)


def _buffer_bytes(plan: Plan, node: Node, port: Port) -> int:
    """Return the most that a queue of the port holds, of several the smallest."""
    if port.queue is not None:
        return port.queue.limit_bytes
    assert port.switch_port is not None, "a port has a queue or a switch_port"
    memory = stock_memory(plan, node)
    return min(static_limit_bytes(memory, queue.account, port) for queue in used_queues(port.switch_port))


def _is_plain(port: Port) -> bool:
    """Return whether a frame of no class gets all of the line: no queue has a rate of its own."""
    buffer = port.switch_port
    return buffer is None or all(queue.scheduler.pir_bps == 0 for queue in buffer.queues)


def _line(plan: Plan, node: Node, port: Port) -> Line:
    full_frame_ns = _drain_ns(wire_bytes(port), port)
    time_ns = max(_LEAST_NS, _LEAST_FRAMES * full_frame_ns + 4 * port.delay_ns)
    # Of a deep queue a part only: what waits at the end has left before the traffic starts.
    waiting_bytes = min(_buffer_bytes(plan, node, port) // 2, _sent_bytes(time_ns // 4, port))
    return {
        "node": node.name,
        "interface": port.interface,
        "rate_bps": port.rate_bps,
        "frame_bytes": frame_bytes(port),
        "wire_bytes": wire_bytes(port),
        # On the way, and half of what the queue holds: it never runs dry, and is never full.
        "window_bytes": max(4 * frame_bytes(port), waiting_bytes + _sent_bytes(port.delay_ns, port)),
        "time_ns": time_ns,
    }


def _covering(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs, of many some that name as many hosts as can be."""
    chosen: list[tuple[str, str]] = []
    covered: set[str] = set()
    for pair in pairs:
        if not covered.issuperset(pair):
            chosen.append(pair)
            covered.update(pair)
    left = [pair for pair in pairs if pair not in set(chosen)]
    return (chosen + left)[:_MOST_PATHS]


def _idle_paths(plan: Plan, pairs: Iterable[tuple[str, str]]) -> Iterator[IdlePath]:
    if plan.configured is not None:
        # Nodes' own files say which addresses they have.
        return
    addresses = {node.name: _address(node) for node in plan.nodes}
    delays: dict[str, dict[str, int]] = {}
    for src, dst in pairs:
        address = addresses.get(dst)
        for end in (src, dst):
            if end not in delays:
                delays[end] = _delays_ns(plan, end)
        there, back = delays[src].get(dst), delays[dst].get(src)
        if address is not None and there is not None and back is not None:
            yield {"src": src, "dst": dst, "address": address, "round_trip_ns": there + back}


def _address(node: Node) -> str | None:
    return next((port.address.partition("/")[0] for port in node.ports if port.address), None)


def _delays_ns(plan: Plan, source: str) -> dict[str, int]:
    """Return the propagation delay of the shortest path to every node, of several the least; only switches pass
    packets on."""
    nodes = {node.name: node for node in plan.nodes}
    found = {source: 0}
    frontier = {source: 0}
    while frontier:
        following: dict[str, int] = {}
        for name, so_far_ns in frontier.items():
            for port in nodes[name].ports if name == source or nodes[name].role == "switch" else ():
                if port.peer_node in nodes and port.peer_node not in found:
                    delay_ns = so_far_ns + port.delay_ns
                    following[port.peer_node] = min(delay_ns, following.get(port.peer_node, delay_ns))
        found |= following
        frontier = following
    return found
