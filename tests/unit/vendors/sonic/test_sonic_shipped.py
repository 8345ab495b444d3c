"""What stands in configurations that SONiC's templates make, written anew and small: each of it comes into a lab."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from fabriclab.formats.plan.model import Plan
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.judge import judge_config_db
from fabriclab.vendors.sonic.lab import ImportedLab, import_lab
from fabriclab.vendors.sonic.read import ConfigDb, parse_config_db, read_config_db

NAMES = ("Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12")
Tables = dict[str, Any]


def bound(number: str, profile: str, ports: tuple[str, ...] = NAMES) -> Tables:
    return {f"{name}|{number}": {"profile": profile} for name in ports}


def shipped(**changes: Any) -> Tables:
    """Return a switch with four ports of 100 Gbps, a lossless and a lossy class, two pools a side."""
    maps = {str(dscp): "3" if dscp == 3 else "0" for dscp in range(64)}
    eight = {str(number): str(number) for number in range(8)}
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "hwsku": "Some-Switch"}},
        "PORT": {
            name: {"speed": "100000", "lanes": f"{number},{number + 1}", "admin_status": "up", "mtu": "9100"}
            for number, name in enumerate(NAMES)
        },
        "BUFFER_POOL": {
            "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "8000000", "xoff": "1000000"},
            "egress_lossless_pool": {"type": "egress", "mode": "dynamic", "size": "12000000"},
            "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "8000000"},
        },
        "BUFFER_PROFILE": {
            "in": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"},
            "pg": {
                "pool": "ingress_lossless_pool",
                "size": "18432",
                "xon": "18432",
                "xoff": "90000",
                "dynamic_th": "0",
            },
            "lossless": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"},
            "lossy": {"pool": "egress_lossy_pool", "size": "9216", "dynamic_th": "3"},
        },
        "BUFFER_PG": {**bound("0", "in"), **bound("3-4", "pg")},
        "BUFFER_QUEUE": {**bound("0-2", "lossy"), **bound("3-4", "lossless")},
        "DSCP_TO_TC_MAP": {"AZURE": maps},
        "TC_TO_QUEUE_MAP": {"AZURE": eight},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {**eight, "1": "0", "2": "0"}},
        "PORT_QOS_MAP": {
            name: {
                "dscp_to_tc_map": "AZURE",
                "tc_to_queue_map": "AZURE",
                "tc_to_pg_map": "AZURE",
                "pfc_enable": "3,4",
            }
            for name in NAMES
        },
        **changes,
    }


def read(tables: Tables) -> ConfigDb:
    return parse_config_db(json.dumps(tables, indent=1).encode(), "c.json")


def imported(tables: Tables) -> ImportedLab:
    return import_lab(read(tables))


def plan_of(tables: Tables, directory: Path) -> Plan:
    for file, text in imported(tables).files.items():
        (directory / file).write_text(text, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


def complaints(tables: Tables) -> list[str]:
    with pytest.raises(LabError) as caught:
        imported(tables)
    return str(caught.value).splitlines()


def pool_sizes(plan: Plan) -> dict[str, tuple[int, int]]:
    switch = plan.node("leaf1").switch
    assert switch is not None
    return {pool.name: (pool.size_bytes, pool.headroom_bytes) for pool in switch.pools}


def test_ports_of_which_some_have_lossless_groups_and_others_none(tmp_path: Path) -> None:
    tables = shipped(BUFFER_PG={**bound("0", "in"), **bound("3-4", "pg", NAMES[1:])})
    tables["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = ""
    plan = plan_of(tables, tmp_path)
    groups = {
        port.interface: [group.index for group in port.switch_port.groups]
        for port in plan.node("leaf1").ports
        if port.switch_port is not None
    }
    assert groups == {"Ethernet0": [0], **{name: [0, 3, 4] for name in NAMES[1:]}}


def test_numbers_booleans_null_and_blanks_are_read_as_sonic_does() -> None:
    tables = shipped()
    tables["PORT"]["Ethernet0"] |= {"speed": 100000, "mtu": 9100, "description": None}
    tables["BUFFER_PROFILE"]["lossy"]["size"] = " 9216  "
    tables["DEVICE_METADATA"]["localhost"] |= {"bgp_asn": 65100, "region": None, "frr_mgmt_framework_config": False}
    config = read(tables)
    assert (config.ports["Ethernet0"].speed_mbps, config.ports["Ethernet0"].lanes) == (100_000, 2)
    assert (config.profiles["lossy"].size, config.asn, config.frrcfgd) == (9216, 65100, False)


@pytest.mark.parametrize("speed", ["800000", "1600000"])
def test_fast_ports(speed: str, tmp_path: Path) -> None:
    tables = shipped()
    for fields in tables["PORT"].values():
        fields["speed"] = speed
    plan = plan_of(tables, tmp_path)
    assert {port.rate_bps for port in plan.node("leaf1").ports} == {int(speed) * 10**6}


def test_a_ninth_class_goes_where_it_is_treated_alike(tmp_path: Path) -> None:
    tables = shipped()
    tables["DSCP_TO_TC_MAP"]["AZURE"]["33"] = "8"
    tables["TC_TO_QUEUE_MAP"]["AZURE"]["8"] = "1"
    tables["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["8"] = "0"
    lab = imported(tables)
    assert any(note.startswith("traffic class 8 is 1 in the lab, which has no DSCP") for note in lab.notes)
    port = plan_of(tables, tmp_path).node("leaf1").ports[0].switch_port
    assert port is not None and port.maps is not None
    assert not any("missing, taken as 0" in note for note in lab.notes)
    assert (port.maps.dscp_to_tc[33], port.maps.tc_to_queue[1], port.maps.tc_to_group[1]) == (1, 1, 0)
    tables["TC_TO_QUEUE_MAP"]["AZURE"]["8"] = "0"
    assert any("traffic class 8 is 0 in the lab, which has the same queue" in note for note in imported(tables).notes)
    assert not any(
        finding.rule == "malformed" for finding in judge_config_db(json.dumps(tables).encode(), "c").findings
    )


def test_what_eight_classes_and_queues_cannot_be_is_told() -> None:
    tables = shipped()
    tables["DSCP_TO_TC_MAP"]["AZURE"] = {str(dscp): str(dscp % 9) for dscp in range(64)}
    tables["TC_TO_QUEUE_MAP"]["AZURE"]["8"] = "5"
    tables["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["8"] = "0"
    (line,) = complaints(tables)
    assert "DSCP_TO_TC_MAP|AZURE: 9 classes, all with different queues and groups" in line
    tables = shipped()
    tables["TC_TO_QUEUE_MAP"]["AZURE"]["0"] = "9"
    (line,) = complaints(tables)
    assert "TC_TO_QUEUE_MAP|AZURE: class 0 goes to queue 9; a lab's port has queues 0 to 7" in line


def test_only_the_keys_of_this_line_card_and_chip_are_taken() -> None:
    cards = {
        f"{host}|{asic}|Ethernet0|3": {"profile": "lossless"} for host in ("LC1", "lc2") for asic in ("Asic0", "Asic1")
    }
    tables = shipped(BUFFER_QUEUE={**cards, "lc1|asic0|Ethernet4|0": {"profile": "lossy"}})
    tables["DEVICE_METADATA"]["localhost"] |= {"hostname": "lc1", "asic_name": "asic0"}
    config = read(tables)
    assert [binding.ports for binding in config.buffer_queues] == [("Ethernet0",), ("Ethernet4",)]
    assert "entries of other line cards were left out" in " ".join(config.notes)


def test_a_port_channel_keeps_its_members_of_one_speed() -> None:
    tables = shipped(
        PORTCHANNEL={"PortChannel1": {}},
        PORTCHANNEL_MEMBER={f"PortChannel1|{name}": {} for name in NAMES[:3]},
        VLAN={"Vlan10": {"vlanid": "10"}},
        VLAN_MEMBER={"Vlan10|Ethernet12": {"tagging_mode": "untagged"}},
    )
    tables["PORT"]["Ethernet8"]["speed"] = "40000"
    lab = imported(tables)
    assert [link.interface for link in lab.groups.channels[0].links] == ["Ethernet0", "Ethernet4"]
    assert (
        "PortChannel1: Ethernet8 not included: LACP bundles links of one speed, and Ethernet0 has 100 Gbps" in lab.notes
    )


def test_unused_ports_of_nvidia_are_left_out(tmp_path: Path) -> None:
    tables = shipped()
    tables["BUFFER_POOL"]["ingress_zero_pool"] = {"type": "ingress", "mode": "static", "size": "0"}
    tables["BUFFER_PROFILE"]["zero"] = {"pool": "ingress_zero_pool", "size": "0", "static_th": "0"}
    tables["BUFFER_PG"] |= bound("0", "zero", NAMES[3:])
    tables["INTERFACE"] = {f"{name}|10.0.{number}.0/31": {} for number, name in enumerate(NAMES)}
    lab = imported(tables)
    assert [link.interface for link in lab.links] == list(NAMES[:3])
    assert "Ethernet12: left out, because their frames use ingress_zero_pool, a pool of size 0" in lab.notes
    assert "BUFFER_POOL|ingress_zero_pool: left out, because it has size 0, for ports that are not in use" in lab.notes
    assert set(pool_sizes(plan_of(tables, tmp_path))) == {
        "ingress_lossless_pool",
        "egress_lossless_pool",
        "egress_lossy_pool",
    }


def test_more_pools_than_a_lab_has_are_left_out_where_nothing_uses_them(tmp_path: Path) -> None:
    tables = shipped()
    for name in ("spare1", "spare2"):
        tables["BUFFER_POOL"][name] = {"type": "egress", "mode": "dynamic", "size": "1000000"}
    assert len(pool_sizes(plan_of(tables, tmp_path))) == 4
    assert any(note.startswith("BUFFER_POOL: spare2 left out") for note in imported(tables).notes)


@pytest.mark.parametrize(
    ("hwsku", "size"),
    [("Some-Switch", 7_000_000), ("Arista-7170-64C", 8_000_000), ("Mellanox-SN2700", 8_000_000 + 4 * 2 * 18432)],
)
def test_what_a_pool_holds_hangs_on_the_chip(hwsku: str, size: int, tmp_path: Path) -> None:
    tables = shipped()
    tables["DEVICE_METADATA"]["localhost"]["hwsku"] = hwsku
    plan = plan_of(tables, tmp_path)
    (switch,) = (node.switch for node in plan.nodes if node.switch is not None)
    whole = tuple(value // switch.cell_bytes * switch.cell_bytes for value in (size, 1_000_000))
    assert pool_sizes(plan)["ingress_lossless_pool"] == whole


def test_a_profile_of_the_other_sides_pool_gets_a_view_of_it(tmp_path: Path) -> None:
    tables = shipped()
    tables["BUFFER_PROFILE"]["lossless"]["pool"] = "ingress_lossless_pool"
    sizes = pool_sizes(plan_of(tables, tmp_path))
    assert sizes["ingress_lossless_pool_egress"] == (8_000_000, 0)
    assert any(
        "uses ingress_lossless_pool, an ingress pool, although BUFFER_QUEUE refers to it" in note
        for note in imported(tables).notes
    )


def test_a_missing_map_and_missing_speeds_are_one_mistake_each() -> None:
    tables = shipped(DSCP_TO_TC_MAP={})
    (line,) = complaints(tables)
    assert "PORT_QOS_MAP|Ethernet0|dscp_to_tc_map: 'AZURE' is not a DSCP_TO_TC_MAP" in line
    assert "(so do 3 other entries, up to Ethernet12)" in line
    tables = shipped()
    for fields in tables["PORT"].values():
        del fields["speed"]
    (line,) = complaints(tables)
    assert "PORT|Ethernet0|speed: missing; write the port's speed" in line


def test_a_missing_as_number_is_an_error() -> None:
    tables = shipped(
        INTERFACE={"Ethernet0|10.0.0.0/31": {}, "Ethernet4|10.0.0.2/31": {}},
        BGP_NEIGHBOR={"10.0.0.1": {"asn": "65200", "name": "spine"}},
    )
    (line,) = complaints(tables)
    assert "DEVICE_METADATA|localhost|bgp_asn: missing, although there are BGP sessions (BGP_NEIGHBOR|10.0.0.1)" in line
    tables["DEVICE_METADATA"]["localhost"]["frr_mgmt_framework_config"] = "true"
    tables["BGP_NEIGHBOR"] = {"default|10.0.0.1": {"asn": "65200"}}
    (line,) = complaints(tables)
    assert "BGP_GLOBALS|default|local_asn: missing" in line


def test_hosts_behind_neighbours_of_one_as_number_do_not_send_to_each_other(tmp_path: Path) -> None:
    tables = shipped(
        INTERFACE={f"{name}|10.0.{number}.0/31": {} for number, name in enumerate(NAMES)},
        BGP_NEIGHBOR={
            f"10.0.{number}.1": {"asn": "65200" if number < 2 else "65300", "name": f"n{number}"} for number in range(4)
        },
    )
    tables["DEVICE_METADATA"]["localhost"]["bgp_asn"] = "65100"
    lab = imported(tables)
    assert "senders: [n2-host, n3-host], receiver: n0-host" in lab.files["experiment.yml"]
    assert any("2 neighbours are in AS 65200, so their hosts do not reach each other" in note for note in lab.notes)
    tables["BGP_NEIGHBOR"]["10.0.3.1"]["asn"] = "65400"
    assert "senders: all, receiver: n2-host" in imported(tables).files["experiment.yml"]
    assert plan_of(tables, tmp_path).traffic


def test_what_a_terminal_printed(tmp_path: Path) -> None:
    tables = shipped(bgpraw="router bgp 65100\n")
    shown = "admin@leaf1:~$ show runningconfiguration all\n" + json.dumps(tables, indent=4) + "\nadmin@leaf1:~$ \n"
    (tmp_path / "shown.txt").write_text(shown)
    config = read_config_db(tmp_path / "shown.txt")
    assert config.hostname == "leaf1" and any(note.startswith("bgpraw left out") for note in config.notes)
    assert config.place("DEVICE_METADATA").line == 3


def test_an_archive_of_techsupport_and_a_directory(tmp_path: Path) -> None:
    saved = tmp_path / "sonic_dump_leaf1" / "etc" / "sonic"
    saved.mkdir(parents=True)
    (saved / "config_db.json").write_text(json.dumps(shipped()))
    with tarfile.open(tmp_path / "dump.tar.gz", "w:gz") as archive:
        archive.add(saved.parent.parent, "sonic_dump_leaf1")
    assert read_config_db(tmp_path / "dump.tar.gz").hostname == "leaf1"
    assert read_config_db(saved).hostname == "leaf1"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("dump.tar", b"no archive", "is not a readable archive"),
        ("minigraph.xml", b"<DeviceMiniGraph/>", "sonic-cfggen -m minigraph.xml"),
        ("all.json", b'{"localhost": {}, "asic0": {}, "asic1": {}}', "the configuration of 2 chips"),
        ("etc/config_db0.json", b"{}", "a switch of 1 chips, each with a file of its own"),
        ("etc/minigraph.txt", b"", "a directory without config_db.json"),
    ],
)
def test_what_is_no_configuration_of_one_chip_is_told(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    with pytest.raises(LabError) as caught:
        read_config_db(path.parent if name.startswith("etc") else path)
    assert message in str(caught.value)


def test_an_archive_without_a_configuration(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "dump.tgz", "w:gz"):
        pass
    with pytest.raises(LabError, match="an archive without etc/sonic"):
        read_config_db(tmp_path / "dump.tgz")
