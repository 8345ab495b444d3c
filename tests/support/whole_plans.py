"""Plans of runs that never ran: what a test says nothing of is added,
so that they are whole (`fabriclab.formats.plan`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fabriclab.results import Results

Record = dict[str, Any]

PLAN: Record = {
    "lab": "lab",
    "title": "",
    "settings": {},
    "seed": 1,
    "limit_ns": 60_000_000_000,
    "traffic": [],
    "checks": [],
}
PROBES = ("queue_interval_ns", "tcp_interval_ns", "interface_interval_ns")
TRANSPORT: Record = {
    "congestion_control": "cubic",
    "ecn": "off",
    "rto_min_us": 200_000,
    "delayed_ack": True,
    "initial_window_segments": 10,
    "window_limit_segments": None,
    "receive_buffer_bytes": 6_291_456,
    "send_buffer_bytes": 4_194_304,
}
PORT: Record = {
    "interface": "eth1",
    "peer_interface": "eth1",
    "mac": "02:fa:00:00:00:01",
    "address": "10.0.0.0/31",
    "mtu": 1500,
}
LINK: Record = {"rate_bps": 1_000_000_000, "delay_ns": 25_000}
ONE_TO_ONE: Record = {"senders": ["h1"], "receiver": "h3", "start_ns": 0, "mode": "push"}
ARRIVALS: Record = {"process": "poisson", "interval_ns": 1_000_000}
TRAFFIC: dict[str, Record] = {
    "rounds": ONE_TO_ONE | {"size_bytes": 4, "rounds": 1, "connection": "kept"},
    "long": {name: value for name, value in ONE_TO_ONE.items() if name != "mode"} | {"stop_ns": 1, "stagger_ns": 0},
    "flows": ONE_TO_ONE | {"size_bytes": 4, "count": 1, "interval_ns": 1},
    "arrivals": {
        "pairs": {"pattern": "random", "senders": ["h1"], "receivers": ["h2"]},
        "size": {"kind": "fixed", "size_bytes": 1000},
        "arrivals": ARRIVALS,
        "start_ns": 0,
        "stop_ns": 1,
    },
    "program": {"node": "h1", "argv": ["true"], "start_ns": 0, "memory_bytes": 1 << 20},
    "query": {
        **{"aggregators": ["h1"], "workers": ["h2"], "fan_out": 1, "request_bytes": 100, "start_ns": 0, "stop_ns": 1},
        **{"response": {"kind": "fixed", "size_bytes": 1000}, "arrivals": ARRIVALS, "connection": "kept"},
    },
    "collective": {
        "ranks": ["h1", "h2"],
        "operation": "all-reduce",
        "algorithm": "ring",
        "size_bytes": 1000,
        "iterations": 1,
        "start_ns": 0,
    },
    "shuffle": {
        **{"mappers": ["h1"], "reducers": ["h2"], "size_bytes": 1000, "parallel_copies": 1, "replicas": 1},
        "start_ns": 0,
    },
}


def whole(plan: Record) -> Record:
    """Return the plan with all that must be in one."""
    probes = dict.fromkeys(PROBES) | {"queue_ports": [], "tcp_classes": []} | plan.get("probes", {})
    traffic = [whole_traffic(each) for each in plan.get("traffic", [])]
    nodes = [_whole_node(node) for node in plan.get("nodes", [])]
    return PLAN | plan | {"probes": probes, "traffic": traffic, "nodes": nodes}


def whole_traffic(traffic: Record) -> Record:
    """Return the traffic with all that one of its kind must have."""
    return TRAFFIC[traffic["kind"]] | traffic


def _whole_node(node: Record) -> Record:
    transport = node.get("transport")
    ports = [_whole_port(port) for port in node["ports"]]
    return node | {"ports": ports, "transport": None if transport is None else TRANSPORT | transport}


def _whole_port(port: Record) -> Record:
    own = {} if port.get("switch_port") is not None else {"queue": {"limit_bytes": 100_000}}
    return PORT | LINK | own | port


def with_plan(results: Results, **parts: Any) -> Results:
    """Return a run whose plan has other parts."""
    return replace(results, plan=results.plan.model_copy(update=parts))
