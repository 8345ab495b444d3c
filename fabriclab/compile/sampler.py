"""The configuration of the sampler (`machine/sampler.json`, `probes/README.md`): which ports,
connections and switches, and how often."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from fabriclab.compile.port import marking_handles, queue_handle
from fabriclab.formats.plan.algorithm import OwnAlgorithm
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Port
from fabriclab.formats.run_directory import SAMPLER_FORMAT
from fabriclab.qdiscs import STOCK, SWITCH_PORT_MARKS, Own

_SWITCH_OUTPUTS = {
    "ports": "switch_ports",
    "queues": "switch_queues",
    "groups": "priority_groups",
    "pools": "pools",
    "events": "congestion_events",
}

_OF_TRIMMING = {"trimming": "trimming"}
"""What is written if a switch trims packets."""


def compile_sampler(plan: Plan, flows: pl.DataFrame, *, stock: bool = False) -> dict[str, Any]:
    """Return the configuration. `flows` is the table of the plan's flows (`compiled_flows`).

    `stock`: of a kernel without the machine's own qdisc, whose ports have queue lengths only.
    """
    probes = plan.probes
    config: dict[str, Any] = {"format": SAMPLER_FORMAT}
    if probes.queue_interval_ns is not None:
        of_plan = {f"{node.name}:{port.interface}": port for node in plan.nodes for port in node.ports}
        ports = [_sampled_queue(name, of_plan[name], stock=stock) for name in probes.queue_ports]
        config["queues"] = {
            "interval_ns": probes.queue_interval_ns,
            "output": "/job/raw/queues.csv",
            "ports": ports,
            "marks": mark_counters(plan.algorithms),
        }
    if probes.tcp_interval_ns is not None:
        config["tcp"] = {
            "interval_ns": probes.tcp_interval_ns,
            "output": "/job/raw/tcp.csv",
            **_sampled_flows(plan, flows),
        }
    if probes.interface_interval_ns is not None:
        ports = [_sampled_port(f"{node.name}:{port.interface}") for node in plan.nodes for port in node.ports]
        config["interfaces"] = {
            "interval_ns": probes.interface_interval_ns,
            "output": "/job/raw/interfaces.csv",
            "ports": ports,
        }
    if probes.switch_interval_ns is not None and probes.switch_ports and not stock:
        parts = _SWITCH_OUTPUTS | (_OF_TRIMMING if plan.trims_packets else {})
        outputs = {part: f"/job/raw/{name}.csv" for part, name in parts.items()}
        ports = [_sampled_port(name) for name in probes.switch_ports]
        config["switches"] = {"interval_ns": probes.switch_interval_ns, "outputs": outputs, "ports": ports}
    if probes.connection_hosts:
        nodes = [{"name": name, "netns": _namespace(name)} for name in probes.connection_hosts]
        config["connections"] = {"output": "/job/raw/connections.csv", "nodes": nodes}
    return config


def mark_counters(algorithms: Iterable[OwnAlgorithm] = ()) -> dict[str, list[dict[str, Any]]]:
    """Return where each kind of qdisc counts its ECN marks, as the sampler is told;
    a kind that is not there has unknown marks."""
    counters = {stock.kind: stock.marks for stock in STOCK.values() if stock.marks is not None}
    counters["switch_port"] = SWITCH_PORT_MARKS
    counters |= {algorithm.name: Own.counts_marks for algorithm in algorithms if algorithm.kind == "qdisc"}
    return {kind: [counter._asdict() for counter in marks] for kind, marks in counters.items()}


def _sampled_port(name: str) -> dict[str, str]:
    node, _, interface = name.partition(":")
    return {"name": name, "netns": _namespace(node), "interface": interface}


def _sampled_queue(name: str, port: Port, *, stock: bool) -> dict[str, Any]:
    marking = marking_handles(port, stock=stock)
    return {
        **_sampled_port(name),
        "handle": queue_handle(port, stock=stock),
        **({} if marking is None else {"leaves": marking}),
    }


def _namespace(node: str) -> str:
    return f"/run/netns/{node}"


def _sampled_flows(plan: Plan, flows: pl.DataFrame) -> dict[str, Any]:
    """Return the sending nodes and the marks of the sampled traffic.

    A kept connection carries its first flow's number only.
    """
    sampled = flows.filter(pl.col("traffic").cast(pl.String).is_in(plan.probes.tcp_classes))
    first = pl.col("connection").is_null() | pl.struct("src", "dst", "mode", "connection").is_first_distinct()
    sources = set(sampled["src"].cast(pl.String).unique())
    nodes = [{"name": node.name, "netns": _namespace(node.name)} for node in plan.nodes if node.name in sources]
    return {"nodes": nodes, "flows": sampled.filter(first)["flow"].to_list()}
