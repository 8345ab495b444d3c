"""Nodes without a link: containers beside a lab are left out and said; of a lab of ours the link was forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabriclab.api.lab import Lab, load_lab
from fabriclab.api.look import plan
from fabriclab.cli.app import app
from fabriclab.lab import LabError

TOPOLOGY = """name: beside
topology:
  defaults: {kind: linux, DEFAULTS}
  nodes:
    r1: {image: 'frrouting/frr:v8.4.0', exec: [ip addr add 192.0.2.1/25 dev eth1, ip addr add 192.0.2.129/25 dev eth2]}
    pc1: {exec: [ip addr add 192.0.2.10/25 dev eth1] WAIT}
    pc2: {exec: [ip addr add 192.0.2.140/25 dev eth1]}
    grafana: {GRAFANA}
  links:
    - endpoints: ['pc1:eth1', 'r1:eth1']
    - endpoints: ['pc2:eth1', 'r1:eth2']
"""
LEFT_OUT = "grafana (line 8) is left out: no link joins it with another node"
FORGOTTEN = "beside.clab.yml:8: topology.nodes.grafana: has no link; add one below topology.links or remove the node"


def write(directory: Path, grafana: str, *, defaults: str = "image: alpine", wait: str = "", links: str = "") -> Path:
    file = directory / "beside.clab.yml"
    text = TOPOLOGY.replace("GRAFANA", grafana).replace("DEFAULTS", defaults).replace("WAIT", wait)
    file.write_text(text + links)
    return file


@pytest.mark.parametrize(
    ("grafana", "links"),
    [
        ("image: 'grafana/grafana:latest'", ""),
        ("binds: ['/var/run/docker.sock:/var/run/docker.sock', 'not-here.yml:/etc/p.yml']", ""),
        ("exec: ['true'], mgmt-ipv4: 172.20.20.100", ""),
        ("exec: [ip addr add 10.0.0.1/24 dev lo]", ""),
        ("kind: ext-container", ""),
        ("kind: nokia_srlinux", ""),
        ("kind: bridge", ""),
        ("image: x", "    - endpoints: ['grafana:eth1', 'mgmt-net:g1']\n"),
        ("image: x", "    - {type: macvlan, endpoint: {node: grafana, interface: eth1}, host-interface: enp0s3}\n"),
    ],
)
def test_a_container_beside_a_lab_is_left_out_and_said(tmp_path: Path, grafana: str, links: str) -> None:
    made = plan(write(tmp_path, grafana, links=links))
    assert [node.name for node in made.nodes] == ["r1", "pc1", "pc2"]
    assert f"beside.clab.yml: {LEFT_OUT}" in made.warnings


@pytest.mark.parametrize("command", ["check", "plan"])
def test_commands_say_it(tmp_path: Path, command: str) -> None:
    result = CliRunner().invoke(app, [command, str(write(tmp_path, "image: g"))])
    assert result.exit_code == 0, result.output
    assert LEFT_OUT in " ".join(result.output.split())


def test_nobody_waits_for_it_and_that_is_said(tmp_path: Path) -> None:
    wait = ", stages: {create: {wait-for: [{node: grafana, stage: healthy}, {node: r1, stage: create}]}}"
    made = plan(write(tmp_path, "image: g", wait=wait))
    setup = made.node("pc1").setup
    assert setup is not None and setup.after == ("r1",)
    assert f"beside.clab.yml: {LEFT_OUT}; pc1 does not wait for it" in made.warnings


def test_beside_an_experiment_too(tmp_path: Path) -> None:
    text = write(tmp_path, "image: g").read_text().replace("'r1:eth1']", "'r1:eth1']\n      vars: {rate: 1 Gbps}")
    text = text.replace("'r1:eth2']", "'r1:eth2']\n      vars: {rate: 1 Gbps}")
    flows = "{kind: long, senders: [pc1], receiver: pc2, stop: 1 s}"
    experiment = f"title: T\nswitches: {{default: {{buffer: 64 KB}}}}\ntraffic: {{a: {flows}}}\n"
    assert [node.name for node in plan(Lab.from_yaml(text, experiment)).nodes] == ["r1", "pc1", "pc2"]


@pytest.mark.parametrize(
    ("grafana", "defaults"),
    [
        ("", "cap-add: [NET_ADMIN]"),
        ("", "image: 'fabriclab/host:latest'"),
        ("labels: {fabriclab.role: host}", "image: alpine"),
    ],
)
def test_of_a_lab_of_ours_the_link_was_forgotten(tmp_path: Path, grafana: str, defaults: str) -> None:
    with pytest.raises(LabError) as raised:
        load_lab(write(tmp_path, grafana, defaults=defaults))
    assert str(raised.value).replace(f"{tmp_path}/", "") == FORGOTTEN


def test_a_mistyped_end_of_its_link_is_told_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="'grafanna' is not a node; did you mean 'grafana'"):
        load_lab(write(tmp_path, "image: g", links="    - endpoints: ['grafanna:eth1', 'r1:eth3']\n"))


def test_a_kind_that_nobody_knows_is_a_mistake_still(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="'linnux' is not a kind of node; did you mean 'linux'"):
        load_lab(write(tmp_path, "kind: linnux, image: g"))
