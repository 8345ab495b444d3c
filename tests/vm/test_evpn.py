"""EVPN with VXLAN by FRR's own configuration.

Two VLANs, each on both leaves, are bridged and routed symmetrically (RFC 9135) behind a gateway address that both
leaves share, of MAC-VLAN devices, as netlab makes it.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from vm import Vm, called

pytestmark = pytest.mark.vm

LAB = """name: evpn
topology:
  kinds: {linux: {image: debian}}
  nodes:
    leaf1:
      kind: linux
      binds: ['leaf1.sh:/devices.sh', 'daemons:/etc/frr/daemons', 'leaf1.conf:/etc/frr/frr.conf']
      exec: [sh /devices.sh]
    leaf2:
      kind: linux
      binds: ['leaf2.sh:/devices.sh', 'daemons:/etc/frr/daemons', 'leaf2.conf:/etc/frr/frr.conf']
      exec: [sh /devices.sh]
    h1: {kind: linux, exec: [ip addr add 10.1.10.11/24 dev eth1, ip route add default via 10.1.10.254]}
    h2: {kind: linux, exec: [ip addr add 10.1.20.12/24 dev eth1, ip route add default via 10.1.20.254]}
    h3: {kind: linux, exec: [ip addr add 10.1.10.13/24 dev eth1, ip route add default via 10.1.10.254]}
    h4: {kind: linux, exec: [ip addr add 10.1.20.14/24 dev eth1, ip route add default via 10.1.20.254]}
  links:
    - {endpoints: [leaf1:eth1, leaf2:eth1], mtu: 1600}
    - {endpoints: [leaf1:eth2, h1:eth1], mtu: 1500}
    - {endpoints: [leaf1:eth3, h2:eth1], mtu: 1500}
    - {endpoints: [leaf2:eth2, h3:eth1], mtu: 1500}
    - {endpoints: [leaf2:eth3, h4:eth1], mtu: 1500}
"""
DEVICES = """set -e
ip link add tenant type vrf table 100
ip link set tenant up
for vni in 10 20 5000; do
  ip link add br$vni type bridge
  ip link add vx$vni type vxlan id $vni local 10.255.0.{number} dstport 4789 nolearning
  ip link set vx$vni master br$vni mtu 1500 addrgenmode none
  ip link set br$vni master tenant addrgenmode none
  ip link set vx$vni up
  ip link set br$vni up
done
ip link set eth2 master br10
ip link set eth3 master br20
for vlan in 10 20; do
  ip addr add 10.1.$vlan.{number}/24 dev br$vlan
  ip link add gateway$vlan link br$vlan type macvlan mode private
  ip link set gateway$vlan address 02:00:ca:fe:00:ff
  bridge fdb replace 02:00:ca:fe:00:ff dev br$vlan self
  ip link set gateway$vlan master tenant
  ip addr add 10.1.$vlan.254/24 dev gateway$vlan metric 1024
  ip link set gateway$vlan up
done
"""
LEAF = """frr defaults datacenter
hostname leaf{number}
vrf tenant
 vni 5000
exit-vrf
interface lo
 ip address 10.255.0.{number}/32
interface eth1
 ip address 10.0.0.{number}/30
router bgp 6500{number}
 no bgp ebgp-requires-policy
 neighbor 10.0.0.{other} remote-as 6500{other}
 address-family ipv4 unicast
  network 10.255.0.{number}/32
 exit-address-family
 address-family l2vpn evpn
  neighbor 10.0.0.{other} activate
  advertise-all-vni
  vni 10
   route-target both 1:10
  exit-vni
  vni 20
   route-target both 1:20
  exit-vni
 exit-address-family
router bgp 6500{number} vrf tenant
 address-family ipv4 unicast
  redistribute connected
 exit-address-family
 address-family l2vpn evpn
  route-target both 1:5000
  advertise ipv4 unicast
 exit-address-family
"""
EXPERIMENT = """title: hosts of two VLANs on two leaves
switches: {default: {buffer: 1 MB}}
links: {rate: 1 Gbps}
routing: {protocol: as-configured, still: 5 s}
traffic:
  all: {kind: arrivals, senders: all, pairs: all-to-all, size: 20 KB, interval: 20 ms, stop: 200 ms}
"""


def test_bridged_and_routed_traffic_crosses_the_overlay(vm: Vm, tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / "topology.clab.yml").write_text(LAB)
    (lab / "experiment.yml").write_text(EXPERIMENT)
    (lab / "daemons").write_text("bgpd=yes\n")
    for number in (1, 2):
        (lab / f"leaf{number}.sh").write_text(DEVICES.replace("{number}", str(number)))
        (lab / f"leaf{number}.conf").write_text(LEAF.format(number=number, other=3 - number))
    done = called(tmp_path, "run", "lab", "--out", "run", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    flows = pl.read_parquet(tmp_path / "run/flows.parquet")
    assert flows.select("src", "dst").n_unique() == 12 and flows["status"].unique().to_list() == ["complete"]
    routes = json.loads((tmp_path / "run/collect/routes@leaf1").read_text())
    hosts = {route["dst"]: route.get("dev") for route in routes if route.get("table") in (100, "100")}
    # Type 2 with an address: leaf1 routes to leaf2's hosts through the VRF's own VNI, never through the other VLAN's.
    assert hosts["10.1.10.13"] == hosts["10.1.20.14"] == "br5000"
