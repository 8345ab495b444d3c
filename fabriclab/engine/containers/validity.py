"""Whether a run in real time counts, in words: the host had the time for it, and its links are the plan's."""

from __future__ import annotations

from fabriclab.engine.containers.calibration import Calibration
from fabriclab.engine.containers.starvation import Starvation
from fabriclab.engine.containers.tcp_table import large_table


def why_invalid(starvation: Starvation | None, calibration: Calibration | None) -> str:
    """Return why a run does not count, with figures and bounds; empty where it does."""
    busy = [] if starvation is None else starvation.reasons()
    if starvation is not None and starvation.missed_samples and (slow := large_table()):
        busy.append(slow)
    reasons = ["the host was too busy for real time: " + "; ".join(busy)] if busy else []
    reasons += [] if calibration is None else calibration.reasons()
    return "invalid: " + "; ".join(reasons) if reasons else ""
