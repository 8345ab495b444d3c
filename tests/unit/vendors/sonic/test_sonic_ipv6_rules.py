"""`sonic check` of fabrics with IPv6: ACLs that cut hosts off, sources of tunnels, relays of DHCPv6."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sonic_ipv6 import dual_fabric, ipv6_fabric
from sonic_scale import Tables, write_fabric
from typer.testing import CliRunner

from fabriclab.cli.app import app

Fabric = dict[str, Tables]
LEAVES = ("leaf1", "leaf2", "leaf3", "leaf4")
SERVERS = ["2001:db8:5e::1", "2001:db8:5e::2"]
RACK1 = "2001:db8:a64::/64"
"""Of leaf1's VLAN."""


def found(fabric: Fabric, directory: Path) -> dict[tuple[str, str, str], str]:
    """Return what is bound by switch, rule and place of each finding of the rules that are asked here."""
    write_fabric(fabric, directory)
    done = CliRunner().invoke(app, ["sonic", "check", str(directory), "--format", "json"])
    rules = ("acl-cuts-off", "vtep-source", "vxlan-mtu", "dhcp-servers")
    return {
        (Path(file["file"]).stem, one["rule"], "|".join(filter(None, (one["table"], one["key"], one["field"])))): one[
            "bound"
        ]
        for file in json.loads(done.stdout)["files"]
        for one in file["findings"]
        if one["rule"] in rules
    }


def address_of(tables: Tables, interface: str) -> str:
    table = "VLAN_INTERFACE" if interface.startswith("Vlan") else "LOOPBACK_INTERFACE"
    every = (str(key).partition("|")[2] for key in tables[table] if key.startswith(f"{interface}|"))
    return next(one for one in every if ":" in one).partition("/")[0]


def filtered(fabric: Fabric, **rule: str) -> None:
    fabric["leaf1"]["ACL_TABLE"] = {"A": {"type": "L3V6", "stage": "ingress", "ports": ["Vlan1000"]}}
    fabric["leaf1"]["ACL_RULE"] = {"A|R1": {"PRIORITY": "10", "PACKET_ACTION": "DROP", **rule}}


@pytest.mark.parametrize("make", [dual_fabric, ipv6_fabric])
@pytest.mark.parametrize(
    ("rule", "cuts"),
    [
        ({"SRC_IPV6": RACK1}, True),
        ({"SRC_IPV6": "2001:db8::/32", "DST_IPV6": "2001:db8::/32"}, True),
        ({"IP_TYPE": "IPV6ANY"}, True),
        ({"DST_IPV6": "2001:db8:a64:1::/64"}, False),
        ({"SRC_IPV6": RACK1, "NEXT_HEADER": "6"}, False),
    ],
)
def test_a_filter_of_ipv6_that_cuts_hosts_off_is_told(
    make: Callable[[int, int], Fabric], rule: dict[str, str], cuts: bool, tmp_path: Path
) -> None:
    fabric = make(2, 4)
    filtered(fabric, **rule)
    told = found(fabric, tmp_path)
    assert [*told] == ([("leaf1", "acl-cuts-off", "ACL_RULE|A|R1")] if cuts else [])
    assert all(RACK1 in bound and "the other 3 networks" in bound for bound in told.values())


def test_a_filter_of_ipv4_says_nothing_of_ipv6(tmp_path: Path) -> None:
    fabric = ipv6_fabric(2, 4)
    filtered(fabric, IP_TYPE="IPV4ANY")
    assert found(fabric, tmp_path) == {}


def relayed(fabric: Fabric, name: str, *servers: str, table: str = "VLAN") -> None:
    for leaf in LEAVES:
        fabric[leaf].setdefault(table, {}).setdefault("Vlan1000", {})["dhcpv6_servers"] = [*SERVERS]
    fabric[name][table]["Vlan1000"]["dhcpv6_servers"] = [*servers]


@pytest.mark.parametrize("table", ["VLAN", "DHCP_RELAY"])
def test_relays_of_dhcpv6_are_compared(table: str, tmp_path: Path) -> None:
    fabric = dual_fabric(2, 4)
    relayed(fabric, "leaf3", SERVERS[0], "2001:db8:5e::3", table=table)
    (place, bound), *others = found(fabric, tmp_path).items()
    assert place == ("leaf3", "dhcp-servers", f"{table}|Vlan1000|dhcpv6_servers") and not others
    assert bound.startswith("not 2001:db8:5e::1, 2001:db8:5e::2, to which 3 of 4 switches relay Vlan1000")


def test_servers_that_are_spelt_otherwise_are_the_same(tmp_path: Path) -> None:
    fabric = dual_fabric(2, 4)
    relayed(fabric, "leaf3", "2001:0db8:5e:0::1", SERVERS[1].upper())
    assert found(fabric, tmp_path) == {}


def test_a_relay_to_the_switch_itself_is_an_error(tmp_path: Path) -> None:
    fabric = dual_fabric(2, 4)
    fabric["leaf3"]["VLAN"]["Vlan1000"]["dhcpv6_servers"] = [address_of(fabric["leaf3"], "Vlan1000")]
    (place, bound), *others = found(fabric, tmp_path).items()
    assert place == ("leaf3", "dhcp-servers", "VLAN|Vlan1000|dhcpv6_servers") and not others
    assert bound == "an address of the switch itself"


def test_a_server_that_no_route_leads_to_is_told(tmp_path: Path) -> None:
    fabric = dual_fabric(2, 4)
    inside = [address_of(fabric[leaf], "Vlan1000") for leaf in ("leaf1", "leaf2")]
    for leaf, server in zip(LEAVES, (inside[1], inside[0], "2001:db8:ffff::1", inside[0]), strict=True):
        fabric[leaf]["VLAN"]["Vlan1000"]["dhcpv6_servers"] = [server]
    told = found(fabric, tmp_path)
    (lost,) = (place for place, bound in told.items() if bound.startswith("in no network of the fabric"))
    assert lost == ("leaf3", "dhcp-servers", "VLAN|Vlan1000|dhcpv6_servers")


def tunnelled(fabric: Fabric) -> None:
    for leaf in LEAVES:
        fabric[leaf]["VXLAN_TUNNEL"] = {"vtep": {"src_ip": address_of(fabric[leaf], "Loopback0")}}
    for tables in fabric.values():
        for port, fields in tables["PORT"].items():
            fields["mtu"] = "9216" if port in tables["DEVICE_NEIGHBOR"] else "9100"


def no_loopback(fabric: Fabric) -> None:
    fabric["leaf2"]["VXLAN_TUNNEL"]["vtep"]["src_ip"] = "2001:db8:ff::99"


def twice(fabric: Fabric) -> None:
    loopback = address_of(fabric["leaf1"], "Loopback0")
    fabric["leaf2"]["LOOPBACK_INTERFACE"] |= {"Loopback7": {}, f"Loopback7|{loopback}/128": {}}
    fabric["leaf2"]["VXLAN_TUNNEL"]["vtep"]["src_ip"] = loopback


def not_announced(fabric: Fabric) -> None:
    fabric["leaf2"]["LOOPBACK_INTERFACE"] |= {"Loopback7": {}, "Loopback7|2001:db8:77::1/128": {}}
    fabric["leaf2"]["VXLAN_TUNNEL"]["vtep"]["src_ip"] = "2001:db8:77::1"


@pytest.mark.parametrize("make", [dual_fabric, ipv6_fabric])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (no_loopback, "no loopback's address of the switch"),
        (twice, "also the source of leaf1"),
        (not_announced, "without a route to it on leaf1, leaf3, leaf4"),
    ],
)
def test_sources_of_tunnels_over_ipv6_are_judged(
    make: Callable[[int, int], Fabric], change: Callable[[Fabric], None], words: str, tmp_path: Path
) -> None:
    fabric = make(2, 4)
    tunnelled(fabric)
    assert found(fabric, tmp_path / "sound") == {}
    change(fabric)
    told = found(fabric, tmp_path / "wrong")
    assert words in told["leaf2", "vtep-source", "VXLAN_TUNNEL|vtep|src_ip"]


def test_packets_grow_by_20_bytes_more_in_tunnels_over_ipv6(tmp_path: Path) -> None:
    fabric = ipv6_fabric(2, 4)
    tunnelled(fabric)
    for tables in fabric.values():
        for port in tables["DEVICE_NEIGHBOR"]:
            tables["PORT"][port]["mtu"] = "9160"
    told = found(fabric, tmp_path)
    assert told and {place[1] for place in told} == {"vxlan-mtu"}
    assert all("below 9170" in bound and "70 bytes" in bound for bound in told.values())
