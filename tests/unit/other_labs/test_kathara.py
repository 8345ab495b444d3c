"""Kathará's labs: lab.conf, startup scripts and directories become the Containerlab file that says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabriclab.api.lab import lab_of_file, load_lab
from fabriclab.cli.app import app
from fabriclab.lab import LabError
from fabriclab.lab.network.topology import LabNode
from fabriclab.other_labs.startup import startup_commands
from fabriclab.resolve import resolve_plan

CONF = """LAB_NAME="three routers"
# the backbone
r1[0]="A"
r1[1]="B"
r1[image]="kathara/frr"

r2[0]="A"
r2[1]="C/02:00:00:00:00:07"
r2[sysctl]="net.ipv4.conf.all.rp_filter=0"
r3[0]=A
pc1[0]="B" # behind r1
pc2[0]='C'
pc2[1]="D"
pc2[mem]="256m"
"""


def lab(directory: Path, conf: str = CONF, files: dict[str, str] | None = None) -> Path:
    directory.mkdir(exist_ok=True)
    for name, text in {"lab.conf": conf, **(files or {})}.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    return directory


def nodes_of(directory: Path) -> dict[str, LabNode]:
    return {node.name: node for node in lab_of_file(directory / "lab.conf").written.topology.nodes}


def test_devices_interfaces_and_domains_become_nodes_and_links(tmp_path: Path) -> None:
    written = load_lab(lab(tmp_path / "my lab")).written.topology
    assert written.name == "my-lab"
    assert {f"{link.a.port} {link.b.port}" for link in written.links} == {
        *("r1:eth0 A:p0", "r2:eth0 A:p1", "r3:eth0 A:p2"),
        *("r1:eth1 pc1:eth0", "r2:eth1 pc2:eth0"),
    }
    (mac,) = (end.mac.value for link in written.links for end in link.ends if end.mac is not None)
    assert mac == "02:00:00:00:00:07"
    nodes = {node.name: node for node in written.nodes}
    assert {name: node.role for name, node in nodes.items()} == {
        **{"r1": "switch", "r2": "switch", "A": "switch", "pc2": "switch"},
        **{"r3": "host", "pc1": "host"},
    }
    assert [dummy.interface for dummy in nodes["pc2"].dummies] == ["eth1"]
    assert nodes["r1"].place.line == 3 and nodes["pc1"].place.line == 11
    (memory,) = (one for one in written.not_applied if one.key == "memory")
    assert (memory.nodes, memory.place.line) == (("pc2",), 14)


def test_scripts_and_files_are_the_devices(tmp_path: Path) -> None:
    files = {
        "shared.startup": "sysctl -w net.ipv4.ip_forward=1\n",
        "r1.startup": "# addresses\nifconfig eth0 10.0.0.1/24 up\n\nip address add 10.1.0.1/24 dev eth1\n"
        "/etc/init.d/frr start\necho a > /b\n",
        "pc1.startup": "if true; then\n  ip address add 10.1.0.2/24 dev eth0\nfi\n",
        "r1/etc/frr/daemons": "zebra=yes\nospfd=yes\n",
        "r1/etc/frr/frr.conf": "router ospf\n network 10.0.0.0/8 area 0\n",
    }
    nodes = nodes_of(lab(tmp_path / "lab", files=files))
    setup = nodes["r1"].setup
    assert setup is not None
    assert {file.path for file in setup.files} >= {"/etc/frr/daemons", "/etc/frr/frr.conf", "/hostlab/r1.startup"}
    assert [daemon.name for daemon in setup.daemons if daemon.name in ("zebra", "ospfd")] == ["zebra", "ospfd"]
    ran = [" ".join(command.argv) for command in setup.commands if command.by == "containerlab"]
    assert ran == [
        "sysctl -w net.ipv4.ip_forward=1",
        "ifconfig eth0 10.0.0.1/24 up",
        "ip address add 10.1.0.1/24 dev eth1",
        "/etc/init.d/frr start",  # not run where the machine starts FRR itself
        "bash -c echo a > /b",
    ]
    pc1 = nodes["pc1"].setup
    assert pc1 is not None
    assert " ".join(pc1.commands[-1].argv) == "bash /hostlab/pc1.startup"


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("ifconfig eth0 10.0.0.1 netmask 255.255.255.0 up", "ifconfig eth0 10.0.0.1 netmask 255.255.255.0 up"),
        ("/sbin/route add default gw 10.0.0.1", "/sbin/route add default gw 10.0.0.1"),
        ("systemctl start quagga", "systemctl start quagga"),
        ("systemctl start apache2", "bash -c 'systemctl start apache2'"),
        ("iptables -F", "bash -c 'iptables -F'"),
        ("sleep 2 &", "bash -c 'sleep 2 &'"),
        ("X=1 ip route", "bash -c 'X=1 ip route'"),
        ("echo 'it is", "bash -c 'echo '\"'\"'it is'"),
    ],
)
def test_a_line_of_a_script_is_a_command(line: str, command: str) -> None:
    assert startup_commands(f"# a comment\n\n{line}\n", "/x") == [(3, command)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("r1[0]", "lab.conf:15: 'r1[0]': a line is such as r1[0]=\"A\""),
        ('r1[0]="B"', "lab.conf:15: r1[0]: stands twice"),
        ('r1[2]="B-1"', "lab.conf:15: r1[2]: 'B-1' is no collision domain"),
        ('r1[imago]="x"', "lab.conf:15: r1[imago]: no option of Kathará's; did you mean 'image'?"),
        ('shared[0]="A"', "lab.conf:15: shared: is the directory that all devices share"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(LabError) as caught:
        load_lab(lab(tmp_path / "lab", f"{CONF}{line}\n"))
    assert said in str(caught.value)


def test_too_many_files_and_files_outside_are_refused(tmp_path: Path) -> None:
    directory = lab(tmp_path / "lab", files={f"r1/etc/{number}": "" for number in range(257)})
    (directory / "r2.startup").symlink_to("/etc/passwd")
    with pytest.raises(LabError) as caught:
        load_lab(directory)
    assert "holds more than 256 files" in str(caught.value) and "r2.startup: " in str(caught.value)


def test_a_directory_is_a_lab_for_every_command(tmp_path: Path) -> None:
    files = {
        f"{name}.startup": f"ip address add 10.0.0.{number}/24 dev eth0\n" for number, name in ((1, "a"), (2, "b"))
    }
    directory = lab(tmp_path / "pair", 'a[0]="X"\nb[0]="X"\n', files)
    call = CliRunner()
    for words in (
        ("check", str(directory)),
        ("check", str(directory / "lab.conf")),
        ("graph", str(directory), "-o", "-"),
    ):
        result = call.invoke(app, list(words))
        assert result.exit_code == 0, result.output
    made = tmp_path / "mine"
    assert call.invoke(app, ["new", str(made), "--from", str(directory)]).exit_code == 0
    assert {"topology.clab.yml", "experiment.yml", "a.startup"} <= {path.name for path in made.iterdir()}
    assert load_lab(made).name == "mine"


def test_eth0_is_an_interface_where_there_is_no_management_network(tmp_path: Path) -> None:
    file = tmp_path / "x.clab.yml"
    text = "name: x\ntopology:\n  nodes:\n    a: {kind: linux, MODE}\n    b: {kind: linux}\n  links:\n"
    text += "    - endpoints: ['a:eth0', 'b:eth1']\n"
    file.write_text(text.replace("MODE", "network-mode: none"))
    assert lab_of_file(file).written.topology.links[0].a.port == "a:eth0"
    file.write_text(text.replace(", MODE", ""))
    with pytest.raises(LabError, match="'eth0' is Containerlab's management interface"):
        lab_of_file(file)


def test_one_device_alone_is_a_lab_and_the_hosts_interface_is_not_joined(tmp_path: Path) -> None:
    """Before: a traceback."""
    files = {"pc1.startup": "ip address add 10.0.0.1/24 dev eth0\n", "lab.ext": "A enp3s0\n"}
    directory = lab(tmp_path / "alone", 'pc1[0]="A"\n', files)
    result = CliRunner().invoke(app, ["check", str(directory)])
    output = " ".join(result.output.split())
    assert result.exit_code == 0 and "1 host, 0 switches, 0 links" in output
    assert "lab.ext joins collision domains with interfaces of the host; nothing here reaches the host" in output


def test_a_device_that_meets_no_other_is_left_out_and_said(tmp_path: Path) -> None:
    conf = 'r1[0]="A"\nr2[0]="A"\nweb[0]="ALONE"\n'
    written = load_lab(lab(tmp_path / "exam", conf, {"web.startup": "ip address add 10.0.0.1/24 dev eth0\n"})).written
    assert [node.name for node in written.topology.nodes] == ["r1", "r2"]
    assert "lab.conf: web (line 3) is left out: no link joins it with another node" in written.topology.notes


def test_an_option_is_told_with_its_own_line_and_name(tmp_path: Path) -> None:
    """Before: `topology.nodes.r1.exec[1] (line 1)`, a key that nobody wrote, and the device's first line."""
    options = ('r1[exec]="nginx -v"', 'r1[exec]="sysctl -w net.foo.bar=1"', 'r1[mem]="64m"', 'r1[port]="80:80"')
    directory = lab(tmp_path / "lab", "\n".join(('r1[0]="A"', 'r2[0]="A"', *options)), {"r1.startup": "ip link\n"})
    output = " ".join(CliRunner().invoke(app, ["check", str(directory)]).output.split())
    assert "r1: lab.conf:3 (nginx -v): the virtual machine has no nginx" in output
    assert "no sysctl net.foo.bar (by lab.conf:4)" in output
    assert "memory of r1 (line 5)" in output and "ports of r1 (line 6)" in output
    assert "topology.nodes" not in output


def test_a_wrong_value_of_an_option_is_told_by_the_option(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"lab.conf:15: r1\[env\]: '' cannot be a name"):
        load_lab(lab(tmp_path / "lab", f'{CONF}r1[env]="=x"\n'))


def test_netem_of_a_startup_script_leaves_the_links_rate(tmp_path: Path) -> None:
    """Before: refused, because the other end of the link had no rate."""
    files = {
        "a.startup": "ip address add 10.0.0.1/24 dev eth0\ntc qdisc add dev eth0 root netem delay 50ms rate 10mbit\n",
        "b.startup": "ip address add 10.0.0.2/24 dev eth0\n",
    }
    written = load_lab(lab(tmp_path / "lab", 'a[0]="X"\nb[0]="X"\n', files)).written
    ports = {node.name: node.ports[0] for node in resolve_plan(written, {}).nodes}
    assert (ports["a"].rate_bps, ports["b"].rate_bps) == (10_000_000, 10_000_000_000)
    assert (ports["a"].delay_ns, ports["b"].delay_ns) == (50_005_000, 5_000)
