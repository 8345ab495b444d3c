"""The known point: what a worker of a cluster runs first, to show that it gives the same bytes as this host."""

from __future__ import annotations

from typing import Any

from fabriclab.api.lab import Lab
from fabriclab.formats.plan import Plan
from fabriclab.resolve import resolve_plan

_SENDERS = ("h1", "h2", "h3")
_RECEIVER = "h4"


def known_point() -> Plan:
    """Return the plan of a small in-cast in which packets are marked and lost, and queues and connections sampled."""
    names = (*_SENDERS, _RECEIVER)
    nodes: dict[str, Any] = {name: {"kind": "linux"} for name in names}
    nodes["s1"] = {"kind": "linux", "labels": {"fabriclab.role": "switch"}}
    links = [
        {"endpoints": [f"{name}:eth1", f"s1:eth{number}"], "vars": {"rate": "1 Gbps", "delay": "10 us"}}
        for number, name in enumerate(names, 1)
    ]
    topology = {"name": "known-point", "topology": {"nodes": nodes, "links": links}}
    experiment = {
        "title": "What every worker runs first",
        "switches": {"default": {"buffer": "32 KB", "ecn_threshold": "15 KB"}},
        "hosts": {"default": {"congestion_control": "dctcp", "ecn": True}},
        "probes": {"queues": {"interval": "1 ms", "ports": "all"}, "tcp": {"interval": "1 ms"}},
        "traffic": {
            "rounds": {
                "kind": "rounds",
                "senders": list(_SENDERS),
                "receiver": _RECEIVER,
                "size": "30 KB",
                "rounds": 10,
            }
        },
    }
    return resolve_plan(Lab.from_data(topology, experiment).written, {}, None)
