"""A leaf that does not announce the network of its hosts: `sonic reach`, `sonic diff`, `sonic check` and a lab's plan
say the same (validate: tests/vm/test_sonic_policies_run.py)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from ipaddress import ip_interface, ip_network
from pathlib import Path
from typing import Any

import pytest
from sonic_fabrics import bgp, imported, pair
from sonic_fabrics import plan_of as fabric_plan
from sonic_scale import Tables, leaf_spine, write_fabric
from sonic_vs_labs import configs_of, plan_of, write_lab
from typer.testing import CliRunner

from fabriclab.cli.app import app

RUNNER = CliRunner()
RACK = "10.100.1.0/24"
"""Behind leaf2."""
FAR = "10.64.1.0/31"


def routed(leaf: Tables) -> None:
    """Move the leaf's address from its VLAN to the port of one host: bgpcfgd announces networks of VLANs alone."""
    address = next(key.partition("|")[2] for key in leaf["VLAN_INTERFACE"] if "|" in key)
    for table in ("VLAN", "VLAN_INTERFACE", "VLAN_MEMBER"):
        del leaf[table]
    leaf["INTERFACE"] |= {"Ethernet0": {}, f"Ethernet0|{address}": {}}
    leaf["PORT"]["Ethernet4"]["admin_status"] = "down"


def by_tables(leaf: Tables) -> None:
    """Write the leaf's BGP in frrcfgd's tables, with its loopback as its only network."""
    metadata = leaf["DEVICE_METADATA"]["localhost"]
    metadata["frr_mgmt_framework_config"] = "true"
    leaf["BGP_GLOBALS"] = {"default": {"local_asn": metadata.pop("bgp_asn")}}
    leaf["BGP_NEIGHBOR"] = {f"default|{key}": {"asn": one["asn"]} for key, one in leaf["BGP_NEIGHBOR"].items()}
    loopback = next(key.partition("|")[2] for key in leaf["LOOPBACK_INTERFACE"] if "|" in key)
    leaf["BGP_GLOBALS_AF_NETWORK"] = {f"default|ipv4_unicast|{loopback}": {}}


def files(directory: Path, change: Callable[[Tables], None] | None = None) -> str:
    fabric = leaf_spine(2, 3)
    if change is not None:
        change(fabric["leaf2"])
    write_fabric(fabric, directory)
    return str(directory)


def asked(*arguments: str) -> tuple[int, Any]:
    result = RUNNER.invoke(app, ["sonic", *arguments])
    return result.exit_code, re.sub(r"\s+", " ", result.output)


@pytest.mark.parametrize("change", [routed, by_tables])
def test_all_commands_say_that_the_leaf_does_not_announce_it(tmp_path: Path, change: Callable[[Tables], None]) -> None:
    new, old = files(tmp_path / "new", change), files(tmp_path / "old")
    status, text = asked("reach", new)
    assert status == 1 and f"leaf2 does not announce {RACK}" in text
    status, text = asked("diff", old, new, "--fail-on", "lost-route")
    assert status == 1 and RACK in text
    _, text = asked("check", new)
    assert "hosts-not-announced" in text and "although leaf1, leaf3 announce networks of hosts" in text
    assert "hosts-not-announced" not in asked("check", old)[1]


def test_a_fabric_that_announces_no_hosts_at_all_is_meant(tmp_path: Path) -> None:
    fabric = leaf_spine(2, 3)
    for name, tables in fabric.items():
        if name.startswith("leaf"):
            by_tables(tables)
    write_fabric(fabric, tmp_path / "files")
    assert "hosts-not-announced" not in asked("check", str(tmp_path / "files"))[1]


def test_networks_that_the_lab_gives_to_hosts_are_announced(tmp_path: Path) -> None:
    """The files say nothing of them."""
    near, far = bgp("10.0.0.1", 65002, 65001), bgp("10.0.0.0", 65001, 65002)
    near["INTERFACE"], far["INTERFACE"] = {"Ethernet8|10.0.0.0/31": {}}, {"Ethernet12|10.0.0.1/31": {}}
    plan = fabric_plan(imported(pair(near, far), tmp_path), tmp_path / "lab")
    own = plan.node("b").bgp
    assert own is not None
    (network,) = own.networks
    host = next(port.address for port in plan.node("h2").ports)
    assert ip_interface(host or "").network == ip_network(network)
    assert network in {route.destination for route in plan.node("a").routes}


def test_the_plan_of_a_lab_has_no_route_that_nobody_announces(tmp_path: Path) -> None:
    configs = json.loads(json.dumps(configs_of(tmp_path / "stock")))
    before = plan_of(write_lab(tmp_path / "before", configs))
    del configs["leaf2"]["BGP_GLOBALS_AF_NETWORK"][f"default|ipv4_unicast|{FAR}"]
    after = plan_of(write_lab(tmp_path / "after", configs))
    for switch in ("leaf1", "spine1"):
        known = {route.destination for route in before.node(switch).routes}
        assert known - {route.destination for route in after.node(switch).routes} == {FAR}
    told = [one for one in after.warnings if FAR in one]
    assert told and "leaf2" in told[0] and not any(FAR in one for one in before.warnings)
