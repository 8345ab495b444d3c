"""Run directories with many flows: short ones that come by themselves, queries with deadlines, sizes of a distribution
that was cut.

Times are from a simple model: the idle path's, some queueing, and for some flows a loss with or without a wait of 200
ms. Draws are of a linear congruential generator: the same everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synthetic_run import MS, plan_of, write_run

HOSTS = 8
TRACE_HEADER = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,group,class,deadline_ns\n"
FLOW_HEADER = (
    "# fabriclab-flows-2\nflow,side,status,start_ns,connected_ns,first_byte_ns,end_ns,bytes,"
    "retransmits,timeouts,marks,delivered,min_rtt_us,srtt_us,transport,subflows\n"
)
TIMEOUTS = {"tcp": 4, "mptcp": 8}
"""Flows of a hundred that wait for a timer, by what the background is sent with."""


class Draws:
    """Whole numbers of 0 .. 999, Knuth's MMIX generator."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def next(self) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % 1000


@dataclass(frozen=True)
class Flow:
    """A flow and what became of it."""

    traffic: str
    start_ns: int
    src: int
    dst: int
    size: int
    fct_ns: int
    losses: int
    timeouts: int
    complete: bool = True
    group: str = ""
    deadline_ns: int | None = None


def mixed_run(
    run_dir: Path,
    variant: str = "tcp",
    *,
    seed: int = 1,
    load: int | None = None,
    flows: int = 120,
    cut: int = 0,
    classes: tuple[str, ...] = ("short", "query", "web"),
    study: str | None = None,
    axis: str = "background",
) -> Path:
    """A run with flows of each class; the last `cut` flows of each never complete.

    `axis` is the parameter whose value is `variant`.
    """
    traffic = [_TRAFFIC[name] for name in classes]
    parameters = {axis: variant} | ({"load": f"{load} %"} if load is not None else {})
    plan = plan_of(
        HOSTS,
        "cubic",
        100_000,
        traffic,
        "h9",
        lab="mixed",
        title="Short flows, queries and a distribution",
        study=study,
    )
    plan |= {"parameters": parameters, "settings": parameters, "seed": seed}
    plan["probes"]["queue_ports"], plan["probes"]["queue_interval_ns"], plan["probes"]["tcp_interval_ns"] = (
        [],
        None,
        None,
    )
    made = [
        flow
        for name in classes
        for flow in _flows(name, Draws(seed * 1000 + load_of(load)), variant, flows, cut, load_of(load))
    ]
    report = {"figures": [{"kind": "fct-cdf"}, {"kind": "fct-table"}, {"kind": "slowdown"}, {"kind": "deadlines"}]}
    return write_run(
        run_dir, plan, _files(made), report=report, seed=seed, status="limit" if cut else "complete", virtual_s=10.0
    )


def load_of(load: int | None) -> int:
    """Per cent of the link."""
    return 30 if load is None else load


def mixed_sweep(
    directory: Path, seeds: int = 3, loads: tuple[int, ...] = (), axis: str = "background", **run: Any
) -> Path:
    """A sweep of both backgrounds (and the loads) with so many seeds."""
    points = []
    for variant in TIMEOUTS:
        for load in loads or (None,):
            for seed in range(1, seeds + 1):
                name = f"points/{variant}-{load}-{seed}"
                mixed_run(directory / name, variant, seed=seed, load=load, axis=axis, **run)
                settings: dict[str, Any] = {axis: variant} | ({"load": f"{load} %"} if load is not None else {})
                points.append({"settings": settings | {"seed": seed}, "seed": seed, "run": name, "status": "complete"})
    title = "Short flows, queries and a distribution"
    data = {"format": "fabriclab-sweep-1", "lab": "mixed", "matrix": "study", "title": title, "points": points}
    (directory / "sweep.json").write_text(json.dumps(data))
    return directory


_ARRIVALS = {"process": "poisson", "interval_ns": 200 * MS, "jitter_ns": 0, "burst_flows": 1, "load_ppm": None}
_WEB = {
    "kind": "distribution",
    "name": "web-search",
    "points": [],
    "interpolation": "linear",
    "cap_bytes": 20_000_000,
    "mean_bytes": 1.6e6,
}
_TRAFFIC: dict[str, dict[str, Any]] = {
    "short": {
        "kind": "arrivals",
        "name": "short",
        "size": {"kind": "fixed", "size_bytes": 70_000},
        "arrivals": _ARRIVALS,
    },
    "query": {
        "kind": "query",
        "name": "query",
        "response": {"kind": "fixed", "size_bytes": 2_000},
        "deadline_ns": 20 * MS,
    },
    "web": {"kind": "arrivals", "name": "web", "size": _WEB, "arrivals": _ARRIVALS},
}


def _flows(traffic: str, draws: Draws, variant: str, count: int, cut: int, load: int) -> Iterator[Flow]:
    for number in range(count):
        size = {"short": 70_000, "query": 2_000}.get(traffic) or (6_000, 60_000, 400_000, 3_000_000, 20_000_000)[
            draws.next() * 5 // 1000
        ]
        src, dst = draws.next() % HOSTS, draws.next() % (HOSTS - 1)
        dst += dst >= src
        start = number // 8 * 40 * MS + 1000 if traffic == "query" else number * 5 * MS + draws.next() * 1000
        timeouts = int(draws.next() < 10 * TIMEOUTS[variant]) + int(draws.next() < 5 * TIMEOUTS[variant])
        losses = timeouts or int(draws.next() < 100)
        queueing = 1 + load / (100 - load) * draws.next() / 400
        fct = int((150_000 + size * 8.5) * queueing) + losses * 300_000 + timeouts * 200 * MS
        group = f"query/q{number // 8}" if traffic == "query" else ""
        deadline = 20 * MS if traffic == "query" else None
        dst = 0 if traffic == "query" else dst
        src = 1 + number % 7 if traffic == "query" else src
        yield Flow(traffic, start, src, dst, size, fct, 2 * losses, timeouts, number < count - cut, group, deadline)


def _files(flows: list[Flow]) -> dict[str, str]:
    trace, logs = [TRACE_HEADER], {f"h{host + 1}": [FLOW_HEADER] for host in range(HOSTS)}
    for number, flow in enumerate(flows):
        src, dst, end = f"h{flow.src + 1}", f"h{flow.dst + 1}", flow.start_ns + flow.fct_ns
        deadline = "" if flow.deadline_ns is None else flow.deadline_ns
        trace.append(f"{number},{flow.start_ns},{src},{dst},{flow.size},,push,{flow.group},{flow.traffic},{deadline}\n")
        status, read = ("complete", flow.size) if flow.complete else ("stopped", 1448)
        counters = f"{flow.losses},{flow.timeouts},0,{flow.size // 1448 + 1},100,{110 + number % 7},tcp,"
        logs[src].append(
            f"{number},src,{status},{flow.start_ns},{flow.start_ns + 100_000},{flow.start_ns + 100_000},{end},{read},"
            f"{counters}\n"
        )
        logs[dst].append(
            f"{number},dst,{status},,{flow.start_ns + 100_000},{flow.start_ns + 150_000},{end},{read},,,,,,,tcp,\n"
        )
    files = {f"raw/flows/{host}.csv": "".join(rows) for host, rows in logs.items()}
    return files | {"traffic/trace.csv": "".join(trace)}
