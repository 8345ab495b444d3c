"""What real time must keep up with in a lab: how long its buffers bridge a pause."""

from __future__ import annotations

from fabriclab.compile.stock_switch import static_limit_bytes, stock_memory, used_queues
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port


def stall_ns(plan: Plan) -> int | None:
    """Return the time in which the smallest buffer of a switch drains at its line's rate; None for a lab without
    switches.

    A pause of the host's that is longer lets a line run dry whose buffer was full, and the burst after it may overflow
    the buffer.
    """
    switches = [node for node in plan.nodes if node.role == "switch"]
    return min(
        (8 * 10**9 * _buffer_bytes(plan, node, port) // port.rate_bps for node in switches for port in node.ports),
        default=None,
    )


def _buffer_bytes(plan: Plan, node: Node, port: Port) -> int:
    """Return the most that a queue of the port holds, of several the smallest."""
    if port.queue is not None:
        return port.queue.limit_bytes
    assert port.switch_port is not None, "a port has a queue or a switch_port"
    memory = stock_memory(plan, node)
    return min(static_limit_bytes(memory, queue.account, port) for queue in used_queues(port.switch_port))
