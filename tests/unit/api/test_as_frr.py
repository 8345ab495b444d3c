"""Other people's Containerlab files: drawn and checked whatever their kinds, run with FRR in the place of switches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabriclab.api.as_frr import lab_as_frr
from fabriclab.api.drawing import graph
from fabriclab.api.look import plan
from fabriclab.cli.app import app
from fabriclab.lab import LabError
from fabriclab.lab.network.kinds import ALL_KINDS, OLDER_NAMES, guessed_role, interface_name, present_name
from fabriclab.lab.network.read import read_one_topology
from fabriclab.lab.reading.problems import Mistake, Place
from fabriclab.other_labs.frr_lab import FrrLab

VENDORS = """\
name: mixed
mgmt: {network: mine}
topology:
  groups:
    servers: {kind: linux, image: 'ghcr.io/someone/network-multitool'}
  kinds:
    nokia_srlinux: {type: ixrd3, image: ghcr.io/nokia/srlinux}
  nodes:
    leaf: {kind: nokia_srlinux, group: , startup-config: leaf.cfg}
    spine: {kind: nokia_srsim}
    edge: {kind: cisco_xrv9k}
    pc: {group: servers}
    lonely: {kind: arista_ceos}
  links:
    - endpoints: ['leaf:ethernet-1/1', 'spine:1/1/c1/1']
    - endpoints: ['leaf:ethernet-1/2', 'edge:GigabitEthernet0/0/0/0']
    - endpoints: ['pc:eth1', 'leaf:ethernet-1/3']
    - endpoints: ['edge:Gi0/0/0/1', 'host:veth-edge']
    - endpoints: ['spine:1/1/c2/1', 'spine:1/1/c3/1']
    - {type: mgmt-net, endpoint: {node: spine, interface: eth9}, host-interface: spine9}
"""
TWO = """\
name: two
topology:
  nodes:
    a: {kind: KIND}
    b: {kind: linux}
  links:
    - endpoints: ['a:PORT', 'b:eth1']
"""


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    file = tmp_path / "mixed.clab.yml"
    file.write_text(VENDORS)
    return file


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, result.output


def test_a_file_of_any_kinds_is_drawn_with_the_names_of_its_ports(mixed: Path) -> None:
    svg = graph(mixed).svg
    assert all(f">{name}<" in svg for name in ("leaf", "spine", "edge", "pc", "lonely"))
    assert "leaf:ethernet-1/1" in svg and "spine:1/1/c1/1" in svg


def test_check_says_what_does_not_run_and_what_is_left_out(mixed: Path) -> None:
    status, output = run("check", mixed)
    assert status == 2
    assert "mixed: a topology with 4 nodes of other kinds, 1 host, 4 switches, 3 links" in output
    assert "kind nokia_srlinux of leaf (line 9) does not run here; --as frr runs FRR in its place" in output
    assert "topology.links[3] (line 18) is left out: its type, host, leads out of the lab" in output
    assert "topology.links[4] (line 19) is left out: it joins two ports of spine" in output
    assert "topology.links[5] (line 20) is left out: its type, mgmt-net" in output
    assert "startup-config of leaf (line 9)" in output and "mgmt (line 2)" in output


def test_as_frr_it_is_a_lab(mixed: Path) -> None:
    brought = lab_as_frr(mixed)
    found = plan(brought.lab)
    assert [(node.name, node.role) for node in found.nodes] == [
        *(("leaf", "switch"), ("spine", "switch"), ("edge", "switch"), ("pc", "host")),
        *(("spine-host", "host"), ("edge-host", "host")),
    ]
    assert found.bgp is not None and found.warnings == ()
    assert [port.interface for port in found.node("leaf").ports] == ["e1-1", "e1-2", "e1-3"]
    assert [port.interface for port in found.node("edge").ports] == ["eth1", "eth2"]
    assert "# leaf:ethernet-1/1 – spine:1/1/c1/1" in brought.topology
    assert "left out, as no link joins them with the others: lonely" in brought.notes
    assert "made up, for a switch without a host: spine-host, edge-host" in brought.notes
    assert "6 ends of links say no rate: 10 Gbps, 5 us each way" in brought.notes


def test_rates_addresses_and_labels_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "kept.clab.yml"
    file.write_text(
        """\
name: kept
topology:
  nodes:
    a: {kind: arista_ceos, labels: {fabriclab.asn: 65001, fabriclab.loopback: 10.9.9.1, fabriclab.tier: 1}}
    b: {kind: arista_ceos}
  links:
    - endpoints: ['a:et1', 'b:et2']
      mtu: 9000
      ipv4: ['10.1.0.0/31', '10.1.0.1/31']
      vars: {rate: 100 Mbps, delay: 1 ms}
"""
    )
    node = plan(lab_as_frr(file).lab).node("a")
    (port, _) = node.ports
    assert (node.asn, node.loopback, port.mtu, port.address) == (65001, "10.9.9.1", 9000, "10.1.0.0/31")
    assert (port.rate_bps, port.delay_ns) == (10**8, 10**6)


@pytest.mark.parametrize("kind", ["bridge", "ovs-bridge"])
def test_a_bridge_runs_beside_a_vendors_node_too(tmp_path: Path, kind: str) -> None:
    """Before: beside one of a vendor's, and there alone, a bridge was said not to run."""
    file = tmp_path / "b.clab.yml"
    file.write_text(
        f"""\
name: b
topology:
  nodes:
    sw: {{kind: {kind}}}
    x: {{kind: nokia_srlinux}}
    h1: {{kind: linux, image: alpine}}
  links:
    - endpoints: ['sw:e1', 'h1:eth1']
    - endpoints: ['sw:e2', 'x:e1-1']
"""
    )
    status, output = run("check", file)
    assert status == 2 and "b: a topology with 1 node of other kinds, 1 host, 2 switches, 2 links" in output
    assert "kind nokia_srlinux of x (line 5) does not run here" in output
    assert "sw (line 4)" not in output and "'nokia_srlinux'; it runs: linux, bridge, ovs-bridge, sonic-vs" in output


HOSTS = "name: d\ntopology:\n  nodes:\n    o: {kind: ostinato}\n    p: {kind: ostinato}\n    q: {kind: ostinato}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{HOSTS}  links:\n    - endpoints: ['o:e1', 'p:e1']\n    - endpoints: ['p:e2', 'q:e1']\n",
            "d.clab.yml:6: topology.nodes.q: no path from host 'o' to here",
        ),
        (f"{HOSTS}  links: []\n", "d.clab.yml:4: topology.nodes.o: one host, and no switch that a second one"),
        (
            f"{HOSTS}  links:\n    - endpoints: ['o:e1', 'p:1/1/aaaaaaaaaaaaaaaaaa']\n"
            "    - endpoints: ['q:e1', 'p:1/2/aaaaaaaaaaaaaaaaaa']\n",
            "d.clab.yml:9: topology.links[1].endpoints[1]: port 'p:1/2/aaaaaaaaaaaaaaaaaa' has a link already, in line "
            "8; it and '1/1/aaaaaaaaaaaaaaaaaa' are aaaaaaaaaaaaaaa for Linux",
        ),
    ],
)
def test_errors_name_the_users_file(tmp_path: Path, text: str, said: str) -> None:
    """Before: file and line of a text that nobody wrote, `topology:8`, and the interface's name in it."""
    file = tmp_path / "d.clab.yml"
    file.write_text(text)
    status, output = run("check", file, "--as", "frr")
    assert status == 2 and said in output.replace(f"{tmp_path}/", "")
    assert "\ntopology:" not in output and "experiment:" not in output


def test_keys_of_errors_count_the_files_links() -> None:
    place = Place("d.clab.yml", 7)
    made = FrrLab("", "", (), "d.clab.yml", {"topology.links[0]": ("topology.links[2]", place)})
    wrong = Mistake("topology", 3, "topology.links[0].mtu", "1", "is wrong; write another")
    assert str(made.in_the_file(wrong)) == "d.clab.yml:7: topology.links[2].mtu: is wrong; write another"
    other = Mistake("experiment", 3, "traffic.ping", "1", "is wrong")
    assert str(made.in_the_file(other)) == "d.clab.yml: traffic.ping: is wrong (in what --as frr makes of it)"


def test_a_lone_switch_gets_two_hosts(tmp_path: Path) -> None:
    file = tmp_path / "one.clab.yml"
    file.write_text("name: one\ntopology:\n  nodes:\n    sr: {kind: nokia_sros}\n")
    assert [node.name for node in plan(lab_as_frr(file).lab).nodes] == ["sr", "sr-host", "sr-host2"]


def test_the_commands(mixed: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    status, output = run("new", out, "--from", mixed, "--as", "frr")
    assert status == 0 and "runs it" in output and "note: made up" in output
    assert sorted(path.name for path in out.iterdir()) == ["experiment.yml", "topology.clab.yml"]
    status, output = run("check", out)
    assert status == 0 and output.startswith("mine: OK")
    assert run("new", out, "--from", mixed, "--as", "frr")[0] == 2
    status, output = run("plan", mixed, "--as", "frr")
    assert status == 0 and "spine-host" in output
    status, output = run("check", mixed, "--as", "frr")
    assert status == 0 and "mixed: OK" in output
    status, output = run("run", mixed)
    assert status == 2 and "--as frr runs FRR" in output
    status, output = run("run", tmp_path / "none.clab.yml", "--as", "frr")
    assert status == 2 and "none.clab.yml: no such file" in output


def test_as_a_lab_other_kinds_are_refused_with_what_helps(tmp_path: Path) -> None:
    (tmp_path / "topology.clab.yml").write_text(TWO.replace("KIND", "nokia_srlinux").replace("PORT", "e1-1"))
    (tmp_path / "experiment.yml").write_text("title: two\n")
    status, output = run("check", tmp_path)
    assert status == 2 and "topology.clab.yml:4: topology.nodes.a.kind" in output and "--as frr" in output


def test_a_go_template_that_nobody_rendered_is_told_for_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "t.clab.gotmpl"
    file.write_text("name: t\ntopology:\n  nodes:\n{{- range $i := seq 1 $.n }}\n    s{{ $i }}: {}\n{{- end }}\n")
    with pytest.raises(LabError, match=r"t\.clab\.gotmpl:4: a Go template; render it with its variables first"):
        read_one_topology(file)


@pytest.mark.parametrize(
    ("kind", "links", "image", "binds", "commands", "role"),
    [
        ("linux", 1, "alpine", (), (), "host"),
        ("linux", 1, "quay.io/frrouting/frr:10.5.1", (), (), "switch"),
        ("linux", 1, "mine", ("r1/frr.conf:/etc/frr/frr.conf",), (), "switch"),
        ("linux", 2, "wbitt/network-multitool:3", (), (), "host"),
        ("linux", 2, "mine", (), ("ip route add default via 10.0.0.1",), "host"),
        ("linux", 2, "mine", (), ("sysctl -w net.ipv4.ip_forward=1",), "switch"),
        ("linux", 2, "", (), (), "switch"),
        ("generic_vm", 1, "", (), (), "host"),
        ("ostinato", 2, "", (), (), "host"),
        ("bridge", 3, "", (), (), "switch"),
        ("juniper_crpd", 1, "", (), (), "switch"),
    ],
)
def test_roles_are_guessed(
    kind: str, links: int, image: str, binds: tuple[str, ...], commands: tuple[str, ...], role: str
) -> None:
    assert guessed_role(kind, links, image, binds, commands)[0] == role


FORWARDING = (
    "sysctls: {net.ipv4.ip_forward: 1}",
    "sysctls: {net.ipv6.conf.all.forwarding: '1'}",
    "exec: [sysctl -w net.ipv4.ip_forward=1]",
    "exec: [sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward']",
    "exec: [sh -c 'apk add nftables && sysctl -w net/ipv4/ip_forward=1']",
)


def gateway(directory: Path, key: str) -> Path:
    file = directory / "gw.clab.yml"
    hosts = "a: {kind: linux, image: alpine}\n    b: {kind: linux, image: alpine, sysctls: {net.ipv4.ip_forward: 1}}"
    file.write_text(
        f"name: gw\ntopology:\n  nodes:\n    {hosts}\n    gw: {{kind: linux, image: alpine, {key}}}\n"
        "  links:\n    - endpoints: ['a:eth1', 'gw:eth1']\n    - endpoints: ['gw:eth2', 'b:eth1']\n"
    )
    return file


@pytest.mark.parametrize("key", FORWARDING)
def test_a_node_that_is_told_to_forward_is_no_host(tmp_path: Path, key: str) -> None:
    topology = read_one_topology(gateway(tmp_path, key))
    assert [node.role for node in topology.nodes] == ["host", "host", "switch"]
    said = "gw (line 6) is taken for a switch: a sysctl that lets it forward packets"
    assert f"gw.clab.yml: {said}" in topology.notes


@pytest.mark.parametrize("command", ["ip link add name br0 type bridge vlan_filtering 1", "brctl addbr br0"])
def test_a_node_that_makes_a_bridge_is_no_host(tmp_path: Path, command: str) -> None:
    topology = read_one_topology(gateway(tmp_path, f"exec: [{command}]"))
    assert [node.role for node in topology.nodes] == ["host", "host", "switch"]
    assert "gw.clab.yml: gw (line 6) is taken for a switch: a bridge that its commands make" in topology.notes


@pytest.mark.parametrize("key", ["sysctls: {net.ipv4.ip_forward: 0}", "exec: [sysctl -w net.ipv4.ip_forward=0]"])
def test_a_node_that_is_told_not_to_is_one(tmp_path: Path, key: str) -> None:
    with pytest.raises(LabError, match=r"topology\.nodes\.b: no path from host 'a' to here"):
        read_one_topology(gateway(tmp_path, key))


def test_what_is_wrong_first_is_told_where_nodes_without_a_link_stand_by(tmp_path: Path) -> None:
    (tmp_path / "topology.clab.yml").write_text(
        "name: t\ntopology:\n  defaults: {kind: linux, image: alpine}\n  nodes:\n    a: {binds: ['gone:/gone']}\n"
        "    b: {}\n    grafana: {}\n  links: [endpoints: ['a:eth1', 'b:eth1']]\n"
    )
    file = (tmp_path / "topology.clab.yml").rename(tmp_path / "t.clab.yml")
    status, output = run("check", file)
    assert status == 2 and "t.clab.yml:5: topology.nodes.a.binds[0]: 'gone': no such file" in output
    assert "grafana" not in output


@pytest.mark.parametrize(
    ("links", "image", "binds", "role"),
    [
        (1, "mine", (), "host"),
        (2, "alpine:3.20", (), "host"),
        (2, "mine", (), "switch"),
        (1, "frrouting/frr:v8.4.0", (), "switch"),
        (1, "alpine", ("pc1.conf:/etc/frr/frr.conf",), "switch"),
    ],
)
def test_an_inherited_bind_says_less(links: int, image: str, binds: tuple[str, ...], role: str) -> None:
    assert guessed_role("linux", links, image, binds, (), ("daemons:/etc/frr/daemons:ro",))[0] == role


def test_a_guess_that_is_no_matter_of_course_is_told(tmp_path: Path) -> None:
    file = tmp_path / "r.clab.yml"
    file.write_text(
        "name: r\ntopology:\n  nodes:\n    r: {kind: linux}\n    a: {kind: linux}\n    b: {kind: linux}\n  links:\n"
        "    - endpoints: ['r:eth1', 'a:eth1']\n    - endpoints: ['r:eth2', 'b:eth1']\n"
    )
    topology = read_one_topology(file)
    assert topology.switches == ("r",) and topology.notes == ("r.clab.yml: r (line 4) is taken for a switch: 2 links",)


@pytest.mark.parametrize(
    ("kind", "written", "name"),
    [
        ("nokia_srlinux", "ethernet-1/1", "e1-1"),
        ("srl", "ethernet-2/1/4", "e2-1-4"),
        ("nokia_srsim", "1/1/c1/1", "e1-1-c1-1"),
        ("nokia_srsim", "1/x1/2/c3/4", "e1-x1-2-c3-4"),
        ("nokia_sros", "1/1/3", "eth3"),
        ("cisco_xrv9k", "GigabitEthernet0/0/0/0", "eth1"),
        ("cisco_iol", "Ethernet1/2", "eth6"),
        ("cisco_csr1000v", "Gi2", "eth1"),
        ("arista_ceos", "et1", "eth1"),
        ("ceos", "eth1_1", "eth1_1"),
        ("juniper_cjunosevolved", "et-0/0/0", "eth4"),
        ("ciena_saos", "1", "eth1"),
        ("cisco_xrd", "Gi0-0-0-0", "Gi0-0-0-0"),
        ("huawei_vrp", "Ethernet1/0/1", "Ethernet1-0-1"),
        ("huawei_vrp", "HundredGigE0/0/0/11", "redGigE0-0-0-11"),
    ],
)
def test_interfaces_have_containerlabs_names(kind: str, written: str, name: str) -> None:
    assert interface_name(kind, written) == name


def test_older_names_are_todays_kinds() -> None:
    assert all(present_name(name) in ALL_KINDS and present_name(name) not in OLDER_NAMES for name in OLDER_NAMES)


def examples() -> list[Path]:
    source = os.environ.get("CLAB_SOURCE", "")
    return sorted(Path(source, "lab-examples").rglob("*.clab.y*ml")) if source else []


@pytest.mark.skipif(not examples(), reason="CLAB_SOURCE=DIR, a clone of srl-labs/containerlab, runs it")
def test_containerlabs_own_examples() -> None:
    for file in examples():
        graph(file)
        assert plan(lab_as_frr(file).lab).nodes, file
