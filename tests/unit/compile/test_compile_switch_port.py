"""Ports of a switch with a shared buffer: the line for the machine's own qdisc, stock qdiscs in its place,
and what those can't express."""

from __future__ import annotations

from math import gcd
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repository import ROOT
from sample_plans import GBPS, star
from sample_qdiscs import KNOWN, KnownQdisc
from sample_switch_plans import LOSSLESS_PORT, PORT, QUEUE, RICH, SHARED, sampled, shared_star

from fabriclab.compile import (
    compile_job,
    compile_node,
    compile_sampler,
    compiled_flows,
    machine_memory_bytes,
    shortfalls,
)
from fabriclab.compile.stock_switch import dscp_prefixes, static_limit_bytes, stock_memory, used_queues
from fabriclab.compile.switch_port import quanta_of
from fabriclab.formats.plan.model import Event, PauseStorm, Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.switch import (
    Account,
    Phantom,
    Pool,
    QosMaps,
    Scheduler,
    SwitchPort,
    SwitchQueue,
    Watchdog,
    Wred,
)

NOWHERE = Path("/nonexistent")
GOLDEN = ROOT / "tests" / "golden" / "compile"
FRAME_BYTES = 1538
SEVEN_QUEUES = SwitchPort(
    queues=tuple(SwitchQueue(index=index, account=Account(limit_bytes=9000)) for index in range(8))
)


def tc_of(plan: Plan, name: str = "s1", *, stock: bool = False) -> list[str]:
    return compile_node(plan.node(name), plan, stock=stock).tc.splitlines()


@pytest.mark.parametrize("stock", [False, True])
def test_ports_are_the_golden_ones(stock: bool) -> None:
    plan = shared_star(2, buffer=RICH, cell_bytes=208)
    text = "".join(f"# {name}\n{compile_node(plan.node(name), plan, stock=stock).tc}" for name in ("s1", "h1"))
    assert text == (GOLDEN / f"switch-port{'-stock' if stock else ''}.txt").read_text()


def test_what_stock_qdiscs_cant_express_is_the_golden_text() -> None:
    plan = sampled(shared_star(3, buffer=RICH, cell_bytes=208), 10**6)
    storm = PauseStorm(name="storm", at_ns=0, until_ns=10**6, host="h3", interface="eth1", priorities=(3,))
    text = "".join(f"{sentence}\n" for sentence in shortfalls(plan.model_copy(update={"pause_storms": (storm,)})))
    assert text == (GOLDEN / "switch-port-shortfalls.txt").read_text()


def test_only_the_first_port_of_a_switch_carries_what_all_share() -> None:
    pools = (SHARED, Pool(name="lossless", size_bytes=90_000, headroom_bytes=40_000))
    lines = tc_of(shared_star(3, pools=pools, cell_bytes=256))
    assert [" cell 256 memory 0 400000 memory 1 90000 40000 queue" in line for line in lines] == [True, False, False]
    assert all("memory" not in line for line in tc_of(shared_star(3), "h1"))


def test_a_pool_is_named_by_its_place() -> None:
    buffer = SwitchPort(queues=(QUEUE, SwitchQueue(index=1, account=Account(pool="second", limit_bytes=5000))))
    line = tc_of(shared_star(2, buffer=buffer, pools=(SHARED, Pool(name="second", size_bytes=9000))))[1]
    assert line.endswith("queue 0 pool 0 alpha 0 strict queue 1 pool 1 limit 5000 strict")


def test_words_that_the_rich_port_does_not_have() -> None:
    pfc = RICH.pfc and RICH.pfc.model_copy(
        update={"watchdog": Watchdog(detection_ns=2000, restoration_ns=3000, action="forward")}
    )
    maps = QosMaps(tc_to_queue=(0, 1, 2, 3, 4, 5, 6, 6), priority_to_group=(0,) * 8)
    queue = SwitchQueue(
        index=6, account=Account(limit_bytes=1), phantom=Phantom(rate_bps=950_000_000, threshold_bytes=3000)
    )
    line = tc_of(shared_star(2, buffer=SwitchPort(queues=(queue,), maps=maps, pfc=pfc)))[1]
    assert "tc_to_queue 0,1,2,3,4,5,6,6 priority_to_group 0,0,0,0,0,0,0,0 pfc 3 quanta 1000 reaction 500ns " in line
    assert line.endswith("watchdog 2000ns 3000ns forward queue 6 limit 1 strict phantom 950000000bit 3000")


weights = st.lists(st.integers(1, 100), min_size=1, max_size=8)


def weighted(kind: str, of: list[int]) -> list[SwitchQueue]:
    return [
        SwitchQueue.model_validate({"index": index, "scheduler": {"kind": kind, "weight": weight}})
        for index, weight in enumerate(of)
    ]


@given(weights, st.integers(84, 9254))
def test_dwrr_quanta_are_exactly_the_weights_and_the_least_that_let_each_queue_send(
    of: list[int], frame_bytes: int
) -> None:
    quanta = quanta_of(weighted("dwrr", of), frame_bytes)
    assert all(quanta[i] * of[0] == quanta[0] * of[i] for i in range(len(of)))
    lightest_weight = min(of) // gcd(*of)
    unit, rest = divmod(min(quanta.values()), lightest_weight)
    assert rest == 0 and (unit - 1) * lightest_weight < frame_bytes <= unit * lightest_weight


@given(weights)
def test_wrr_quanta_are_the_weights_cancelled_down(of: list[int]) -> None:
    quanta = quanta_of(weighted("wrr", of), FRAME_BYTES)
    assert all(quanta[i] * of[0] == quanta[0] * of[i] for i in range(len(of)))
    assert not any(all(quantum % divisor == 0 for quantum in quanta.values()) for divisor in range(2, 101))


def test_strict_queues_have_no_quantum() -> None:
    assert quanta_of([QUEUE, *weighted("dwrr", [2])], FRAME_BYTES) == {0: FRAME_BYTES}


def limit_of(plan: Plan, account: Account) -> int:
    switch = plan.node("s1")
    return static_limit_bytes(stock_memory(plan, switch), account, switch.ports[0])


@pytest.mark.parametrize(
    ("account", "expected"),
    [
        (Account(pool="shared", alpha_log=0), 200_000),
        (Account(pool="shared", alpha_log=3), 400_000 * 8 // 9),
        (Account(pool="shared", alpha_log=-3), 400_000 // 9),
        (Account(pool="shared"), 400_000),
        (Account(pool="shared", limit_bytes=50_000), 50_000),
        (Account(pool="shared", limit_bytes=900_000), 400_000),
        (Account(limit_bytes=50_000, reserved_bytes=1_000), 51_000),
        (Account(), 2**31 - 1),
    ],
)
def test_a_static_limit_is_what_one_busy_queue_gets(account: Account, expected: int) -> None:
    assert limit_of(shared_star(2), account) == expected


def test_what_is_reserved_is_not_shared() -> None:
    account = Account(pool="shared", alpha_log=0, reserved_bytes=10_000)
    plan = shared_star(4, buffer=SwitchPort(queues=(SwitchQueue(index=0, account=account),)))
    assert limit_of(plan, account) == 10_000 + (400_000 - 4 * 10_000) // 2


def test_what_frames_leave_of_their_cells_is_lost_to_a_static_limit_too() -> None:
    # 1514 bytes take 8 cells of 208.
    assert limit_of(shared_star(2, cell_bytes=208), Account(pool="shared", alpha_log=0)) == 400_000 // 208 * 1514 // (
        2 * 8
    )


@given(st.lists(st.integers(0, 7), min_size=64, max_size=64), st.integers(1, 64))
def test_every_dscp_has_one_prefix_that_says_its_queue(queues: list[int], repeated: int) -> None:
    queues = [queues[dscp // repeated] for dscp in range(64)]
    prefixes = dscp_prefixes(queues)
    for dscp in range(64):
        assert [queue for value, mask, queue in prefixes if dscp & mask == value] == [queues[dscp]]


def test_class_selectors_are_one_filter_each() -> None:
    lines = tc_of(shared_star(2, buffer=SEVEN_QUEUES), stock=True)
    assert sum("protocol ip " in line for line in lines) == 2 * 7
    assert "filter add dev eth1 parent 3: protocol ip prio 1 u32 match ip dsfield 0xe0 0xe0 flowid 3:1" in lines
    assert "qdisc add dev eth1 parent 3:1 handle 17: bfifo limit 9000" in lines


def test_a_port_whose_dscps_all_go_to_one_queue_needs_no_classes() -> None:
    plan = shared_star(2, buffer=SwitchPort(queues=(QUEUE,), maps=QosMaps(dscp_to_tc=(0,) * 64)), delay_ns=0)
    assert tc_of(plan, stock=True)[:2] == [
        "qdisc add dev eth1 root handle 1: tbf rate 1000000000bit burst 1514 limit 200000 overhead 24 mpu 84",
        "qdisc add dev eth1 parent 1:1 handle 3: bfifo limit 200000",
    ]


def test_a_queue_that_a_dscp_leads_to_is_there_although_nothing_is_said_of_it() -> None:
    assert [queue.index for queue in used_queues(PORT)] == list(range(8))
    plan = shared_star(2)
    assert sum("bfifo limit 2147483647" in line for line in tc_of(plan, stock=True)) == 2 * 7


def test_wrr_is_a_share_of_full_frames() -> None:
    queues = (
        SwitchQueue(index=0, scheduler=Scheduler(kind="wrr", weight=4)),
        SwitchQueue(index=1, scheduler=Scheduler(kind="wrr", weight=2)),
    )
    buffer = SwitchPort(queues=queues, maps=QosMaps(dscp_to_tc=tuple(dscp // 32 for dscp in range(64))))
    plan = shared_star(2, buffer=buffer)
    assert "queue 0 wrr 2 queue 1 wrr 1" in tc_of(plan)[0]
    assert any("ets bands 2 quanta 3076 1538 priomap 0 0" in line for line in tc_of(plan, stock=True))
    assert any("queues 0-1: wrr; instead: shares of bytes" in sentence for sentence in shortfalls(plan))


def test_a_plan_without_shared_buffers_lacks_nothing() -> None:
    assert shortfalls(star()) == ()


LINK = (("h1:eth1", "s1:eth1"),)
SLOWER = Event(name="slower", at_ns=1, links=LINK, action="change", rate_bps=GBPS // 10, loss_ppm=1000)
FARTHER = Event(name="farther", at_ns=2, links=LINK, action="change", delay_ns=99)
HOLE = Event(name="hole", at_ns=3, links=LINK, action="blackhole")
HEALED = Event(name="healed", at_ns=4, links=LINK, action="up")
EVENTS = (SLOWER, FARTHER, HOLE, HEALED)


def test_events_change_the_port_and_say_all_of_its_line() -> None:
    job = compile_job(shared_star(2, events=EVENTS))
    change = "qdisc change dev eth1 root handle 1: switch_port rate 100000000bit"
    assert [[step["lines"][0] for step in event["steps"] if step["tool"] == "tc"] for event in job["events"]] == [
        [f"{change} delay 0ns loss 0.1000%"] * 2,
        [],
        [f"{change} delay 0ns loss 100.0000%"] * 2,
        [f"{change} delay 0ns loss 0.1000%"] * 2,
    ]
    assert [step["lines"] for step in job["events"][1]["steps"]] == [["eth1 99 99 0"]] * 2


def test_events_of_stock_ports_change_line_and_cable_apart() -> None:
    events = compile_job(shared_star(2, events=EVENTS, delay_ns=0), stock=True)["events"]
    rate = "qdisc change dev eth1 root handle 1: tbf rate 100000000bit burst 1514 limit 10000000 overhead 24 mpu 84"
    assert events[0]["steps"][0]["lines"] == [
        rate,
        "qdisc change dev eth1 parent 1:1 handle 2: netem limit 1000000 delay 0ns loss 0.1000%",
    ]
    assert events[1]["steps"][0]["lines"] == [
        "qdisc change dev eth1 parent 1:1 handle 2: netem limit 1000000 delay 99ns loss 0.1000%"
    ]
    assert sum("handle 2: netem" in line for line in tc_of(shared_star(2, events=EVENTS, delay_ns=0), stock=True)) == 1


STORM = PauseStorm(name="storm", at_ns=10**8, until_ns=6 * 10**8, host="h2", interface="eth1", priorities=(3, 4))


def test_a_pause_storm_is_told_again_at_half_of_a_full_pause() -> None:
    plan = shared_star(2, buffer=LOSSLESS_PORT, pause_storms=(STORM,))
    (storm,) = compile_job(plan)["disturbances"]
    assert (storm["name"], storm["node"]) == ("pause-storm-storm@h2", "h2")
    interval_ns = 65_535 * 512 // 2
    assert " ".join(storm["argv"]) == (
        "/tools/replay pause-storm --interface eth1 --priorities 3,4 --at-ns 100000000 --until-ns 600000000 "
        f"--interval-ns {interval_ns}"
    )
    assert "disturbances" not in compile_job(plan, stock=True)


def test_a_storm_on_a_line_that_becomes_faster_has_the_shorter_pauses() -> None:
    faster = Event(name="faster", at_ns=1, links=(("h2:eth1", "s1:eth2"),), action="change", rate_bps=10 * GBPS)
    elsewhere = faster.model_copy(update={"links": LINK, "rate_bps": 100 * GBPS})
    plan = shared_star(2, pause_storms=(STORM,), events=(faster, elsewhere))
    assert compile_job(plan)["disturbances"][-1]["argv"][-1] == str(65_535 * 512 // 20)


def test_a_switch_port_is_sampled_whole_at_its_root() -> None:
    plan = sampled(shared_star(3), 10**6)
    config = compile_sampler(plan, compiled_flows(plan, NOWHERE))
    assert [port["handle"] for port in config["queues"]["ports"]] == ["1:"]
    assert config["switches"]["interval_ns"] == 10**6
    assert config["switches"]["outputs"]["events"] == "/job/raw/congestion_events.csv"
    assert config["switches"]["ports"][0] == {"name": "h1:eth1", "netns": "/run/netns/h1", "interface": "eth1"}
    stock = compile_sampler(plan, compiled_flows(plan, NOWHERE), stock=True)
    assert [port["handle"] for port in stock["queues"]["ports"]] == ["3:"] and "switches" not in stock


WRED = Wred(min=20_000, max=40_000)


def leaves(*queues: SwitchQueue, maps: QosMaps | None = None) -> list[str] | None:
    """Return the qdiscs whose marks the sampler of containers adds up for a port with these queues."""
    plan = sampled(shared_star(3, buffer=SwitchPort(queues=queues, maps=maps or QosMaps())), 10**6)
    (port,) = compile_sampler(plan, compiled_flows(plan, NOWHERE), stock=True)["queues"]["ports"]
    found: list[str] | None = port.get("leaves")
    return found


def test_marks_of_containers_are_those_of_all_queues_of_a_port() -> None:
    account = Account(limit_bytes=90_000)
    plain, marking, dropping = (SwitchQueue(index=index, account=account, wred=wred) for index, wred in NO_WRED_TO_WRED)
    assert leaves(plain, marking, dropping) == ["11:"], "prio does not count what the queues below it mark"
    assert leaves(plain) == [], "no queue marks: the port's marks are 0, and known"
    one_queue = QosMaps(dscp_to_tc=(1,) * 64)
    assert leaves(marking, maps=one_queue) is None, "a port's only queue tells its own marks"
    plan = sampled(shared_star(3), 10**6)
    assert "leaves" not in compile_sampler(plan, compiled_flows(plan, NOWHERE))["queues"]["ports"][0], (
        "the machine's port counts all"
    )


NO_WRED_TO_WRED = ((0, None), (1, WRED), (2, WRED.model_copy(update={"ecn": False})))


@pytest.mark.parametrize(
    ("wred", "said"),
    [
        (
            WRED,
            "queue 3: wred of a lossless class; instead: no pause keeps its queue short, "
            "and red drops packets that are not ",
        ),
        (WRED.model_copy(update={"ecn": False}), "and red drops packets in this class, too"),
        (WRED.model_copy(update={"non_ect": "queue"}), None),
        (None, None),
    ],
)
def test_a_lossless_class_that_red_drops_from_is_said(wred: Wred | None, said: str | None) -> None:
    queues = tuple(queue.model_copy(update={"wred": wred}) for queue in LOSSLESS_PORT.queues)
    sentences = shortfalls(shared_star(2, buffer=LOSSLESS_PORT.model_copy(update={"queues": queues})))
    found = [sentence for sentence in sentences if "of a lossless class" in sentence]
    assert len(found) == (said is not None), "of the lossless queue alone"
    assert said is None or said in found[0]


def test_switches_alone_want_a_sampler() -> None:
    plan = sampled(shared_star(3), 10**6)
    only = plan.probes.model_copy(update={"queue_interval_ns": None, "tcp_interval_ns": None})
    assert len(compile_job(plan.model_copy(update={"probes": only}))["probes"]) == 1


def test_memory_has_room_for_pools_and_headroom_and_for_no_hosts_queue() -> None:
    small, large = shared_star(3), shared_star(3, pools=(Pool(name="shared", size_bytes=100_400_000),))
    assert machine_memory_bytes(large) - machine_memory_bytes(small) >= 3 * 100_000_000 - (64 << 20)
    assert machine_memory_bytes(shared_star(3, nic_limit_bytes=10**9)) == machine_memory_bytes(small)


def test_what_tc_writes_of_a_switch_port_is_no_json() -> None:
    def shown(plan: Plan, *, stock: bool = False) -> list[str]:
        return next(entry["argv"] for entry in compile_job(plan, stock=stock)["collect"] if entry["name"] == "qdisc@s1")

    assert "-j" not in shown(shared_star(2))
    assert "-j" in shown(shared_star(2), stock=True) and "-j" in shown(star(2))


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.told.kind)
def test_a_limit_of_bytes_is_one_of_full_frames_to_an_aqm(known: KnownQdisc) -> None:
    plan = star(2, queue=Queue(limit_bytes=100_000, aqm=known.told))
    assert tc_of(plan)[1] == f"qdisc add dev eth1 parent 1:1 handle 3: {known.words}"
    assert tc_of(plan, stock=True)[2] == f"qdisc add dev eth1 parent 2:1 handle 3: {known.words}"
