"""What of a switch's queues can be set in bytes while the lab is up: what the page has sliders for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.formats.plan.switch import SwitchQueue


def adjustable(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield what each switch has in bytes: `node`, `name` in words, the `keys` of the lab's language that set it, and
    `bytes`, its value in a plan, None for a threshold that is not set.

    Ports of a switch may differ; then the first one's value stands for all.
    """
    for node in plan.nodes:
        if node.role == "host":
            continue
        for name, words, value in _adjustable(node):
            keys = [f"switches.{node.name}.{word}" for word in words]
            yield {"node": node.name, "name": name, "keys": keys, "bytes": value}


def _adjustable(node: Node) -> Iterator[tuple[str, list[str], int | None]]:
    for pool in node.switch.pools if node.switch is not None else ():
        yield f"pool {pool.name}", [f"pools.{pool.name}.size"], pool.size_bytes
    port = next((port for port in node.ports if port.queue is not None or port.switch_port is not None), None)
    if port is not None and port.switch_port is not None:
        yield from _thresholds(port.switch_port.queues)
    if port is not None and port.queue is not None:
        yield "buffer", ["buffer"], port.queue.limit_bytes
        if port.queue.aqm is None:
            yield "ECN threshold", ["ecn_threshold"], port.queue.ecn_threshold_bytes


def _thresholds(queues: tuple[SwitchQueue, ...]) -> Iterator[tuple[str, list[str], int | None]]:
    """Yield the thresholds of queues with WRED, neighbours with the same ones together; a step is one number."""
    for wred, alike in groupby(queues, key=lambda queue: queue.wred):
        if wred is None or wred.unit != "bytes":
            continue
        numbers = [queue.index for queue in alike]
        which = f"queue {numbers[0]}" if len(numbers) == 1 else f"queues {numbers[0]}..{numbers[-1]}"
        low, high = ([f"queues.{number}.wred.{end}" for number in numbers] for end in ("min", "max"))
        if wred.min == wred.max:
            yield f"{which}: threshold", low + high, wred.min
        else:
            yield f"{which}: WRED min", low, wred.min
            yield f"{which}: WRED max", high, wred.max
