"""Labels, multicast, tunnels and segments in the machine's kernel, as FRR and `ip` ask for them; and a validation that
asks commands and changes the lab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from vm import called

pytestmark = pytest.mark.vm

DAEMONS = "ospfd=yes\nldpd=yes\nbgpd=yes\npimd=yes\n"
EDGE = """hostname pe{number}
interface lo
 ip address 10.0.0.{number}/32
interface eth1
 ip address 10.1.{number}.1/24
interface eth2
 ip address 10.9.{number}.1/24
 ip ospf network point-to-point
router ospf
 network 10.0.0.0/24 area 0
 network 10.9.0.0/16 area 0
router bgp 65000
 neighbor 10.0.0.{other} remote-as 65000
 neighbor 10.0.0.{other} update-source lo
 address-family ipv4 unicast
  network 10.1.{number}.0/24
 exit
exit
mpls ldp
 router-id 10.0.0.{number}
 address-family ipv4
  discovery transport-address 10.0.0.{number}
  interface eth2
"""
CORE = """hostname p
interface lo
 ip address 10.0.0.9/32
interface eth1
 ip address 10.9.1.2/24
 ip ospf network point-to-point
interface eth2
 ip address 10.9.2.2/24
 ip ospf network point-to-point
router ospf
 network 0.0.0.0/0 area 0
exit
mpls ldp
 router-id 10.0.0.9
 address-family ipv4
  discovery transport-address 10.0.0.9
  interface eth1
  interface eth2
"""
LABELS = """name: labels
topology:
  kinds: {linux: {image: alpine}}
  nodes:
    pe1: {kind: linux, image: frr, sysctls: &mpls {net.mpls.platform_labels: 1000, net.mpls.conf.eth1.input: 1,
      net.mpls.conf.eth2.input: 1}, binds: ['daemons:/etc/frr/daemons', 'pe1.conf:/etc/frr/frr.conf']}
    pe2: {kind: linux, image: frr, sysctls: *mpls, binds: ['daemons:/etc/frr/daemons', 'pe2.conf:/etc/frr/frr.conf']}
    p: {kind: linux, image: frr, sysctls: *mpls, binds: ['daemons:/etc/frr/daemons', 'p.conf:/etc/frr/frr.conf']}
    h1: {kind: linux, exec: [ip addr add 10.1.1.10/24 dev eth1, ip route add default via 10.1.1.1]}
    h2: {kind: linux, exec: [ip addr add 10.1.2.10/24 dev eth1, ip route add default via 10.1.2.1]}
  links:
    - endpoints: ['h1:eth1', 'pe1:eth1']
    - endpoints: ['h2:eth1', 'pe2:eth1']
    - endpoints: ['pe1:eth2', 'p:eth1']
    - endpoints: ['pe2:eth2', 'p:eth2']
"""
EXPERIMENT = """title: A core without BGP
links: {rate: 1 Gbps, delay: 10 us}
routing: {protocol: as-configured, still: 45 s}
switches: {default: {buffer: 4 MB}}
validation:
  answers:
    ldp: {on: [pe1, pe2], run: vtysh -c 'show mpls ldp neighbor json', holds: "neighbors[0].state == 'OPERATIONAL'"}
    core: {on: p, run: ip route show 10.1.0.0/16, holds: not stdout}
    labels: {on: p, run: ip -f mpls route, holds: stdout.startswith('16')}
  steps:
    unlabelled: {on: p, run: sysctl -qw net.mpls.conf.eth1.input=0, pings: {lost: {from: h1, to: h2, answers: false}}}
    again: {on: p, run: sysctl -qw net.mpls.conf.eth1.input=1, wait: 1 s, pings: {back: {from: h1, to: h2}}}
"""


def findings(directory: Path, topology: str, experiment: str) -> list[dict[str, Any]]:
    (directory / "topology.clab.yml").write_text(topology)
    (directory / "experiment.yml").write_text(experiment)
    done = called(directory, "validate", ".", "--json", "v.json", "--out", "out")
    found: list[dict[str, Any]] = json.loads((directory / "v.json").read_text())["findings"]
    wrong = [one for one in found if one["verdict"] != "pass"]
    assert not wrong and done.returncode == 0, (wrong, done.stderr)
    return found


def test_labels_cross_a_core_that_has_no_route(tmp_path: Path) -> None:
    (tmp_path / "daemons").write_text(DAEMONS)
    (tmp_path / "p.conf").write_text(CORE)
    for number in (1, 2):
        (tmp_path / f"pe{number}.conf").write_text(EDGE.format(number=number, other=3 - number))
    found = findings(tmp_path, LABELS, EXPERIMENT)
    places = {(one["check"], one["where"]) for one in found}
    assert {("answers", "pe1, ldp"), ("answers", "p, core"), ("answers", "p, labels")} <= places
    assert ("steps", "p, unlabelled") in places and ("reach", "1 ordered pair, after again") in places


MULTICAST = """hostname r{number}
interface eth1
 ip address 10.1.{number}.1/24
 ip igmp
 ip pim
interface eth2
 ip address 10.9.0.{number}/24
 ip ospf network point-to-point
 ip pim
ip pim rp 10.9.0.1 239.0.0.0/8
router ospf
 network 0.0.0.0/0 area 0
"""
ROUTER = "{kind: linux, image: frr, binds: ['daemons:/etc/frr/daemons', 'rN.conf:/etc/frr/frr.conf']}"
GROUP = f"""name: group
topology:
  kinds: {{linux: {{image: alpine}}}}
  nodes:
    r1: {ROUTER.replace("N", "1")}
    r2: {ROUTER.replace("N", "2")}
    h1: {{kind: linux, exec: [ip addr add 10.1.1.10/24 dev eth1, ip route add default via 10.1.1.1]}}
    h2:
      kind: linux
      sysctls: {{net.ipv4.icmp_echo_ignore_broadcasts: 0}}
      exec:
        - ip addr add 10.1.2.10/24 dev eth1
        - ip route add default via 10.1.2.1
        - ip addr add 239.1.1.1/32 dev eth1 autojoin
  links:
    - endpoints: ['h1:eth1', 'r1:eth1']
    - endpoints: ['h2:eth1', 'r2:eth1']
    - endpoints: ['r1:eth2', 'r2:eth2']
"""
ASKED = """title: A group
links: {rate: 1 Gbps, delay: 10 us}
routing: {protocol: as-configured, still: 45 s}
switches: {default: {buffer: 4 MB}}
validation:
  answers:
    group: {on: h1, run: ping -c 5 -t 9 239.1.1.1, holds: "'64 bytes from 10.1.2.10' in stdout"}
    kernel: {on: r2, run: ip mroute, holds: "'239.1.1.1' in stdout"}
"""


def test_a_group_is_reached_over_pim(tmp_path: Path) -> None:
    (tmp_path / "daemons").write_text(DAEMONS)
    for number in (1, 2):
        (tmp_path / f"r{number}.conf").write_text(MULTICAST.format(number=number))
    found = findings(tmp_path, GROUP, ASKED)
    assert {"h1, group", "r2, kernel"} <= {one["where"] for one in found}


TUNNELS = """name: tunnels
topology:
  kinds: {linux: {image: alpine}}
  nodes:
    h1:
      kind: linux
      exec:
        - ip addr add 10.0.0.1/24 dev eth1
        - ip -6 addr add 2001:db8::1/64 dev eth1 nodad
        - ip link add g1 type gre local 10.0.0.1 remote 10.0.0.2
        - ip addr add 10.7.0.1/24 dev g1
        - ip link set g1 up
        - ip -6 route add 2001:db8:5::/48 via 2001:db8::2
        - ip -6 route add 2001:db8:7::2/128 encap seg6 mode encap segs 2001:db8:5::5 dev eth1 via 2001:db8::2
    h2:
      kind: linux
      exec:
        - ip addr add 10.0.0.2/24 dev eth1
        - ip -6 addr add 2001:db8::2/64 dev eth1 nodad
        - ip link add g1 type gre local 10.0.0.2 remote 10.0.0.1
        - ip addr add 10.7.0.2/24 dev g1
        - ip link set g1 up
        - sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.eth1.seg6_enabled=1
        - ip -6 addr add 2001:db8:7::2/128 dev lo
        - ip -6 route add 2001:db8:5::5/128 encap seg6local action End.DT6 table local dev eth1
  links:
    - endpoints: ['h1:eth1', 'h2:eth1']
"""
INSIDE = """title: Tunnels
links: {rate: 1 Gbps, delay: 10 us}
routing: {protocol: as-configured}
validation:
  pings: {beside: {from: h1, to: 10.0.0.2}}
  answers:
    gre: {on: h1, run: ping -c 3 10.7.0.2, holds: "'3 received' in stdout"}
    segments: {on: h1, run: ping -c 3 2001:db8:7::2, holds: "'3 received' in stdout"}
    devices: {on: h1, run: ip -o link, holds: "'gre0' not in stdout and 'tunl0' not in stdout and 'g1' in stdout"}
    older: {on: h1, run: /usr/sbin/ifconfig eth1, holds: "'10.0.0.1' in stdout"}
"""


def test_packets_go_through_tunnels_and_segments(tmp_path: Path) -> None:
    found = findings(tmp_path, TUNNELS, INSIDE)
    assert {"h1, gre", "h1, segments", "h1, devices", "h1, older"} <= {one["where"] for one in found}
