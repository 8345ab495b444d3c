"""ACLs of a config_db.json: the classifiers that become of them, in their order, and why others do not act."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sonic_vs_labs import configs_of, plan_of, write_lab

from fabriclab.compile import compile_node
from fabriclab.compile.container_differences import shortfalls
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.vendors.sonic.export import export_switch

Tables = dict[str, Any]
DROP, FORWARD = {"PACKET_ACTION": "DROP"}, {"PACKET_ACTION": "FORWARD"}


@cache
def stock() -> str:
    with TemporaryDirectory() as scratch:
        return json.dumps(configs_of(Path(scratch) / "stock"))


def lab_of(directory: Path, tables: Tables, rules: Tables) -> Plan:
    """Return the plan of a lab whose leaf1 has these tables and rules."""
    configs = json.loads(stock())
    bound = {name: {"type": "L3", "ports": ["Ethernet0"], **fields} for name, fields in tables.items()}
    ranked = {key: {"PRIORITY": str(100 - number), **fields} for number, (key, fields) in enumerate(rules.items())}
    configs["leaf1"] |= {"ACL_TABLE": bound, "ACL_RULE": ranked}
    return plan_of(write_lab(directory / "lab", configs))


def lines(plan: Plan) -> list[str]:
    """Return the lines of filters of leaf1, without their cookies."""
    every = compile_node(plan.node("leaf1"), plan).tc.splitlines()
    return [line.partition(" cookie")[0] for line in every if line.startswith("filter") or "clsact" in line]


def classifiers(plan: Plan) -> list[str]:
    """Return what the classifiers of the first chain say, without those before the rules."""
    found = [line.partition(" pref ") for line in lines(plan) if "chain 0" in line]
    heads = [head.rpartition("protocol ")[2] + " " + rest.partition(" ")[2] for head, _, rest in found]
    return [line for line in heads if not line.startswith("0x8808")]


RULES = [
    ({"SRC_IP": "10.0.0.1/8", "DST_IP": "10.1.0.0/16"}, ["ip flower src_ip 10.0.0.0/8 dst_ip 10.1.0.0/16"]),
    ({"SRC_IPV6": "2001:db8::/32", "NEXT_HEADER": "6"}, ["ipv6 flower ip_proto tcp src_ip 2001:db8::/32"]),
    (
        {"L4_DST_PORT": "179"},
        [f"{family} flower ip_proto {one} dst_port 179" for family in ("ip", "ipv6") for one in ("tcp", "udp")],
    ),
    (
        {"IP_TYPE": "IPV4ANY", "IP_PROTOCOL": "17", "L4_SRC_PORT_RANGE": "1000-2000"},
        ["ip flower ip_proto udp src_port 1000-2000"],
    ),
    ({"ETHER_TYPE": "2048", "DSCP": "26"}, ["ip flower ip_tos 0x68/0xfc"]),
    ({"ETHER_TYPE": "0x0800", "TCP_FLAGS": "0x02/0x12"}, ["ip flower ip_proto tcp tcp_flags 0x2/0x12"]),
    ({"ETHER_TYPE": "0x88CC"}, ["0x88cc matchall"]),
    ({"ETHER_TYPE": "0x0806"}, ["arp matchall"]),
    ({"IP_TYPE": "IPV4", "ICMP_TYPE": "8", "ICMP_CODE": "0"}, ["ip flower ip_proto icmp type 8 code 0"]),
    ({}, ["all matchall"]),
]


@pytest.mark.parametrize(("fields", "expected"), RULES, ids=[str(fields) for fields, _ in RULES])
def test_a_rule_is_a_classifier(tmp_path: Path, fields: Tables, expected: list[str]) -> None:
    plan = lab_of(tmp_path, {"A": {}}, {"A|R": {**fields, **DROP}})
    assert classifiers(plan) == [f"{one} action drop" for one in expected]
    assert not any("not emulated" in one for one in plan.warnings)


def test_rules_are_asked_by_priority_and_tables_one_after_the_other(tmp_path: Path) -> None:
    rules = {"A|LATE": {**DROP, "PRIORITY": "5"}, "A|FIRST": {"ETHER_TYPE": "2048", **FORWARD, "PRIORITY": "9"}}
    plan = lab_of(tmp_path, {"A": {}, "B": {}}, {**rules, "B|R": {"IP_PROTOCOL": "6", **DROP}})
    assert lines(plan) == [
        "qdisc add dev Ethernet0 ingress_block 1 clsact",
        "filter add block 1 chain 0 protocol 0x8808 pref 1 matchall action pass",
        "filter add block 1 chain 0 protocol ip pref 2 matchall action goto chain 1",
        "filter add block 1 chain 0 protocol all pref 3 matchall action drop",
        "filter add block 1 chain 0 protocol all pref 4 matchall action goto chain 1",
        "filter add block 1 chain 1 protocol ip pref 1 flower ip_proto tcp action drop",
        "filter add block 1 chain 1 protocol ipv6 pref 2 flower ip_proto tcp action drop",
    ]


def test_what_the_switch_sends_itself_passes_at_egress(tmp_path: Path) -> None:
    plan = lab_of(tmp_path, {"A": {"stage": "EGRESS", "ports": ["Ethernet0", "Ethernet4"]}}, {"A|R": DROP})
    own = [str(port.address).partition("/")[0] for port in plan.node("leaf1").ports]
    found = lines(plan)
    assert found[:2] == [f"qdisc add dev {port} egress_block 1 clsact" for port in ("Ethernet0", "Ethernet4")]
    passing = [line for line in found if line.endswith("action pass")]
    assert all(any(f"src_ip {address} " in line for line in passing) for address in own)
    assert found[-1].endswith("matchall action drop") and passing[0].endswith("matchall action pass")


def test_a_plan_with_filters_is_read_again_and_one_without_has_no_word_of_them(tmp_path: Path) -> None:
    plan = lab_of(tmp_path, {"A": {}}, {"A|R": {"TCP_FLAGS": "0x2", "L4_DST_PORT": "80", **DROP}})
    assert parse_plan_json(plan_json(plan)) == plan
    (tmp_path / "bare").mkdir()
    assert '"filters"' not in plan_json(lab_of(tmp_path / "bare", {}, {}))


def test_containers_are_told_to_have_none(tmp_path: Path) -> None:
    plan = lab_of(tmp_path, {"A": {}}, {"A|R": DROP})
    assert "clsact" not in compile_node(plan.node("leaf1"), plan, stock=True).tc
    assert any(one.startswith("filters of leaf1: packets are not filtered") for one in shortfalls(plan))


WHY_NOT = [
    ({"A|R": {"PACKET_ACTION": "REDIRECT:Ethernet4"}}, "ACL_RULE|A|R|PACKET_ACTION: a lab's filters drop or forward"),
    ({"A|R": {"VLAN_ID": "7", **DROP}}, "ACL_RULE|A|R|VLAN_ID: a lab's filters do not look at it"),
    ({"A|R": {"SRC_IP": "10.0.0.300", **DROP}}, "ACL_RULE|A|R|SRC_IP: '10.0.0.300' is not a network of IPv4"),
    ({"A|R": {"L4_DST_PORT_RANGE": "9-1", **DROP}}, "'9-1' is not a range such as 1000-2000"),
    ({"A|R": {"SRC_IP": "10.0.0.0/8", "ETHER_TYPE": "0x86dd", **DROP}}, "IPv4 and IPv6, or another EtherType, at once"),
    ({"A|R": {"PRIORITY": "x", **DROP}}, "ACL_RULE|A|R|PRIORITY: 'x' is not a number from 0 to 999999"),
    ({"A|R": {"TCP_FLAGS": "SYN", **DROP}}, "'SYN' is not flags and a mask such as 0x02/0x02"),
    ({"A|R": {"IP_TYPE": "NON_IP", **DROP}}, "a lab's filters do not know 'NON_IP'"),
]


@pytest.mark.parametrize(("rules", "why"), WHY_NOT, ids=[why for _, why in WHY_NOT])
def test_a_table_with_a_rule_that_cannot_act_does_not_act(tmp_path: Path, rules: Tables, why: str) -> None:
    plan = lab_of(tmp_path, {"A": {}}, {**rules, "A|OTHER": DROP})
    (told,) = (one for one in plan.warnings if "ACL_TABLE|A" in one)
    assert why in told and "is not emulated: packets are not filtered" in told
    assert plan.node("leaf1").filters == ()


def test_more_rules_than_a_switch_has_are_told_and_not_read(tmp_path: Path) -> None:
    configs = json.loads(stock())
    configs["leaf1"] |= {
        "ACL_TABLE": {"A": {"type": "L3", "ports": ["Ethernet0"]}},
        "ACL_RULE": {f"A|R{number}": {"PRIORITY": "1", **DROP} for number in range(10_001)},
    }
    plan = plan_of(write_lab(tmp_path / "lab", configs))
    (told,) = (one for one in plan.warnings if "ACL_TABLE|A" in one)
    assert "the file has more than 10000 rules or tables" in told and plan.node("leaf1").filters == ()


@pytest.mark.parametrize("kind", ["MIRROR", "MIRRORV6", "CTRLPLANE"])
def test_tables_that_copy_or_guard_the_cpu_filter_nothing(tmp_path: Path, kind: str) -> None:
    plan = lab_of(tmp_path, {"A": {"type": kind}}, {"A|R": DROP})
    assert plan.node("leaf1").filters == () and lines(plan) == []


def test_an_export_has_the_filters(tmp_path: Path) -> None:
    rules = {f"A|R{number}": {**fields, **DROP} for number, (fields, _) in enumerate(RULES)}
    before = lab_of(tmp_path, {"A": {"type": "L3V4V6", "ports": ["Ethernet0", "Ethernet4"]}}, rules)
    configs = json.loads(stock())
    configs["leaf1"] = json.loads(export_switch(before.node("leaf1"), before).text)
    after = plan_of(write_lab(tmp_path / "again", configs))
    assert after.node("leaf1").filters == before.node("leaf1").filters != ()
