"""A node that starts networking gets what its own /etc/network/interfaces says, by scripts in place of ifupdown's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fabriclab.api.lab import load_lab
from fabriclab.formats.plan.setup import NodeFile, Setup, SetupCommand
from fabriclab.lab.setup.absent import absent
from fabriclab.lab.setup.ifupdown import IFUP, INTERFACES, NETWORKING, STARTS, ifupdown

FILE = """\
# by hand
auto lo eth0
iface lo inet loopback

auto eth1
iface eth0 inet static
    hwaddress ether 00:1c:42:00:00:10
    address 10.0.0.2
    netmask 255.255.255.0
    network 10.0.0.0
    gateway 10.0.0.1
    metric 7
    up route add -net 10.9.0.0 netmask 255.255.0.0 \\
        gw 10.0.0.9
iface eth0 inet6 static
    address 2001:db8::2/64
    gateway 2001:db8::1
iface eth1 inet manual
    pre-up echo "up's before"
    mtu 1400
    bridge_ports none
iface eth2 inet dhcp
    hostname nobody
source /etc/network/interfaces.d/*
"""
UP = [
    "ip link set dev lo up",
    "ip address replace 10.0.0.2/255.255.255.0 dev eth0",
    "ip link set dev eth0 address 00:1c:42:00:00:10 up",
    "ip route replace default via 10.0.0.1 dev eth0 onlink metric 7",
    "route add -net 10.9.0.0 netmask 255.255.0.0 gw 10.0.0.9",
    "ip -6 address replace 2001:db8::2/64 dev eth0",
    "ip link set dev eth0 up",
    "ip -6 route replace default via 2001:db8::1 dev eth0 onlink",
    "ip link set dev eth1 mtu 1400 up",
]


def command(*argv: str) -> SetupCommand:
    return SetupCommand(name="exec-1", argv=argv, by="containerlab", key="r1.startup:1")


def made(text: str = FILE, *argv: str) -> tuple[dict[str, str], list[str]]:
    files = [NodeFile(path=INTERFACES, text=text, source="r1's/interfaces")]
    scripts, notes = ifupdown("r1", [command(*(argv or (NETWORKING, "start")))], files)
    return {file.path: file.text for file in scripts}, notes


def runs(directory: Path, script: str, *words: str) -> tuple[list[str], subprocess.CompletedProcess[str]]:
    """Run a script with programs that note how they are called; `ip` fails for what is below 10.0.0.1."""
    path, log = directory / "bin", directory / "log"
    path.mkdir(exist_ok=True)
    log.write_text("")
    for name in ("ip", "route"):
        (path / name).write_text(
            f'#!/bin/sh\necho "{name} $*" >>{log}\ncase "$*" in *"via 10.0.0.1"*) exit 2 ;; esac\n'
        )
        (path / name).chmod(0o755)
    command = ["/bin/sh", "-c", script, "script", *words]
    ended = subprocess.run(command, env={"PATH": f"{path}:/usr/bin:/bin"}, capture_output=True, text=True, check=False)
    return log.read_text().splitlines(), ended


def test_interfaces_come_up_in_ifupdowns_order(tmp_path: Path) -> None:
    scripts, _ = made()
    log, ended = runs(tmp_path, scripts[IFUP], "-a")
    assert log == UP
    assert ended.stdout == "up's before\n"


def test_what_fails_is_told_by_its_line_and_the_rest_comes_up(tmp_path: Path) -> None:
    log, ended = runs(tmp_path, made()[0][IFUP], "--all")
    assert log[-1] == UP[-1]
    failed = "r1's/interfaces:11: `ip route replace default via 10.0.0.1 dev eth0 onlink metric 7` failed\n"
    assert (ended.returncode, ended.stderr) == (1, failed)


def test_one_interface_comes_up_by_its_name(tmp_path: Path) -> None:
    log, ended = runs(tmp_path, made()[0][IFUP], "eth1")
    assert (log, ended.returncode) == ([UP[-1]], 0)


@pytest.mark.parametrize(
    ("script", "words", "starts", "status"),
    [
        (NETWORKING, ["start"], True, 0),
        (NETWORKING, ["restart"], True, 0),
        (NETWORKING, ["stop"], False, 0),
        ("/usr/bin/systemctl", ["restart", "networking"], True, 0),
        ("/usr/bin/systemctl", ["start", "networking.service"], True, 0),
        ("/usr/bin/systemctl", ["stop", "networking"], False, 0),
        ("/usr/bin/systemctl", ["start", "named"], False, 1),
        ("/usr/sbin/service", ["networking", "start"], True, 0),
        ("/usr/sbin/service", ["networking", "stop"], False, 0),
        ("/usr/sbin/service", ["apache2", "start"], False, 1),
    ],
)
def test_services_are_networking_alone(
    tmp_path: Path, script: str, words: list[str], starts: bool, status: int
) -> None:
    text = made()[0][script].replace(IFUP, "echo up")
    _, ended = runs(tmp_path, text, *words)
    assert (ended.stdout, ended.returncode) == ("up -a\n" if starts else "", status)
    assert not status or ended.stderr == f"script: the virtual machine has no services: {' '.join(words)}\n"


def test_what_does_not_act_is_told_by_its_line() -> None:
    assert made()[1] == [
        "r1: r1's/interfaces:21: the option bridge_ports does not act here",
        "r1: r1's/interfaces:22: `iface eth2 inet dhcp` does not act here",
        "r1: r1's/interfaces:24: `source /etc/network/interfaces.d/*` does not act here",
    ]


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("/etc/init.d/networking stop; /etc/init.d/networking start", True),
        ("systemctl restart networking", True),
        ("service networking start", True),
        ("ifup -a", True),
        ("/sbin/ifup eth0", True),
        ("sleep 1\nifup --all\n", True),
        ("systemctl start named", False),
        ("echo ifupdown", False),
        ("cat /etc/network/interfaces", False),
    ],
)
def test_what_starts_networking(text: str, starts: bool) -> None:
    assert bool(STARTS.search(text)) == starts
    assert bool(made(FILE, "bash", "-c", text)[0]) == starts


def test_without_the_file_nothing_is_made() -> None:
    assert ifupdown("r1", [command(NETWORKING, "start")], []) == ([], [])


def test_other_services_are_absent_still() -> None:
    files = [NodeFile(path=INTERFACES, text=FILE), NodeFile(path="/s", text="systemctl restart networking\nifup -a\n")]
    scripts, _ = ifupdown("r1", [command("bash", "/s")], files)
    both = SetupCommand(name="exec-2", argv=("systemctl", "start", "named"), by="containerlab", key="r1.startup:2")
    start = command("systemctl", "start", "networking")
    told = list(absent("r1", Setup(files=(*files, *scripts), commands=(command("bash", "/s"), start, both))))
    missing = "the virtual machine has no systemctl; the command fails, and the run goes on"
    assert told == [f"r1: r1.startup:2 (systemctl start named): {missing}"]


def test_a_kathara_lab_is_addressed_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "lab.conf").write_text('r1[0]="A"\nr2[0]="A"\n')
    for number, name in enumerate(("r1", "r2"), 1):
        (tmp_path / name / "etc/network").mkdir(parents=True)
        text = f"auto eth0\niface eth0 inet static\n address 10.0.0.{number}/24\n"
        (tmp_path / name / INTERFACES.lstrip("/")).write_text(text)
        (tmp_path / f"{name}.startup").write_text("if true; then\n systemctl restart networking\nfi\n")
    written = load_lab(tmp_path).written
    assert written.topology.configures_network
    assert not [note for note in written.topology.notes if "systemctl" in note]
