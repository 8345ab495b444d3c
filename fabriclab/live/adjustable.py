"""What of a switch's queues can be set in bytes while the lab is up: what the page has sliders for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabriclab.formats.plan import Plan


def adjustable(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield each switch's buffer and threshold: the key in the lab's language, and its value in a plan, in bytes.

    None is a threshold that is not set. Ports of a switch may differ; then the first one's value stands for all.
    """
    for node in plan.nodes:
        queue = next((port.queue for port in node.ports if port.queue is not None), None)
        if node.role == "host" or queue is None:
            continue
        named: dict[str, int | None] = {"buffer": queue.limit_bytes}
        if queue.aqm is None:
            named["ecn_threshold"] = queue.ecn_threshold_bytes
        for name, value in named.items():
            yield {"node": node.name, "name": name, "key": f"switches.{node.name}.{name}", "bytes": value}
