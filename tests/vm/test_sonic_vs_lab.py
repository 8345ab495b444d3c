"""A fabric of nodes of kind sonic-vs in the machine: each is what its config_db.json says, to FRR,
to `vtysh`, to packets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from vm import Vm, called, ignore

from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.results import ingest_run, read_run
from fabriclab.runs import RunContext, run_point
from fabriclab.topologies import leaf_spine, topology_text
from fabriclab.validation import Bench, Collector, later_stages, reach_stage
from fabriclab.vendors.sonic.export import export_switch

pytestmark = pytest.mark.vm

SWITCHES = ("spine1", "spine2", "leaf1", "leaf2")
STOCK = """
title: Stock
routing: {protocol: bgp-unnumbered}
switches:
  default: {profile: trident-3, queues: {0..1: {wred: {min: 10 KB, max: 20 KB, probability: 10 %}}}, \
pfc: {priorities: [3, 4]}}
traffic: {a: {kind: long, senders: [h1], receiver: h2, stop: 1 s}}
"""
SONIC = """
title: SONiC
routing: {convergence_limit: 5 s}
traffic: {a: {kind: flows, senders: all, receiver: h1, size: 20 KB}}
"""
NODES = "".join(
    f"    {name}: {{kind: sonic-vs, binds: ['{name}.json:/etc/sonic/config_db.json']}}\n" for name in SWITCHES
)
HOSTS = "".join(f"    h{number}: {{kind: linux}}\n" for number in range(1, 5))
LINKS = [
    *(f"'h{2 * (leaf - 1) + port}:eth1', 'leaf{leaf}:eth{port}'" for leaf in (1, 2) for port in (1, 2)),
    *(f"'leaf{leaf}:eth{2 + spine}', 'spine{spine}:eth{leaf}'" for leaf in (1, 2) for spine in (1, 2)),
]
Tables = dict[str, Any]


def configs_of(directory: Path) -> dict[str, Tables]:
    """Return the configurations of two spines and two leaves with two hosts each."""
    directory.mkdir()
    size = {"spines": 2, "leaves": 2, "hosts_per_leaf": 2, "host_rate_bps": 10**9}
    fabric = leaf_spine("stock", **size, uplink_rate_bps=None, oversubscription=None, delay_ns=500, mtu_bytes=9100)
    (directory / "topology.clab.yml").write_text(topology_text(fabric))
    (directory / "experiment.yml").write_text(STOCK)
    plan = resolve_plan(parse_lab(directory), {})
    return {name: json.loads(export_switch(plan.node(name), plan).text) for name in SWITCHES}


def write_lab(directory: Path, configs: dict[str, Tables]) -> None:
    links = "".join(f"    - {{endpoints: [{ends}], vars: {{rate: 1 Gbps, delay: 500 ns}}}}\n" for ends in LINKS)
    (directory / "topology.clab.yml").write_text(f"name: sonic\ntopology:\n  nodes:\n{NODES}{HOSTS}  links:\n{links}")
    (directory / "experiment.yml").write_text(SONIC)
    for name, tables in configs.items():
        (directory / f"{name}.json").write_text(json.dumps(tables, indent=2))


def bench_of(directory: Path) -> Bench:
    lab = parse_lab(directory)
    plan = resolve_plan(lab, {})
    return Bench(plan, plan, lab.experiment.validation)


def test_the_files_drive_frr_and_vtysh_shows_them(vm: Vm, tmp_path: Path) -> None:
    configs = configs_of(tmp_path / "stock")
    write_lab(tmp_path, configs)
    bench = bench_of(tmp_path)
    stage = reach_stage(bench)
    shown = Collector("running", "leaf1", ("vtysh", "-c", "show running-config"))
    context = RunContext(tmp_path, vm.artefacts, ("test",), ingest_run, collect=(*stage.collectors, shown))
    result = run_point(stage.plan, tmp_path / "reach", context, ignore)
    assert result.status == "complete", result.message
    findings = stage.judge(read_run(result.directory))
    assert {finding.verdict for finding in findings} == {"pass"}
    assert next(finding.measured for finding in findings if finding.check == "mtu") == "9100 B"
    running = (tmp_path / "reach" / "collect" / "running@leaf1").read_text().splitlines()
    asn = configs["leaf1"]["BGP_GLOBALS"]["default"]["local_asn"]
    assert f"router bgp {asn}" in running and " neighbor Ethernet8 interface v6only remote-as external" in running


def test_the_files_drive_the_switch_port(vm: Vm, tmp_path: Path) -> None:
    """A WRED profile of one leaf's file marks where it says."""
    configs = configs_of(tmp_path / "stock")
    for profile in configs["leaf2"]["WRED_PROFILE"].values():
        profile |= {"green_min_threshold": "6000", "green_max_threshold": "8000"}
    write_lab(tmp_path, configs)
    (stage,) = [stage for stage in later_stages(bench_of(tmp_path)) if stage.name == "marks"]
    context = RunContext(tmp_path, vm.artefacts, ("test",), ingest_run)
    findings = stage.judge(read_run(run_point(stage.plan, tmp_path / "marks", context, ignore).directory))
    assert {(finding.where, finding.expected, finding.verdict) for finding in findings} == {
        ("leaf1:Ethernet0 queues 0..1", "marks from 10 KB on, of all packets from 20 KB on", "pass"),
        ("leaf2:Ethernet0 queues 0..1", "marks from 6 KB on, of all packets from 8 KB on", "pass"),
    }


@pytest.mark.parametrize(
    ("table", "key", "fields", "check", "word"),
    [
        ("BGP_NEIGHBOR", "default|Ethernet8", {"asn": "65000", "peer_type": None}, "sessions", "Idle"),
        ("BGP_GLOBALS_AF", "default|ipv4_unicast", {"max_ebgp_paths": "1"}, "paths", "1 next hop"),
    ],
    ids=["as-number", "paths"],
)
def test_a_file_that_is_wrong_is_found(
    vm: Vm, tmp_path: Path, table: str, key: str, fields: dict[str, str | None], check: str, word: str
) -> None:
    """SONiC would take these files; the network is not what it should be."""
    configs = configs_of(tmp_path / "stock")
    entry = configs["leaf1"][table][key]
    for name, value in fields.items():
        if value is None:
            entry.pop(name, None)
        else:
            entry[name] = value
    write_lab(tmp_path, configs)
    done = called(tmp_path, "validate", ".", "--out", "out", "--only", "reach", "--junit", "found.xml")
    assert done.returncode == 1, done.stdout + done.stderr
    text = (tmp_path / "found.xml").read_text()
    assert f'classname="validate.{check}"' in text and f"measured {word}" in text
