"""The MTU of links that say none: Containerlab's, of a file that is a lab by itself; else what differs is said."""

from __future__ import annotations

from pathlib import Path

from fabriclab.api.lab import Lab
from fabriclab.api.look import plan

TOPOLOGY = """name: jumbo
topology:
  defaults: {kind: linux, image: IMAGE}
  nodes:
    h1: {exec: [ip addr add 10.1.0.1/24 dev eth1]}
    h2: {exec: [ip addr add 10.1.0.2/24 dev eth1, ip addr add 10.2.0.2/24 dev eth2]}
    h3: {exec: [ip addr add 10.2.0.3/24 dev eth1]}
  links:
    - {endpoints: ['h1:eth1', 'h2:eth1'], vars: {rate: 1 Gbps}}
    - {endpoints: ['h2:eth2', 'h3:eth1'], vars: {rate: 1 Gbps}MTU}
"""
EXPERIMENT = "title: T\nLINKStraffic: {a: {kind: long, senders: [h1], receiver: h3, stop: 1 s}}\n"
DIFFERS = (
    "topology: 1 link without an MTU (line 9): 1500 bytes; Containerlab gives them 9500, as does links: {mtu: 9500} in "
    "the experiment"
)


def text(mtu: str = "", image: str = "alpine") -> str:
    return TOPOLOGY.replace("MTU", mtu).replace("IMAGE", image)


def with_experiment(topology: str, links: str = "") -> tuple[set[int], list[str]]:
    topology = topology.replace("h2: {", "h2: {labels: {fabriclab.role: switch}, ")
    switches = "switches: {default: {buffer: 64 KB}}\n"
    made = plan(Lab.from_yaml(topology, EXPERIMENT.replace("LINKS", links + switches)))
    sizes = {port.mtu for node in made.nodes for port in node.ports}
    return sizes, [warning for warning in made.warnings if "MTU" in warning]


def test_a_file_has_containerlabs(tmp_path: Path) -> None:
    file = tmp_path / "jumbo.clab.yml"
    file.write_text(text(mtu=", mtu: 1400"))
    made = plan(file)
    assert [port.mtu for node in made.nodes for port in node.ports] == [9500, 9500, 1400, 1400]
    assert "jumbo.clab.yml: 1 link without an MTU: 9500 bytes, as in Containerlab" in made.warnings


def test_a_lab_keeps_1500_and_says_what_differs() -> None:
    assert with_experiment(text(mtu=", mtu: 1400")) == ({1500, 1400}, [DIFFERS])


def test_nothing_is_said_where_nothing_differs() -> None:
    assert with_experiment(text(), "links: {mtu: 9500}\n") == ({9500}, [])
    assert with_experiment(text(mtu=", mtu: 1400").replace("1 Gbps}}", "1 Gbps}, mtu: 1400}")) == ({1400}, [])
    assert with_experiment(text(image="'fabriclab/host:latest'")) == ({1500}, []), "a lab of ours"
