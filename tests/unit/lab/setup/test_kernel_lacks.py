"""What nodes' files ask of the kernel that the virtual machine's does not have is told by node and line."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from repository import ROOT

from fabriclab.api.look import plan
from fabriclab.formats.plan.setup import NodeFile, Setup, SetupCommand
from fabriclab.lab.setup.kernel_lacks import FEATURES, lacking

CONFIG = (ROOT / "images" / "machine" / "kernel" / "config").read_text(encoding="utf-8").splitlines()
VPLS = """hostname r1
mpls ldp
 router-id 10.0.0.1
! l2vpn CUST type vpls is below
l2vpn CUST type vpls
 bridge br0
"""
NOTHING = "nothing comes of it"


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_the_kernel_has_none_of_them(feature: object) -> None:
    assert feature in FEATURES
    options = [option for one in FEATURES if one == feature for option in one.options]
    assert not [line for line in CONFIG for option in options if line.startswith(f"CONFIG_{option}=")]


def test_check_says_node_file_and_lines(tmp_path: Path) -> None:
    """Before: such a lab was OK, and its sessions never came up."""
    (tmp_path / "r1.conf").write_text(VPLS)
    (tmp_path / "m.clab.yml").write_text(
        """\
name: m
topology:
  defaults: {kind: linux, image: alpine}
  nodes:
    r1: {image: frr, binds: ['r1.conf:/etc/frr/frr.conf']}
    h1: {exec: [iptables -A INPUT -j DROP, ip addr add 10.0.0.2/30 dev eth1]}
  links:
    - endpoints: ['r1:eth1', 'h1:eth1']
"""
    )
    warnings = plan(tmp_path / "m.clab.yml").warnings
    lacks = "the virtual machine's kernel has no"
    assert (f"m.clab.yml: r1: r1.conf:5 (l2vpn CUST type vpls): {lacks} VPLS; {NOTHING}") in warnings
    assert (
        f"m.clab.yml: h1: topology.nodes.h1.exec[0] (line 6) (iptables -A INPUT -j DROP): {lacks} packet filters; "
        f"{NOTHING}"
    ) in warnings


@pytest.mark.parametrize(
    "command",
    ["iptables -A INPUT -j DROP", "/usr/sbin/nft -f rules", "sh -c 'nft add table x'", "ipset create s hash:ip"],
)
def test_commands(command: str) -> None:
    run = SetupCommand(name="exec-1", argv=tuple(shlex.split(command)), by="containerlab", key="k (line 3)")
    (said,) = lacking("r", Setup(commands=(run,)))
    assert said.startswith("r: k (line 3) (") and "no packet filters;" in said


@pytest.mark.parametrize(
    "command",
    ["modprobe mpls_router", "ip link add g1 type gre local 10.0.0.1 remote 10.0.0.2", "ip route add x encap seg6 y"],
)
def test_what_the_kernel_has_is_no_matter(command: str) -> None:
    run = SetupCommand(name="exec-1", argv=tuple(shlex.split(command)), by="containerlab", key="k (line 3)")
    assert list(lacking("r", Setup(commands=(run,)))) == []


def test_a_script_that_is_run_is_read(tmp_path: Path) -> None:
    script = NodeFile(path="/s.sh", text="vtysh <<E\nmpls ldp\nE\niptables -F\nnft list ruleset\n", source="s.sh")
    run = SetupCommand(name="exec-1", argv=("sh", "/s.sh"), by="netlab", key="k")
    (said,) = lacking("r", Setup(files=(script,), commands=(run,)))
    assert said.startswith("r: s.sh:4,5 (iptables -F): ")
    assert list(lacking("r", Setup(files=(script,)))) == [], "nobody runs it"


@pytest.mark.parametrize("line", ["mpls ldp", " ip pim", "no l2vpn C type vpls", "! l2vpn C type vpls", "router bgp 1"])
def test_other_lines_are_no_matter(line: str) -> None:
    file = NodeFile(path="/etc/frr/frr.conf", text=f"{line}\n", source="r.conf")
    assert list(lacking("r", Setup(files=(file,)))) == []


def test_many_lines_are_counted() -> None:
    file = NodeFile(path="/etc/frr/frr.conf", text="l2vpn C type vpls\n" * 9)
    (said,) = lacking("r", Setup(files=(file,)))
    assert said.startswith("r: startup-config:1,2,3 and 6 more (l2vpn C type vpls): ")
