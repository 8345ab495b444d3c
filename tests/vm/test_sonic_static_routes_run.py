"""Static routes of a config_db.json in the machine: they carry traffic, and stand beside BGP by their distances."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sonic_vs_labs import configs_of, write_lab
from vm import Vm, ignore

from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.results import ingest_run, read_run
from fabriclab.runs import RunContext, run_point
from fabriclab.validation import Collector

pytestmark = pytest.mark.vm

TRAFFIC = """
title: Static routes
routing: {convergence_limit: 5 s}
traffic: {a: {kind: flows, senders: [h1], receiver: h2, size: 20 KB}}
"""


def test_static_routes_carry_what_bgpcfgd_does_not_announce(vm: Vm, tmp_path: Path) -> None:
    """Hosts behind routed ports are not announced; without STATIC_ROUTE this run ends before its traffic."""
    configs = configs_of(tmp_path / "stock", "bgp-numbered")
    lab = tmp_path / "lab"
    bare = resolve_plan(parse_lab(write_lab(lab, configs, experiment=TRAFFIC)), {})
    address = {port: str(bare.peer_of(port).address).partition("/")[0] for node in bare.nodes for port in node.ports}
    networks = {leaf: bare.node(leaf).ports[0].address for leaf in ("leaf1", "leaf2")}
    spine = bare.node("spine1")

    def towards(leaf: str, gateway: str, **more: str) -> dict[str, dict[str, str]]:
        return {f"default|{networks[leaf]}": {"nexthop": gateway, **more}}

    up = {leaf: address[bare.node(leaf).ports[1]] for leaf in networks}
    down = {leaf: address[port] for leaf, port in zip(networks, spine.ports, strict=True)}
    # Of distance 200: the loopback of the spine is BGP's all the same.
    beside = {f"default|{spine.loopback}/32": {"nexthop": address[bare.node("leaf1").ports[0]], "distance": "200"}}
    configs["leaf1"]["STATIC_ROUTE"] = (
        towards("leaf2", up["leaf1"]) | beside | {"default|192.0.2.0/24": {"blackhole": "true"}}
    )
    configs["leaf2"]["STATIC_ROUTE"] = towards("leaf1", up["leaf2"], ifname="Ethernet4")
    configs["spine1"]["STATIC_ROUTE"] = towards("leaf1", down["leaf1"]) | towards("leaf2", down["leaf2"])
    plan = resolve_plan(parse_lab(write_lab(lab, configs, experiment=TRAFFIC)), {})
    collect = (
        Collector("table", "leaf1", ("ip", "-j", "route", "show")),
        Collector("known", "leaf1", ("vtysh", "-c", "show ip route json")),
    )
    result = run_point(
        plan, tmp_path / "run", RunContext(lab, vm.artefacts, ("test",), ingest_run, collect=collect), ignore
    )
    assert result.status == "complete", result.message
    flows = read_run(result.directory).flows.collect()
    assert len(flows) == 1 and flows["fct_ns"].null_count() == 0
    table = json.loads((tmp_path / "run" / "collect" / "table@leaf1").read_text())
    zebra = json.loads((tmp_path / "run" / "collect" / "known@leaf1").read_text())
    (static,) = (route for route in plan.node("leaf1").static_routes if route.distance == 1 and not route.blackhole)
    (known,) = (one for one in zebra[static.destination] if one.get("selected"))
    assert (known["protocol"], known["distance"]) == ("kernel", 1)
    (best,) = (one for one in zebra[f"{spine.loopback}/32"] if one.get("selected"))
    assert best["protocol"] == "bgp"
    # The kernel takes the lowest metric.
    to_spine = sorted(
        (one.get("metric", 0), one.get("protocol", "boot")) for one in table if one["dst"] == spine.loopback
    )
    assert to_spine == [(20, "bgp"), (200 << 24, "boot")]
    assert next(one for one in table if one["dst"] == "192.0.2.0/24")["type"] == "blackhole"
