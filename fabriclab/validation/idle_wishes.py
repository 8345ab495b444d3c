"""What the `validation` section wants and nothing of the lab answers to: it would not be looked at, without a word."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fabriclab.validation.bench import Bench, Stage
from fabriclab.validation.classes import classes_stage
from fabriclab.validation.failures import failures_stage
from fabriclab.validation.lossless import lossless_stage
from fabriclab.validation.marks import marks_stage

OF_CONFIGURED = ("pings", "sessions", "routes", "answers", "steps")
"""What is asked of labs whose nodes' own files give them addresses and routes."""
_OF_STAGE: Mapping[str, tuple[Callable[[Bench], Stage | None], str]] = {
    "queues": (classes_stage, "no switch has a shared buffer"),
    "thresholds": (marks_stage, "no two hosts can fill a port of a switch with a shared buffer"),
    "lossless": (lossless_stage, "no two hosts can fill a port of a switch with a shared buffer"),
    "failure": (failures_stage, "no link between switches can fail without cutting a host off"),
}


def idle_wishes(bench: Bench) -> dict[str, str]:
    """Return the keys of `validation` that nothing answers to, each with the reason."""
    found = {}
    for key in bench.wanted.keys:
        why = _why_idle(bench, key)
        if why:
            found[key] = why
    return found


def _why_idle(bench: Bench, key: str) -> str:
    is_configured = bench.plan.configured is not None
    if key in OF_CONFIGURED:
        return (
            ""
            if is_configured
            else "asked only with routing: as-configured; here the plan determines which nodes reach each other"
        )
    if is_configured:
        return f"not asked where routing is as-configured; write {', '.join(OF_CONFIGURED)}"
    if key == "mtu":
        return "" if len(bench.hosts) > 1 else "the lab has no two hosts"
    if key == "lossless" and not bench.wanted.lossless:
        return ""
    make, why = _OF_STAGE[key]
    return "" if make(bench) is not None else why
