"""Labs of a switch with a shared buffer: a star of hosts on s1, an experiment that each test completes,
a profile with round figures."""

from __future__ import annotations

from pathlib import Path

from sample_fabrics import sample_leaf_spine

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.switch import Switch, SwitchPort, SwitchQueue
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.topologies import topology_text

TRAFFIC = "traffic: {one: {kind: flows, senders: [h1], receiver: h2, size: 1 KB}}\n"
PROFILE = """format: fabriclab-switch-1
title: A switch of round figures
source: made up
bandwidth: 3.2 Tbps
port_rate: 100 Gbps
cell: 256 B
pools: {shared: {size: 32 MB}}
queues: {default: {pool: shared, alpha: 1, reserved: 51200 B, scheduler: dwrr, weight: 14}}
"""


def star(hosts: int = 4, *, rate: str = "1 Gbps", delay: str = "5 us") -> str:
    """Return the topology of h1, h2, ... on s1."""
    nodes = "".join(f"    h{number}: {{kind: linux}}\n" for number in range(1, hosts + 1))
    links = "".join(
        f"    - {{endpoints: ['h{n}:eth1', 's1:eth{n}'], vars: {{rate: {rate}, delay: {delay}}}}}\n"
        for n in range(1, hosts + 1)
    )
    return (
        f"name: star\ntopology:\n  nodes:\n    s1: {{kind: linux, labels: {{fabriclab.role: "
        f"switch}}}}\n{nodes}  links:\n{links}"
    )


def two_tiers() -> str:
    """Return the topology of two spines, two leaves, h1 to h4: 1 Gbps at the hosts, 10 Gbps between switches."""
    fabric = sample_leaf_spine("two-tiers", hosts=2, uplink_bps=10**10, delay_ns=5_000)
    return topology_text(fabric)


def plan_of(
    directory: Path,
    switches: str,
    *,
    topology: str = "",
    profile: str = PROFILE,
    more: str = TRAFFIC,
    settings: dict[str, str] | None = None,
) -> Plan:
    """Return the plan of a star (or another topology) with these `switches`; `profile` lies beside as mine.yml."""
    (directory / "topology.clab.yml").write_text(topology or star(), encoding="utf-8")
    (directory / "mine.yml").write_text(profile, encoding="utf-8")
    (directory / "experiment.yml").write_text(f"title: T\nswitches: {switches}\n{more}", encoding="utf-8")
    return resolve_plan(parse_lab(directory), settings or {})


def switch_of(plan: Plan, name: str = "s1") -> Switch:
    """Return what the ports of a switch share."""
    switch = plan.node(name).switch
    assert switch is not None
    return switch


def port_of(plan: Plan, name: str) -> SwitchPort:
    """Return `node:interface`, which has a place in a shared buffer."""
    node, _, interface = name.partition(":")
    (found,) = (port.switch_port for port in plan.node(node).ports if port.interface == interface)
    assert found is not None
    return found


def queue_of(plan: Plan, name: str, index: int = 0) -> SwitchQueue:
    """Return a queue of a port."""
    return next(queue for queue in port_of(plan, name).queues if queue.index == index)
