"""Labs whose nodes speak of labels have a kernel that routes them; nobody else's routing moves by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.api.look import plan
from fabriclab.compile import makes_tunnels, routes_labels

TOPOLOGY = """\
name: m
topology:
  defaults: {{kind: linux, image: alpine}}
  nodes:
    r1: {{image: frr, binds: ['r1.conf:/etc/frr/frr.conf'], exec: [{command}]}}
    h1: {{exec: [ip addr add 10.0.0.2/30 dev eth1]}}
  links:
    - endpoints: ['r1:eth1', 'h1:eth1']
"""


@pytest.mark.parametrize(
    ("line", "command", "asks"),
    [
        ("router bgp 65000", "echo 1", False),
        ("! nothing of labels", "sysctl -w net.ipv4.ip_forward=1", False),
        ("mpls ldp", "echo 1", True),
        ("interface eth1\n mpls enable", "echo 1", True),
        ("router isis 1\n segment-routing on", "echo 1", True),
        ("router bgp 65000\n address-family ipv4 vpn", "echo 1", True),
        ("router bgp 65000", "sysctl -w net.mpls.platform_labels=1000", True),
        ("router bgp 65000", "ip -f mpls route add 100 dev lo", True),
    ],
)
def test_who_asks(tmp_path: Path, line: str, command: str, asks: bool) -> None:
    (tmp_path / "r1.conf").write_text(f"hostname r1\n{line}\n")
    (tmp_path / "m.clab.yml").write_text(TOPOLOGY.format(command=command))
    assert routes_labels(plan(tmp_path / "m.clab.yml")) is asks


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("ip tunnel add t0 mode ipip remote 10.0.0.2", True),
        ("ip -6 tunnel add t0 mode ip6ip6", True),
        ("/sbin/ip tunnel change t0 ttl 9", True),
        ("ip tunnel show", False),
        ("ip link add t0 type gre", False),
    ],
)
def test_who_makes_tunnels(tmp_path: Path, command: str, asks: bool) -> None:
    (tmp_path / "r1.conf").write_text("hostname r1\n")
    (tmp_path / "m.clab.yml").write_text(TOPOLOGY.format(command=command))
    assert makes_tunnels(plan(tmp_path / "m.clab.yml")) is asks
