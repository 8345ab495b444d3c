"""What acts in a switch and not in a lab: found where it is bound, left alone where it only stands in the file.

`sonic check` tells it in each of its forms."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from repository import ROOT
from sonic_traps import patched, sound

from fabriclab.cli.text.junit import junit_xml
from fabriclab.lab.network.own_configuration import NotEmulated
from fabriclab.vendors.sonic.commands.findings_text import as_json, as_text, junit_cases
from fabriclab.vendors.sonic.judge import Judgement, judge_config_db
from fabriclab.vendors.sonic.read import parse_config_db
from fabriclab.vendors.sonic.read.acting import FIELDS, FILTER, INACTIVE, PORT_LIMIT, TABLES

LEAF = json.loads((ROOT / "labs" / "sonic-leaf-spine" / "leaf1.json").read_text(encoding="utf-8"))
AF = "default|10.0.0.0|ipv4_unicast"
DENY = {"ROUTE_MAP": {"DENY|10": {"route_operation": "deny", "match_tag": ["0"]}}}
WHY_NOT = (
    "ROUTE_MAP|DENY|10|match_tag: a lab's maps do not look at tags, which STATIC_ROUTE has, and FRR takes from 1 to "
    "4294967295: a lab announces static routes by `network`, which has no tag"
)
ACL = {"ACL_TABLE": {"A": {"type": "L3", "stage": "ingress", "ports": ["Ethernet8", "Ethernet12"]}}}
DROP = {"ACL_RULE": {"A|R1": {"PRIORITY": "10", "PACKET_ACTION": "DROP", "VLAN_ID": "7"}}}
NOT_FILTERED = "packets are not filtered: ACL_RULE|A|R1|VLAN_ID: a lab's filters do not look at it"
LIMITED = {
    "BUFFER_PROFILE": {"port": {"pool": "egress", "size": "0", "static_th": "1000000"}},
    "BUFFER_PORT_EGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": "port"}},
}


def found(change: dict[str, Any], base: dict[str, Any] | None = None) -> tuple[NotEmulated, ...]:
    data = json.dumps(patched(LEAF if base is None else base, change), indent=2).encode()
    return parse_config_db(data, "leaf1.json").not_emulated


@pytest.mark.parametrize(
    ("change", "where", "touches"),
    [
        (
            {**DENY, "BGP_NEIGHBOR_AF": {AF: {"route_map_out": ["DENY"]}}},
            f"BGP_NEIGHBOR_AF|{AF}|route_map_out DENY",
            "routes",
        ),
        ({"BGP_NEIGHBOR_AF": {AF: {"admin_status": "false"}}}, f"BGP_NEIGHBOR_AF|{AF}|admin_status false", "routes"),
        (
            {"BGP_NEIGHBOR": {"default|10.0.0.0": {"auth_password": "secret"}}},
            "BGP_NEIGHBOR|default|10.0.0.0|auth_password (set)",
            "routes",
        ),
        (
            {"BGP_DEVICE_GLOBAL": {"STATE": {"tsa_enabled": "true"}}},
            "BGP_DEVICE_GLOBAL|STATE|tsa_enabled true",
            "routes",
        ),
        (
            {"DEVICE_METADATA": {"localhost": {"docker_routing_config_mode": "split-unified"}}},
            "DEVICE_METADATA|localhost|docker_routing_config_mode split-unified",
            "routes",
        ),
        ({"PREFIX_LIST": {"ANCHOR_PREFIX|10.0.0.0/8": {}}}, "PREFIX_LIST|ANCHOR_PREFIX|10.0.0.0/8", "routes"),
        ({**ACL, **DROP}, "ACL_TABLE|A ingress: R1 DROP", "packets"),
        ({"STATIC_NAT": {"1.2.3.4": {"local_ip": "10.64.0.1"}}}, "STATIC_NAT|1.2.3.4", "packets"),
        ({"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["IN_PORT"]}}}, "SWITCH_HASH|GLOBAL|ecmp_hash IN_PORT", "paths"),
        (
            {"PORT_QOS_MAP": {"Ethernet0": {"tc_to_dscp_map": "AZURE"}}},
            "PORT_QOS_MAP|Ethernet0|tc_to_dscp_map AZURE",
            "classes",
        ),
        (LIMITED, "BUFFER_PORT_EGRESS_PROFILE_LIST|Ethernet0|profile_list port", "memory"),
    ],
)
def test_what_acts_is_found_with_its_place(change: dict[str, Any], where: str, touches: str) -> None:
    (one,) = found(change)
    assert (one.where, one.touches) == (where, touches)
    assert one.place.file == "leaf1.json" and one.place.line is not None and one.place.line > 1
    assert one.why in {
        WHY_NOT,
        NOT_FILTERED,
        "Linux does not hash by IN_PORT",
        *(acting.why for acting in (*TABLES.values(), *FIELDS.values(), FILTER, PORT_LIMIT, INACTIVE)),
    }


@pytest.mark.parametrize(
    "change",
    [
        DENY,
        DROP,
        ACL,
        {**ACL, "ACL_RULE": {"A|R1": {"PACKET_ACTION": "FORWARD"}}},
        {"ACL_TABLE": {"A": {"type": "L3", "stage": "ingress"}}, **DROP},
        {"ACL_TABLE": {"A": {"type": "MIRROR", "ports": ["Ethernet8"]}}, **DROP},
        {"BGP_DEVICE_GLOBAL": {"STATE": {"tsa_enabled": "false", "idf_isolation_state": "unisolated"}}},
        {"TC_TO_DSCP_MAP": {"AZURE": {"3": "26"}}},
        {"PORT": {"Ethernet0": {"pfc_asym": "off"}}},
        {**LIMITED, "BUFFER_PROFILE": {"port": {"pool": "egress", "size": "0", "static_th": "99999999"}}},
    ],
)
def test_what_only_stands_in_the_file_is_not_told(change: dict[str, Any]) -> None:
    assert found(change) == ()


@pytest.mark.parametrize("file", sorted((ROOT / "labs").glob("*sonic*/*.json")), ids=lambda path: path.name)
def test_the_labs_have_nothing_of_the_kind(file: Any) -> None:
    assert parse_config_db(file.read_bytes(), str(file)).not_emulated == ()


def test_entries_alike_are_told_once() -> None:
    both = {key: {"route_map_in": ["DENY"]} for key in LEAF["BGP_NEIGHBOR_AF"]}
    (one,) = found({**DENY, "BGP_NEIGHBOR_AF": both})
    assert one.value == "DENY and 1 more entry"


def test_malformed_tables_are_left_to_the_reader() -> None:
    assert found({"FG_NHG": {"A": "x"}, "PBH_RULE": {"A|1": ["y"]}, "STATIC_NAT": {"a": None}}) == ()


def judged() -> Judgement:
    tables = patched(sound(), {**ACL, **DROP, "ACL_TABLE": {"A": {"type": "L3", "ports": ["Ethernet8"]}}})
    return judge_config_db(json.dumps(tables, indent=2).encode(), "c.json")


def test_sonic_check_tells_it_in_each_form_and_fails_for_none_of_it() -> None:
    judgement = judged()
    assert judgement.findings == ()
    text = as_text([judgement])
    assert text.startswith("c.json: nothing found, 1 not judged, 5 ports\n")
    assert f"ACL_TABLE|A ingress: R1 DROP (Ethernet8): {NOT_FILTERED}\n" in text
    (told,) = json.loads(as_json([judgement]))["files"][0]["not_judged"]
    assert told == {
        "line": judgement.not_emulated[0].place.line,
        "table": "ACL_TABLE",
        "key": "A",
        "field": None,
        "value": "ingress: R1 DROP",
        "touches": "packets",
        "why": NOT_FILTERED,
        "ports": ["Ethernet8"],
    }
    suite = ElementTree.fromstring(junit_xml("s", junit_cases([judgement], (), ("error",))))
    (case,) = suite.iter("testcase")
    skipped = case.find("skipped")
    assert skipped is not None and "packets are not filtered" in skipped.attrib["message"]
    assert case.find("failure") is None
