"""Labs of other people's Containerlab files in the machine, as they are: FRR by its own configuration, hosts by their
own commands, netlab's scripts; and what `validate` says of them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from vm import Vm, called

pytestmark = pytest.mark.vm

DAEMONS = "bgpd=yes\nvtysh_enable=yes\nfrr_profile=datacenter\n"
BGP = """frr defaults datacenter
hostname {name}
ip route 10.9.{number}.0/24 blackhole
interface eth1
 ip address 10.0.0.{number}/30
interface eth2
 ip address 10.1.{number}.1/24
router bgp 6500{number}
 no bgp ebgp-requires-policy
 neighbor 10.0.0.{other} remote-as 6500{other}
 address-family ipv4 unicast
  network 10.1.{number}.0/24
  redistribute static
"""
ROUTERS = """name: routers
topology:
  kinds: {linux: {image: wbitt/network-multitool}}
  nodes:
    r1: {kind: linux, image: frrouting/frr, binds: ['daemons:/etc/frr/daemons', 'r1.conf:/etc/frr/frr.conf']}
    r2:
      kind: linux
      image: frrouting/frr
      binds: ['daemons:/etc/frr/daemons', 'r2.conf:/etc/frr/frr.conf']
      stages: {create: {wait-for: [{node: h1, stage: healthy}]}}
    h1:
      kind: linux
      env: {WORD: deploy}
      sysctls: {net.ipv4.ip_default_ttl: 77}
      cmd: sh -c 'echo $WORD >/tmp/word; exec sleep 1000'
      exec:
        - ip addr add 10.1.1.2/24 dev eth1
        - ip route add default via 10.1.1.1
        - sh -c 'cat /tmp/word /proc/sys/net/ipv4/ip_default_ttl'
        - ls /not-there
      healthcheck: {test: [CMD, test, -e, /tmp/word], interval: 1}
    h2:
      kind: linux
      exec: [ip addr add 10.1.2.2/24 dev eth1, ip route add default via 10.1.2.1]
  links:
    - endpoints: [r1:eth1, r2:eth1]
    - endpoints: [r1:eth2, h1:eth1]
    - endpoints: [r2:eth2, h2:eth1]
"""
VRFS = """name: vrfs
topology:
  nodes:
    r1: {kind: linux, binds: ['node_files/r1/initial:/etc/config/01-initial.sh', 'd:/etc/frr/daemons']}
    h1: {kind: linux}
    h2: {kind: linux}
    h3: {kind: linux}
  links:
    - endpoints: [r1:eth1, h1:eth1]
    - endpoints: [r1:eth2, h2:eth1]
    - endpoints: [r1:eth3, h3:eth1]
"""
ROUTER_SCRIPT = """#!/bin/bash
set -e
ip link add red type vrf table 100
ip link add blue type vrf table 101
ip link set red up
ip link set blue up
ip link set eth1 master red
ip link set eth2 master red
ip link set eth3 master blue
cat >/tmp/config <<CONFIG
interface eth1
 ip address 10.0.1.1/24
interface eth2
 ip address 10.0.2.1/24
interface eth3
 ip address 10.0.3.1/24
CONFIG
vtysh -f /tmp/config
"""


def write(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)


def test_routers_and_hosts_are_what_their_own_files_say(vm: Vm, tmp_path: Path) -> None:
    files = {f"r{number}.conf": BGP.format(name=f"r{number}", number=number, other=3 - number) for number in (1, 2)}
    write(tmp_path, {"own.clab.yml": ROUTERS, "daemons": DAEMONS, **files})
    done = called(tmp_path, "run", "own.clab.yml", "--out", "run", "--no-report", "--set", "routing.still=3 s")
    assert done.returncode == 0, done.stdout + done.stderr
    flows = pl.read_parquet(tmp_path / "run/flows.parquet")
    assert flows["status"].unique().to_list() == ["complete"]
    hosts = (tmp_path / "run/traffic/hosts.csv").read_text().splitlines()[2:]
    assert hosts == ["h1,10.1.1.2,", "h2,10.1.2.2,", "r1,10.0.0.1,", "r2,10.0.0.2,"]
    logs = tmp_path / "run/logs"
    assert (logs / "exec-3@h1.log").read_text().split() == ["deploy", "77"]
    assert "/not-there" in (logs / "exec-4@h1.log").read_text()
    assert "exec-4@h1 ended with exit 2" in " ".join((done.stdout + done.stderr).split())
    routes = json.loads((tmp_path / "run/collect/routes@r2").read_text())
    learnt = {route["dst"]: route["protocol"] for route in routes if route.get("table", "main") == "main"}
    assert learnt["10.1.1.0/24"] == learnt["10.9.1.0/24"] == "bgp" and learnt["10.9.2.0/24"] == "static"
    events = [json.loads(line) for line in (tmp_path / "run/events.jsonl").read_text().splitlines()]
    started = [event["name"] for event in events if event["event"] == "process"]
    assert started.index("health@h1") < started.index("vtysh@r2"), "r2 waits for h1"


def test_netlabs_vrfs_are_apart_as_its_validation_wants(vm: Vm, tmp_path: Path) -> None:
    files = {"clab.yml": VRFS, "d": "", "node_files/r1/initial": ROUTER_SCRIPT}
    templates = {"r1": [{"source": "initial", "target": "/etc/config/01-initial.sh", "mode": "sh"}]}
    for number in (1, 2, 3):
        templates[f"h{number}"] = [{"source": "initial", "target": "", "mode": "ns"}]
        files[f"node_files/h{number}/initial"] = (
            f"ip addr add 10.0.{number}.2/24 dev eth1\nip route add default via 10.0.{number}.1\n"
        )
    for node, own in templates.items():
        files[f"host_vars/{node}/topology.json"] = json.dumps({"clab": {"config_templates": own}})
    files["topology.yml"] = (
        "validate:\n  red: {nodes: [h1], plugin: \"ping('h2')\"}\n"
        "  apart: {nodes: [h1], plugin: \"ping('h3',expect='fail')\"}\n"
    )
    write(tmp_path, files)
    done = called(tmp_path, "validate", "clab.yml", "--out", "out", "--set", "routing.still=1 s")
    assert done.returncode == 0 and "1 of 2 answer, 1 do not" in done.stdout, done.stdout + done.stderr
    wrong = files["topology.yml"].replace(",expect='fail'", "")
    write(tmp_path, {"topology.yml": wrong})
    done = called(tmp_path, "validate", "clab.yml", "--out", "out2", "--set", "routing.still=1 s")
    assert done.returncode == 1 and "h1 to h3" in done.stdout


def test_flows_of_both_families_go_where_ospf_of_nodes_own_files_leads(vm: Vm, tmp_path: Path) -> None:
    lab = Path(__file__).parents[1] / "containers" / "own-files"
    done = called(tmp_path, "run", str(lab), "--out", "run", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    flows = pl.read_parquet(tmp_path / "run/flows.parquet")
    assert flows.group_by("class").len().sort("class").rows() == [("new", 30), ("old", 30)]
    assert flows["status"].unique().to_list() == ["complete"]
    hosts = (tmp_path / "run/traffic/hosts.csv").read_text().splitlines()[2:4]
    assert hosts == ["h1,10.1.1.2,fd00:1::2", "h2,10.1.2.2,fd00:2::2"]
    assert not [*(tmp_path / "run/logs").glob("exec-*@r1.log")], "FRR runs already: exec starts no second one"


def test_a_host_without_an_address_ends_the_run_in_words(vm: Vm, tmp_path: Path) -> None:
    text = ROUTERS.replace("10.1.2.2/24 dev eth1, ip route", "10.1.2.2/24 dev eth9, ip route")
    files = {f"r{number}.conf": BGP.format(name=f"r{number}", number=number, other=3 - number) for number in (1, 2)}
    write(tmp_path, {"own.clab.yml": text, "daemons": DAEMONS, **files})
    done = called(tmp_path, "run", "own.clab.yml", "--out", "run", "--no-report", "--set", "routing.still=1 s")
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1 and "h2" in said and "has no address; traffic goes to it" in said, said


def test_netlabs_tests_of_sessions_and_routes_are_asked(vm: Vm, tmp_path: Path) -> None:
    files = {f"r{number}.conf": BGP.format(name=f"r{number}", number=number, other=3 - number) for number in (1, 2)}
    for number in (1, 2):
        neighbor = {"name": f"r{3 - number}", "ipv4": f"10.0.0.{3 - number}"}
        variables = {"bgp": {"neighbors": [neighbor]}, "interfaces": [{"linkindex": 1, "ipv4": f"10.0.0.{number}/30"}]}
        files[f"host_vars/r{number}/topology.json"] = json.dumps(variables)
    tests = """validate:
  up: {nodes: [r1], plugin: "bgp_neighbor(node.bgp.neighbors,'r2')"}
  learnt: {nodes: [r1], plugin: "bgp_prefix('10.9.2.0/24',aspath='65002',nh=nodes.r2.interfaces[0].ipv4,best=True)"}
  missing: {nodes: [r1], plugin: "bgp_prefix('10.9.7.0/24',state='missing')"}
  table: {nodes: [r2], plugin: "rt_prefix('10.9.1.0/24',proto='bgp')"}
  source: {nodes: [r1], plugin: "ping('10.1.2.2',src='10.1.1.1')"}
  looked: {nodes: [r1], show: version, valid: 'True'}
"""
    write(tmp_path, {"own.clab.yml": ROUTERS, "daemons": DAEMONS, "topology.yml": tests, **files})
    done = called(tmp_path, "validate", "own.clab.yml", "--out", "out", "--set", "routing.still=3 s")
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 0 and "6 pass" in said and "fail" not in said, said
    assert "topology.yml:7: looked (show: hosts.yml, netlab's inventory, does not say what r1 is)" in said
    assert "asks 5 tests of netlab's own" in said
    wrong = tests.replace("'65002'", "'65009'").replace("10.9.7.0/24", "10.9.2.0/24")
    wrong = wrong.replace("'r2')", "'r2',state='missing')")
    write(tmp_path, {"topology.yml": wrong})
    done = called(tmp_path, "validate", "own.clab.yml", "--out", "out2", "--set", "routing.still=3 s")
    assert done.returncode == 1 and done.stdout.count(" fail") == 4, done.stdout


TWO_WAYS = """name: ways
topology:
  nodes:
    r1: {kind: linux, image: frrouting/frr, binds: ['daemons:/etc/frr/daemons', 'r1.conf:/etc/frr/frr.conf']}
    r2: {kind: linux, image: frrouting/frr, binds: ['daemons:/etc/frr/daemons', 'r2.conf:/etc/frr/frr.conf']}
    h1: {kind: linux, exec: [ip addr add 10.1.1.2/24 dev eth1, ip route add default via 10.1.1.1]}
    h2: {kind: linux, exec: [ip addr add 10.1.2.2/24 dev eth1, ip route add default via 10.1.2.1]}
  links:
    - endpoints: [r1:eth1, r2:eth1]
    - endpoints: [r1:eth2, h1:eth1]
    - endpoints: [r2:eth2, h2:eth1]
    - endpoints: [r1:eth3, r2:eth3]
"""
SECOND_WAY = """interface eth3
 ip address 10.0.1.{number}/30
router bgp 6500{number}
 neighbor 10.0.1.{other} remote-as 6500{other}
"""
FAILURE = """title: the first of two ways dies
links: {rate: 1 Gbps, delay: 5 us}
routing: {protocol: as-configured, still: 3 s}
switches: {default: {buffer: 1 MB}}
traffic: {ask: {kind: flows, senders: [h1], receiver: h2, size: 100 B, count: 60, interval: 200 ms}}
events:
  dies: {at: 1 s, link: r1:eth1, action: down}
  back: {at: 2 s, link: r1:eth1, action: up}
"""


def test_after_a_failure_routes_come_to_rest_again(vm: Vm, tmp_path: Path) -> None:
    files = {
        f"r{number}.conf": (BGP + SECOND_WAY).format(name=f"r{number}", number=number, other=3 - number)
        for number in (1, 2)
    }
    write(tmp_path, {"topology.clab.yml": TWO_WAYS, "experiment.yml": FAILURE, "daemons": DAEMONS, **files})
    done = called(tmp_path, "run", ".", "--out", "run", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((tmp_path / "run/summary.json").read_text())["metrics"]
    # r1 knows of its own interface at once; r2 loses its carrier.
    died = summary["reconvergence_ns[dies]"]
    assert 0 < died < 500_000_000 and summary["reconvergence_ns"] == died
    assert died <= summary["reconvergence_still_ns[dies]"] <= 1_000_000_000 - died
    assert summary["reconvergence_within_ns[dies]"] <= max(1_000_000, died // 50)
    # BGP's session must come up first, which takes longer than the interface.
    back, still = summary["reconvergence_ns[back]"], summary["reconvergence_still_ns[back]"]
    assert died < back <= still
    flows = pl.read_parquet(tmp_path / "run/flows.parquet")
    assert flows["status"].unique().to_list() == ["complete"]
