"""VLANs and port channels of a config_db.json: imported, bound, exported; what a lab cannot have of them is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from outside_files import MODELS, needs_yanglint
from repository import ROOT

from fabriclab.engine.yanglint import validate
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.node import PortChannel, Vlan
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.export import export_switch, yang_data
from fabriclab.vendors.sonic.lab import ImportedLab, import_lab
from fabriclab.vendors.sonic.read import parse_config_db

T0 = ROOT / "tests" / "golden" / "sonic" / "t0.json"
SERVERS = ("Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12")
Tables = dict[str, Any]


def t0(**changes: Any) -> Tables:
    """Return the T0's tables, some replaced; None removes one."""
    tables = {**json.loads(T0.read_text()), **changes}
    return {name: entries for name, entries in tables.items() if entries is not None}


def more(table: str, **entries: Any) -> Tables:
    """Return a table of the T0 with more entries."""
    return {table: {**t0().get(table, {}), **entries}}


def imported(tables: Tables) -> ImportedLab:
    return import_lab(parse_config_db(json.dumps(tables, indent=1).encode(), "c.json"))


def plan_of(lab: ImportedLab, directory: Path) -> Plan:
    for file, text in lab.files.items():
        (directory / file).write_text(text, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


def complaint(tables: Tables) -> str:
    with pytest.raises(LabError) as caught:
        imported(tables)
    return str(caught.value)


def test_a_t0_is_imported_with_its_vlan_and_its_port_channels(tmp_path: Path) -> None:
    plan = plan_of(imported(t0()), tmp_path)
    switch = plan.node("t0-1")
    assert [(vlan.name, vlan.vlan_id, vlan.members, vlan.address) for vlan in switch.vlans] == [
        ("Vlan1000", 1000, SERVERS, "192.168.0.1/21")
    ]
    assert [(one.name, one.members, one.address, one.peer_interface) for one in switch.port_channels] == [
        ("PortChannel101", ("Ethernet16", "Ethernet20"), "10.0.0.56/31", "PortChannel101"),
        ("PortChannel102", ("Ethernet24", "Ethernet28"), "10.0.0.58/31", "PortChannel102"),
    ]
    assert [port.address for port in switch.ports] == [None] * 8
    there = plan.node("ARISTA02T1")
    assert [(one.members, one.address) for one in there.port_channels] == [(("eth1", "eth2"), "10.0.0.59/31")]
    assert there.asn == 64600
    hosts = [plan.node(f"Servers{number}").ports[0].address for number in range(4)]
    assert hosts == [f"192.168.0.{number}/21" for number in range(2, 6)]


def test_what_a_lab_has_not_is_told() -> None:
    lab = imported(t0())
    assert "Vlan1000: 2 addresses; in the lab it has only the first one, 192.168.0.1/21" in lab.notes
    assert "4 IPv6 addresses were left out; a lab has only IPv4" in lab.notes
    left_out = {one.what: one.why for one in lab.left_out}
    assert left_out["PORTCHANNEL: min_links"] == "a port channel of a lab is up while one of its members is"
    assert left_out["PORTCHANNEL: lacp_key, fast_rate"] == "a lab's port channels are static: LACP is not emulated"
    assert "VLAN: vlanid" not in left_out


def test_tagged_members_are_not_in_the_vlan(tmp_path: Path) -> None:
    members = {
        f"Vlan1000|{port}": {"tagging_mode": "tagged" if port == "Ethernet12" else "untagged"} for port in SERVERS
    }
    lab = imported(t0(VLAN_MEMBER=members))
    assert "Vlan1000: the tagged members Ethernet12 were left out, because frames in a lab have no tag" in lab.notes
    switch = plan_of(lab, tmp_path).node("t0-1")
    assert switch.vlans[0].members == SERVERS[:3]
    assert switch.ports[3].address is not None


def test_ports_that_are_down_leave_their_groups(tmp_path: Path) -> None:
    down = {name: {**t0()["PORT"][name], "admin_status": "down"} for name in ("Ethernet4", "Ethernet20")}
    channels = {**t0()["PORTCHANNEL"], "PortChannel102": {"admin_status": "down"}}
    lab = imported(t0(PORT={**t0()["PORT"], **down}, PORTCHANNEL=channels))
    assert "PortChannel102: down, or without a port in the lab; left out" in lab.notes
    switch = plan_of(lab, tmp_path).node("t0-1")
    assert switch.vlans[0].members == ("Ethernet0", "Ethernet8", "Ethernet12")
    assert [(channel.name, channel.members) for channel in switch.port_channels] == [
        ("PortChannel101", ("Ethernet16",))
    ]


def test_a_server_behind_a_port_channel_in_a_vlan(tmp_path: Path) -> None:
    """MC-LAG's half: the bond of a server, in the VLAN of the others."""
    channels = {**t0()["PORTCHANNEL"], "PortChannel0007": {"admin_status": "up"}}
    joins = {**t0()["PORTCHANNEL_MEMBER"], "PortChannel0007|Ethernet0": {}, "PortChannel0007|Ethernet4": {}}
    members = {
        f"Vlan1000|{name}": {"tagging_mode": "untagged"} for name in ("PortChannel0007", "Ethernet8", "Ethernet12")
    }
    plan = plan_of(imported(t0(PORTCHANNEL=channels, PORTCHANNEL_MEMBER=joins, VLAN_MEMBER=members)), tmp_path)
    assert plan.node("t0-1").vlans[0].members == ("PortChannel0007", "Ethernet8", "Ethernet12")
    (bond,) = plan.node("Servers0").port_channels
    assert (bond.members, bond.address) == (("eth1", "eth2"), "192.168.0.2/21")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            more("PORTCHANNEL_MEMBER", **{"PortChannel101|Ethernet24": {}}),
            "'Ethernet24' is also a member of PortChannel102",
        ),
        (more("PORTCHANNEL_MEMBER", **{"PortChannel9|Ethernet0": {}}), "'PortChannel9' is not a PORTCHANNEL"),
        (
            more("VLAN_MEMBER", **{"Vlan1000|Ethernet16": {"tagging_mode": "untagged"}}),
            "'Ethernet16' is also a member of PortChannel101",
        ),
        (more("VLAN_MEMBER", **{"Vlan1000|Ethernet99": {"tagging_mode": "untagged"}}), "'Ethernet99' is not a PORT"),
        (
            more("VLAN_MEMBER", **{"Vlan1000|Ethernet0": {"tagging_mode": "native"}}),
            "Vlan1000|Ethernet0|tagging_mode: 'native'",
        ),
        ({"VLAN": {"Vlan1000": {"vlanid": "100"}}}, "VLAN|Vlan1000|vlanid: 100 is the number of Vlan100"),
    ],
    ids=["two-channels", "no-channel", "channel-and-vlan", "no-port", "mode", "number"],
)
def test_what_cannot_be_is_told(changes: Tables, message: str) -> None:
    assert message in complaint(t0(**changes))


def bound_lab(directory: Path, tables: Tables) -> Path:
    """Write a lab of the T0 as a node of kind sonic-vs with two servers and one T1 behind a port channel."""
    directory.mkdir(exist_ok=True)
    (directory / "t0.json").write_text(json.dumps(tables, indent=1))
    (directory / "topology.clab.yml").write_text(
        """name: bound
topology:
  nodes:
    t0: {kind: sonic-vs, binds: ['t0.json:/etc/sonic/config_db.json']}
    t1: {kind: linux, labels: {fabriclab.role: switch, fabriclab.asn: 64600}}
    a: {kind: linux}
    b: {kind: linux}
    c: {kind: linux}
  links:
    - {endpoints: ['t0:eth1', 'a:eth1'], vars: {rate: 10 Gbps}}
    - {endpoints: ['t0:eth2', 'b:eth1'], vars: {rate: 10 Gbps}}
    - {endpoints: ['t0:eth5', 't1:eth1'], vars: {rate: 10 Gbps}}
    - {endpoints: ['t0:eth6', 't1:eth2'], vars: {rate: 10 Gbps}}
    - {endpoints: ['t1:eth3', 'c:eth1'], vars: {rate: 10 Gbps}}
"""
    )
    (directory / "experiment.yml").write_text(
        "title: B\nswitches: {default: {buffer: 1 MB}}\ntraffic: {f: {kind: long, senders: [a], receiver: c, stop: "
        "1 s}}\n"
    )
    return directory


def test_a_bound_file_has_its_groups_as_far_as_there_are_links(tmp_path: Path) -> None:
    plan = resolve_plan(parse_lab(bound_lab(tmp_path / "lab", t0())), {})
    switch = plan.node("t0")
    (vlan,), (channel,) = switch.vlans, switch.port_channels
    assert isinstance(vlan, Vlan) and isinstance(channel, PortChannel)
    assert (vlan.members, vlan.address) == (("Ethernet0", "Ethernet4"), "192.168.0.1/21")
    assert (channel.name, channel.members, channel.address) == (
        "PortChannel101",
        ("Ethernet16", "Ethernet20"),
        "10.0.0.56/31",
    )
    assert switch.bgp is not None
    assert [(one.interface, one.address) for one in switch.bgp.neighbours] == [("PortChannel101", "10.0.0.57")]
    assert "192.168.0.0/21" in switch.bgp.networks
    assert plan.node("t1").port_channels[0].address == "10.0.0.57/31"
    assert any(warning.startswith("t0: Vlan1000: 2 addresses") for warning in plan.warnings)


def test_a_bound_switch_is_exported_as_its_file_has_it(tmp_path: Path) -> None:
    plan = resolve_plan(parse_lab(bound_lab(tmp_path / "lab", t0())), {})
    tables = json.loads(export_switch(plan.node("t0"), plan).text)
    assert tables["PORTCHANNEL_MEMBER"] == {"PortChannel101|Ethernet16": {}, "PortChannel101|Ethernet20": {}}
    assert tables["VLAN_MEMBER"] == {f"Vlan1000|{port}": {"tagging_mode": "untagged"} for port in SERVERS[:2]}
    assert tables["VLAN_INTERFACE"] == {"Vlan1000": {}, "Vlan1000|192.168.0.1/21": {}}
    assert "BGP_GLOBALS" not in tables  # bgpcfgd announces Vlan1000 by itself
    assert tables["BGP_NEIGHBOR"]["10.0.0.57"]["local_addr"] == "10.0.0.56"


def test_a_bound_file_without_memory_is_a_switch_without_profile(tmp_path: Path) -> None:
    tables = t0(BUFFER_POOL=None, BUFFER_PROFILE=None, BUFFER_PG=None, BUFFER_QUEUE=None)
    plan = resolve_plan(parse_lab(bound_lab(tmp_path / "lab", tables)), {})
    assert plan.node("t0").switch is None
    assert any(
        warning.startswith("t0: BUFFER_POOL is missing or empty: the switch gets no profile")
        for warning in plan.warnings
    )


@needs_yanglint
@pytest.mark.parametrize("protocol", ["bgp-numbered", "bgp-unnumbered"])
def test_the_export_is_valid(protocol: str, tmp_path: Path) -> None:
    plan_of(imported(t0()), tmp_path)
    experiment = tmp_path / "experiment.yml"
    experiment.write_text(experiment.read_text().replace("bgp-numbered", protocol))
    plan = resolve_plan(parse_lab(tmp_path), {})
    for name in ("t0-1", "ARISTA01T1"):
        tables = export_switch(plan.node(name), plan).tables
        assert set(tables) >= {"PORTCHANNEL", "PORTCHANNEL_MEMBER", "PORTCHANNEL_INTERFACE", "BGP_NEIGHBOR"}
        data = yang_data(tables)
        assert "\n".join(validate(data.xml, data.modules, MODELS)) == ""
