"""How long routing took, from the engine's events (`images/machine/README.md`, "Events").

  convergence_ns    from the start of the daemons until every switch's kernel had every expected route; the traffic
                    starts after it
  reconvergence_ns  from a change of links until every switch's kernel had the routes that must follow; the bare name is
                    that of the first change that has any, `reconvergence_ns[event]` each one's. As configured: until
                    the last change of any route that was seen, `reconvergence_still_ns` before the watch ended
  convergence_within_ns, reconvergence_within_ns   how much sooner it may have been, of an engine that can't look at all
                    routes at once (containers); `reconvergence_within_ns[event]` likewise. Absent where the engine
                    looks at every virtual millisecond
  reconvergence_unsettled_ns, reconvergence_unsettled_ns[event]   as configured: how long routes were watched after a
                    failure of links without coming to rest. Absent where they did
A metric that was not measured is None: routes are static, or routing had not followed when the run ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from fabriclab.files import open_file, read_all
from fabriclab.formats.json_text import LARGEST_JSON_BYTES, JsonError, parse_json
from fabriclab.formats.plan.model import Plan
from fabriclab.results.summary import Metrics

_OF_A_CHANGE = {
    "reconvergence_ns": "reconvergence_ns",
    "within_ns": "reconvergence_within_ns",
    "still_ns": "reconvergence_still_ns",
}
"""Metrics of a change, by what its event calls them."""


def routing_metrics(run_dir: Path, plan: Plan | None = None) -> Metrics:
    """Return the metrics of a run directory; events that were cut off when the virtual machine died are left out."""
    metrics: Metrics = {"convergence_ns": None, "reconvergence_ns": None}
    first: str | None = None
    events = list(_events(run_dir / "events.jsonl"))
    for event in events:
        match event.get("event"):
            case "converged":
                metrics["convergence_ns"] = int(event["convergence_ns"])
                if "within_ns" in event:
                    metrics["convergence_within_ns"] = int(event["within_ns"])
            case "change":
                metrics[f"reconvergence_ns[{event['name']}]"] = None
            case "reconverged":
                first = first or str(event["name"])
                for name in (key for key in _OF_A_CHANGE if key in event):
                    metrics[f"{_OF_A_CHANGE[name]}[{event['name']}]"] = int(event[name])
    for name in _OF_A_CHANGE.values() if first is not None else ():
        if f"{name}[{first}]" in metrics:
            metrics[name] = metrics[f"{name}[{first}]"]
    return metrics | (_unsettled(events, plan) if plan is not None else {})


def _unsettled(events: Sequence[Mapping[str, Any]], plan: Plan) -> Metrics:
    """Return how long routes were watched after each failure that they did not come to rest after, and of the first."""
    runs_daemons = any(node.setup is not None and node.setup.daemons for node in plan.nodes)
    ended_ns = next((int(event["t_ns"]) for event in events if event.get("event") == "end"), None)
    if plan.configured is None or not runs_daemons or ended_ns is None:
        return {}
    settled = {event.get("name") for event in events if event.get("event") == "reconverged"}
    happened = {event.get("name") for event in events if event.get("event") == "change"}
    found: Metrics = {}
    for event, after in zip_longest(plan.events, plan.events[1:]):
        fails = event.links and (event.action == "down" or event.is_silent)
        if fails and event.name in happened and event.name not in settled:
            watched_ns = (ended_ns if after is None else min(after.at_ns, ended_ns)) - event.at_ns
            found[f"reconvergence_unsettled_ns[{event.name}]"] = watched_ns
    return ({"reconvergence_unsettled_ns": next(iter(found.values()))} | found) if found else {}


def _events(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    with open_file(path, LARGEST_JSON_BYTES) as file:
        text = read_all(file, path, LARGEST_JSON_BYTES).decode(errors="replace")
    for line in text.splitlines():
        try:
            event = parse_json(line)
        except JsonError:
            continue
        if isinstance(event, dict):
            yield event
