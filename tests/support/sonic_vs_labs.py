"""Labs of nodes of kind sonic-vs, written from their config_db.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sample_fabrics import sample_leaf_spine

from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.topologies import topology_text
from fabriclab.vendors.sonic.export import export_switch

STOCK = """
title: Stock
routing: {protocol: PROTOCOL}
switches:
  default: {profile: trident-3, scale: 1/100, queues: {0: {wred: {min: 30 KB, max: 60 KB}}}, pfc: {priorities: [3]}}
traffic: {a: {kind: long, senders: [h1], receiver: h2, stop: 1 s}}
"""


SONIC = "title: SONiC\ntraffic: {a: {kind: long, senders: [h1], receiver: h2, stop: 1 s}}\n"


SWITCHES = ("spine1", "leaf1", "leaf2")


Tables = dict[str, Any]


def stock_plan(directory: Path, protocol: str) -> Plan:
    fabric = sample_leaf_spine(spines=1)
    (directory / "topology.clab.yml").write_text(topology_text(fabric))
    (directory / "experiment.yml").write_text(STOCK.replace("PROTOCOL", protocol))
    return resolve_plan(parse_lab(directory), {})


def configs_of(directory: Path, protocol: str = "bgp-unnumbered") -> dict[str, Tables]:
    """Return the configurations of a fabric of three switches."""
    directory.mkdir()
    plan = stock_plan(directory, protocol)
    return {name: json.loads(export_switch(plan.node(name), plan).text) for name in SWITCHES}


def write_lab(
    directory: Path, configs: dict[str, Tables], *, experiment: str = SONIC, links: str = "", leaf1: str = ""
) -> Path:
    """Write a lab of SONiC switches; `leaf1` takes the place of that node's text,
    `links` that of the links' between the switches."""
    binds = {name: f"{{kind: sonic-vs, binds: ['{name}.json:/etc/sonic/config_db.json:ro']}}" for name in SWITCHES}
    nodes = [f"    {name}: {leaf1 if name == 'leaf1' and leaf1 else text}" for name, text in binds.items()]
    text = [
        "name: sonic",
        "topology:",
        "  nodes:",
        *nodes,
        "    h1: {kind: linux}",
        "    h2: {kind: linux}",
        "  links:",
        "    - {endpoints: ['h1:eth1', 'leaf1:eth1'], vars: {rate: 1 Gbps}}",
        "    - {endpoints: ['h2:eth1', 'leaf2:eth1'], vars: {rate: 1 Gbps}}",
        links or "    - {endpoints: ['leaf1:eth2', 'spine1:eth1']}",
        "    - {endpoints: ['leaf2:eth2', 'spine1:eth2']}",
    ]
    directory.mkdir(exist_ok=True)
    (directory / "topology.clab.yml").write_text("\n".join(text) + "\n")
    (directory / "experiment.yml").write_text(experiment)
    for name, tables in configs.items():
        (directory / f"{name}.json").write_text(json.dumps(tables, indent=2))
    return directory


def plan_of(directory: Path, settings: dict[str, str] | None = None) -> Plan:
    return resolve_plan(parse_lab(directory), settings or {})
