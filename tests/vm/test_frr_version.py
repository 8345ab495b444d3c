"""The FRR that `check` speaks of is the one in the machine's root file system; a version that was built beside it runs
where a lab asks for it, and has bugs of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from vm import Vm, called

from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.frr import built_versions
from fabriclab.lab.setup.frr_versions import VERSION, ask_versions_by

pytestmark = pytest.mark.vm

ROUTERS = """name: two
topology:
  nodes:
    r1: {{kind: linux, image: frr:{version}, binds: ['daemons:{etc}/daemons', 'r1.conf:{etc}/frr.conf'], exec: {show}}}
    r2: {{kind: linux, image: frr, binds: ['daemons:{etc}/daemons', 'r2.conf:{etc}/frr.conf'], exec: {show}}}
    h1: {{kind: linux, image: alpine, exec: [ip addr add 10.1.0.10/24 dev eth1, ip route add default via 10.1.0.1]}}
    h2: {{kind: linux, image: alpine, exec: [ip addr add 10.2.0.10/24 dev eth1, ip route add default via 10.2.0.1]}}
  links:
    - endpoints: ['r1:eth1', 'r2:eth1']
    - endpoints: ['h1:eth1', 'r1:eth2']
    - endpoints: ['h2:eth1', 'r2:eth2']
"""
SHOW = "['vtysh -c \"show version\"']"
CONFIGURATION = """hostname r{own}
interface eth1
 ip address 10.0.1.{own}/24
 ip ospf area 0
interface eth2
 ip address 10.{own}.0.1/24
router ospf
router bgp 6500{own}
 no bgp ebgp-requires-policy
 neighbor 10.0.1.{other} remote-as 6500{other}
 address-family ipv4 unicast
  redistribute connected
"""
EXPERIMENT = """title: A link fails silently
routing: {protocol: bgp-unnumbered, keepalive: 1 s, hold: 3 s, bfd: 50 ms}
switches: {default: {buffer: 1 MB}}
traffic: {m: {kind: flows, senders: [h1], receiver: h3, size: 20 KB, count: 50, interval: 20 ms}}
events: {cut: {at: 500 ms, link: 'leaf1:eth3', action: blackhole}}
limit: 60 s
"""


def test_the_machines_frr_has_this_version(artefacts: Artefacts) -> None:
    packages = (artefacts.rootfs.parent / "packages").read_text().splitlines()
    (frr,) = [line for line in packages if line.startswith("frr_")]
    version = frr.split("_")[1].rpartition(":")[2]
    assert version.startswith(VERSION), frr


@pytest.fixture(scope="module")
def built(artefacts: Artefacts) -> list[str]:
    """Return the versions of FRR that were built here, the oldest first."""
    versions = [one for one in built_versions(artefacts.rootfs) if re.fullmatch(r"[0-9.]+", one)]
    if not versions:
        pytest.skip("no version of FRR was built here; `fabriclab frr add frr-10.5.1.tar.gz` builds one of its source")
    ask_versions_by(lambda: versions)
    return sorted(versions, key=_numbers)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_each_router_runs_the_version_of_its_image(vm: Vm, built: list[str], tmp_path: Path) -> None:
    version = built[-1]
    (tmp_path / "two.clab.yml").write_text(ROUTERS.format(version=version, show=SHOW, etc="/etc/frr"))
    (tmp_path / "daemons").write_text("bgpd=yes\nospfd=yes\nbfdd=yes\n")
    for own in (1, 2):
        (tmp_path / f"r{own}.conf").write_text(CONFIGURATION.format(own=own, other=3 - own))
    done = called(tmp_path, "validate", "two.clab.yml", "--json", "validation.json", "--out", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "validation.json").read_text())["findings"]
    assert {each["verdict"] for each in found if each["check"] in ("session", "reach")} == {"pass"}, found
    (logs,) = {path.parent for path in (tmp_path / "out").rglob("exec-1@r1.log")}
    assert f"FRRouting {version} " in (logs / "exec-1@r1.log").read_text()
    assert f"FRRouting {VERSION}" in (logs / "exec-1@r2.log").read_text()


def _reconvergence_s(directory: Path, name: str, *settings: str) -> float:
    """Run the lab and return how long its routes took to follow the failure."""
    words = [word for setting in settings for word in ("--set", setting)]
    done = called(directory, "run", ".", "--out", name, "--no-report", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((directory / name / "summary.json").read_text())
    return float(summary["metrics"]["reconvergence_ns"]) / 10**9


def _routes(run: Path) -> dict[str, set[tuple[str, ...]]]:
    """Return each switch's routes: destination, protocol and devices; the kernel's numbers differ from run to run."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for path in (run / "collect").glob("routes@*"):
        routes = [route for line in path.read_text().splitlines() for route in json.loads(line)]
        found[path.name] = {
            (one["dst"], one["protocol"], *sorted(hop["dev"] for hop in one.get("nexthops", [one]))) for one in routes
        }
    return found


def test_versions_have_the_same_routes_and_bugs_of_their_own(vm: Vm, built: list[str], tmp_path: Path) -> None:
    """FRR#19987: in 10.4 and 10.5 BGP does not end with BFD, unless the neighbour has timers of its own; the hold timer
    has to expire."""
    fabric = ("--spines", "2", "--leaves", "2", "--hosts", "2")
    generated = called(tmp_path, "generate", "leaf-spine", *fabric, "--out", ".")
    assert generated.returncode == 0, generated.stderr
    (tmp_path / "experiment.yml").write_text(EXPERIMENT)
    assert _reconvergence_s(tmp_path, "own") < 0.5
    routes = _routes(tmp_path / "own")
    assert len(routes) == 4 and all(len(one) > 3 for one in routes.values())
    for version in built:
        took_s = _reconvergence_s(tmp_path, version, f"switches.default.frr={version}")
        if (10, 4) <= _numbers(version) < (10, 6):
            assert 2 < took_s < 4, version
        elif _numbers(version) > (10, 6):
            assert took_s < 0.5, version
        assert _routes(tmp_path / version) == routes, version
        manifest = json.loads((tmp_path / version / "manifest.json").read_text())
        assert manifest["versions"][f"layer-frr-{version}"] == [f"frr_{version}_source"]
    mixed = _reconvergence_s(tmp_path, "mixed", f"switches.spine1.frr={built[-1]}")
    assert mixed > 0 and _routes(tmp_path / "mixed") == routes
