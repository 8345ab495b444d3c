"""A leaf with a VLAN, one of whose hosts has two links, and two links to a spine as one;
another host behind the spine."""

from __future__ import annotations

from pathlib import Path

from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

TOPOLOGY = """\
name: layer2
topology:
  defaults: {kind: linux}
  nodes:
    spine: {labels: {fabriclab.role: switch}}
    leaf: {labels: {fabriclab.role: switch}}
    h1: {}
    h2: {}
    h3: {labels: {fabriclab.role: host}}
    far: {}
  links:
    - {endpoints: ['h1:eth1', 'leaf:eth1']}
    - {endpoints: ['h2:eth1', 'leaf:eth2']}
    - {endpoints: ['h3:eth1', 'leaf:eth3']}
    - {endpoints: ['h3:eth2', 'leaf:eth4']}
    - {endpoints: ['leaf:eth5', 'spine:eth1']}
    - {endpoints: ['leaf:eth6', 'spine:eth2']}
    - {endpoints: ['far:eth1', 'spine:eth3']}
"""
TWO_SPINES = """\
name: two-spines
topology:
  defaults: {kind: linux}
  nodes:
    spine1: {labels: {fabriclab.role: switch}}
    spine2: {labels: {fabriclab.role: switch}}
    leaf1: {labels: {fabriclab.role: switch}}
    leaf2: {labels: {fabriclab.role: switch}}
    h1: {}
    h2: {}
  links:
    - {endpoints: ['h1:eth1', 'leaf1:eth1']}
    - {endpoints: ['h2:eth1', 'leaf2:eth1']}
    - {endpoints: ['leaf1:eth2', 'spine1:eth1']}
    - {endpoints: ['leaf1:eth3', 'spine1:eth2']}
    - {endpoints: ['leaf1:eth4', 'spine2:eth1']}
    - {endpoints: ['leaf1:eth5', 'spine2:eth2']}
    - {endpoints: ['leaf2:eth2', 'spine1:eth3']}
    - {endpoints: ['leaf2:eth3', 'spine2:eth3']}
"""
"""A leaf with two links to each spine, another with one to each."""
GROUPS = """\
    port_channels:
      PortChannel1: {members: [eth5, eth6], ipv4: 10.1.0.0/31}
      PortChannel2: {members: eth3..eth4}
    vlans:
      Vlan10: {members: [eth1, eth2, PortChannel2], ipv4: 192.168.0.1/24, hosts: {h2: 192.168.0.20}}
"""
TRAFFIC = "traffic:\n  one: {kind: flows, senders: [h1], receiver: far, size: 100 KB}\n"
HEAD = "title: T\nlinks: {rate: 1 Gbps, delay: 5 us}\n"


def experiment(groups: str = GROUPS, traffic: str = TRAFFIC, buffer: str = "default: {buffer: 100 KB}") -> str:
    """Return an experiment whose leaf has these groups."""
    return f"{HEAD}switches:\n  {buffer}\n  leaf:\n{groups}{traffic}"


def plan_of(directory: Path, text: str | None = None, topology: str = TOPOLOGY, **settings: str) -> Plan:
    """Return the plan of an experiment."""
    (directory / "topology.clab.yml").write_text(topology, encoding="utf-8")
    (directory / "experiment.yml").write_text(experiment() if text is None else text, encoding="utf-8")
    return resolve_plan(parse_lab(directory), settings)
