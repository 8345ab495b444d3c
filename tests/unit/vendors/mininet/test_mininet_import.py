"""`fabriclab import mininet`: scripts as Mininet's own examples are, as a user imports them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

import fabriclab
from fabriclab.cli.app import app
from fabriclab.vendors.mininet.script import stand_in

TOPO = """
from mininet.topo import Topo
class Two(Topo):
    def build(self, bw=10):
        left, right = self.addSwitch('s3'), self.addSwitch('s4')
        self.addLink(self.addHost('h1'), left, bw=bw, delay='5ms', loss=1, max_queue_size=100, use_htb=True)
        self.addLink(left, right)
        self.addLink(right, self.addHost('h2', ip='10.0.0.77', mac='00:00:00:00:00:02'), bw=100)
topos = {'two': lambda: Two(), 'fast': lambda: Two(bw=1000)}
"""
ROUTER = """
from mininet.topo import Topo
from mininet.net import Mininet
from mininet.node import Node, OVSSwitch
from mininet.log import setLogLevel, info
from mininet.cli import CLI
class LinuxRouter(Node):
    def config(self, **params):
        super(LinuxRouter, self).config(**params)
        self.cmd('sysctl net.ipv4.ip_forward=1')
class NetworkTopo(Topo):
    def build(self, **_opts):
        router = self.addNode('r0', cls=LinuxRouter, ip='192.168.1.1/24')
        for number, (address, network) in enumerate((('192.168.1.1', 24), ('172.16.0.1', 12)), 1):
            switch = self.addSwitch('s%d' % number)
            self.addLink(switch, router, intfName2='r0-eth%d' % number, params2={'ip': '%s/%d' % (address, network)})
            ip = address + "00/%d" % network
            self.addLink(self.addHost('h%d' % number, ip=ip, defaultRoute='via ' + address), switch)
def run():
    net = Mininet(topo=NetworkTopo(), switch=OVSSwitch, waitConnected=True)
    net.start()
    info(net['r0'].cmd('iperf -s &'))
    CLI(net)
    net.stop()
if __name__ == '__main__':
    setLogLevel('info')
    run()
"""
BY_HAND = """
from mininet.net import Mininet
from mininet.link import TCLink
net = Mininet(link=TCLink, ipBase='192.168.7.0/24')
c0 = net.addController('c0')
h1, h2, s1 = net.addHost('h1'), net.addHost('h2'), net.addSwitch('s1')
net.addNAT().configDefault()
net.addLink(h1, s1, bw=20, delay='10ms')
net.addLink(h2, s1)
net.start()
h1.cmd('ip route add 10.9.0.0/16 via 192.168.7.2; echo done')
print(net.pingAll())
raise RuntimeError('no host has that')
"""


EVERY = """
from mininet.topo import Topo, SingleSwitchTopo, SingleSwitchReversedTopo, LinearTopo, MinimalTopo
from mininet.topolib import TreeTopo
from mininet.net import Mininet
from mininet.node import Host, RemoteController, OVSKernelSwitch, CPULimitedHost
from mininet.link import TCLink, Intf
from mininet.util import irange, dumpNodeConnections, quietRun
from mininet.log import setLogLevel, info
import mininet.term
assert irange(1, 3) == [1, 2, 3]
tree = TreeTopo(depth=2, fanout=2)
assert tree.hosts() == ['h1', 'h2', 'h3', 'h4'] and len(tree.switches()) == 3 and len(tree.links()) == 6
assert tree.nodeInfo('s1')['isSwitch'] and len(tree.nodes()) == 7 and tree.addPort('s1', 's2') is None
for made in (SingleSwitchTopo(3), SingleSwitchReversedTopo(3), LinearTopo(3, 2), MinimalTopo()):
    Mininet(topo=made, build=False).build()
class Measured(Topo):
    def build(self):
        self.addLink(self.addHost('a', cls=CPULimitedHost, cpu=.5), self.addSwitch('s'), bw=1)
net = Mininet(topo=Measured(), host=CPULimitedHost, link=TCLink, controller=RemoteController)
b = net.addHost('b')
net.addLink('b', 's', bw=5)
b.setIP('10.0.0.9/24')
b.setIP('10.0.1.9', 24, intf='b-eth1')
b.setMAC('00:00:00:00:00:09')
b.setDefaultRoute('via 10.0.0.1')
b.setHostRoute('10.2.0.1', 'b-eth0')
net.start()
dumpNodeConnections(net.hosts)
assert b.IP() == '10.0.0.9' and b.MAC() and b.defaultIntf() == 'b-eth0' and b.intfNames() == []
assert [str(node) for node in net.switches] == ['s'] and net['b'] is net.get('b') and len(net.get('a', 'b')) == 2
b.pexec('ip route'); b.cmdPrint('ls'); b.start(); b.waitExited()
print(net.iperf(), net.pingAll(), net.waitConnected(), net.addController('c1'))
net.stop()
"""


def imported(directory: Path, script: str, *options: str) -> tuple[int, str, str]:
    """Return the status, what was said, and the file that was written."""
    directory.mkdir(exist_ok=True)
    (directory / "mine.py").write_text(script)
    out = directory / "lab.clab.yml"
    words = ["import", "mininet", str(directory / "mine.py"), "--out", str(out), *options]
    result = CliRunner().invoke(app, words)
    return result.exit_code, " ".join(result.output.split()), out.read_text() if out.exists() else ""


def test_a_topology_has_mininets_names_addresses_and_links(tmp_path: Path) -> None:
    status, said, text = imported(tmp_path, TOPO, "--topo", "two", "--trust")
    assert status == 0, said
    assert "2 hosts, 2 switches, 3 links" in said
    assert "max_queue_size (100 packets) is left out" in said and "buffer: 151400 B" in said
    topology = YAML(typ="safe", pure=True).load(text)["topology"]
    assert topology["nodes"]["h1"]["exec"] == [
        "ip addr add 10.0.0.1/8 dev h1-eth0",
        "tc qdisc add dev h1-eth0 root netem loss 1%",
    ]
    assert topology["nodes"]["h2"]["exec"] == [
        "ip link set dev h2-eth0 address 00:00:00:00:00:02",
        "ip addr add 10.0.0.77/8 dev h2-eth0",
    ]
    assert topology["links"][0] == {
        "endpoints": ["h1:h1-eth0", "s3:s3-eth1"],
        "mtu": 1500,
        "vars": {"rate": "10 Mbps", "delay": "5 ms"},
    }
    assert {node.name for node in fabriclab.plan(tmp_path / "lab.clab.yml").nodes} == {"h1", "h2", "s3", "s4"}


def test_a_network_with_a_router_of_its_own_class(tmp_path: Path) -> None:
    status, said, text = imported(tmp_path, ROUTER, "--trust")
    assert status == 0, said
    assert "r0: commands that set up no network are left out: `iperf -s &`" in said
    nodes = YAML(typ="safe", pure=True).load(text)["topology"]["nodes"]
    assert nodes["r0"]["exec"] == [
        "ip addr add 192.168.1.1/24 dev r0-eth1",
        "ip addr add 172.16.0.1/12 dev r0-eth2",
        "sysctl net.ipv4.ip_forward=1",
    ]
    assert nodes["h2"]["exec"] == [
        "ip addr add 172.16.0.100/12 dev h2-eth0",
        "ip route add default via 172.16.0.1",
    ]
    assert len(fabriclab.plan(tmp_path / "lab.clab.yml").nodes) == 5


def test_a_network_made_by_hand_counts_as_far_as_its_script_comes(tmp_path: Path) -> None:
    status, said, text = imported(tmp_path, BY_HAND, "--trust")
    assert status == 0, said
    assert "nat0: a way to the host's network" in said
    assert "the script failed after that: line 13: RuntimeError: no host has that" in said
    nodes = YAML(typ="safe", pure=True).load(text)["topology"]["nodes"]
    assert nodes["h1"]["exec"] == [
        "ip addr add 192.168.7.1/24 dev h1-eth0",
        "sh -c 'ip route add 10.9.0.0/16 via 192.168.7.2; echo done'",
    ]


@pytest.mark.parametrize("script", [TOPO.replace("topos", "others"), ROUTER, BY_HAND, EVERY])
def test_the_stand_in_writes_what_a_script_describes(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here in this process, and not in one of its own as the command has it."""
    monkeypatch.setattr(stand_in, "NETWORKS", [])
    monkeypatch.setattr(stand_in, "LEFT_OUT", [])
    monkeypatch.setattr(sys, "path", list(sys.path))
    file, out = tmp_path / "script.py", tmp_path / "network.json"
    file.write_text(script)
    descriptor = os.open(out, os.O_WRONLY | os.O_CREAT, 0o600)
    monkeypatch.setattr(sys, "argv", ["stand_in.py", str(descriptor), str(file)])
    with patch.dict(sys.modules):
        untyped: Any = stand_in
        untyped.main()
    found = json.loads(out.read_text())
    assert found["nodes"] and found["links"]
    assert {one["a"] for one in found["links"]} <= {one["name"] for one in found["nodes"]}


def test_mininets_own_topologies_have_its_names(tmp_path: Path) -> None:
    for topology, sizes in (
        ("SingleSwitchTopo(k=3)", (3, 1, 3)),
        ("SingleSwitchReversedTopo(3)", (3, 1, 3)),
        ("LinearTopo(k=3, n=2)", (6, 3, 8)),
        ("TreeTopo(depth=2, fanout=3)", (9, 4, 12)),
        ("MinimalTopo()", (2, 1, 2)),
    ):
        script = "from mininet.topo import *\nfrom mininet.topolib import *\nfrom mininet.net import Mininet\n"
        status, said, _ = imported(tmp_path, f"{script}Mininet({topology})\n", "--trust", "--force")
        hosts, switches, links = sizes
        assert status == 0 and f"{hosts} hosts, {switches} switches, {links} links" in said, said


def test_switches_in_a_loop_are_told(tmp_path: Path) -> None:
    ring = "from mininet.topo import Topo\nclass Ring(Topo):\n    def build(self):\n"
    ring += "        s = [self.addSwitch('s%d' % n) for n in range(3)]\n"
    ring += "        for n in range(3):\n            self.addLink(s[n], s[n - 1])\n            "
    ring += "self.addLink(self.addHost('h%d' % n), s[n])\n"
    status, said, _ = imported(tmp_path, ring, "--trust")
    assert status == 0 and "switches form a loop (s" in said and "--as frr" in said


def test_nothing_runs_without_consent(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    status, said, text = imported(tmp_path, f"import mininet\nopen({str(mark)!r}, 'w')\n")
    assert (status, text) == (2, "")
    assert "is not trusted yet" in said and "Python, which runs with your rights" in said
    assert not mark.exists()


@pytest.mark.parametrize(
    ("script", "options", "message"),
    [
        (TOPO, (), "it has 3 topologies; choose one: --topo Two --topo fast --topo two"),
        (TOPO, ("--topo", "tow"), "--topo tow: there is no such topology; did you mean 'two'?"),
        ("from mininet.net import Mininet\n", (), "it describes no network"),
        ("import mininet\nimport nothing_like_that\n", (), "line 2: ModuleNotFoundError"),
        ("import mininet\nx = (\n", (), "SyntaxError"),
        ("import mininet, os\nos._exit(3)\n", (), "it ended with status 3"),
        (TOPO.replace("bw=bw", "bw='fast'"), ("--topo", "two"), "link h1 to s3: bw='fast' is not a number"),
        (TOPO.replace("'h1'", "'h 1'"), ("--topo", "two"), "'h 1' is no name of a node here"),
    ],
)
def test_what_gives_no_network_is_told(tmp_path: Path, script: str, options: tuple[str, ...], message: str) -> None:
    status, said, text = imported(tmp_path, script, "--trust", *options)
    assert (status, text) == (2, ""), said
    assert message in said, said


def test_an_existing_file_stays(tmp_path: Path) -> None:
    imported(tmp_path, TOPO, "--topo", "two", "--trust")
    status, said, _ = imported(tmp_path, TOPO, "--topo", "fast", "--trust")
    assert status == 2 and "--force" in said
    status, _, text = imported(tmp_path, TOPO, "--topo", "fast", "--trust", "--force")
    assert status == 0 and "1 Gbps" in text
