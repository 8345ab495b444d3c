"""What people bring, in the machine: dummy devices, Containerlab's MTU, netem on a link, a container beside the lab, a
silent failure that only a hold timer tells, and a lab of Kathará's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from vm import Vm, called

pytestmark = pytest.mark.vm

BESIDE = """name: beside
topology:
  defaults: {kind: linux, image: alpine, binds: ['daemons:/etc/frr/daemons']}
  nodes:
    x1: {exec: [ip addr add 192.0.2.1/25 dev eth1, ip addr add 198.51.100.1/24 dev eth2]}
    x2:
      exec:
        - ip addr add 192.0.2.2/25 dev eth1
        - ip route add 198.51.100.0/24 via 192.0.2.1
        - tc qdisc add dev eth1 root netem delay 50ms
        - ping -c 2 -i 0.2 198.51.100.1
        - ping -c 1 -M do -s 8972 192.0.2.1
    grafana: {image: grafana/grafana}
  links:
    - endpoints: [x1:eth1, x2:eth1]
    - {type: dummy, endpoint: {node: x1, interface: eth2}}
"""
BGP = """hostname r{number}
interface eth1
 ip address 10.0.1.{number}/24
interface eth2
 ip address 10.{number}.0.1/24
interface eth3
 ip address 10.0.3.{number}/24
router bgp 6500{number}
 no bgp ebgp-requires-policy
 timers bgp 1 3
 neighbor 10.0.1.{other} remote-as 6500{other}
 neighbor 10.0.3.{other} remote-as 6500{other}
 address-family ipv4 unicast
  redistribute connected
"""
ROUTER = "{kind: linux, image: frr, binds: ['daemons:/etc/frr/daemons', 'rN.conf:/etc/frr/frr.conf']}"
HOST = "{kind: linux, image: alpine, exec: [ip addr add 10.N.0.10/24 dev eth1, ip route add default via 10.N.0.1]}"
CUT = f"""name: cut
topology:
  nodes:
    r1: {ROUTER.replace("N", "1")}
    r2: {ROUTER.replace("N", "2")}
    h1: {HOST.replace("N", "1")}
    h2: {HOST.replace("N", "2")}
  links:
    - endpoints: ['r1:eth1', 'r2:eth1']
    - endpoints: ['r1:eth3', 'r2:eth3']
    - endpoints: ['h1:eth1', 'r1:eth2']
    - endpoints: ['h2:eth1', 'r2:eth2']
"""
EXPERIMENT = """title: A silent cut
links: {rate: 100 Mbps, delay: 1 ms}
routing: {protocol: as-configured, still: 2 s}
switches: {default: {buffer: 4 MB}}
traffic: {m: {kind: flows, senders: [h1], receiver: h2, size: 20 KB, count: 400, interval: 25 ms}}
events: {cut: {at: 1 s, link: 'r1:eth1', action: blackhole}}
limit: 60 s
"""


def write(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (directory / name).write_text(text)


def summary(directory: Path) -> dict[str, float | None]:
    metrics: dict[str, float | None] = json.loads((directory / "summary.json").read_text())["metrics"]
    return metrics


def test_a_file_runs_as_containerlab_deploys_it(vm: Vm, tmp_path: Path) -> None:
    write(tmp_path, {"beside.clab.yml": BESIDE, "daemons": "bgpd=yes\n"})
    done = called(tmp_path, "run", "beside.clab.yml", "--out", "run", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    logs = tmp_path / "run" / "logs"
    pinged = (logs / "exec-4@x2.log").read_text()
    assert "2 packets transmitted, 2 received" in pinged, "the dummy device has its address"
    last = pinged.splitlines()[2]
    assert last.partition("time=")[2] == "50.0 ms", last
    assert "1 packets transmitted, 1 received" in (logs / "exec-5@x2.log").read_text(), "the MTU is Containerlab's"
    assert not [*logs.glob("bgpd@*")], "an inherited bind starts no FRR in hosts"


@pytest.mark.parametrize(("hold", "count"), [(3, 400), (9, 240)])
def test_a_silent_cut_is_measured_or_told(vm: Vm, tmp_path: Path, hold: int, count: int) -> None:
    """Before: with a hold time above `still` nothing was said."""
    write(tmp_path, {"topology.clab.yml": CUT, "daemons": "bgpd=yes\n", "experiment.yml": EXPERIMENT})
    text = BGP.replace("timers bgp 1 3", f"timers bgp {hold // 3} {hold}")
    write(tmp_path, {f"r{one}.conf": text.format(number=one, other=3 - one) for one in (1, 2)})
    done = called(tmp_path, "run", ".", "--out", "run", "--set", f"traffic.m.count={count}")
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 0, said
    found = summary(tmp_path / "run")
    took, unsettled = found["reconvergence_ns"], found.get("reconvergence_unsettled_ns")
    assert "Routing followed" in said, said
    if took is None:
        assert hold == 9 and unsettled is not None and unsettled > 5 * 10**9
        told = "routing had not come to rest within"
        assert f"events.cut: {told}" in said and "(r1, r2: BGP's hold time, 9 s, no BFD)" in said
    else:
        assert hold == 3 and unsettled is None and 2 * 10**9 < took < 4 * 10**9


def validated(directory: Path) -> list[dict[str, Any]]:
    """Return the findings of a lab's validation, which must pass."""
    done = called(directory, "validate", ".", "--json", "validation.json", "--out", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    findings: list[dict[str, Any]] = json.loads((directory / "validation.json").read_text())["findings"]
    return findings


def log_of(directory: Path, program: str) -> str:
    """Return what a node's program printed in the one run of a validation that had it."""
    (log,) = directory.glob(f"out/*/logs/{program}.log")
    return log.read_text()


KATHARA = {
    "lab.conf": 'r1[0]="A"\nr1[1]="B"\nr2[0]="A"\nr2[1]="C"\npc1[0]="B"\npc2[0]="C"\nsink[0]="A"\n',
    "r1.startup": "ifconfig eth0 10.0.0.1/24 up\nip address add 10.1.0.1/24 dev eth1\nsystemctl start frr\n",
    "r2.startup": "ifconfig eth0 10.0.0.2/24 up\nip address add 10.2.0.1/24 dev eth1\n/etc/init.d/frr start\n",
    "pc1.startup": "ifconfig eth0 10.1.0.2 netmask 255.255.255.0 up\nroute add default gw 10.1.0.1 dev eth0\n",
    "pc2.startup": "ip address add 10.2.0.2/24 dev eth0\nip route add default via 10.2.0.1\n",
    "sink.startup": "ip address add 10.0.0.9/24 dev eth0\nip route add default via 10.0.0.1\n",
}
OSPF = "router ospf\n network 10.0.0.0/8 area 0\n"


def test_a_lab_of_kathara_s_comes_up_with_its_routes(vm: Vm, tmp_path: Path) -> None:
    """Two routers and a host in one collision domain, which is a bridge; OSPF between them."""
    for name in ("r1", "r2"):
        (tmp_path / name / "etc" / "frr").mkdir(parents=True)
        write(tmp_path, {f"{name}/etc/frr/frr.conf": OSPF, f"{name}/etc/frr/daemons": "zebra=yes\nospfd=yes\n"})
    write(tmp_path, KATHARA)
    found = validated(tmp_path)
    assert [(each["expected"], each["verdict"]) for each in found if each["check"] == "reach"] == [
        ("6 of 6 answer", "pass")
    ]


def test_networking_sets_what_a_nodes_own_file_says(vm: Vm, tmp_path: Path) -> None:
    """As older labs of Kathará's have it; `r1` starts it within a script, and brings a file that is no text."""
    ports = "auto eth0\niface eth0 inet static\n address 10.{n}.0.{host}\n netmask 255.255.255.0\n{more}"
    second = "auto eth1\niface eth1 inet static\n address 10.2.0.1/24\n"
    interfaces = {
        "r1": ports.format(n=1, host=1, more=" mtu 1400\n" + second),
        "pc1": ports.format(n=1, host=2, more=" gateway 10.1.0.1\n"),
        "pc2": ports.format(n=2, host=2, more=" up route add default gw 10.2.0.1\n"),
    }
    for name, text in interfaces.items():
        (tmp_path / name / "etc/network").mkdir(parents=True)
        (tmp_path / name / "etc/network/interfaces").write_text(text)
    (tmp_path / "r1/root").mkdir()
    (tmp_path / "r1/root/logo").write_bytes(bytes(range(256)))
    write(
        tmp_path,
        {
            "lab.conf": 'r1[0]="A"\nr1[1]="B"\npc1[0]="A"\npc2[0]="B"\n',
            "r1.startup": "if true; then\n systemctl restart networking\n cksum /root/logo\nfi\n",
            "pc1.startup": "/etc/init.d/networking stop; /etc/init.d/networking start\n",
            "pc2.startup": "ifup -a\nservice apache2 start\n",
        },
    )
    assert [(each["measured"], each["verdict"]) for each in validated(tmp_path)] == [("2 of 2 answer", "pass")]
    of_r1 = log_of(tmp_path, "exec-1@r1")
    assert of_r1.startswith("1313719201 256 "), of_r1
    of_pc2 = log_of(tmp_path, "exec-2@pc2")
    assert "service: the virtual machine has no services: apache2 start" in of_pc2


def test_a_bridge_is_made_by_brctl(vm: Vm, tmp_path: Path) -> None:
    """As older labs make one: with bridge-utils, which Kathará's image has."""
    bridge = "brctl addbr br0\nbrctl addif br0 eth0\nbrctl addif br0 eth1\nbrctl stp br0 off\nip link set br0 up\n"
    write(
        tmp_path,
        {
            "lab.conf": 'sw[0]="A"\nsw[1]="B"\npc1[0]="A"\npc2[0]="B"\n',
            "sw.startup": f"{bridge}brctl show\n",
            "pc1.startup": "ifconfig eth0 10.0.0.1/24 up\n",
            "pc2.startup": "ifconfig eth0 10.0.0.2/24 up\n",
        },
    )
    assert [(each["measured"], each["verdict"]) for each in validated(tmp_path)] == [("2 of 2 answer", "pass")]
    shown = log_of(tmp_path, "exec-6@sw")
    assert re.search(r"^br0\s+8000\.[0-9a-f]{12}\s+no\s+eth0$", shown, re.MULTILINE), shown


QUAGGA = {
    "lab.conf": 'r1[0]="A"\nr1[1]="B"\nr2[0]="C"\nr2[1]="B"\npc1[0]="A"\npc2[0]="C"\n',
    "r1.startup": "ifconfig eth0 10.0.1.1/24 up\nifconfig eth1 10.0.9.1/24 up\nsystemctl start quagga\n",
    "r2.startup": "ifconfig eth0 10.0.2.1/24 up\nifconfig eth1 10.0.9.2/24 up\n/etc/init.d/zebra start\n",
    "pc1.startup": "ifconfig eth0 10.0.1.2/24 up\nroute add default gw 10.0.1.1\n",
    "pc2.startup": "ifconfig eth0 10.0.2.2/24 up\nroute add default gw 10.0.2.1\n",
}
BGP_OF_QUAGGA = """hostname bgpd
router bgp {own}
 network 10.0.{number}.0/24
 neighbor 10.0.9.{other} remote-as {peer}
"""
OSPF_OF_QUAGGA = """hostname ospfd
password zebra
interface eth1
 ip ospf network point-to-point
router ospf
 network 10.0.0.0/8 area 0.0.0.0
log file /var/log/quagga/ospfd.log
"""


TUNNEL = (
    "ip tunnel add t0 mode {mode} local 10.0.9.{number} remote 10.0.9.{other}\nip addr add 10.7.0.{number}/24 dev t0\n"
)


def all_answer(directory: Path, files: Mapping[str, str]) -> None:
    """Validate a lab of two routers in `directory / "q"`: both have a session, and the two hosts reach each other."""
    for name, text in files.items():
        (directory / "q" / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / "q" / name).write_text(text)
    done = called(directory, "validate", "q", "--json", "validation.json", "--out", "out")
    found = json.loads((directory / "validation.json").read_text())["findings"]
    assert done.returncode == 0, (found, done.stderr)
    assert [one["measured"] for one in found] == ["1 up", "1 up", "2 of 2 answer"]


@pytest.mark.parametrize("mode", ["ipip", "gre"])
def test_quaggas_bgp_needs_no_policy_and_tunnels_are_made(tmp_path: Path, mode: str) -> None:
    """Before: sessions were up and no routes were exchanged; tunl0 and gre0 were absent, of which `ip tunnel` makes
    others."""
    files = dict(QUAGGA)
    for number, other in ((1, 2), (2, 1)):
        text = BGP_OF_QUAGGA.format(number=number, other=other, own=65000 + number, peer=65000 + other)
        files[f"r{number}/etc/quagga/bgpd.conf"] = text
        files[f"r{number}/etc/quagga/daemons"] = "zebra=yes\nbgpd=yes\n"
        tunnel = TUNNEL.format(mode=mode, number=number, other=other)
        ping = f"ip link set t0 up\nping -c 1 -w 5 10.7.0.{other}\n" if number == 2 else "ip link set t0 up\n"
        files[f"r{number}.startup"] += tunnel + ping
    all_answer(tmp_path, files)
    logs = [text for log in tmp_path.glob("out/*/logs/exec-*@r2.log") if "received" in (text := log.read_text())]
    assert logs and all("1 packets transmitted, 1 received" in text for text in logs)


def test_files_by_daemon_of_quagga_and_zebra_are_frrs(tmp_path: Path) -> None:
    """Before: no such program as /etc/init.d/zebra; and FRR's daemons read no file of their own."""
    files = dict(QUAGGA)
    for name, directory in (("r1", "quagga"), ("r2", "zebra")):
        files[f"{name}/etc/{directory}/daemons"] = "zebra=yes\nospfd=yes\n"
        files[f"{name}/etc/{directory}/zebra.conf"] = f"hostname {name}\npassword zebra\n"
        files[f"{name}/etc/{directory}/ospfd.conf"] = OSPF_OF_QUAGGA
    all_answer(tmp_path, files)
