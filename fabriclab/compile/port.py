"""A port as traffic control, whatever it is made of: stock qdiscs, or the machine's own where it belongs to a switch
with a shared buffer.

`stock`: for a kernel that has none but the stock ones, such as the host's that containers run on.
"""

from __future__ import annotations

from typing import NamedTuple

from fabriclab.compile.nic import compile_nic_port, front_handles
from fabriclab.compile.qdisc import (
    LEAF_HANDLE,
    compile_delay_change,
    compile_queue,
    compile_queue_change,
    compile_rate_change,
)
from fabriclab.compile.stock_switch import (
    compile_stock_switch_port,
    default_limit_bytes,
    stock_marking_handles,
    stock_memory,
    used_queues,
)
from fabriclab.compile.switch_port import (
    SWITCH_HANDLE,
    compile_buffer_change,
    compile_switch_port,
    compile_switch_port_change,
)
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port, Queue


class Changing(NamedTuple):
    """What of a port changes at some time beside its rate."""

    line: bool = False
    """Its delay, or it loses packets."""
    buffer: bool = False


EVERYTHING = Changing(line=True, buffer=True)


def compile_port(plan: Plan, node: Node, port: Port, changing: Changing, *, stock: bool) -> list[str]:
    """Return the `tc -batch` lines of a port."""
    impaired = changing.line or port.loss_ppm > 0
    if port.switch_port is None:
        return compile_queue(port, _queue(port), impaired=impaired, adjusted=changing.buffer)
    if port.nic is not None:
        if not stock:
            return compile_nic_port(node, port, port.switch_port, port.nic)
        if len(used_queues(port.switch_port)) == 1:
            return compile_queue(port, port.nic.queue, impaired=impaired, adjusted=changing.buffer)
    if stock:
        return compile_stock_switch_port(stock_memory(plan, node), port, port.switch_port, impaired=impaired)
    return [compile_switch_port(node, port, port.switch_port)]


class Line(NamedTuple):
    """What a port's line is at some time."""

    rate_bps: int
    delay_ns: int
    loss_ppm: int


def compile_line_change(plan: Plan, node: Node, port: Port, before: Line, after: Line, *, stock: bool) -> list[str]:
    """Return the lines that make of a port's line what it is to be; none where nothing changes.

    What is queued stays queued.
    """
    if before == after:
        return []
    port = port.model_copy(update={"rate_bps": after.rate_bps, "delay_ns": after.delay_ns})
    if port.switch_port is not None and not stock:
        return [compile_switch_port_change(port, after.loss_ppm)]
    limit_bytes = _limit_bytes(plan, node, port)
    rate = [compile_rate_change(port, limit_bytes)] if before.rate_bps != after.rate_bps else []
    return rate + ([compile_delay_change(port, after.loss_ppm)] if before[1:] != after[1:] else [])


def compile_port_buffer_change(before: tuple[Node, Port], after: tuple[Node, Port], changing: Changing) -> list[str]:
    """Return the lines that give a port another buffer; none where it is the same. What is queued stays queued."""
    (_, old), (_, new) = before, after
    if new.switch_port is not None:
        return compile_buffer_change(before, after)
    if old.queue == new.queue and old.rate_bps == new.rate_bps:
        return []
    return compile_queue_change((old, _queue(old)), (new, _queue(new)), impaired=changing.line or new.loss_ppm > 0)


def queue_handle(port: Port, *, stock: bool) -> str:
    """Return the handle of the qdisc whose backlog is what waits at the port."""
    return SWITCH_HANDLE if port.switch_port is not None and not stock else LEAF_HANDLE


def marking_handles(port: Port, *, stock: bool) -> list[str] | None:
    """Return the handles of the qdiscs below `queue_handle` that mark, where it holds others and so does not
    count marks; else None."""
    if port.switch_port is None:
        return None
    if port.nic is not None and not stock:
        return front_handles(port.switch_port, port.nic)
    if not stock or (port.nic is not None and len(used_queues(port.switch_port)) == 1):
        return None
    return stock_marking_handles(port.switch_port)


def _limit_bytes(plan: Plan, node: Node, port: Port) -> int:
    if port.switch_port is None:
        return _queue(port).limit_bytes
    return default_limit_bytes(stock_memory(plan, node), port, port.switch_port)


def _queue(port: Port) -> Queue:
    assert port.queue is not None, "a port has a queue or a switch_port"
    return port.queue
