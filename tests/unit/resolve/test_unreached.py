"""Hosts that BGP's routes do not lead to: told in the plan, and left out of the traffic that an import proposes."""

from __future__ import annotations

from pathlib import Path

import pytest
from shipped_labs import shipped_plan
from sonic_fabrics import bgp, pair, write
from sonic_stubs import spineless
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.resolve.unreached import Forwarding

SAME_AS = """\
name: same
topology:
  nodes:
    h1: {kind: linux, labels: {fabriclab.role: host}}
    h2: {kind: linux, labels: {fabriclab.role: host}}
    h3: {kind: linux, labels: {fabriclab.role: host}}
    leaf1: {kind: linux, labels: {fabriclab.role: switch, fabriclab.asn: 65001}}
    leaf2: {kind: linux, labels: {fabriclab.role: switch, fabriclab.asn: SECOND}}
    spine: {kind: linux, labels: {fabriclab.role: switch, fabriclab.asn: 65100}}
  links:
    - {endpoints: ['h1:eth1', 'leaf1:eth1'], vars: {rate: 1 Gbps, delay: 1 us}}
    - {endpoints: ['h2:eth1', 'leaf1:eth2'], vars: {rate: 1 Gbps, delay: 1 us}}
    - {endpoints: ['h3:eth1', 'leaf2:eth1'], vars: {rate: 1 Gbps, delay: 1 us}}
    - {endpoints: ['leaf1:eth3', 'spine:eth1'], vars: {rate: 1 Gbps, delay: 1 us}}
    - {endpoints: ['leaf2:eth3', 'spine:eth2'], vars: {rate: 1 Gbps, delay: 1 us}}
"""
EXPERIMENT = """\
title: leaves of one AS
switches: {leaf1: {buffer: 1 MB}, leaf2: {buffer: 1 MB}, spine: {buffer: 1 MB}}
routing: {protocol: PROTOCOL}
traffic:
  near: {kind: rounds, senders: [h2], receiver: h1, size: 64 KB, rounds: 1}
  all: {kind: rounds, senders: all, receiver: h1, size: 64 KB, rounds: 1}
"""


def plan_of(directory: Path, second: int, protocol: str = "bgp-numbered") -> Plan:
    (directory / "topology.clab.yml").write_text(SAME_AS.replace("SECOND", str(second)))
    (directory / "experiment.yml").write_text(EXPERIMENT.replace("PROTOCOL", protocol))
    return resolve_plan(parse_lab(directory), {})


def test_leaves_of_one_as_do_not_reach_each_other(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 65001)
    assert plan.warnings == (
        "traffic all: with BGP's routes 1 of 2 pairs of hosts can't reach each other (h3 and h1); their flows never "
        "end",
    )
    forwarding = Forwarding(plan.nodes)
    assert forwarding.senders_to("h1") == {"h2"} and forwarding.senders_to("h3") == set()


@pytest.mark.parametrize("protocol", ["bgp-numbered", "bgp-unnumbered"])
def test_those_of_two_do(tmp_path: Path, protocol: str) -> None:
    plan = plan_of(tmp_path, 65002, protocol)
    assert plan.warnings == () and Forwarding(plan.nodes).senders_to("h3") == {"h1", "h2"}


@pytest.mark.parametrize("lab", ["link-failure", "sonic-leaf-spine"])
def test_in_our_labs_all_reach_all(lab: str) -> None:
    nodes = shipped_plan(lab).nodes
    forwarding, hosts = Forwarding(nodes), {node.name for node in nodes if node.role == "host"}
    assert all(forwarding.senders_to(host) == hosts - {host} for host in hosts)


def test_an_imported_fabric_sends_where_it_is_reached(tmp_path: Path) -> None:
    files = spineless()
    files["b"]["DEVICE_METADATA"]["localhost"]["bgp_asn"] = "65001"
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["sonic", "import", *map(str, write(files, tmp_path)), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "never end" not in result.output
    assert "senders: [h1, h2], receiver: spine-host" in (out / "experiment.yml").read_text()


def test_one_whose_hosts_all_reach_the_first_stays_as_it_is(tmp_path: Path) -> None:
    near, far = bgp("10.0.0.1", 65002, 65001), bgp("10.0.0.0", 65001, 65002)
    near["INTERFACE"], far["INTERFACE"] = {"Ethernet8|10.0.0.0/31": {}}, {"Ethernet12|10.0.0.1/31": {}}
    out = tmp_path / "out"
    paths = write(pair(near, far), tmp_path)
    assert CliRunner().invoke(app, ["sonic", "import", *map(str, paths), "-o", str(out)]).exit_code == 0
    assert "senders: all, receiver: h1" in (out / "experiment.yml").read_text()
