"""`--as frr`: what of the switches' own configurations acts, and what is told of the rest.

`FABRICLAB_ACCEPT=1 pytest tests/unit/vendors/test_stand_ins.py` writes the golden labs anew; read the difference before
you keep it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repository import ROOT
from typer.testing import CliRunner

from fabriclab.api.as_frr import lab_as_frr
from fabriclab.cli.app import app
from fabriclab.lab.reading.problems import LabError
from fabriclab.registry.vendors import StandIn, stand_in_of
from fabriclab.resolve import resolve_plan

GOLDEN = ROOT / "tests" / "golden" / "stand-in"
RUNNER = CliRunner()


@pytest.mark.parametrize("case", sorted(path.name for path in GOLDEN.iterdir()))
def test_golden_labs(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case / "given")
    made = lab_as_frr(f"{case}.clab.yml")
    resolve_plan(made.lab.written, {})
    files = {
        "topology.clab.yml": made.topology,
        "experiment.yml": made.experiment,
        "notes.txt": "".join(f"{note}\n" for note in made.notes),
    }
    lab = GOLDEN / case / "lab"
    if os.environ.get("FABRICLAB_ACCEPT"):
        lab.mkdir(exist_ok=True)
        for name, text in files.items():
            (lab / name).write_text(text)
    assert {path.name: path.read_text() for path in lab.iterdir()} == files


def read(kind: str, text: str, *interfaces: str) -> StandIn:
    """Return what a configuration of a kind says."""
    reader = stand_in_of(kind)
    assert reader is not None
    return reader(text.encode(), "config", interfaces)


def addresses(stand_in: StandIn) -> dict[str, str]:
    return {name: str(address) for name, address in stand_in.addresses.items()}


def test_sr_linux_in_its_three_forms() -> None:
    braces = """
# a comment
interface ethernet-1/1 {
    description "to { leaf }"
    mtu 9232
    subinterface 0 {
        ip-mtu 9000
        ipv4 {
            admin-state enable
            address 10.0.0.1/31 {
            }
        }
    }
}
interface lo0 {
    subinterface 1 {
        ipv4 {
            address 10.255.0.1/32 {
                primary
            }
        }
    }
}
network-instance default {
    protocols {
        bgp {
            autonomous-system 65001
            group spines {
            }
        }
    }
}
acl {
    interface ethernet-1/1.0 {
    }
}
"""
    lines = """
set / interface ethernet-1/1 mtu 9232
set / interface ethernet-1/1 subinterface 0 ip-mtu 9000
/ interface ethernet-1/1 subinterface 0 ipv4 address 10.0.0.1/31
set / interface lo0 subinterface 1 ipv4 address 10.255.0.1/32
set / network-instance default protocols bgp autonomous-system 65001
set / network-instance default protocols bgp group spines
set / acl interface ethernet-1/1.0
"""
    json = (
        '{"interface": [{"name": "ethernet-1/1", "mtu": 9232, "subinterface": [{"index": 0, "ip-mtu": 9000, "ipv4": '
        '{"address": [{"ip-prefix": "10.0.0.1/31"}]}}]}, {"name": "lo0", "subinterface": [{"index": 1, "ipv4": '
        '{"address": [{"ip-prefix": "10.255.0.1/32"}]}}]}], "network-instance": [{"name": "default", "protocols": '
        '{"bgp": {"autonomous-system": 65001, "group": [{"group-name": "spines"}]}}}], "acl": {"interface": "x"}}'
    )
    for text in (braces, lines, json):
        found = read("nokia_srlinux", text, "e1-1")
        assert addresses(found) == {"e1-1": "10.0.0.1/31"} and found.mtus == {"e1-1": 9000}
        assert (found.asn, str(found.loopback)) == (65001, "10.255.0.1")
        assert found.read == ("1 address", "1 MTU", "AS 65001")
        assert found.unread == ("network-instance's bgp (1 line)", "acl (1 line)")
    assert read("srl", "set / interface ethernet-1/3/2 mtu 1514").mtus == {"e1-3-2": 1500}


def test_cumulus_in_its_two_forms() -> None:
    nvue = (
        "- set:\n    interface:\n      swp1-2,swp4: {link: {mtu: 9000}}\n"
        "      swp2: {ip: {address: {10.0.0.1/31: {}}}}\n      lo: {ip: {address: {10.255.0.1/32: {}}}}\n"
        "    vrf: {default: {router: {bgp: {autonomous-system: 65001}}}}\n"
    )
    found = read("nvidia_cumulusvx", nvue)
    assert addresses(found) == {"eth2": "10.0.0.1/31"} and found.mtus == {"eth1": 9000, "eth2": 9000, "eth4": 9000}
    assert (found.asn, str(found.loopback)) == (65001, "10.255.0.1")
    assert addresses(read("cvx", nvue, "swp2")) == {"swp2": "10.0.0.1/31"}
    interfaces = (
        "auto lo\niface lo inet loopback\n    address 10.255.0.1/32\nauto swp1\niface swp1\n    address 10.0.0.1/31\n"
        "    mtu 9216\n    # a comment\n    address 2001:db8::1/64\n    bridge-access 10\nsource /etc/network/more/*\n"
    )
    found = read("cumulus_cvx", interfaces)
    assert addresses(found) == {"eth1": "10.0.0.1/31"} and found.mtus == {"eth1": 9216}
    assert str(found.loopback) == "10.255.0.1"
    assert found.unread == ("interface's address of another kind (1 line)", "iface's bridge-access (1 line)")


def test_eos() -> None:
    text = (
        "hostname x\ninterface Ethernet3/1\n   ip address 10.0.0.1/31\n   mtu 9000\ninterface Ethernet1/4\n"
        "   ip address 10.0.1.1/31\n   ip address 10.0.9.1/31 secondary\ninterface Ethernet5\n   ip address dhcp\n"
        "interface Loopback0\n   ip address 10.255.0.1/32\nrouter bgp 65001\n   maximum-paths 4\nend\n"
    )
    found = read("arista_ceos", text, "eth3_1", "eth4", "eth5")
    assert addresses(found) == {"eth3_1": "10.0.0.1/31", "eth4": "10.0.1.1/31"} and found.mtus == {"eth3_1": 9000}
    assert found.profile == "" and found.read == ("2 addresses", "1 MTU", "AS 65001")
    assert found.unread == ("interface's ip (1 line)", "interface's ip address (1 line)", "router bgp (1 line)")
    wrong = "interface Ethernet1\n   tx-queue 1\n      bandwidth percent many\n"
    assert "its QoS is not used: config:3: " in read("ceos", wrong, "eth1").notes[0]


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("nokia_srlinux", "{", "config:1: is not JSON; give the output of `info | as json`"),
        ("cvx", "- set: [", "config:1: is not YAML; give the output of `nv config show`"),
        ("arista_ceos", "\n", "config:1: the file is empty; give the output of `show running-config`"),
        (
            "frr",
            "interface eth1\n ip address x\n",
            "config:2: ip address x: 'x' is not an address with a prefix length",
        ),
    ],
)
def test_what_is_no_configuration(kind: str, text: str, message: str) -> None:
    with pytest.raises(LabError) as caught:
        read(kind, text)
    assert str(caught.value).startswith(message)


TOPOLOGY = """name: two
topology:
  nodes:
    a: {kind: arista_ceos, startup-config: a.cfg}
    b: {kind: arista_ceos, startup-config: b.cfg}
    h: {kind: linux, image: alpine}
    g: {kind: linux, image: alpine}
  links:
    - endpoints: ['a:eth1', 'b:eth1']
    - endpoints: ['a:eth2', 'h:eth1']
    - endpoints: ['b:eth2', 'g:eth1']
"""


def notes_of(directory: Path, a: str, b: str) -> tuple[str, str]:
    """Return the topology and the notes of two switches with these configurations."""
    (directory / "two.clab.yml").write_text(TOPOLOGY)
    for name, text in (("a", a), ("b", b)):
        (directory / f"{name}.cfg").write_text(text)
    made = lab_as_frr(directory / "two.clab.yml")
    return made.topology, "\n".join(made.notes)


def test_addresses_that_cannot_be_a_labs(tmp_path: Path) -> None:
    ports = "interface Ethernet1\n ip address {}\ninterface Ethernet2\n ip address {}\n"
    topology, notes = notes_of(
        tmp_path, ports.format("10.0.0.1/30", "10.1.0.1/24"), ports.format("10.0.0.2/30", "10.1.0.9/24")
    )
    assert "ipv4: '10.0.0.1/30'" in topology and "ipv4: '10.1.0.2/24'" in topology
    assert "b:eth2 – g:eth1: addresses of the lab's own, as 10.1.0.0/24 overlaps the network of a:eth2" in notes
    topology, notes = notes_of(
        tmp_path, ports.format("10.0.0.1/32", "127.0.0.1/8"), ports.format("10.0.0.2/32", "10.1.0.9/24")
    )
    assert "a:eth1 – b:eth1: addresses of the lab's own, as 10.0.0.1/32 cannot be a link's" in notes
    assert "a:eth2 – h:eth1: addresses of the lab's own, as 127.0.0.1/8 cannot be a link's" in notes
    _, notes = notes_of(
        tmp_path, ports.format("10.0.0.1/31", "10.1.0.1/24"), ports.format("10.0.0.1/31", "10.2.0.9/24")
    )
    assert "as 10.0.0.1/31 and 10.0.0.1/31 are not of one network" in notes


def test_identities_that_cannot_be_a_labs(tmp_path: Path) -> None:
    text = "interface Loopback0\n ip address {}\nrouter bgp {}\ninterface Ethernet1\n ip address 10.0.0.{}/31\n"
    topology, notes = notes_of(tmp_path, text.format("10.0.0.1/32", 65000, 0), text.format("10.9.9.9/32", 65000, 1))
    assert "fabriclab.asn" not in topology and "fabriclab.loopback: 10.9.9.9" in topology
    assert "AS numbers are the lab's own, as several switches share one (65000)" in notes
    assert "a: its loopback is the lab's own, as 10.0.0.1 is in use elsewhere" in notes
    topology, _ = notes_of(tmp_path, text.format("10.9.9.8/32", 65000, 0), text.format("10.9.9.9/32", 23456, 1))
    assert topology.count("fabriclab.asn") == 1  # AS_TRANS is nobody's


def test_check_names_what_was_not_read(tmp_path: Path) -> None:
    (tmp_path / "two.clab.yml").write_text(TOPOLOGY.replace("startup-config: b.cfg", "image: ceos"))
    (tmp_path / "a.cfg").write_text("hostname a\nrouter ospf 1\n   network 10.0.0.0/8 area 0\n")
    result = RUNNER.invoke(app, ["check", str(tmp_path / "two.clab.yml"), "--as", "frr"])
    assert result.exit_code == 0, result.output
    assert "note: a: nothing is taken of a.cfg; not read: router ospf (2 lines)" in result.output
    assert "note: no configuration is named for b (arista_ceos): topology and ports are taken" in result.output
