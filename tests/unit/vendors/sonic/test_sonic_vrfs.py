"""VRFs of SONiC's files: FRR's configuration and the kernel's devices that a lab has of them, and who reaches whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sonic_vrfs import Changes, write_vpn, write_vrfs
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.lab import parse_lab
from fabriclab.vendors.sonic.read import examine_config_db, parse_config_db
from fabriclab.vendors.sonic.read.one_vrf import of_vrf
from fabriclab.vendors.sonic.vrf.setup import device_lines, frr_conf, vrf_setup

BLUE_SESSION = {"leaf2": {"BGP_NEIGHBOR": {"VrfBlue|10.0.2.0": None}}}


def called(*words: str | Path) -> Any:
    return CliRunner().invoke(app, ["sonic", *map(str, words)])


def reach(directory: Path, *options: str) -> Any:
    return json.loads(called("reach", directory, "--format", "json", *options).stdout)


def conf_of(tables: dict[str, Any]) -> list[str]:
    base = {"PORT": {"Ethernet0": {"speed": "10000"}}, "VRF": {"Vrf1": {}}, **tables}
    return frr_conf("leaf1", parse_config_db(json.dumps(base).encode(), "leaf1.json"))


def frrcfgd(**tables: Any) -> dict[str, Any]:
    metadata = {"localhost": {"hostname": "leaf1", "frr_mgmt_framework_config": "true"}}
    return {"DEVICE_METADATA": metadata, **tables}


def section(lines: list[str], head: str) -> list[str]:
    start = lines.index(head)
    return [line.strip() for line in lines[start : lines.index("exit", start)]]


def test_each_vrf_has_a_router_and_the_default_one_comes_first() -> None:
    routers = {vrf: {"local_asn": str(asn)} for vrf, asn in (("Vrf1", 65001), ("default", 65000), ("Vrf9", 65009))}
    lines = conf_of(frrcfgd(BGP_GLOBALS=routers))
    heads = [line for line in lines if line.startswith("router bgp")]
    assert heads == ["router bgp 65000", "router bgp 65001 vrf Vrf1"]  # there is no VRF Vrf9


def test_a_vrf_is_handed_over_as_frrcfgd_does() -> None:
    tables = frrcfgd(
        BGP_GLOBALS={"Vrf1": {"local_asn": "65001", "router_id": "10.0.0.9 ", "keepalive": "3", "holdtime": "9"}},
        BGP_GLOBALS_AF={"Vrf1|ipv4_unicast": {"max_ebgp_paths": 8, "import_vrf": "default", "rt_vpn_both": "1:1 2:2"}},
        BGP_GLOBALS_AF_NETWORK={"Vrf1|ipv4_unicast|10.1.0.0/24": {"policy": "OUT"}},
        ROUTE_REDISTRIBUTE={"Vrf1|static|bgp|ipv4": {"route_map": ["OUT"]}, "default|connected|bgp|ipv4": {}},
        BGP_PEER_GROUP={"Vrf1|UP": {"asn": "65100", "ebgp_multihop": "true", "ebgp_multihop_ttl": "2"}},
        BGP_NEIGHBOR={
            "Vrf1|10.0.0.1": {"peer_group_name": "UP", "local_addr": "10.0.0.0", "local_asn": "65001"},
            "Vrf1|FC00::02": {"asn": "65002", "admin_status": "down", "local_asn": "65077"},
            "Vrf1|Ethernet0": {"peer_type": "external", "bfd": "true"},
            "default|10.9.9.9": {"asn": "65003"},
        },
        BGP_NEIGHBOR_AF={
            "Vrf1|10.0.0.1|ipv4_unicast": {"admin_status": "true", "route_map_in": ["IN"], "allow_as_in": "true"},
            "Vrf1|fc00::2|ipv6_unicast": {"admin_status": "true", "nhself": "true"},
        },
    )
    lines = section(conf_of(tables), "router bgp 65001 vrf Vrf1")
    for words in (
        *("bgp router-id 10.0.0.9", "timers bgp 3 9", "neighbor 10.0.0.1 remote-as 65100"),
        *("neighbor 10.0.0.1 ebgp-multihop 2", "neighbor 10.0.0.1 update-source 10.0.0.0", "maximum-paths 8"),
        *("neighbor fc00::2 shutdown", "neighbor fc00::2 local-as 65077", "import vrf default", "rt vpn both 1:1 2:2"),
        *("neighbor Ethernet0 interface v6only remote-as external", "neighbor Ethernet0 bfd"),
        *("network 10.1.0.0/24 route-map OUT", "redistribute static route-map OUT"),
        *("neighbor 10.0.0.1 route-map IN in", "neighbor 10.0.0.1 allowas-in", "neighbor fc00::2 next-hop-self"),
    ):
        assert words in lines
    assert not any("local-as 65001" in line or "redistribute connected" in line or "10.9.9.9" in line for line in lines)
    assert not any("vpn" in line for line in lines if line.startswith("address-family"))
    ipv6 = lines[lines.index("address-family ipv6 unicast") :]
    assert "neighbor fc00::2 activate" in ipv6 and "neighbor 10.0.0.1 activate" not in ipv6


def test_maps_and_lists_are_handed_over_as_frrcfgd_does() -> None:
    tables = frrcfgd(
        PREFIX_SET={"P4": {"mode": "IPv4"}, "P6": {"mode": "IPv6"}},
        PREFIX={"P4|1|10.0.0.0/8|9..24": {"action": "deny"}, "P6|5|2001:db8::/32|exact": {"action": "permit"}},
        COMMUNITY_SET={"C": {"set_type": "standard", "match_action": "any", "community_member": ["65000:1"]}},
        AS_PATH_SET={"A": {"as_path_set_member": ["^65001_"]}},
        ROUTE_MAP={
            "M|20": {"route_operation": "permit", "match_prefix_set": "P6", "set_metric_action": "METRIC_ADD_RTT"},
            "M|5": {"route_operation": "deny", "match_src_vrf": "Vrf1", "match_tag": ["7"], "set_local_pref": "9"},
            "M|30": {
                "route_operation": "permit",
                "match_community": "C",
                "set_asn": "65009",
                "set_repeat_asn": "2",
                "set_community_inline": ["65000:2", "additive"],
                "set_ext_community_inline": ["route-target:1:2"],
                "set_med": "5",
                "set_origin": "IGP",
            },
            "M|40": {"match_tag": "1"},
        },
    )
    lines = conf_of(tables)
    assert "ip prefix-list P4 seq 1 deny 10.0.0.0/8 ge 9 le 24" in lines
    assert "ipv6 prefix-list P6 seq 5 permit 2001:db8::/32" in lines
    assert "bgp community-list standard C permit 65000:1" in lines
    assert "bgp as-path access-list A permit ^65001_" in lines
    assert section(lines, "route-map M deny 5")[1:] == ["match tag 7", "match source-vrf Vrf1"]
    assert section(lines, "route-map M permit 20")[1:] == ["match ipv6 address prefix-list P6", "set metric +rtt"]
    assert section(lines, "route-map M permit 30")[1:] == [
        *("match community C", "set origin igp", "set metric 5", "set as-path prepend 65009 65009"),
        *("set community 65000:2 additive", "set extcommunity rt 1:2"),
    ]
    assert not any("M permit 40" in line or "M deny 40" in line for line in lines)


def test_static_routes_have_their_vrf_and_their_next_hops() -> None:
    routes = {
        "Vrf1|10.5.0.0/16": {"nexthop": "10.0.0.1,10.0.0.3", "ifname": "Ethernet0,", "distance": "0,9"},
        "Vrf1|10.6.0.0/16": {"nexthop": "10.9.0.1", "nexthop-vrf": "default"},
        "10.7.0.0/16": {"blackhole": "true", "nexthop": "0.0.0.0", "tag": "7", "distance": "9"},
        "Vrf7|10.8.0.0/16": {"nexthop": "10.0.0.1"},
    }
    lines = [line for line in conf_of(frrcfgd(STATIC_ROUTE=routes)) if line.startswith("ip")]
    assert lines == [
        "ip route 10.5.0.0/16 10.0.0.1 Ethernet0 vrf Vrf1",
        "ip route 10.5.0.0/16 10.0.0.3 9 vrf Vrf1",
        "ip route 10.6.0.0/16 10.9.0.1 vrf Vrf1 nexthop-vrf default",
        "ip route 10.7.0.0/16 blackhole tag 7 9",
    ]


def test_bgpcfgd_announces_loopbacks_and_vlans_of_the_default_vrf_only() -> None:
    lines = conf_of(
        {
            "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "bgp_asn": "65001"}},
            "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.255.0.1/32": {}},
            "VLAN": {"Vlan10": {}, "Vlan20": {}},
            "VLAN_INTERFACE": {
                "Vlan10": {"vrf_name": "Vrf1"},
                "Vlan10|10.1.0.1/24": {},
                "Vlan20": {},
                "Vlan20|10.2.0.1/24": {},
            },
            "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65100"}, "Vrf1|10.0.1.1": {"asn": "65100"}},
            "STATIC_ROUTE": {"Vrf1|10.3.0.0/16": {"nexthop": "10.0.1.1", "advertise": "true"}},
        }
    )
    default, vrf = section(lines, "router bgp 65001"), section(lines, "router bgp 65001 vrf Vrf1")
    assert [line for line in default if line.startswith("network")] == ["network 10.255.0.1/32", "network 10.2.0.0/24"]
    assert "neighbor 10.0.0.1 activate" in default and "redistribute static" not in default
    assert "neighbor 10.0.1.1 activate" in vrf and "redistribute static" in vrf
    assert not [line for line in vrf if line.startswith("network")]


def test_a_segment_of_a_vrf_has_the_number_that_its_file_gives_it(tmp_path: Path) -> None:
    write_vpn(tmp_path)
    config = parse_config_db((tmp_path / "pe2.json").read_bytes(), "pe2.json")
    lines = frr_conf("pe2", config)
    assert " sid vpn per-vrf export 2" in lines
    assert "    prefix fd00:202:202::/48 block-len 32 node-len 16 func-bits 16" in lines
    assert "   sid fd00:202:202:2::/64 locator main behavior uDT46 vrf Vrf1" in lines
    assert vrf_setup("pe2", config, ["Ethernet0"]).sysctls["net.ipv6.conf.all.seg6_enabled"] == "1"


def test_a_segment_of_another_locator_is_told(tmp_path: Path) -> None:
    """bgpd of a lab takes SIDs of its own locator only."""
    write_vpn(tmp_path, {"pe2": {"BGP_GLOBALS": {"Vrf1": {"sid_vpn_per_vrf_export_explicit": "fd99::1"}}}})
    config = parse_config_db((tmp_path / "pe2.json").read_bytes(), "pe2.json")
    assert not [line for line in frr_conf("pe2", config) if "sid vpn" in line]
    assert called("import", tmp_path, "-o", tmp_path / "lab").exit_code == 0
    nodes = {node.name: node for node in parse_lab(tmp_path / "lab").topology.nodes}
    told = {
        name: [one.path[0] for one in node.own.not_emulated] for name, node in nodes.items() if node.own is not None
    }
    assert told == {"p": [], "pe1": [], "pe2": ["SRV6_MY_SIDS"]}


def test_devices_come_before_their_addresses(tmp_path: Path) -> None:
    write_vrfs(tmp_path)
    config = parse_config_db((tmp_path / "leaf1.json").read_bytes(), "leaf1.json")
    lines = device_lines(config, ["Ethernet0", "Ethernet4", "Ethernet12"])
    order = [
        *("ip link add VrfRed type vrf table 1001", "ip link set Ethernet0 master VrfRed"),
        *("ip link add Vlan10 type bridge stp_state 0 mcast_snooping 0", "ip link set Ethernet12 master Vlan10"),
        *("ip link set Vlan10 master VrfRed", "ip address replace 10.10.1.1/24 dev Vlan10"),
    ]
    at = {line: number for number, line in enumerate(lines)}
    assert at[order[0]] < at[order[1]] < at["ip address replace 10.0.1.1/31 dev Ethernet0"]
    assert at[order[2]] < at[order[3]] and at[order[4]] < at[order[5]]
    assert not any("Ethernet16" in line or "Ethernet8" in line for line in lines)  # they have no link


def test_what_a_file_says_is_one_line_or_nothing() -> None:
    """Files come from strangers: no key and no value makes a line of its own, in frr.conf or in the script."""
    bad = "x\nrouter bgp 666"
    tables = frrcfgd(
        BGP_GLOBALS={"default": {"local_asn": "65000", "rr_cluster_id": bad}},
        BGP_NEIGHBOR={f"default|{bad}": {"asn": "1"}, "default|10.0.0.1": {"asn": "65001", "local_addr": bad}},
        BGP_GLOBALS_AF={"default|ipv4_unicast": {"rd_vpn_export": bad}},
        ROUTE_MAP={f"{bad}|1": {"route_operation": "permit"}, "M|1": {"route_operation": "permit", "match_peer": bad}},
        STATIC_ROUTE={"10.0.0.0/8": {"nexthop": "10.0.0.1", "ifname": bad}},
        SRV6_MY_LOCATORS={"main": {"prefix": bad}},
        LOOPBACK_INTERFACE={"Loopback0;reboot": {}, "Loopback0;reboot|10.0.0.1/32": {}},
    )
    base = {"PORT": {"Ethernet0": {"speed": "10000"}}, "VRF": {"Vrf1;reboot": {}, "Vrf1": {}}}
    config, problems = examine_config_db(json.dumps({**base, **tables}).encode(), "leaf1.json")
    assert config is not None and problems  # of the neighbour's key
    lines = [*frr_conf("leaf1", config), *device_lines(config, ["Ethernet0"])]
    assert not any("666" in line or "reboot" in line or "\n" in line for line in lines)
    assert "ip link add Vrf1 type vrf table 1001" in lines


def test_an_import_groups_hosts_by_vrf(tmp_path: Path) -> None:
    write_vrfs(tmp_path / "files")
    done = called("import", tmp_path / "files", "-o", tmp_path / "lab")
    assert done.exit_code == 0, done.output
    assert "default VRF" not in done.output
    topology = (tmp_path / "lab/topology.clab.yml").read_text()
    assert "['h-leaf1-Ethernet16:eth1', 'leaf1:eth5'], ipv4: ['10.10.1.3/24', '']" in topology
    assert "ip route replace default via 10.20.2.1" in topology
    experiment = (tmp_path / "lab/experiment.yml").read_text()
    assert "routing: {protocol: as-configured}" in experiment
    assert "VrfBlue: {from: [h-leaf2-Ethernet8], to: h-leaf1-Ethernet8}" in experiment
    assert "VrfRed-not-VrfBlue: {from: h-leaf1-Ethernet12, to: h-leaf1-Ethernet8, answers: false}" in experiment
    lab = parse_lab(tmp_path / "lab")
    assert all(node.own is None or not node.own.not_emulated for node in lab.topology.nodes)


def test_who_must_not_reach_whom_is_not_said_where_routes_leak(tmp_path: Path) -> None:
    leak = {"BGP_GLOBALS_AF": {"VrfRed|ipv4_unicast": {"import_vrf": "VrfBlue"}}}
    write_vrfs(tmp_path / "files", {"leaf1": leak})
    assert called("import", tmp_path / "files", "-o", tmp_path / "lab").exit_code == 0
    experiment = (tmp_path / "lab/experiment.yml").read_text()
    assert "answers: false" not in experiment and "lead routes from one VRF into another" in experiment


def test_a_neighbour_of_a_vrf_without_a_file_is_a_router_with_a_host(tmp_path: Path) -> None:
    session = {
        "BGP_NEIGHBOR": {"VrfBlue|10.20.1.9": {"asn": "65001"}},
        "BGP_NEIGHBOR_AF": {"VrfBlue|10.20.1.9|ipv4_unicast": {"admin_status": "true"}},
    }
    write_vrfs(tmp_path / "files", {"leaf1": session})
    assert called("import", tmp_path / "files", "-o", tmp_path / "lab").exit_code == 0
    conf = (tmp_path / "lab/peer-leaf1-Ethernet8.frr.conf").read_text().splitlines()
    assert " ip address 10.20.1.9/24" in conf and " neighbor 10.20.1.1 remote-as 65001" in conf
    assert "router bgp 65001" in conf and "  network 172.31.0.0/31" in conf
    assert "peer-leaf1-Ethernet8-host" in (tmp_path / "lab/experiment.yml").read_text()


def test_a_network_of_a_vrf_at_two_switches_is_told_and_has_hosts_at_both(tmp_path: Path) -> None:
    """As sonic-mgmt's 7nodes have it: their edges share 10.10.246.0/24."""
    same: Changes = {"leaf2": {"VLAN_INTERFACE": {"Vlan10|10.10.2.1/24": None, "Vlan10|10.10.1.7/24": {}}}}
    write_vrfs(tmp_path / "files", same)
    done = called("import", tmp_path / "files", "-o", tmp_path / "lab")
    assert done.exit_code == 0, done.output
    assert "10.10.1.0/24 of VrfRed is at leaf1:Vlan10, leaf2:Vlan10: no link joins them" in done.output
    topology = (tmp_path / "lab/topology.clab.yml").read_text()
    assert "'leaf1:eth5'], ipv4: ['10.10.1.3/24', '']" in topology
    assert "'leaf2:eth4'], ipv4: ['10.10.1.4/24', '']" in topology


def test_one_file_alone_has_the_default_vrf_and_says_so(tmp_path: Path) -> None:
    write_vrfs(tmp_path / "files")
    done = called("import", tmp_path / "files/leaf1.json", "-o", tmp_path / "lab")
    assert done.exit_code == 0, done.output
    assert "in VrfRed, VrfBlue: Ethernet0, Vlan10, Ethernet4, Ethernet8; a lab made from one file has" in done.output


@pytest.mark.parametrize(("vrf", "overlaps"), [("VrfBlue", False), ("VrfRed", True)])
def test_networks_overlap_within_a_vrf_only(vrf: str, overlaps: bool, tmp_path: Path) -> None:
    write_vrfs(tmp_path, {"leaf1": {"INTERFACE": {"Ethernet4": {"vrf_name": vrf}}}})
    done = called("check", tmp_path / "leaf1.json", "--format", "json")
    rules = {one["rule"] for file in json.loads(done.stdout)["files"] for one in file["findings"]}
    assert ("networks-overlap" in rules) is overlaps


def test_reach_is_asked_within_each_vrf(tmp_path: Path) -> None:
    answer = reach(write_vrfs(tmp_path))
    assert answer["switches"] == 3 and not answer["not_judged"]
    assert [(one["demand"], one["verdict"], one["pairs"]) for one in answer["wanted"]] == [
        ("each switch with hosts to all networks of hosts of VrfRed", "pass", 2),
        ("each switch with hosts to all networks of hosts of VrfBlue", "pass", 2),
    ]


def test_what_breaks_one_vrf_does_not_touch_the_other(tmp_path: Path) -> None:
    red, blue = reach(write_vrfs(tmp_path, BLUE_SESSION))["wanted"]
    assert (red["verdict"], blue["verdict"]) == ("pass", "fail")
    assert {one["from"] for one in blue["breaches"]} == {"leaf1/VrfBlue", "leaf2/VrfBlue"}


def test_a_switch_or_link_that_is_down_is_down_in_its_vrfs(tmp_path: Path) -> None:
    write_vrfs(tmp_path)
    red, blue = reach(tmp_path, "--without", "leaf1:Ethernet4")["wanted"]
    assert (red["verdict"], blue["verdict"]) == ("pass", "fail")
    done = called("reach", tmp_path, "--from", "leaf1/VrfRed", "--to", "10.10.2.7")
    assert done.exit_code == 0 and "spine1/VrfRed: 1 next hop, leaf2/VrfRed (Ethernet8)" in done.stdout
    assert called("reach", tmp_path, "--from", "leaf1/VrfRed", "--to", "10.20.2.7").exit_code == 1


def test_wanted_state_names_the_vrfs_of_switches(tmp_path: Path) -> None:
    write_vrfs(tmp_path / "files")
    wanted = tmp_path / "wanted.yml"
    wanted.write_text(
        "reach: [{from: leaf*/VrfRed, to: hosts}]\nunreachable: [{from: leaf*/VrfRed, to: 10.20.0.0/16}]\n"
    )
    answer = reach(tmp_path / "files", "--wanted", str(wanted))
    assert [(one["verdict"], one["pairs"]) for one in answer["wanted"]] == [("pass", 2), ("pass", 4)]


def test_routes_of_a_vpn_are_not_calculated_and_never_pass(tmp_path: Path) -> None:
    write_vpn(tmp_path)
    answer = reach(tmp_path)
    (wanted,) = answer["wanted"]
    assert (wanted["verdict"], wanted["pairs"], wanted["unknown"]) == ("not judged", 2, 2)
    assert any(
        one.startswith("BGP_GLOBALS_AF|Vrf1|ipv4_unicast|import_vpn true (pe1.json:") for one in answer["not_judged"]
    )
    assert called("reach", tmp_path).exit_code == 1
    assert called("reach", tmp_path, "--accept-not-judged").exit_code == 0


def test_a_policy_of_a_vrf_acts_on_its_routes(tmp_path: Path) -> None:
    deny: dict[str, dict[str, dict[str, Any] | None]] = {
        "ROUTE_MAP": {"NONE|10": {"route_operation": "deny"}},
        "BGP_NEIGHBOR_AF": {"VrfRed|10.0.1.0|ipv4_unicast": {"route_map_out": ["NONE"]}},
    }
    red, blue = reach(write_vrfs(tmp_path, {"leaf1": deny}))["wanted"]
    assert (red["verdict"], blue["verdict"]) == ("fail", "pass")
    assert "route-map NONE, entry 10 (out) keeps it out" in red["breaches"][0]["why"]


def test_lines_of_a_vrf_are_those_of_its_own_entries(tmp_path: Path) -> None:
    write_vrfs(tmp_path)
    path = tmp_path / "leaf1.json"
    config = of_vrf(parse_config_db(path.read_bytes(), str(path)), "VrfBlue")
    line = config.place("BGP_NEIGHBOR", "default|10.0.1.0").line
    assert line is not None and "VrfBlue|10.0.1.0" in path.read_text().splitlines()[line - 1]
    assert {*config.addresses} == {"Ethernet4", "Ethernet8"} and config.asn == 65001


def test_a_diff_tells_which_vrf_loses_routes(tmp_path: Path) -> None:
    write_vrfs(tmp_path / "old")
    write_vrfs(tmp_path / "new", BLUE_SESSION)
    done = called("diff", tmp_path / "old", tmp_path / "new")
    assert "leaf1/VrfBlue" in done.stdout and "leaf1/VrfRed" not in done.stdout


def test_a_rollout_is_judged_within_each_vrf(tmp_path: Path) -> None:
    """The spine is the only way of both VRFs; leaf1 is the way of its own hosts alone."""
    write_vrfs(tmp_path / "old")
    changed = {"PORT": {"Ethernet20": {"description": "spare"}}}
    write_vrfs(tmp_path / "new", {"leaf1": changed, "spine1": changed})
    done = called("diff", tmp_path / "old", tmp_path / "new", "--rollout", "--format", "json")
    steps = {step["switch"]: step for step in json.loads(done.stdout)["rollout"]}
    assert not steps["leaf1"]["lost_meanwhile"] and not steps["spine1"]["lost"]
    lost = {(pair["source"], pair["owner"]) for pair in steps["spine1"]["lost_meanwhile"]}
    assert lost == {
        *(("leaf1/VrfRed", "leaf2/VrfRed"), ("leaf2/VrfRed", "leaf1/VrfRed")),
        *(("leaf1/VrfBlue", "leaf2/VrfBlue"), ("leaf2/VrfBlue", "leaf1/VrfBlue")),
    }


def test_spellings_of_one_address_are_one_neighbour(tmp_path: Path) -> None:
    """FRR knows a neighbour by its address: BGP_NEIGHBOR_AF may write it otherwise than BGP_NEIGHBOR."""
    families = {
        "default|2001:db8:1::1|ipv6_unicast": None,
        "default|2001:0DB8:1::01|ipv6_unicast": {"admin_status": "true", "route_map_out": ["NONE"]},
    }
    denying = {"NONE|1": {"route_operation": "deny"}}
    write_vpn(tmp_path, {"p": {"BGP_NEIGHBOR_AF": families, "ROUTE_MAP": denying}})
    config = parse_config_db((tmp_path / "p.json").read_bytes(), "p.json")
    every = {one.key: one for one in (*config.bgp_neighbours, *config.bgp_neighbours6)}
    policy = every["default|2001:db8:1::1"].policy6
    assert policy is not None and policy.map_out == "NONE" and not config.not_emulated
