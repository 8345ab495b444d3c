"""Switches with a shared buffer in the plan: scaling by hand, what holds where nothing is written,
hosts that face them."""

from __future__ import annotations

from dataclasses import asdict
from itertools import product
from pathlib import Path

import pytest
from shared_labs import PROFILE, TRAFFIC, plan_of, port_of, queue_of, star, switch_of, two_tiers

import fabriclab
from fabriclab.compile import machine_memory_bytes
from fabriclab.formats.plan import parse_plan_json, plan_json
from fabriclab.formats.plan.switch import Account, QosMaps, Scheduler, Watchdog, lossless_queues
from fabriclab.lab import LabError
from fabriclab.resolve.switch.findings import checked_ports
from fabriclab.resolve.switch.headroom import headroom_bytes
from fabriclab.resolve.switch.memory import Memory

SHIPPED = sorted(file.stem for file in (Path(fabriclab.__file__).parent / "switches").glob("*.yml"))
OWN = "{default: {pools: {shared: {size: 200 KB}}, "


def test_a_profile_is_scaled_to_the_rates_of_the_lab(tmp_path: Path) -> None:
    """48 x 1 Gbps of a chip for 3.2 Tbps: 32 MB x 48 / 3200 = 480 KB, 1875 cells;
    51,200 B of a 100 Gbps port are two cells at 1 Gbps."""
    plan = plan_of(tmp_path, "{default: {profile: mine}}", topology=star(48))
    (pool,) = switch_of(plan).pools
    assert (pool.name, pool.size_bytes, switch_of(plan).cell_bytes) == ("shared", 480_000, 256)
    queues = port_of(plan, "s1:eth48").queues
    assert [queue.index for queue in queues] == list(range(8))
    assert {queue.account for queue in queues} == {Account(pool="shared", reserved_bytes=512, alpha_log=0)}
    assert {queue.scheduler for queue in queues} == {Scheduler(kind="dwrr", weight=14)}
    assert switch_of(plan).notes == (
        "pool shared: 32 MB x 48 Gbps / 3.2 Tbps = 480 KB",
        "queues 0..7: reserved: 51.2 KB x 1 Gbps / 100 Gbps = 512 B in whole cells of 256 B",
    )


def test_trident_3_at_one_gigabit_by_hand(tmp_path: Path) -> None:
    """48 of 3,200 Gbps: 31,110,144 B are 466,652, 1822 cells; 24,709,632 B are 370,644, 1447 cells. Alpha 8 gives 8/9
    to one busy queue.

    Headroom of 160,000 B at 100 Gbps would be 1,600 B; 50 us of cable and frames of 1,514 bytes take more
    (`test_switch_headroom`). The 32 x 2 groups of the real switch share 1,622,016 B, a sixth of theirs, and so do the
    48 x 2 of this one.
    """
    switches = "{default: {profile: trident-3, pfc: {priorities: [3, 4]}}}"
    plan = plan_of(tmp_path, switches, topology=star(48, delay="25 us"))
    ingress, egress = switch_of(plan).pools
    assert (ingress.size_bytes, egress.size_bytes) == (1822 * 256, 1447 * 256)
    ports = checked_ports(plan.node("s1"), plan)
    memory = Memory(switch_of(plan), ports)
    account = queue_of(plan, "s1:eth1").account
    assert [memory.holds_bytes(account, busy, 1514) for busy in (1, 48)] == [
        1447 * 8 * 1514 // (9 * 6),
        1447 * 8 * 1514 // (385 * 6),
    ]
    groups = [group for group in port_of(plan, "s1:eth1").groups if group.lossless is not None]
    assert [group.index for group in groups] == [3, 4]
    needed = headroom_bytes(ports[0].line, 256, priorities=2)
    assert {group.lossless.headroom_bytes for group in groups if group.lossless} == {needed}
    assert ingress.headroom_bytes == 1_622_016 * 48 // 3200 * needed // 1600 // 256 * 256
    assert 96 * needed / ingress.headroom_bytes == pytest.approx(64 * 160_000 / 1_622_016, rel=0.002)


@pytest.mark.parametrize(
    ("scale", "size_bytes", "reserved_bytes"),
    [
        ("none", 32_000_000, 51_200),
        ("1/100", 319_744 + 256, 512),
        ("0.001", 31_744 + 256, 0),
        ("2", 64_000_000, 102_400),
    ],
)
def test_a_factor_scales_everything(tmp_path: Path, scale: str, size_bytes: int, reserved_bytes: int) -> None:
    plan = plan_of(tmp_path, f"{{default: {{profile: mine, scale: {scale}}}}}")
    assert switch_of(plan).pools[0].size_bytes == size_bytes
    assert queue_of(plan, "s1:eth1").account.reserved_bytes == reserved_bytes
    assert bool(switch_of(plan).notes) == (scale != "none")


def test_what_the_experiment_says_is_meant(tmp_path: Path) -> None:
    switches = (
        "{default: {profile: mine, pools: {shared: {size: 1 MB}}, queues: {0: {reserved: 1 KB, wred: {min: 9 KB}}}}}"
    )
    plan = plan_of(tmp_path, switches)
    assert switch_of(plan).pools[0].size_bytes == 999_936
    queue = queue_of(plan, "s1:eth1")
    assert queue.account.reserved_bytes == 1000
    assert queue.wred is not None and (queue.wred.min, queue.wred.max) == (9000, 9000)
    assert "pool shared: in whole cells of 256 B: 999936 B" in switch_of(plan).notes


def test_a_port_has_the_scale_of_its_own_rate(tmp_path: Path) -> None:
    """A leaf with two 1 Gbps hosts and two 10 Gbps uplinks: 22 Gbps together; 51,200 B are 20 cells at 10 Gbps."""
    plan = plan_of(tmp_path, "{default: {profile: mine}}", topology=two_tiers())
    leaf = plan.node("leaf1")
    assert switch_of(plan, "leaf1").pools[0].size_bytes == 32_000_000 * 22 // 3200 // 256 * 256
    reserved = {
        port.rate_bps: port.switch_port.queues[0].account.reserved_bytes for port in leaf.ports if port.switch_port
    }
    assert reserved == {10**9: 512, 10**10: 5120}


QUEUE_BITS = "wred: {min: 100 KB, max: 1 MB}, phantom: {rate: 95 %, threshold: 300 KB}, voq_limit: 500 KB, event: 1 MB"
SHAPED = "scheduler: dwrr, cir: 10 Gbps, cbs: 100 KB, pir: 50 Gbps, pbs: 200 KB"


def test_every_size_and_rate_of_a_queue_is_scaled(tmp_path: Path) -> None:
    """At 1 of 100 Gbps all is a hundredth, but no threshold that a frame must fit below is smaller than a frame."""
    profile = PROFILE.replace("alpha: 1,", f"limit: 2 MB, {QUEUE_BITS}, {SHAPED},").replace(
        "51200 B, scheduler: dwrr,", "0 B,"
    )
    queue = queue_of(plan_of(tmp_path, "{default: {profile: mine}}", profile=profile), "s1:eth1")
    assert queue.account == Account(pool="shared", limit_bytes=20_000)
    assert queue.wred is not None and (queue.wred.min, queue.wred.max) == (1514, 10_000)
    assert queue.phantom is not None and (queue.phantom.rate_bps, queue.phantom.threshold_bytes) == (950_000_000, 3000)
    assert (queue.voq_limit_bytes, queue.event_bytes) == (5000, 10_000)
    scheduler = Scheduler(
        kind="dwrr", weight=14, cir_bps=100_000_000, cbs_bytes=1000, pir_bps=500_000_000, pbs_bytes=2000
    )
    assert queue.scheduler == scheduler


def test_thresholds_by_time_follow_the_line_and_are_not_scaled(tmp_path: Path) -> None:
    """5 ms at 1 Gbps are 625 KB."""
    profile = PROFILE.replace("alpha: 1,", "alpha: 1, wred: {min: 50 us}, voq_limit: 5 ms,")
    queue = queue_of(plan_of(tmp_path, "{default: {profile: mine}}", profile=profile), "s1:eth1")
    assert queue.voq_limit_bytes == 625_000
    assert queue.wred is not None and (queue.wred.unit, queue.wred.min) == ("ns", 50_000)


def test_a_pool_that_is_scaled_holds_a_frame(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "{default: {profile: mine, scale: 1/1000000}}")
    assert switch_of(plan).pools[0].size_bytes == 6 * 256
    assert "pool shared: 32 MB x 1/1000000 = 32 B, raised to 1536 B, which must fit" in switch_of(plan).notes


def test_lossless_thresholds_that_are_scaled_hold_what_comes_after_the_pause(tmp_path: Path) -> None:
    """1 Gbps, 10 us of cable: 160 KB / 100 would not do; cable and frames are as long as on the real switch."""
    more = (
        "priority_groups: {3: {pool: in, alpha: 1, lossless: true, headroom: 160 KB, xon: 4608 B, xon_offset: 1 MB}}\n"
    )
    profile = (
        PROFILE.replace("{shared: {size: 32 MB}}", "{shared: {size: 32 MB}, in: {size: 32 MB, headroom: 1 MB}}") + more
    )
    plan = plan_of(tmp_path, "{default: {profile: mine, pfc: {priorities: [3]}}}", profile=profile)
    (group,) = port_of(plan, "s1:eth1").groups
    assert group.lossless is not None
    headroom = group.lossless.headroom_bytes
    assert (group.lossless.xon_bytes, group.lossless.xon_offset_bytes) == (1514, 10_000)
    assert headroom % 256 == 0 and 6 * 256 * 3 < headroom < 16_000
    assert switch_of(plan).pools[1].headroom_bytes == headroom


def test_what_holds_where_nothing_is_written(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, OWN + "}}")
    port = port_of(plan, "s1:eth1")
    assert {queue.account for queue in port.queues} == {Account(pool="shared", alpha_log=0)}
    assert {queue.scheduler for queue in port.queues} == {Scheduler(kind="dwrr", weight=1)}
    assert (port.groups, port.pfc, port.maps) == ((), None, QosMaps())
    assert (switch_of(plan).profile, switch_of(plan).cell_bytes, switch_of(plan).notes) == ("", 1, ())


def test_queues_that_nothing_reaches_are_left_out(tmp_path: Path) -> None:
    maps = "maps: {dscp_to_tc: {0..63: 0, 46: 5}, tc_to_queue: {5: 6}}, queues: {6: {scheduler: wrr, weight: 3}}}}"
    plan = plan_of(tmp_path, OWN + maps)
    queues = port_of(plan, "s1:eth1").queues
    assert [(queue.index, queue.scheduler.kind) for queue in queues] == [(0, "wrr"), (6, "wrr")]


def test_the_queue_of_a_lossless_class_is_bounded_by_the_whole_memory(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, OWN + "priority_groups: {3: {lossless: true}}, pfc: {priorities: [3]}}}")
    (group,) = port_of(plan, "s1:eth1").groups
    assert group.account == Account(pool="shared", alpha_log=0) and group.lossless is not None
    assert (group.lossless.xon_bytes, group.lossless.xon_offset_bytes) == (0, 3 * 1514)
    memory = 200_000 + 4 * group.lossless.headroom_bytes
    assert queue_of(plan, "s1:eth1", 3).account == Account(limit_bytes=memory)
    assert queue_of(plan, "s1:eth1", 0).account == Account(pool="shared", alpha_log=0)
    assert plan.warnings == ()
    assert lossless_queues(port_of(plan, "s1:eth1")) == {3}
    assert lossless_queues(port_of(plan, "h1:eth1")) == frozenset()


def test_what_waits_in_lossless_queues_is_counted_once(tmp_path: Path) -> None:
    """Each of 48 such queues may hold the whole memory, but all of them together hold what came in."""
    lossy = plan_of(tmp_path, "{default: {pools: {shared: {size: 20 MB}}}}", topology=star(48))
    groups = "priority_groups: {3: {lossless: true}}, pfc: {priorities: [3]}}}"
    lossless = plan_of(tmp_path, "{default: {pools: {shared: {size: 20 MB}}, " + groups, topology=star(48))
    assert queue_of(lossless, "s1:eth1", 3).account.limit_bytes == 20_000_000 + 48 * 5_855
    assert 0 <= machine_memory_bytes(lossless) - machine_memory_bytes(lossy) <= 64 << 20


def test_pfc_with_its_defaults(tmp_path: Path) -> None:
    pfc = "pfc: {priorities: [4, 3], watchdog: {detection: 100 ms}}, priority_groups: {3..4: {lossless: true}}}}"
    found = port_of(plan_of(tmp_path, OWN + pfc), "s1:eth1").pfc
    assert found is not None
    assert (found.priorities, found.quanta, found.reaction_ns) == ((3, 4), 65_535, 0)
    assert found.watchdog == Watchdog(detection_ns=100_000_000, restoration_ns=200_000_000, action="drop")


def test_a_host_that_faces_the_switch_has_a_nic_that_stops_class_by_class(tmp_path: Path) -> None:
    pfc = (
        "pfc: {priorities: [3], reaction: 2 us, watchdog: {detection: 100 ms}}, priority_groups: {3: {lossless: "
        "true}}, "
    )
    switches = OWN + pfc + "maps: {dscp_to_tc: {0..63: 0, 24: 3}}}}"
    plan = plan_of(tmp_path, switches, more=TRAFFIC + "hosts: {h1: {queue: 1 MB}}\n")
    switch, nic = port_of(plan, "s1:eth1"), port_of(plan, "h1:eth1")
    assert [(queue.index, queue.account) for queue in nic.queues] == [
        (0, Account(limit_bytes=10**6)),
        (3, Account(limit_bytes=10**6)),
    ]
    assert (nic.groups, nic.maps) == ((), switch.maps)
    assert switch.pfc is not None
    assert nic.pfc == switch.pfc.model_copy(update={"watchdog": None})
    assert all(port.queue is None for node in plan.nodes for port in node.ports)


def test_of_switches_only_such_a_one_has_switch_ports(tmp_path: Path) -> None:
    switches = "{default: {buffer: 64 KB, aqm: {kind: pie, ecn: true}}, leaf1: {buffer: 64 KB}}"
    plan = plan_of(tmp_path, switches, topology=two_tiers())
    assert {node.role for node in plan.nodes for port in node.ports if port.switch_port is not None} == {"host"}
    assert all(node.switch is None for node in plan.nodes)
    aqm = plan.node("leaf1").ports[0].queue
    assert aqm is not None and aqm.aqm is not None
    assert asdict(aqm.aqm) == {"kind": "pie", "target_ns": 15_000_000, "interval_ns": 15_000_000, "ecn": True}
    assert (plan.probes.switch_interval_ns, plan.probes.switch_ports, plan.warnings) == (None, (), ())


def test_a_mixed_fabric(tmp_path: Path) -> None:
    shared = "{pools: {shared: {size: 200 KB}}, priority_groups: {3: {lossless: true}}, pfc: {priorities: [3]}}"
    switches = f"{{spine1: {{buffer: 64 KB}}, spine2: {{buffer: 64 KB}}, leaf2: {{buffer: 64 KB}}, leaf1: {shared}}}"
    plan = plan_of(tmp_path, switches, topology=two_tiers())
    kinds = {node.name: [port.switch_port is not None for port in node.ports] for node in plan.nodes}
    assert {name: set(kind) for name, kind in kinds.items()} == {
        **{"spine1": {False}, "spine2": {False}, "leaf2": {False}, "leaf1": {True}},
        **{host: {True} for host in ("h1", "h2", "h3", "h4")},
    }
    assert set(plan.probes.switch_ports) == {
        "h1:eth1",
        "h2:eth1",
        *(f"leaf1:{port.interface}" for port in plan.node("leaf1").ports),
    }
    assert [warning for warning in plan.warnings if "ignored by the neighbour" in warning] == [
        "leaf1 (eth3, eth4): priority_groups.3.lossless: true is ignored by the neighbour, which has no PFC for "
        "priority 3; the neighbour keeps sending while it is paused, so frames beyond the headroom are dropped"
    ]


def test_what_is_sampled(tmp_path: Path) -> None:
    every = plan_of(tmp_path, OWN + "}}").probes
    assert (every.switch_interval_ns, len(every.switch_ports)) == (10_000_000, 8)
    none = plan_of(tmp_path, OWN + "}}", more=TRAFFIC + "probes: {switches: none}\n").probes
    assert (none.switch_interval_ns, none.switch_ports) == (None, ())
    one = plan_of(
        tmp_path, OWN + "}}", more=TRAFFIC + "probes: {switches: {interval: 1 ms, ports: ['s1:eth2']}}\n"
    ).probes
    assert (one.switch_interval_ns, one.switch_ports) == (1_000_000, ("s1:eth2",))


def test_a_pause_storm_has_its_port(tmp_path: Path) -> None:
    events = "events: {storm: {at: 100 ms, node: h3, action: pause-storm, priorities: [3], until: 600 ms}}\n"
    switches = OWN + "priority_groups: {3: {lossless: true}}, pfc: {priorities: [3]}}}"
    (storm,) = plan_of(tmp_path, switches, more=TRAFFIC + events).pause_storms
    assert storm.model_dump() == {
        **{"name": "storm", "at_ns": 100_000_000, "until_ns": 600_000_000},
        **{"host": "h3", "interface": "eth1", "priorities": (3,)},
    }


def test_what_cannot_be_is_an_error_where_it_was_written(tmp_path: Path) -> None:
    switches = (
        "{default: {pools: {shared: {size: 10 KB}},\n queues: {default: {reserved: 2 KB, limit: 1 KB}, 1: {reserved: "
        "0 B}}}}"
    )
    with pytest.raises(LabError) as raised:
        plan_of(tmp_path, switches)
    file = tmp_path / "experiment.yml"
    assert str(raised.value).splitlines() == [
        f"{file}:2: switches.default.pools.shared.size: 10 KB is less than the 56 KB that queues and priority groups "
        "of 4 ports reserve in it; the switch can't be made; write a larger pool, or smaller reserved sizes "
        "(switch s1)",
        f"{file}:3: switches.default.queues.default.limit: 1 KB is too small for a frame of 1514 B (MTU 1500), in "
        "whole cells and beside the reserved memory; no such frame would pass (switch s1)",
    ]


def test_points_alike_share_their_nodes_and_others_do_not(tmp_path: Path) -> None:
    first = plan_of(tmp_path, OWN + "}}")
    assert plan_of(tmp_path, OWN + "}}", settings={"switches.default.queues.default.alpha": "4"}).nodes != first.nodes
    assert parse_plan_json(plan_json(first)) == first


def test_parameters_of_a_switch(tmp_path: Path) -> None:
    """What is written, or set; of what a profile may say nothing is claimed,
    least of all the default of a host's key of the same name."""
    keys = (
        "alpha: switches.default.queues.default.alpha, marks: switches.default.queues.default.wred.ecn, size: "
        "switches.s1.pools.shared.size"
    )
    kinds = "served: switches.default.queues.3.scheduler"
    plan = plan_of(tmp_path, OWN + "}}", more=f"{TRAFFIC}parameters: {{{keys}, {kinds}}}\n", settings={"alpha": "1/4"})
    assert plan.parameters == {"alpha": "1/4", "size": "200 KB", "marks": "none", "served": "dwrr"}
    assert queue_of(plan, "s1:eth1").account.alpha_log == -2
    simple = (
        "parameters: {threshold: switches.s1.ecn_threshold, other: switches.default.non_ect, marks: "
        "switches.default.aqm.ecn}\n"
    )
    plan = plan_of(tmp_path, "{default: {buffer: 64 KB, aqm: {kind: codel}}}", more=TRAFFIC + simple)
    assert plan.parameters == {"threshold": "none", "other": "drop", "marks": False}


@pytest.mark.parametrize(
    ("profile", "tiers", "pfc"), list(product(SHIPPED, ("star", "leaf-spine"), ("none", "{priorities: [3, 4]}")))
)
def test_every_shipped_profile_resolves_as_it_is(tmp_path: Path, profile: str, tiers: str, pfc: str) -> None:
    topology = star(4) if tiers == "star" else two_tiers()
    plan = plan_of(tmp_path, f"{{default: {{profile: {profile}, pfc: {pfc}}}}}", topology=topology)
    for node in plan.nodes:
        for port in node.ports:
            assert port.switch_port is not None and port.switch_port.queues
            for queue in port.switch_port.queues:
                assert queue.account.pool is not None or queue.account.limit_bytes is not None
        assert node.role == "host" or (node.switch is not None and node.switch.title and node.switch.notes)
    assert not [warning for warning in plan.warnings if "NOTHING IS EVER" in warning]
