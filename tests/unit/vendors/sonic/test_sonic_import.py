"""A config_db.json as a lab: what each table becomes, and what cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import ROOT

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Port
from fabriclab.formats.plan.switch import (
    Account,
    Lossless,
    Pfc,
    Pool,
    PriorityGroup,
    Scheduler,
    SwitchQueue,
    Watchdog,
    Wred,
)
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.lab import ImportedLab, import_lab
from fabriclab.vendors.sonic.read import parse_config_db, read_config_db

GOLDEN = ROOT / "tests" / "golden" / "sonic"
PLATFORMS = {"trident-2": "td2", "trident-3": "td3", "jericho-2": "j2"}
NAMES = ("Ethernet0", "Ethernet4")
SMALL: dict[str, Any] = {
    "PORT": {name: {"speed": "1000", "admin_status": "up", "mtu": "1500"} for name in NAMES},
    "BUFFER_POOL": {
        "ingress": {"type": "ingress", "mode": "dynamic", "size": "1000000"},
        "egress": {"type": "egress", "mode": "dynamic", "size": "1000000"},
    },
    "BUFFER_PROFILE": {
        "lossy": {"pool": "egress", "size": "0", "dynamic_th": "1"},
        "in": {"pool": "ingress", "size": "0", "static_th": "0"},
    },
    "BUFFER_QUEUE": {f"{name}|0": {"profile": "lossy"} for name in NAMES},
    "BUFFER_PG": {f"{name}|0": {"profile": "in"} for name in NAMES},
    "SCHEDULER": {"s": {"type": "DWRR", "weight": "10"}},
    "QUEUE": {f"{name}|0": {"scheduler": "s"} for name in NAMES},
}


def imported(changes: dict[str, Any], name: str | None = None) -> ImportedLab:
    return import_lab(parse_config_db(json.dumps({**SMALL, **changes}, indent=1).encode(), "c.json"), name)


def plan_of(lab: ImportedLab, directory: Path) -> Plan:
    for file, text in lab.files.items():
        (directory / file).write_text(text, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


def port_of(changes: dict[str, Any], directory: Path) -> Port:
    return plan_of(imported(changes), directory).node("switch").ports[0]


def queue_of(changes: dict[str, Any], directory: Path, index: int = 0) -> SwitchQueue:
    switch_port = port_of(changes, directory).switch_port
    assert switch_port is not None
    return next(queue for queue in switch_port.queues if queue.index == index)


def both(table: str, number: str, fields: dict[str, str]) -> dict[str, Any]:
    """Return a table with one more entry for each port."""
    return {table: {**SMALL.get(table, {}), **{f"{name}|{number}": fields for name in NAMES}}}


def complaint(changes: dict[str, Any]) -> str:
    with pytest.raises(LabError) as caught:
        imported(changes)
    return str(caught.value)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_platform_s_file_becomes_a_lab(platform: str, tmp_path: Path) -> None:
    plan = plan_of(import_lab(read_config_db(GOLDEN / f"{platform}.json")), tmp_path)
    node = plan.node(PLATFORMS[platform])
    assert [port.interface for port in node.ports] == ["Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"]
    assert node.loopback is None or node.loopback == "10.1.0.32"
    assert all(port.mtu == 9100 for port in node.ports)


def test_trident_3(tmp_path: Path) -> None:
    plan = plan_of(import_lab(read_config_db(GOLDEN / "trident-3.json")), tmp_path)
    node = plan.node("td3")
    port = node.ports[0].switch_port
    assert node.switch is not None
    assert port is not None
    reserved = 5 * 1792 * 4  # by queues of the four ports: so it is on Trident 3
    assert node.switch.cell_bytes == 256
    assert node.switch.pools[0] == Pool(
        name="ingress_lossless_pool", size_bytes=(32732160 - 1622016 - reserved) // 256 * 256, headroom_bytes=1622016
    )
    assert node.ports[0].delay_ns == 25  # 5 m
    assert node.ports[0].rate_bps == 100 * 10**9
    assert port.queues[3] == SwitchQueue(
        index=3,
        account=Account(pool="egress_lossless_pool", limit_bytes=32599040),
        scheduler=Scheduler(kind="dwrr", weight=15),
        wred=Wred(min=2**20, max=2**21, probability_ppm=50_000),
    )
    assert port.groups[1] == PriorityGroup(
        index=3,
        account=Account(pool="ingress_lossless_pool", reserved_bytes=4608, alpha_log=0),
        lossless=Lossless(headroom_bytes=160_000, xon_bytes=4608, xon_offset_bytes=4608),
    )
    assert port.maps.dscp_to_tc[46] == 5
    assert port.maps.tc_to_group == (0, 0, 0, 3, 4, 0, 0, 7)
    assert port.pfc == Pfc(priorities=(3, 4), watchdog=Watchdog(detection_ns=200_000_000, restoration_ns=200_000_000))


def test_the_headroom_of_trident_2_is_in_the_size_of_its_profile(tmp_path: Path) -> None:
    plan = plan_of(import_lab(read_config_db(GOLDEN / "trident-2.json")), tmp_path)
    node = plan.node("td2")
    assert node.switch is not None
    assert node.ports[0].switch_port is not None
    group = node.ports[0].switch_port.groups[1]
    assert (group.account.reserved_bytes, group.lossless) == (
        56368 - 55120,
        Lossless(headroom_bytes=55120, xon_bytes=18432, xon_offset_bytes=2496),
    )
    # Two lossless groups on each of four ports.
    assert node.switch.pools[0].size_bytes == 12766208 - 8 * 55120


def test_a_pool_of_both_sides_is_seen_from_each(tmp_path: Path) -> None:
    plan = plan_of(import_lab(read_config_db(GOLDEN / "jericho-2.json")), tmp_path)
    switch = plan.node("j2").switch
    assert switch is not None
    assert [(pool.name, pool.size_bytes, pool.headroom_bytes) for pool in switch.pools] == [
        ("ingress_lossless_pool", 6441609984, 1056256768),
        ("ingress_lossless_pool_egress", 6441609984, 0),
    ]


def test_what_ports_outside_the_lab_reserve_is_taken_off(tmp_path: Path) -> None:
    ports = {**SMALL["PORT"], "Ethernet8": {"speed": "1000", "admin_status": "down"}}
    profiles = {**SMALL["BUFFER_PROFILE"], "reserving": {"pool": "egress", "size": "1000", "dynamic_th": "1"}}
    queues = {**SMALL["BUFFER_QUEUE"], "Ethernet8|0-4": {"profile": "reserving"}}
    plan = plan_of(imported({"PORT": ports, "BUFFER_PROFILE": profiles, "BUFFER_QUEUE": queues}), tmp_path)
    switch = plan.node("switch").switch
    assert switch is not None
    assert [pool.size_bytes for pool in switch.pools] == [1_000_000, 995_000]


def test_wred_needs_to_be_enabled(tmp_path: Path) -> None:
    profile = {
        "green_min_threshold": "10000",
        "green_max_threshold": "30000",
        "green_drop_probability": "10",
        "ecn": "ecn_all",
    }
    queues = both("QUEUE", "0", {"scheduler": "s", "wred_profile": "w"})
    off = {"WRED_PROFILE": {"w": profile}, **queues}
    assert queue_of(off, tmp_path).wred is None
    assert any("wred_green_enable" in note for note in imported(off).notes)
    on = {"WRED_PROFILE": {"w": {**profile, "wred_green_enable": "true"}}, **queues}
    assert queue_of(on, tmp_path).wred == Wred(min=10_000, max=30_000, probability_ppm=100_000)
    drops = {"WRED_PROFILE": {"w": {**profile, "wred_green_enable": "true", "ecn": "ecn_yellow_red"}}, **queues}
    assert queue_of(drops, tmp_path).wred == Wred(min=10_000, max=30_000, probability_ppm=100_000, ecn=False)


def test_a_file_that_says_nothing_of_memory_has_no_profile(tmp_path: Path) -> None:
    lab = imported({"BUFFER_POOL": {}, "BUFFER_PROFILE": {}, "BUFFER_PG": {}, "BUFFER_QUEUE": {}})
    assert "switch.yml" not in lab.files
    assert any(note.startswith("BUFFER_POOL is missing or empty: the switch gets no profile") for note in lab.notes)
    assert any(note.endswith("QUEUE, SCHEDULER left out with it") for note in lab.notes)
    port = plan_of(lab, tmp_path).node("switch").ports[0]
    assert (port.queue is not None, port.switch_port) == (True, None)


def test_cir_is_in_bytes(tmp_path: Path) -> None:
    scheduler = {"type": "STRICT", "cir": "12500000", "pir": "25000000", "cbs": "8000", "pbs": "16000"}
    expected = Scheduler(kind="strict", cir_bps=100_000_000, cbs_bytes=8000, pir_bps=200_000_000, pbs_bytes=16_000)
    assert queue_of({"SCHEDULER": {"s": scheduler}}, tmp_path).scheduler == expected


def test_what_has_no_map_is_of_class_0(tmp_path: Path) -> None:
    switch_port = port_of({}, tmp_path).switch_port
    assert switch_port is not None
    assert set(switch_port.maps.dscp_to_tc) == {0}
    assert [queue.index for queue in switch_port.queues] == [0]


def test_a_global_map_holds_where_a_port_has_none(tmp_path: Path) -> None:
    changes = {"DSCP_TO_TC_MAP": {"A": {"8": "2"}}, "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "A"}}}
    switch_port = port_of(changes, tmp_path).switch_port
    assert switch_port is not None
    assert switch_port.maps.dscp_to_tc[8] == 2
    assert any(note.startswith("DSCP_TO_TC_MAP|A: 0, 1, 2") for note in imported(changes).notes)


def test_a_profile_that_sonic_computes_is_computed(tmp_path: Path) -> None:
    changes = {
        **both("BUFFER_PG", "3", {"profile": "NULL"}),
        "PORT_QOS_MAP": {name: {"pfc_enable": "3"} for name in NAMES},
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "-2"}},
    }
    switch_port = port_of(changes, tmp_path).switch_port
    assert switch_port is not None
    group = switch_port.groups[1]
    assert group.account == Account(pool="ingress", alpha_log=-2)
    assert group.lossless is not None
    assert group.lossless.headroom_bytes > 2 * 1514


def test_ports_that_differ_say_so_in_the_profile(tmp_path: Path) -> None:
    ports = {f"Ethernet{4 * number}": SMALL["PORT"]["Ethernet0"] for number in range(5)}
    queues = {
        f"{name}|0": {"scheduler": "slow" if name in ("Ethernet4", "Ethernet8", "Ethernet16") else "s"}
        for name in ports
    }
    schedulers = {**SMALL["SCHEDULER"], "slow": {"type": "DWRR", "weight": "1"}}
    bound = {"BUFFER_QUEUE": {f"{name}|0": {"profile": "lossy"} for name in ports}, "BUFFER_PG": {}}
    lab = imported({"PORT": ports, "QUEUE": queues, "SCHEDULER": schedulers, **bound})
    profile = lab.files["switch.yml"].splitlines()
    assert [line for line in profile if line.startswith("  'Ethernet")] == [
        "  'Ethernet0, Ethernet12':",
        "  'Ethernet4..Ethernet8, Ethernet16':",
    ]
    assert "queues:" not in profile  # nothing of a queue holds for all ports
    node = plan_of(lab, tmp_path).node("switch")
    weights = [port.switch_port.queues[0].scheduler.weight for port in node.ports if port.switch_port is not None]
    assert weights == [10, 1, 1, 10, 1]


def test_a_queue_without_a_profile_has_all_the_memory(tmp_path: Path) -> None:
    queue = queue_of({"BUFFER_QUEUE": {}}, tmp_path)
    assert queue.account == Account(limit_bytes=1_000_000)


@pytest.mark.parametrize(
    ("action", "expected"),
    [("drop", "drop"), ("forward", "forward"), ("alert", None)],
)
def test_the_watchdog(action: str, expected: str | None, tmp_path: Path) -> None:
    changes = {
        "PORT_QOS_MAP": {name: {"pfc_enable": "3"} for name in NAMES},
        "PFC_WD": {
            "GLOBAL": {"POLL_INTERVAL": "100"},
            **{name: {"action": action, "detection_time": "300"} for name in NAMES},
        },
    }
    switch_port = port_of(changes, tmp_path).switch_port
    assert switch_port is not None
    assert switch_port.pfc is not None
    watchdog = switch_port.pfc.watchdog
    assert (None if watchdog is None else (watchdog.action, watchdog.detection_ns, watchdog.restoration_ns)) == (
        None if expected is None else (expected, 300_000_000, 600_000_000)
    )


def test_neighbours_by_bgp_become_switches(tmp_path: Path) -> None:
    plan = plan_of(import_lab(read_config_db(GOLDEN / "trident-2.json")), tmp_path)
    assert plan.bgp is not None
    assert (plan.bgp.keepalive_s, plan.bgp.hold_s) == (3, 10)
    assert (plan.node("td2").asn, plan.node("ARISTA03T1").asn) == (65100, 64602)
    assert plan.node("Servers0").role == "host"
    assert plan.node("td2").ports[2].address == "10.0.0.4/31"
    assert plan.peer_of(plan.node("td2").ports[2]).address == "10.0.0.5/31"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("leaf 1", "leaf-1"), ("default", "node-default"), ("experiment", "node-experiment"), ("..", "node")],
)
def test_names_that_a_lab_cannot_have(name: str, expected: str, tmp_path: Path) -> None:
    neighbours = {"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "all"}, "Ethernet4": {"name": "null"}}}
    plan = plan_of(imported(neighbours, name), tmp_path)
    assert [node.name for node in plan.nodes] == [expected, "node-all", "node-null"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"BUFFER_POOL": {**SMALL["BUFFER_POOL"], "x": {"type": "egress", "mode": "static"}}},
            "BUFFER_POOL|x|size: missing",
        ),
        (
            both("BUFFER_QUEUE", "0-1", {"profile": "in"}),
            "BUFFER_QUEUE|Ethernet0|0-1: overlaps BUFFER_QUEUE|Ethernet0|0, which differs",
        ),
        (
            {
                "BUFFER_PROFILE": {
                    **SMALL["BUFFER_PROFILE"],
                    "lossy": {"pool": "egress", "size": "0", "dynamic_th": "1", "static_th": "5"},
                }
            },
            "BUFFER_PROFILE|lossy|static_th: conflicts with dynamic_th; keep one of the two",
        ),
        (
            {"SCHEDULER": {"s": {"cir": "100"}}},
            "SCHEDULER|s|cir: 100 bytes/s are 800 bps; a lab's queue is shaped to at least 8 kbps",
        ),
        (
            {"SCHEDULER": {"s": {"type": "DWRR"}, "w": {"type": "WRR"}}, **both("QUEUE", "1", {"scheduler": "w"})},
            "a port with DWRR and WRR queues",
        ),
        (
            {"WRED_PROFILE": {"w": {"wred_green_enable": "true"}}, **both("QUEUE", "0", {"wred_profile": "w"})},
            "WRED_PROFILE|w|green_max_threshold: missing, although wred_green_enable is true",
        ),
        (
            {"PORT": {"Ethernet0": {"speed": "1000"}}, "QUEUE": {}, "BUFFER_QUEUE": {}, "BUFFER_PG": {}},
            "PORT: 1 port(s) in use; a lab needs at least two",
        ),
        (
            {"PORT": {name: {"speed": "1600001"} for name in NAMES}},
            "PORT|Ethernet0|speed: '1600001': must be a whole number of Mbit/s from 1 to 1600000",
        ),
        (
            {"PORT": {name: {"speed": "1000", "mtu": "500"} for name in NAMES}},
            "PORT|Ethernet0|mtu: 500 is out of range",
        ),
    ],
)
def test_what_a_lab_cannot_say_is_told(changes: dict[str, Any], message: str) -> None:
    assert message in complaint(changes)


@settings(max_examples=15, deadline=None)
@given(cir=st.integers(2, 10**6), peak=st.integers(0, 10**6), burst=st.integers(1, 100), mtu=st.integers(576, 9216))
def test_a_meter_that_counts_packets_is_taken_at_full_frames(
    tmp_path_factory: pytest.TempPathFactory, cir: int, peak: int, burst: int, mtu: int
) -> None:
    fields = {"cir": str(cir), "cbs": str(burst), "pir": str(cir + peak), "meter_type": "packets"}
    ports = {name: {**port, "mtu": str(mtu)} for name, port in SMALL["PORT"].items()}
    changes = {"PORT": ports, "SCHEDULER": {"s": fields}}
    scheduler = queue_of(changes, tmp_path_factory.mktemp("packets")).scheduler
    frame = mtu + 38
    assert (scheduler.cir_bps, scheduler.pir_bps, scheduler.cbs_bytes) == (
        cir * frame * 8,
        (cir + peak) * frame * 8,
        burst * frame,
    )
    (note,) = (note for note in imported(changes).notes if "meter_type" in note)
    assert (
        "SCHEDULER|s|meter_type: packets: the lab's shaper counts bytes, so a packet is taken to be a full "
        f"frame of MTU {mtu}" in note
    )
