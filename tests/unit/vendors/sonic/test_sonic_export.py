"""A plan's switch as config_db.json: what each value becomes, what cannot be said,
and that an import gives the same plan again."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Literal

import language
import pytest
import sample_plans
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import LABS, ROOT
from shipped_labs import shipped_plan
from sonic_round_trip import round_trip, substance
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.switch import (
    Account,
    Lossless,
    Pfc,
    Phantom,
    Pool,
    PriorityGroup,
    QosMaps,
    Scheduler,
    Switch,
    SwitchPort,
    SwitchQueue,
    Watchdog,
    Wred,
)
from fabriclab.lab import parse_lab
from fabriclab.lab.switch.profile import profile_names
from fabriclab.qdiscs.codel import Codel
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.export import export_switch
from fabriclab.vendors.sonic.export.interfaces import lanes, sonic_names
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import read_config_db

GOLDEN = ROOT / "tests" / "golden" / "sonic"
WITH_VOQS = ("jericho-2", "jericho-plus")
PFC = "pfc: {priorities: [3, 4], watchdog: {detection: 200 ms}}"


def shared(switch: Switch, *switch_ports: SwitchPort) -> Plan:
    """Return a star whose switch has a shared buffer, its ports these in turn."""
    plan = sample_plans.star(3)
    node = plan.node("s1")
    turns = itertools.cycle(switch_ports)
    ports = tuple(one.model_copy(update={"queue": None, "switch_port": next(turns)}) for one in node.ports)
    node = node.model_copy(update={"switch": switch, "ports": ports})
    return plan.model_copy(update={"nodes": (*(each for each in plan.nodes if each.name != "s1"), node)})


def plan_with_profile(profile: str, directory: Path, keys: str = "") -> Plan:
    """Return the plan of two racks whose switches have a profile."""
    directory.mkdir(exist_ok=True)
    (directory / "topology.clab.yml").write_text(language.two_racks(), encoding="utf-8")
    text = f"title: T\nswitches: {{default: {{profile: {profile}{', ' + keys if keys else ''}}}}}\n{language.ONE_FLOW}"
    (directory / "experiment.yml").write_text(text, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


def tables_of(plan: Plan, name: str = "s1") -> tuple[dict[str, Any], tuple[str, ...]]:
    exported = export_switch(plan.node(name), plan)
    return json.loads(exported.text), exported.unsaid


@pytest.mark.parametrize(
    ("interfaces", "names"),
    [
        (["eth1", "eth2", "eth10"], ["Ethernet0", "Ethernet4", "Ethernet36"]),
        (["Ethernet0", "Ethernet8"], ["Ethernet0", "Ethernet8"]),
        (["eth2", "swp1", "uplink"], ["Ethernet4", "Ethernet0", "Ethernet8"]),
        (["Ethernet1", "eth1"], ["Ethernet1", "Ethernet0"]),
    ],
)
def test_names_of_interfaces(interfaces: list[str], names: list[str]) -> None:
    assert list(sonic_names(interfaces).values()) == names
    assert list(sonic_names(names).values()) == names


def test_two_interfaces_of_one_name() -> None:
    with pytest.raises(ValueError, match="Ethernet4 and eth2 are both Ethernet4 in SONiC"):
        sonic_names(["Ethernet4", "eth2"])


def test_lanes_are_apart() -> None:
    assert lanes("Ethernet0") == "25,26,27,28"
    every = [lane for slot in range(100) for lane in lanes(f"Ethernet{4 * slot}").split(",")]
    assert len(set(every)) == 400


def test_a_port() -> None:
    tables, _ = tables_of(sample_plans.star(2, rate_bps=10**10, delay_ns=1500))
    assert tables["PORT"]["Ethernet4"] == {
        "alias": "eth2",
        "lanes": "29,30,31,32",
        "speed": "10000",
        "index": "2",
        "admin_status": "up",
        "mtu": "1500",
    }
    assert tables["CABLE_LENGTH"] == {"AZURE": {"Ethernet0": "300m", "Ethernet4": "300m"}}
    assert tables["INTERFACE"] == {
        "Ethernet0": {},
        "Ethernet0|10.0.1.0/31": {},
        "Ethernet4": {},
        "Ethernet4|10.0.2.0/31": {},
    }
    assert tables["DEVICE_NEIGHBOR"]["Ethernet0"] == {"name": "h1", "port": "eth1"}


def test_what_a_port_cannot_say() -> None:
    _, unsaid = tables_of(sample_plans.star(2, rate_bps=1_500_000, delay_ns=12))
    assert "Ethernet0, Ethernet4: 1.5 Mbps: SONiC allows whole Mbit/s up to 1600000; 1 was written" in unsaid
    assert any("a cable of 12 ns, which is not a whole number of metres" in sentence for sentence in unsaid)


def test_a_buffer_of_each_port() -> None:
    tables, unsaid = tables_of(sample_plans.star(2, queue=Queue(limit_bytes=64_000, ecn_threshold_bytes=30_000)))
    assert tables["BUFFER_POOL"] == {"buffer": {"type": "egress", "mode": "static", "size": "128000"}}
    assert tables["BUFFER_PROFILE"] == {"egress_lossy_profile": {"pool": "buffer", "size": "0", "static_th": "64000"}}
    assert tables["BUFFER_QUEUE"]["Ethernet4|0"] == {"profile": "egress_lossy_profile"}
    assert (
        tables["WRED_PROFILE"]["WRED"]["green_min_threshold"]
        == tables["WRED_PROFILE"]["WRED"]["green_max_threshold"]
        == "30000"
    )
    assert tables["WRED_PROFILE"]["WRED"]["wred_green_enable"] == "true"
    assert set(tables["DSCP_TO_TC_MAP"]["AZURE"].values()) == {"0"}
    assert unsaid == ("buffers of ports: each becomes a limit of queue 0, in one pool for all ports",)


def test_active_queue_management_cannot_be_said() -> None:
    _, unsaid = tables_of(sample_plans.star(2, queue=Queue(limit_bytes=64_000, aqm=Codel())))
    assert "eth1, eth2: CONFIG_DB has no field for codel; the port becomes drop-tail" in unsaid


def test_what_a_queue_cannot_say() -> None:
    queue = SwitchQueue(
        index=1,
        account=Account(pool="p", alpha_log=0),
        scheduler=Scheduler(kind="dwrr", pir_bps=10**8),
        wred=Wred(min=1000, max=2000, probability_ppm=25_000, weight_log=4, non_ect="queue"),
        phantom=Phantom(rate_bps=9 * 10**8, threshold_bytes=3000),
        voq_limit_bytes=10_000,
        event_bytes=20_000,
    )
    by_delay = SwitchQueue(
        index=2, account=Account(pool="p", alpha_log=0), wred=Wred(unit="ns", min=50_000, max=50_000)
    )
    pfc = Pfc(
        priorities=(3,),
        quanta=100,
        reaction_ns=2000,
        watchdog=Watchdog(detection_ns=10_000_000, restoration_ns=200_000_000),
    )
    switch = Switch(profile="x", cell_bytes=256, pools=(Pool(name="p", size_bytes=10**6),))
    tables, unsaid = tables_of(shared(switch, SwitchPort(queues=(queue, by_delay), pfc=pfc)))
    assert tables["WRED_PROFILE"]["WRED"]["green_drop_probability"] == "3"
    assert "PFC_WD" not in tables
    assert set(unsaid) == {
        "PFC: pauses of 100 quanta; the platform has its own",
        "PFC: a reaction time of 2 us",
        "watchdog: 10 ms and 200 ms: SONiC takes whole ms, detection from 100 to 5000 and restoration from 100 to "
        "60000; left out",
        "memory: cells of 256 B",
        "queue 1: pir 100 Mbps without cir, which SONiC's YANG models refuse",
        "WRED: probability 2.5 %: SONiC takes only whole per cent; written as 3",
        "WRED: weight 4 of the average queue: the platform uses its own",
        "WRED: non_ect: queue: above the threshold SONiC drops packets that it cannot mark",
        "queue 1: a phantom queue",
        "queue 1: a limit per ingress port",
        "queue 1: the length at which a congestion event begins",
        "queue 2: WRED by delay; SONiC's thresholds are in bytes",
    }


def test_a_pool_of_both_sides_cannot_be_said() -> None:
    port = SwitchPort(
        queues=(SwitchQueue(index=0, account=Account(pool="p", alpha_log=0)),),
        groups=(PriorityGroup(index=0, account=Account(pool="p", alpha_log=0)),),
    )
    tables, unsaid = tables_of(shared(Switch(profile="x", pools=(Pool(name="p", size_bytes=10**6),)), port))
    assert tables["BUFFER_POOL"]["p"]["type"] == "both"
    assert any(sentence.startswith("pool p: queues and groups take from it") for sentence in unsaid)


@pytest.mark.parametrize("lab", sorted(path.parent.name for path in LABS.glob("*/experiment.yml")))
def test_every_lab_s_switches_have_a_file(lab: str) -> None:
    plan = shipped_plan(lab)
    for node in plan.nodes:
        if node.role == "switch":
            tables, _ = tables_of(plan, node.name)
            assert {"DEVICE_METADATA", "PORT", "INTERFACE", "BUFFER_POOL", "BUFFER_QUEUE", "PORT_QOS_MAP"} <= set(
                tables
            )
            has_sessions = plan.bgp is not None and any(
                plan.node(port.peer_node).role == "switch" for port in node.ports
            )
            assert ("BGP_NEIGHBOR" in tables) == has_sessions


@pytest.mark.parametrize("keys", ["", PFC])
@pytest.mark.parametrize("profile", profile_names())
def test_a_shipped_profile_comes_back(profile: str, keys: str, tmp_path: Path) -> None:
    plan = plan_with_profile(profile, tmp_path / "lab", keys)
    before, after = round_trip(plan, "leaf1", tmp_path / "again")
    if profile in WITH_VOQS:
        for port in before["ports"].values():
            for queue in port["switch_port"]["queues"]:
                queue["voq_limit_bytes"] = None  # CONFIG_DB has no word for it; the export says so
    assert after == before


@pytest.mark.parametrize("platform", ["trident-2", "trident-3", "jericho-2", "t0"])
def test_an_imported_file_comes_back(platform: str, tmp_path: Path) -> None:
    lab = import_lab(read_config_db(GOLDEN / f"{platform}.json"))
    for file, text in lab.files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    before, after = round_trip(resolve_plan(parse_lab(tmp_path), {}), lab.name, tmp_path / "again")
    assert after == before


@pytest.mark.parametrize("protocol", ["bgp-numbered", "bgp-unnumbered"])
def test_sessions_come_back(protocol: str, tmp_path: Path) -> None:
    routing = f"routing: {{protocol: {protocol}, keepalive: 5 s, hold: 20 s}}\n"
    plan = plan_with_profile("trident-3", tmp_path / "lab")
    (tmp_path / "lab" / "experiment.yml").write_text(
        (tmp_path / "lab" / "experiment.yml").read_text() + routing, encoding="utf-8"
    )
    plan = resolve_plan(parse_lab(tmp_path / "lab"), {})
    before, after = round_trip(plan, "leaf1", tmp_path / "again")
    # An external session over link-local addresses does not name the neighbour's AS: it is the lab's to choose.
    if protocol == "bgp-unnumbered":
        before.pop("peers")
        after.pop("peers")
    assert after == before


@pytest.mark.parametrize("platform", ["trident-2", "trident-3", "jericho-2"])
def test_golden_files(platform: str, tmp_path: Path) -> None:
    """FABRICLAB_ACCEPT=1 rewrites them: a leaf with the shipped profile, at its own rates and with PFC."""
    plan = plan_with_profile(platform, tmp_path, f"scale: none, {PFC}")
    text, file = export_switch(plan.node("leaf1"), plan).text, GOLDEN / f"export-{platform}.json"
    if os.environ.get("FABRICLAB_ACCEPT"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_the_command(tmp_path: Path) -> None:
    runner = CliRunner()
    result = runner.invoke(app, ["sonic", "export", str(LABS / "leaf-spine"), "--node", "leaf1", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert [path.name for path in tmp_path.iterdir()] == ["leaf1"]
    assert "not written: buffers of ports" in result.output
    wrong = runner.invoke(app, ["sonic", "export", str(LABS / "leaf-spine"), "--node", "leaf9", "-o", str(tmp_path)])
    assert (wrong.exit_code, "no such switch" in wrong.output) == (2, True)
    absent = runner.invoke(
        app,
        ["sonic", "export", str(LABS / "leaf-spine"), "-o", str(tmp_path / "new"), "--yang-dir", str(tmp_path / "no")],
    )
    assert (absent.exit_code, "no such directory" in absent.output, (tmp_path / "new").exists()) == (2, True, False)


PERCENT = st.integers(0, 100).map(lambda percent: percent * 10_000)
SMALL_SIZE = st.integers(2000, 10**6)
EIGHT = st.lists(st.integers(0, 7), min_size=8, max_size=8).map(tuple)


@st.composite
def accounts(draw: st.DrawFn, pools: list[str]) -> Account:
    reserved = draw(st.sampled_from([0, 1, 1664]))
    kind = draw(st.sampled_from(["dynamic", "static", "pool", "own"]))
    if kind == "own":
        return Account(reserved_bytes=reserved, limit_bytes=draw(SMALL_SIZE))
    pool = draw(st.sampled_from(pools))
    if kind == "dynamic":
        return Account(pool=pool, reserved_bytes=reserved, alpha_log=draw(st.integers(-8, 7)))
    return Account(pool=pool, reserved_bytes=reserved, limit_bytes=draw(SMALL_SIZE) if kind == "static" else None)


@st.composite
def schedulers(draw: st.DrawFn, weighted: Literal["dwrr", "wrr"]) -> Scheduler:
    kind: Literal["strict", "dwrr", "wrr"] = draw(st.sampled_from(("strict", weighted)))
    cir = draw(st.sampled_from([0, 8000, 123_456_000]))
    pir = draw(st.sampled_from([0, 10**9])) if cir else 0
    cbs = draw(st.sampled_from([0, 5000])) if cir else 0
    pbs = draw(st.sampled_from([0, 9000])) if pir else 0
    weight = 1 if kind == "strict" else draw(st.integers(1, 100))
    return Scheduler(kind=kind, weight=weight, cir_bps=cir, cbs_bytes=cbs, pir_bps=pir, pbs_bytes=pbs)


@st.composite
def wreds(draw: st.DrawFn) -> Wred | None:
    low, high = sorted(
        (draw(st.integers(1, 1900)), draw(st.integers(1, 1900)))
    )  # below every limit, else the lab says that it does nothing
    return draw(
        st.sampled_from([None, Wred(min=low, max=high, probability_ppm=draw(PERCENT), ecn=draw(st.booleans()))])
    )


@st.composite
def switch_ports(draw: st.DrawFn, ingress: list[str], egress: list[str]) -> SwitchPort:
    weighted: Literal["dwrr", "wrr"] = draw(st.sampled_from(("dwrr", "wrr")))
    queues = tuple(
        SwitchQueue(
            index=index, account=draw(accounts(egress)), scheduler=draw(schedulers(weighted)), wred=draw(wreds())
        )
        for index in range(8)
    )
    priorities = tuple(sorted(draw(st.sets(st.integers(0, 7), max_size=3))))
    groups = []
    for index in sorted(draw(st.sets(st.integers(0, 7)))):
        account = draw(accounts(ingress))
        is_lossless = index in priorities and draw(st.booleans())
        lossless = Lossless(
            headroom_bytes=draw(SMALL_SIZE),
            xon_bytes=draw(st.integers(0, 2000)),
            xon_offset_bytes=draw(st.integers(0, 9000)),
        )
        groups.append(PriorityGroup(index=index, account=account, lossless=lossless if is_lossless else None))
    times = st.integers(100, 5000).map(lambda ms: ms * 10**6)
    watchdog = Watchdog(
        detection_ns=draw(times), restoration_ns=draw(times), action=draw(st.sampled_from(["drop", "forward"]))
    )
    pfc = Pfc(priorities=priorities, watchdog=draw(st.sampled_from([None, watchdog]))) if priorities else None
    dscp = tuple(draw(st.lists(st.integers(0, 7), min_size=64, max_size=64)))
    maps = QosMaps(dscp_to_tc=dscp, tc_to_queue=draw(EIGHT), tc_to_group=draw(EIGHT), priority_to_queue=draw(EIGHT))
    return SwitchPort(queues=queues, groups=tuple(groups), maps=maps, pfc=pfc)


@st.composite
def switches(draw: st.DrawFn) -> Plan:
    """Draw a switch that CONFIG_DB has words for, with ports of one kind or of two."""
    ingress, egress = (
        draw(st.sampled_from([["in"], ["in", "in-2"]])),
        draw(st.sampled_from([["out"], ["out", "out_2"]])),
    )
    headroom = draw(st.sampled_from([0, 10**6]))
    pools = [Pool(name=name, size_bytes=10**9, headroom_bytes=headroom) for name in ingress]
    pools += [Pool(name=name, size_bytes=draw(st.integers(10**8, 10**9))) for name in egress]
    kinds = draw(st.lists(switch_ports(ingress, egress), min_size=1, max_size=2))
    return shared(Switch(profile="x", pools=tuple(pools)), *kinds)


@settings(max_examples=40, deadline=None)
@given(switches())
@pytest.mark.slow("draws a hundred switches, exports and imports each")
def test_any_switch_comes_back(plan: Plan) -> None:
    with tempfile.TemporaryDirectory() as name:
        before, after = round_trip(plan, "s1", Path(name))
    assert after == before


def test_the_comparison_would_notice() -> None:
    plan = sample_plans.star(2)
    other = sample_plans.star(2, rate_bps=10**8)
    assert substance(plan.node("s1"), plan) != substance(other.node("s1"), other)
