"""Fabrics of SONiC's files with VRFs, imported, validated and run as users do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from sonic_vrfs import write_vpn, write_vrfs
from vm import Vm, called

pytestmark = pytest.mark.vm


def test_hosts_of_a_vrf_reach_those_of_their_own_and_no_others(vm: Vm, tmp_path: Path) -> None:
    write_vrfs(tmp_path / "files")
    assert called(tmp_path, "sonic", "import", "files", "-o", "lab").returncode == 0
    done = called(tmp_path, "validate", "lab")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 of 8 answer, 2 do not" in done.stdout and "fail" not in done.stdout and "not judged" not in done.stdout


def test_tags_and_round_trip_times_act_on_redistributed_routes(vm: Vm, tmp_path: Path) -> None:
    """What a lab without VRFs does not have, because it calculates its routes before it runs."""
    routes = {
        f"VrfRed|10.{70 + tag}.0.0/16": {"blackhole": "true", "nexthop": "0.0.0.0", "tag": str(tag)} for tag in (7, 8)
    }
    tagged = {"route_operation": "permit", "match_tag": ["7"], "set_metric_action": "METRIC_SET_RTT"}
    leaf: Mapping[str, Mapping[str, Mapping[str, object]]] = {
        "STATIC_ROUTE": routes,
        "ROUTE_MAP": {"TAGGED|10": tagged},
        "ROUTE_REDISTRIBUTE": {"VrfRed|static|bgp|ipv4": {"route_map": ["TAGGED"]}},
    }
    write_vrfs(tmp_path / "files", {"leaf1": leaf})
    assert called(tmp_path, "sonic", "import", "files", "-o", "lab").returncode == 0
    done = called(tmp_path, "run", "lab", "--out", "run", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "%" not in (tmp_path / "run/logs/vtysh@leaf1.log").read_text()  # FRR takes every line
    there = {route["dst"] for route in json.loads((tmp_path / "run/collect/routes@leaf2").read_text())}
    assert "10.77.0.0/16" in there and "10.78.0.0/16" not in there


def test_route_targets_that_differ_part_a_vpn(vm: Vm, tmp_path: Path) -> None:
    write_vpn(tmp_path / "files", {"pe2": {"BGP_GLOBALS_AF": {"Vrf1|ipv4_unicast": {"rt_vpn_both": "2:2"}}}})
    assert called(tmp_path, "sonic", "import", "files", "-o", "lab").returncode == 0
    done = called(tmp_path, "validate", "lab")
    assert done.returncode == 1, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("reach")]
    assert rows and all(row[-1] == "fail" and "no answer" in " ".join(row) for row in rows)


def test_a_vrf_that_is_a_vpn_over_segments_of_ipv6_carries_traffic(vm: Vm, tmp_path: Path) -> None:
    write_vpn(tmp_path / "files")
    assert called(tmp_path, "sonic", "import", "files", "-o", "lab").returncode == 0
    done = called(tmp_path, "run", "lab", "--out", "run", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    flows = pl.read_parquet(tmp_path / "run/flows.parquet")
    assert flows.height == 10 and flows["status"].unique().to_list() == ["complete"]
    routes = json.loads((tmp_path / "run/collect/routes@pe1").read_text())
    (far,) = (route for route in routes if route["dst"] == "10.30.2.0/24")
    assert far["encap"]["segs"] == ["fd00:202:202:2::"] and far["table"] in (1001, "1001")
    (own,) = (route for route in routes if route["dst"] == "fd00:201:201:1::")
    assert own["encap"]["action"] == "End.DT46"
