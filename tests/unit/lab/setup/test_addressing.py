"""Hosts that nobody gives an address get no traffic; parts of a topology that stand empty are absent ones; and FRR
without a configuration is told."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from fabriclab.api.lab import load_lab
from fabriclab.api.look import plan
from fabriclab.formats.plan.setup import NodeFile, Setup, SetupCommand
from fabriclab.lab.setup.addressing import may_address
from fabriclab.lab.setup.ifupdown import INTERFACES, ifupdown

LAB = """\
name: m
topology:
  kinds:
  groups: ~
  defaults:
  nodes:
    r1: {{kind: linux, image: own/frr}}
    h1: {{kind: linux, image: alpine, exec: [{command}]}}
    h2: {{kind: linux, image: alpine, exec: [{command}]}}
  links:
    - endpoints: ['h1:eth1', 'r1:eth1']
    - endpoints: ['h2:eth1', 'r1:eth2']
"""


@pytest.mark.parametrize(
    ("key", "script", "configures"),
    [
        ("exec: [bash /setup.sh]", "set -e\nip addr add 10.7.0.1/24 dev eth1\n", True),
        ("cmd: sh /setup.sh", "x=1; /sbin/ifconfig eth1 10.7.0.1\n", True),
        ("exec: [bash /setup.sh]", "# ip addr add 10.7.0.1/24 dev eth1\nsleep 1  # then ip\n", False),
        ("exec: [bash /other.sh]", "ip addr add 10.7.0.1/24 dev eth1\n", False),
    ],
)
def test_a_script_that_sets_addresses_makes_them_the_labs_own(
    tmp_path: Path, key: str, script: str, configures: bool
) -> None:
    (tmp_path / "setup.sh").write_text(script)
    file = tmp_path / "m.clab.yml"
    text = LAB.format(command="'true'").replace("own/frr}", "own, " + key + ", binds: ['setup.sh:/setup.sh']}")
    file.write_text(text)
    assert load_lab(file).written.topology.configures_network == configures


@pytest.mark.parametrize(
    ("command", "may"),
    [
        ("ip link set eth1 up", False),
        ("/sbin/ip -6 route add default via fe80::1 dev eth1", False),
        ("sysctl -w net.ipv4.ip_forward=1", False),
        ("ip addr add 10.0.0.1/24 dev eth1", True),
        ("ifconfig eth1 10.0.0.1", True),
        ("bash /setup.sh", True),
        ("dhclient eth1", True),
    ],
)
def test_which_commands_may_give_an_address(command: str, may: bool) -> None:
    argv = tuple(shlex.split(command))
    assert may_address(Setup(commands=(SetupCommand(name="x", argv=argv, by="containerlab", key="x"),))) is may


@pytest.mark.parametrize(
    ("script", "may"),
    [
        ("set -e\nhostname web\nif [ -d /x ]; then cp -r /x/* /; fi\n", False),
        ("# ip addr add 10.0.0.1/24 dev eth1\nsystemctl start named\n/etc/init.d/xinetd start\n", False),
        ("ip addr add 10.0.0.1/24 dev eth1\n", True),
        ("/opt/own-setup\n", True),
        ("python3 /setup.py\n", True),
    ],
)
@pytest.mark.parametrize("is_file", [True, False])
def test_a_script_may_give_an_address(script: str, may: bool, is_file: bool) -> None:
    argv = ("bash", "/s.sh") if is_file else ("bash", "-c", script)
    command = SetupCommand(name="x", argv=argv, by="containerlab", key="x")
    files = (NodeFile(path="/s.sh", text=script),) if is_file else ()
    assert may_address(Setup(commands=(command,), files=files)) is may


def test_networking_may_give_one() -> None:
    files = [NodeFile(path=INTERFACES, text="auto eth0\niface eth0 inet static\n address 10.0.0.1/24\n")]
    command = SetupCommand(name="x", argv=("bash", "-c", "service networking start"), by="containerlab", key="x")
    stand_ins, _ = ifupdown("r1", [command], files)
    assert may_address(Setup(commands=(command,), files=(*files, *stand_ins)))


def test_a_host_without_an_address_is_not_asked_and_said(tmp_path: Path) -> None:
    """Before: a host that only captures failed every pair with it, and the lab with them."""
    file = tmp_path / "m.clab.yml"
    third = "    h3: {kind: linux, image: alpine, exec: [ip link set eth1 up]}\n  links:\n"
    text = LAB.format(command="ip addr add 10.0.0.1/24 dev eth1").replace("  links:\n", third)
    file.write_text(text + "    - endpoints: ['h3:eth1', 'r1:eth3']\n")
    made = plan(file)
    no_address = "no traffic to or from h3, and `validate` does not ask it: the lab gives it no address"
    assert f"m.clab.yml: {no_address}" in made.warnings
    asked = load_lab(file).written.experiment.validation.pings
    assert asked is not None
    assert {(ping.senders, ping.target) for ping in asked} == {(("h2",), "h1"), (("h1",), "h2")}


def test_hosts_without_an_address_send_nothing(tmp_path: Path) -> None:
    """Before: flows were made up between hosts of which no file gives an address, and none arrived; and an empty
    `kinds:` was a mistake."""
    file = tmp_path / "m.clab.yml"
    file.write_text(LAB.format(command="ip link set eth1 up"))
    made = plan(file)
    assert not made.traffic
    no_address = "no traffic: fewer than two hosts get an address by a link's ipv4 or their own exec"
    assert f"m.clab.yml: {no_address}" in made.warnings
    told = "r1: nothing is bound below /etc/frr, so FRR has no configuration here; what image own/frr brings is not in"
    assert f"m.clab.yml: {told} the virtual machine" in made.warnings
    file.write_text(LAB.format(command="ip addr add 10.0.0.1/24 dev eth1"))
    assert plan(file).traffic
