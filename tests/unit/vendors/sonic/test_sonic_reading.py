"""Reading config_db.json: typed tables, and one clear message for whatever is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from repository import ROOT

from fabriclab.lab import LabError
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.entries import MOST_ENTRIES
from fabriclab.vendors.sonic.read.json_text import LARGEST_BYTES
from fabriclab.vendors.sonic.read.read import parse_config_db, read_config_db

GOLDEN = ROOT / "tests" / "golden" / "sonic"
PORTS = {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}}
POOLS = {"pool": {"type": "egress", "mode": "dynamic", "size": "1000000"}}
PROFILES = {"lossy": {"pool": "pool", "size": "0", "dynamic_th": "1"}}


def parse(**tables: Any) -> ConfigDb:
    return parse_config_db(json.dumps({"PORT": PORTS, **tables}, indent=1).encode(), "c.json")


def complaints(data: bytes | dict[str, Any]) -> list[str]:
    text = data if isinstance(data, bytes) else json.dumps({"PORT": PORTS, **data}, indent=1).encode()
    with pytest.raises(LabError) as caught:
        parse_config_db(text, "c.json")
    return str(caught.value).splitlines()


def complaint(data: bytes | dict[str, Any]) -> str:
    (only,) = complaints(data)
    return only


def test_a_platform_s_file_is_read_whole() -> None:
    config = read_config_db(GOLDEN / "trident-3.json")
    assert config.hostname == "td3"
    assert config.asn == 65100
    assert config.ports["Ethernet4"].speed_mbps == 100_000
    assert config.pools["ingress_lossless_pool"].xoff == 1_622_016
    assert config.profiles["pg_lossless_100000_5m_profile"].dynamic_th == 0
    assert config.maps["DSCP_TO_TC_MAP"]["AZURE"][46] == 5
    assert config.port_qos["Ethernet0"].pfc_enable == (3, 4)
    assert config.watchdogs["Ethernet0"].detection_ms == 200
    assert config.cable_metres["Ethernet8"] == 5
    assert config.wred_profiles["AZURE_LOSSLESS"].marks


def test_what_is_not_emulated_is_told() -> None:
    config = parse(
        ACL_TABLE={"a": {}, "b": {}}, MGMT_PORT={"eth0": {}}, SCHEDULER={"s": {"type": "STRICT", "priority": "3"}}
    )
    assert [(left.what, left.entries, left.why) for left in config.left_out] == [
        ("ACL_TABLE", 2, "no port has it, it copies packets or guards the switch's CPU, or it is not emulated"),
        ("MGMT_PORT", 1, "management of the switch"),
        ("SCHEDULER: priority", 1, "strict queues are served by their numbers, the higher one first"),
    ]


def test_fields_that_are_not_emulated_are_told_together() -> None:
    ports = {name: {**fields, "fec": "rs", "lanes": "1"} for name, fields in PORTS.items()}
    addresses = {"Ethernet0": {"vrf_name": "Vrf1"}, "Ethernet0|10.0.0.0/31": {"scope": "global", "family": "IPv4"}}
    config = parse(PORT={**ports, "Ethernet8": {**PORTS["Ethernet0"], "pfc_asym": "on"}}, INTERFACE=addresses)
    assert [(left.what, left.entries, left.why) for left in config.left_out] == [
        ("PORT: fec, lanes", 2, "settings of the front panel, the transceiver, or the chip"),
        ("PORT: pfc_asym", 1, "PFC is the same both ways"),
        ("INTERFACE: vrf_name", 1, "VRF has no such name, so the switch waits for it"),
    ]


def test_ranges_and_lists_of_ports() -> None:
    config = parse(
        BUFFER_POOL=POOLS,
        BUFFER_PROFILE=PROFILES,
        BUFFER_QUEUE={"Ethernet0,Ethernet4|3-4": {"profile": "[BUFFER_PROFILE|lossy]"}},
    )
    (binding,) = config.buffer_queues
    assert (binding.ports, binding.indices, binding.profile) == (("Ethernet0", "Ethernet4"), (3, 4), "lossy")
    assert len(config.notes) == 2  # the old reference, the list of ports


def test_keys_of_a_chassis() -> None:
    keys = {"lc1|asic0|Ethernet0|3": {"profile": "lossy"}, "lc2|asic0|Ethernet80|3": {"profile": "lossy"}}
    config = parse(BUFFER_POOL=POOLS, BUFFER_PROFILE=PROFILES, BUFFER_QUEUE=keys)
    assert [binding.ports for binding in config.buffer_queues] == [("Ethernet0",)]
    assert config.notes == ("BUFFER_QUEUE: entries of other line cards were left out; a lab has one switch",)


def test_both_styles_of_bgp() -> None:
    by_template = parse(
        DEVICE_METADATA={"localhost": {"bgp_asn": "65100"}},
        BGP_NEIGHBOR={"10.0.0.1": {"asn": "65200", "name": "spine"}},
    )
    assert (by_template.asn, by_template.bgp_neighbours[0].asn, by_template.frrcfgd) == (65100, 65200, False)
    by_tables = read_config_db(GOLDEN / "jericho-2.json")
    assert (by_tables.asn, str(by_tables.router_id), by_tables.max_paths) == (65200, "10.1.0.32", 32)
    spine, unnumbered = by_tables.bgp_neighbours
    assert (spine.hold_s, spine.bfd, unnumbered.interface, unnumbered.asn) == (9, True, "Ethernet12", None)


def test_keys_of_sessions_with_and_without_a_vrf() -> None:
    sessions = {
        "default|10.0.0.1": {"asn": "1"},
        "10.0.0.3": {"asn": "2"},
        "Vrf1|10.0.0.5": {"asn": "3"},
        "fc00::1": {"asn": "4"},
    }
    by_template = parse(BGP_NEIGHBOR=sessions)
    assert [one.asn for one in by_template.bgp_neighbours] == [1, 2]
    assert len(by_template.notes) == 2  # another VRF, IPv6
    metadata = {"localhost": {"frr_mgmt_framework_config": "true"}}
    by_tables = parse(BGP_NEIGHBOR=sessions, DEVICE_METADATA=metadata, BGP_GLOBALS={"default": {"local_asn": "65000"}})
    assert ([one.asn for one in by_tables.bgp_neighbours], by_tables.asn) == ([1], 65000)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "c.json:1: the file is empty"),
        (b" \n", "c.json:1: the file is empty"),
        (b"\xef\xbb\xbf{}", "c.json:1: begins with a byte order mark"),
        (b'{"PORT":\n {"\xff": {}}}', "c.json:2: byte 0xff is not UTF-8"),
        (b"[" * 100_000, "c.json: nested too deeply"),
        (b'{"PORT":' * 100_000, "c.json: nested too deeply"),
        (b'{"PORT": {\n"Ethernet0": {"speed": "100', "c.json:2: the file ends within a value"),
        (b'{"PORT": {\n"Ethernet0": {', "c.json:2: the file ends within a value"),
        (b'{"PORT": {\n"Ethernet0": {}},}', "c.json:2: is not JSON: "),
        (b"{} {}", "c.json:1: something follows the last bracket"),
        (b'{"PORT": {"a": {"speed": "1"}}}\n]', "c.json:2: something follows the last bracket"),
        (b"[]", "c.json:1: the file contains a list; a config_db.json is an object of tables"),
        (b'"x"', "c.json:1: the file contains 'x'"),
        (b"NaN", "c.json:1: the file contains the number NaN"),
        (b"{}", "c.json:1: PORT: missing, or empty"),
        (b'{\n"PORT": 5}', "c.json:2: PORT: is the number 5; a table must be an object of entries"),
        (b"x" * (LARGEST_BYTES + 1), f"c.json: {LARGEST_BYTES + 1} bytes; a config_db.json is smaller than 32 MiB"),
    ],
)
def test_a_file_that_is_none(data: bytes, message: str) -> None:
    assert complaint(data).startswith(message)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"PORT": {"Ethernet0": []}}, "c.json:3: PORT|Ethernet0: is a list; write an object of fields"),
        (
            {"PORT": {"Ethernet0": {"speed": {}}}},
            "c.json:4: PORT|Ethernet0|speed: is an object; write a text or a list of texts",
        ),
        (
            {"PORT": {"Ethernet0": {"speed": "fast"}}},
            "c.json:4: PORT|Ethernet0|speed: 'fast': must be a whole number of Mbit/s from 1 to 1600000",
        ),
        ({"PORT": {"Ethernet0": {}}}, "c.json:3: PORT|Ethernet0|speed: missing; write the port's speed in Mbit/s"),
        ({"SCHEDULER": {"s": {"type": "DWR"}}}, "SCHEDULER|s|type: 'DWR' is unknown; did you mean 'DWRR'?"),
        ({"SCHEDULER": {"s": {"weight": "101"}}}, "SCHEDULER|s|weight: '101': must be a whole number from 1 to 100"),
        (
            {"BUFFER_PROFILE": {"p": {"pool": "poll", "size": "0"}}, "BUFFER_POOL": POOLS},
            "BUFFER_PROFILE|p|pool: 'poll' is not a BUFFER_POOL; did you mean 'pool'?",
        ),
        (
            {"BUFFER_PROFILE": {"p": {"dynamic_th": "8"}}},
            "BUFFER_PROFILE|p|dynamic_th: '8': must be a whole number from -8 to 7",
        ),
        (
            {"BUFFER_PG": {"Ethernet1|3": {"profile": "NULL"}}},
            "BUFFER_PG|Ethernet1|3: 'Ethernet1' is not a PORT; did you mean",
        ),
        (
            {"BUFFER_PG": {"Ethernet0|4-3": {"profile": "NULL"}}},
            "BUFFER_PG|Ethernet0|4-3: '4-3': must be a number from 0 to 7 or a range such as 3-4",
        ),
        (
            {"BUFFER_PG": {"Ethernet0": {"profile": "NULL"}}},
            "BUFFER_PG|Ethernet0: the key of an entry is a port and a number or a range",
        ),
        (
            {"DSCP_TO_TC_MAP": {"A": {"64": "0"}}},
            "DSCP_TO_TC_MAP|A|64: '64': the field's name must be a whole number from 0 to 63",
        ),
        ({"DSCP_TO_TC_MAP": {"A": {"3": "16"}}}, "DSCP_TO_TC_MAP|A|3: '16': must be a whole number from 0 to 15"),
        (
            {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,9"}}},
            "PORT_QOS_MAP|Ethernet0|pfc_enable: '9': must be priorities from 0 to 7",
        ),
        (
            {"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "A"}}},
            "PORT_QOS_MAP|Ethernet0|dscp_to_tc_map: 'A' is not a DSCP_TO_TC_MAP",
        ),
        (
            {"CABLE_LENGTH": {"A": {"Ethernet0": "5"}}},
            "CABLE_LENGTH|A|Ethernet0: '5': must be a length in metres such as 5m",
        ),
        (
            {"PFC_WD": {"Ethernet0": {"detection_time": "20"}}},
            "PFC_WD|Ethernet0|detection_time: '20': must be a whole number of ms from 100 to 5000",
        ),
        (
            {"INTERFACE": {"Ethernet0|10.0.0.1": {}}},
            "INTERFACE|Ethernet0|10.0.0.1: '10.0.0.1' is not an address; write one with its prefix length",
        ),
        ({"BGP_NEIGHBOR": {"10.0.0.1": {}}}, "BGP_NEIGHBOR|10.0.0.1|asn: missing; write the neighbour's AS number"),
        (
            {"VLAN": {"Vlan10": {}}, "VLAN_MEMBER": {"Vlan10|Ethernet9": {}}},
            "VLAN_MEMBER|Vlan10|Ethernet9: 'Ethernet9' is not a PORT",
        ),
        ({"INTERFACE": {"Ethernet0": "up"}}, "INTERFACE|Ethernet0: is 'up'; write an object of fields"),
        ({"X\ud800": 5}, "X\\ud800: is the number 5; a table must be"),
    ],
)
def test_a_mistake_in_a_table(tables: dict[str, Any], message: str) -> None:
    assert message in complaint(tables)


def test_all_mistakes_come_at_once_with_their_lines() -> None:
    text = (
        b'{\n"PORT": {"Ethernet0": {"speed": "1"},\n "Ethernet4": {"speed": "x"}},\n"SCHEDULER": {"s":\n {"weight": '
        b'"0"}}}'
    )
    assert [line.split(": ")[0] for line in complaints(text)] == ["c.json:3", "c.json:5"]


def test_what_stands_twice() -> None:
    text = b'{"PORT": {"Ethernet0": {"speed": "1",\n"speed": "2"},\n"Ethernet0": {"speed": "3"}}}'
    assert complaints(text) == [
        "c.json:3: PORT|Ethernet0: occurs twice, and only the last one would take effect; remove one"
    ]
    text = b'{"PORT": {"Ethernet0": {"speed": "1",\n"speed": "2"}}}'
    assert complaints(text) == [
        "c.json:2: PORT|Ethernet0|speed: occurs twice, and only the last one would take effect; remove one"
    ]


def test_a_file_full_of_mistakes_is_given_up_on() -> None:
    assert len(complaints({"SCHEDULER": {str(number): {"weight": "0"} for number in range(10_000)}})) == 50


@pytest.mark.no_cover
def test_a_large_file_is_read_and_its_mistake_found() -> None:
    entries = b",\n".join(
        b'"rule%d": {"PRIORITY": "%d", "SRC_IP": "10.0.0.0/8"}' % (number, number) for number in range(400_000)
    )
    text = b'{"ACL_RULE": {' + entries + b'},\n"PORT": {"Ethernet0": {"speed": "x"}}}'
    assert 20 * 2**20 < len(text) < LARGEST_BYTES
    assert complaint(text).startswith("c.json:400001: PORT|Ethernet0|speed")


def test_a_table_that_no_switch_has() -> None:
    ports = {f"Ethernet{number}": {"speed": "1"} for number in range(MOST_ENTRIES + 1)}
    assert complaint({"PORT": ports}).startswith(
        f"c.json:2: PORT: {MOST_ENTRIES + 1} entries or fields; a switch has fewer than {MOST_ENTRIES}"
    )
    cables = {"AZURE": dict.fromkeys(ports, "5m")}
    assert "CABLE_LENGTH: 50001 entries or fields" in complaint({"CABLE_LENGTH": cables})


def test_names_of_the_file_are_shown_on_one_line() -> None:
    assert complaint({"BUFFER_POOL": {"a\nb": {}}, "BUFFER_PROFILE": {"p": {"pool": "x"}}}).endswith(
        "'x' is not a BUFFER_POOL; valid here: a\\nb"
    )


TEXTS = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["Ethernet0", "3-4", "NULL", "AZURE", "ingress_lossless_pool", "[BUFFER_POOL|x]", "10.0.0.0/31"]),
)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.floats(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)


def survives(data: bytes) -> None:
    """Either it is read, or every problem says where; nothing else may happen."""
    try:
        parse_config_db(data, "c.json")
    except LabError as error:
        assert error.mistakes
        assert all(line.startswith("c.json:") and line.isprintable() for line in str(error).splitlines())


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_survive(data: bytes) -> None:
    survives(data)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(json.loads((GOLDEN / "jericho-2.json").read_text()))), st.data())
def test_any_change_of_a_file_survives(table: str, data: st.DataObject) -> None:
    config = json.loads((GOLDEN / "jericho-2.json").read_text())
    change = data.draw(st.sampled_from(["table", "entry", "field", "key"]))
    entries = config[table]
    key = data.draw(st.sampled_from(sorted(entries)))
    if change == "table":
        config[table] = data.draw(VALUES)
    elif change == "entry":
        entries[key] = data.draw(VALUES)
    elif change == "key":
        entries[data.draw(TEXTS) + "|" + data.draw(TEXTS)] = entries[key]
    else:
        entries[key] = {**entries[key], data.draw(st.sampled_from(sorted(entries[key]) or ["x"])): data.draw(VALUES)}
    survives(json.dumps(config).encode())


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 14_000), st.sampled_from([b"", b"\x00", b"{", b'"', b"\xff", b"]", b",", b"NaN", b"9" * 5000]))
@example(336, b"9" * 5000)
def test_any_damage_to_a_file_survives(position: int, damage: bytes) -> None:
    text = (GOLDEN / "trident-2.json").read_bytes()
    survives(text[:position] + damage + (text[position + 1 :] if damage else b""))
