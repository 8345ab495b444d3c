"""`fabriclab start`, `stop`, `flow`."""

from __future__ import annotations

import sys

from fabriclab.errors import ArgumentError
from fabriclab.live.client import ask
from fabriclab.live.pace import time_text
from fabriclab.units import UnitError, format_count, parse_size


def start(lab: str | None, traffic: str, loop: bool) -> None:
    """Start a traffic of the lab, with `loop` again and again."""
    state = ask(lab, {"do": "start", "traffic": traffic, "loop": loop})
    flows = format_count(state["flows"], "flow")
    sys.stdout.write(f"{traffic}: {flows} from {state['epoch_ns'] / 1e9:.9f} s on; {time_text(state)}\n")


def stop(lab: str | None, traffic: str) -> None:
    """Stop a traffic that was started by hand."""
    state = ask(lab, {"do": "stop", "traffic": traffic})
    sys.stdout.write(f"{traffic}: stopped; {time_text(state)}\n")


def flow(lab: str | None, src: str, dst: str, size: str, congestion_control: str | None) -> None:
    """Send one flow. Raises ArgumentError for what is not a size."""
    try:
        size_bytes = parse_size(size)
    except UnitError as error:
        raise ArgumentError("--size {0}", error) from None
    question = {"do": "flow", "src": src, "dst": dst, "size_bytes": size_bytes}
    state = ask(lab, {**question, "congestion_control": congestion_control})
    sys.stdout.write(f"{src} to {dst}: {size} at {state['epoch_ns'] / 1e9:.9f} s; {time_text(state)}\n")
