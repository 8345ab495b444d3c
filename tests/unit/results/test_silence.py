"""What routers wait for after a silent failure, by their own configurations."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.api.look import plan
from fabriclab.results.silence import waited_for

LAB = """\
name: m
topology:
  defaults: {kind: linux, image: frr}
  nodes:
    r1: {binds: ['r1.conf:/etc/frr/frr.conf', 'daemons:/etc/frr/daemons']}
    r2: {binds: ['r1.conf:/etc/frr/frr.conf', 'daemons:/etc/frr/daemons']}
    h1: {image: alpine, exec: [ip addr add 10.0.0.2/30 dev eth1]}
  links:
    - endpoints: ['r1:eth1', 'h1:eth1']
    - endpoints: ['r1:eth2', 'r2:eth2']
"""


@pytest.mark.parametrize(
    ("daemons", "text", "waits"),
    [
        ("bgpd=yes", "router bgp 1", "BGP's hold time, 180 s, no BFD"),
        ("bgpd=yes", "frr defaults datacenter\nrouter bgp 1", "BGP's hold time, 9 s, no BFD"),
        ("bgpd=yes\nfrr_profile=datacenter", "router bgp 1", "BGP's hold time, 9 s, no BFD"),
        (
            "bgpd=yes",
            "router bgp 1\n timers bgp 7 21\n neighbor 10.0.0.2 timers 1 3",
            "BGP's hold time, 3 or 21 s, no BFD",
        ),
        ("bgpd=yes\nbfdd=yes", "router bgp 1\n neighbor 10.0.0.2 bfd", "BGP's hold time, 180 s, with BFD"),
        ("bgpd=yes", "router bgp 1\n neighbor 10.0.0.2 bfd", "BGP's hold time, 180 s, no BFD"),
        ("ospfd=yes", "interface eth1\n ip ospf dead-interval 12", "OSPF's dead interval, 12 s, no BFD"),
        (
            "ospfd=yes",
            "interface eth1\n ip ospf dead-interval minimal hello-multiplier 4",
            "OSPF's dead interval, 1 s, no BFD",
        ),
        ("ospfd=yes", "router ospf", "OSPF's dead interval, 40 s, no BFD"),
        ("isisd=yes", "interface eth1\n isis hello-interval 2", "IS-IS's holding time, 20 s, no BFD"),
        ("ripd=yes", "router rip", "RIP's timeout, 180 s, no BFD"),
    ],
)
def test_what_is_waited_for(tmp_path: Path, daemons: str, text: str, waits: str) -> None:
    (tmp_path / "m.clab.yml").write_text(LAB)
    (tmp_path / "r1.conf").write_text(f"hostname r\n{text}\n")
    (tmp_path / "daemons").write_text(f"{daemons}\n")
    made = plan(tmp_path / "m.clab.yml")
    assert waited_for(made, ["r1", "r2", "r1"]) == f"r1, r2: {waits}"
    assert waited_for(made, ["h1"]) == ""
