"""What containers had in place of a switch's shared buffer: stock qdiscs,
as their kernel tells of them when the traffic is over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fabriclab.files import read_text
from fabriclab.formats.json_text import LARGEST_JSON_BYTES, parse_json

_QUEUES = ("bfifo", "red")
"""Qdiscs that are a queue's own memory; their limit is in bytes (`fabriclab/compile/stock_switch.py`)."""


def queue_limit_bytes(run_dir: Path, port: str) -> int | None:
    """Return the most that a queue of a port (`node:interface`) could hold, of several the largest; None where the run
    does not tell.

    Source: `tc -s -j qdisc show` in the node, which the run keeps as `collect/qdisc@NODE`. It is missing when the run
    was cut short.
    """
    node, _, interface = port.partition(":")
    limits = [
        int(qdisc["options"]["limit"])
        for qdisc in _qdiscs(run_dir / "collect" / f"qdisc@{node}")
        if qdisc.get("dev") == interface and qdisc.get("kind") in _QUEUES and "limit" in (qdisc.get("options") or {})
    ]
    return max(limits, default=None)


def _qdiscs(path: Path) -> list[dict[str, Any]]:
    try:
        found = parse_json(read_text(path, LARGEST_JSON_BYTES))
    except (OSError, ValueError):
        return []
    return [qdisc for qdisc in found if isinstance(qdisc, dict)] if isinstance(found, list) else []
