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
LDP = """hostname r1
interface eth1
 ip address 10.0.0.1/30
 mpls enable
! mpls ldp is below
mpls ldp
 router-id 10.0.0.1
"""
NOTHING = "nothing comes of it"


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_the_kernel_has_none_of_them(feature: object) -> None:
    assert feature in FEATURES
    options = [option for one in FEATURES if one == feature for option in one.options]
    assert options and not [line for line in CONFIG for option in options if line.startswith(f"CONFIG_{option}=")]


def test_check_says_node_file_and_lines(tmp_path: Path) -> None:
    """Before: such a lab was OK, and its sessions never came up."""
    (tmp_path / "r1.conf").write_text(LDP)
    (tmp_path / "m.clab.yml").write_text(
        """\
name: m
topology:
  defaults: {kind: linux, image: alpine}
  nodes:
    r1: {image: frr, binds: ['r1.conf:/etc/frr/frr.conf'], sysctls: {net.mpls.platform_labels: 1000}}
    h1: {exec: [iptables -A INPUT -j DROP, ip addr add 10.0.0.2/30 dev eth1]}
  links:
    - endpoints: ['r1:eth1', 'h1:eth1']
"""
    )
    warnings = plan(tmp_path / "m.clab.yml").warnings
    lacks = "the virtual machine's kernel has no"
    assert (
        f"m.clab.yml: r1: r1.conf:4,6 (mpls enable), sysctls (net.mpls.platform_labels): {lacks} MPLS; {NOTHING}"
    ) in warnings
    assert (
        f"m.clab.yml: h1: topology.nodes.h1.exec[0] (line 6) (iptables -A INPUT -j DROP): {lacks} packet filters; "
        f"{NOTHING}"
    ) in warnings


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("mpls ldp", "MPLS"),
        (" segment-routing on", "MPLS"),
        (" segment-routing global-block 16000 23999", "MPLS"),
        (" address-family ipv4 labeled-unicast", "MPLS"),
        ("ip route 10.1.0.0/24 10.0.0.2 label 100", "MPLS"),
        (" segment-routing srv6", "SRv6"),
        ("  srv6", "SRv6"),
        (" ip pim", "multicast routing"),
        ("router pim", "multicast routing"),
        (" ip igmp", "multicast routing"),
        (" ip nhrp network-id 1", "GRE and IP tunnels"),
    ],
)
def test_frrs_lines(line: str, name: str) -> None:
    file = NodeFile(path="/etc/frr/frr.conf", text=f"hostname r\n{line}\n", source="r.conf")
    (said,) = lacking("r", Setup(files=(file,)))
    assert said.startswith(f"r: r.conf:2 ({line.strip()}): ") and f"no {name};" in said


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("ip -f mpls route add 100 via inet 10.0.0.2", "MPLS"),
        ("ip route add 10.1.0.0/24 encap mpls 100 via inet 10.0.0.2", "MPLS"),
        ("modprobe mpls_router", "MPLS"),
        ("ip -6 route add fc00::/16 encap seg6 mode encap segs fc00::2 dev eth1", "SRv6"),
        ("ip link add g1 type gre local 10.0.0.1 remote 10.0.0.2", "GRE and IP tunnels"),
        ("sh -c 'nft add table x'", "packet filters"),
    ],
)
def test_commands(command: str, name: str) -> None:
    run = SetupCommand(name="exec-1", argv=tuple(shlex.split(command)), by="containerlab", key="k (line 3)")
    (said,) = lacking("r", Setup(commands=(run,)))
    assert said.startswith("r: k (line 3) (") and f"no {name};" in said


def test_a_script_that_is_run_is_read(tmp_path: Path) -> None:
    script = NodeFile(path="/s.sh", text="vtysh <<E\nmpls ldp\nE\nmodprobe mpls_router\n", source="s.sh")
    run = SetupCommand(name="exec-1", argv=("sh", "/s.sh"), by="netlab", key="k")
    (said,) = lacking("r", Setup(files=(script,), commands=(run,)))
    assert said.startswith("r: s.sh:2,4 (mpls ldp): ")
    assert list(lacking("r", Setup(files=(script,)))) == [], "nobody runs it"


@pytest.mark.parametrize(
    "line",
    [
        "no mpls ldp",
        "! mpls ldp",
        "description mpls enable",
        "router bgp 1",
        "mpls-te on",
        "  label vpn export auto",
        "ip prefix-list pim permit any",
    ],
)
def test_other_lines_are_no_matter(line: str) -> None:
    file = NodeFile(path="/etc/frr/frr.conf", text=f"{line}\n", source="r.conf")
    assert list(lacking("r", Setup(files=(file,)))) == []


def test_many_lines_are_counted() -> None:
    file = NodeFile(path="/etc/frr/frr.conf", text="mpls enable\n" * 9)
    (said,) = lacking("r", Setup(files=(file,)))
    assert said.startswith("r: startup-config:1,2,3 and 6 more (mpls enable): ")
