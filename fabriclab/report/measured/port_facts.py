"""What a plan says of the place that is measured: the sampled port's buffer, thresholds and rate,
and the goodput that its link allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabriclab.formats.family import Family
from fabriclab.formats.framing import AROUND_MTU_BYTES, segment_header_bytes
from fabriclab.formats.plan.node import Node, Port, Queue
from fabriclab.formats.plan.switch import SwitchPort, SwitchQueue
from fabriclab.formats.plan.traffic import Sent
from fabriclab.report.measured.buffers import queue_limit
from fabriclab.results import Results
from fabriclab.results.container_queues import queue_limit_bytes


class Level(NamedTuple):
    """A length of the queue that means something: `name` and the length with its unit are its label."""

    bytes: int
    name: str
    is_limit: bool = False


@dataclass(frozen=True)
class PortFacts:
    """A sampled port, or one queue of it, as the plan has it."""

    name: str
    queue: int | None
    limit_bytes: int | None
    """What one busy queue can get; None: nothing bounds it, or containers did not tell what they gave it."""
    levels: tuple[Level, ...]
    rate_bps: int
    mtu: int
    has_own_buffer: bool = True
    """Whether the port has a buffer of its own, rather than a part of a shared one."""
    ip: Family = 4
    """Of the traffic, that with the shorter headers."""

    @property
    def title(self) -> str:
        """What a figure of it is called."""
        return f"Queue at {self.name}" if self.queue is None else f"Queue {self.queue} at {self.name}"

    @property
    def threshold_bytes(self) -> int | None:
        """Length at which marks begin, where there is one."""
        return next((level.bytes for level in self.levels if not level.is_limit), None)

    @property
    def goodput_limit_bps(self) -> float:
        """Return the most application data per second that full segments carry:
        rate x 1448/1538 with an MTU of 1500, over IPv6 1428/1538."""
        return self.rate_bps * (self.mtu - segment_header_bytes(self.ip)) / (self.mtu + AROUND_MTU_BYTES)


def port_facts(results: Results, name: str | None = None, queue: int | None = None) -> PortFacts | None:
    """Return the facts of a port `node:interface`, by default of the first sampled one; None when the plan has no such
    port.

    With `queue` they are those of that queue. A port of a switch with a shared buffer has several: its limit is then
    the largest one's, and its thresholds are those that all queues which have any have.
    """
    sampled, families = results.plan.probes.queue_ports, results.plan.families
    wanted = name if name is not None else (sampled[0] if sampled else None)
    for node in results.plan.nodes:
        for port in node.ports:
            if f"{node.name}:{port.interface}" == wanted:
                levels = _levels(results, node, port, queue)
                limit = next((level.bytes for level in levels if level.is_limit), None)
                own = port.queue is not None
                ip = min((each.carried_by.ip or families[0] for each in results.plan.traffic), default=families[0])
                return PortFacts(str(wanted), queue, limit, tuple(levels), port.rate_bps, port.mtu, own, ip)
    return None


def _levels(results: Results, node: Node, port: Port, queue: int | None) -> list[Level]:
    if port.queue is not None:
        return _buffer_levels(port.queue)
    assert port.switch_port is not None, "a port has one of the two"
    if results.clock == "virtual":
        return _switch_levels(node, port.switch_port, queue)
    # Stock qdiscs stood for the shared buffer: what counts is what they were given, not what the plan's switch would
    # have had.
    limit = queue_limit_bytes(results.directory, f"{node.name}:{port.interface}")
    return [
        *([] if limit is None else [Level(limit, "limit", is_limit=True)]),
        *_wred_levels(port.switch_port.queues),
    ]


def _buffer_levels(queue: Queue) -> list[Level]:
    threshold = queue.ecn_threshold_bytes
    return [Level(queue.limit_bytes, "buffer", is_limit=True)] + (
        [Level(threshold, "K =")] if threshold is not None else []
    )


def _switch_levels(node: Node, switch_port: SwitchPort, queue: int | None) -> list[Level]:
    queues = [each for each in switch_port.queues if queue is None or each.index == queue]
    limits = [queue_limit(node, each.account) for each in queues]
    if not limits or any(limit is None for limit in limits):
        return _wred_levels(queues)
    largest = max((limit for limit in limits if limit is not None), key=lambda limit: limit.bytes)
    return [Level(largest.bytes, largest.name, is_limit=True), *_wred_levels(queues)]


def _wred_levels(queues: Sequence[SwitchQueue]) -> list[Level]:
    curves = {(wred.min, wred.max) for queue in queues if (wred := queue.wred) is not None and wred.unit == "bytes"}
    if len(curves) != 1:
        return []
    low, high = curves.pop()
    return [Level(low, "K =")] if low == high else [Level(low, "WRED min"), Level(high, "WRED max")]


def receiver_port(results: Results) -> PortFacts | None:
    """Return the switch port that leads to the traffic's receiver, where the streams meet;
    None with several receivers."""
    receivers = {each.receiver if isinstance(each, Sent) else None for each in results.plan.traffic}
    if len(receivers) != 1:
        return None
    receiver = receivers.pop()
    for node in results.plan.nodes:
        if node.name == receiver and len(node.ports) == 1:
            port = node.ports[0]
            return port_facts(results, f"{port.peer_node}:{port.peer_interface}")
    return None


def rto_min_us(results: Results) -> int:
    """Return the largest lower bound of the retransmission timeout among the hosts, microseconds; 0 without hosts."""
    return max((node.transport.rto_min_us for node in results.plan.nodes if node.transport is not None), default=0)
