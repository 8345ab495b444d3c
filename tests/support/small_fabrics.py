"""Stars and pairs in a few lines, their plans, and the ways of packets through a plan."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

EXPERIMENT = (
    "title: T\nswitches: {default: {buffer: 64 KB}}\ntraffic:\n  one: {kind: flows, senders: 1, receiver: h2, size: "
    "100 KB}\n"
)


def star(*links: str, switches: tuple[str, ...] = ("s1",), hosts: tuple[str, ...] = ("h1", "h2")) -> str:
    nodes = "".join(f"    {name}: {{kind: linux, labels: {{fabriclab.role: switch}}}}\n" for name in switches)
    nodes += "".join(f"    {name}: {{kind: linux, labels: {{fabriclab.role: host}}}}\n" for name in hosts)
    return f"name: net\ntopology:\n  nodes:\n{nodes}  links:\n" + "".join(f"    - {link}\n" for link in links)


def link(a: str, b: str, more: str = "") -> str:
    return f"{{endpoints: ['{a}', '{b}'], vars: {{rate: 1 Gbps}}{more}}}"


def plan_of(directory: Path, topology: str, experiment: str = EXPERIMENT, **settings: str) -> Plan:
    (directory / "topology.clab.yml").write_text(topology, encoding="utf-8")
    (directory / "experiment.yml").write_text(experiment, encoding="utf-8")
    return resolve_plan(parse_lab(directory), settings)


TWO_HOSTS = star(link("h1:eth1", "s1:eth1"), link("h2:eth1", "s1:eth2"))


def forwarded(plan: Plan, source: str, destination: str) -> list[list[str]]:
    """Return every path, as node names, that packets can take by the plan's own routes."""
    return forwarded_to(plan, source, destination, IPv4Interface(plan.node(destination).ports[0].address).ip)


def forwarded_to(plan: Plan, source: str, destination: str, target: IPv4Address) -> list[list[str]]:
    """Return the same for packets to one of the destination's addresses."""
    owners = {str(IPv4Interface(port.address).ip): node.name for node in plan.nodes for port in node.ports}
    paths, open_paths = [], [[source]]
    while open_paths:
        path = open_paths.pop()
        node = plan.node(path[-1])
        if node.name == destination:
            paths.append(path)
            continue
        assert len(path) <= len(plan.nodes), f"a loop: {path}"
        open_paths += [[*path, owners[gateway]] for gateway in next_gateways(node, target)]
    return paths


def next_gateways(node: Node, target: object) -> list[str]:
    for port in node.ports:
        if target in IPv4Interface(port.address).network:
            return [str(target)]
    for route in node.routes:
        if route.destination == "default" or target in IPv4Network(route.destination):
            return [gateway for gateway, _ in route.next_hops]
    raise AssertionError(f"{node.name} has no route to {target}")
