"""Events that set something: from the experiment to the lines that nodes execute, and what a plan then needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from bgp_fabrics import BGP, TWO_LEAVES
from event_lines import lines_of
from sample_plans import star
from small_fabrics import EXPERIMENT, plan_of

from fabriclab.compile import compile_job, compile_machine_sysctl, compile_node, machine_memory_bytes, shortfalls
from fabriclab.formats.job import Change
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.lab import LabError

SHARED = """\
title: T
switches:
  default:
    pools: {main: {size: 1 MB}}
    queues: {default: {scheduler: dwrr}, 3: {wred: {min: 30 KB, max: 30 KB}}}
    priority_groups: {3: {lossless: true, limit: 50 KB}}
    pfc: {priorities: [3]}
traffic: {one: {kind: flows, senders: 1, receiver: h2, size: 10 KB}}
"""


def with_sets(directory: Path, *sets: str, experiment: str = EXPERIMENT) -> Plan:
    lines = "".join(f"  e{number}: {{at: {number} s, set: {{{keys}}}}}\n" for number, keys in enumerate(sets, 1))
    return plan_of(directory, TWO_LEAVES, f"{experiment}events:\n{lines}")


def changes_of(plan: Plan) -> list[Change]:
    return compile_job(plan)["events"]


def test_a_plan_without_settings_says_nothing_of_them() -> None:
    assert not {"settings", "nodes", "bgp"} & set(star(2).model_dump()["events"])


def test_thresholds_and_limits_change_in_place_and_what_is_set_holds_on(tmp_path: Path) -> None:
    plan = with_sets(tmp_path, "switches.leaf1.ecn_threshold: 30 KB", "switches.default.buffer: 70 KB")
    assert parse_plan_json(plan_json(plan)) == plan
    marks, limits = changes_of(plan)
    assert lines_of(marks)[0] == (
        "leaf1 tc qdisc change dev eth1 parent 1:1 handle 3: red limit 0 min 30000 max 30001 probability 1 avpkt 1000 "
        "burst 30 bandwidth 1000000000bit ecn"
    )
    found = lines_of(limits)
    assert "leaf1 tc qdisc change dev eth1 parent 3:1 handle 4: bfifo limit 70000" in found
    # Without a threshold RED's lies above the limit, so that it moves with it; leaf1 has one meanwhile.
    assert [line for line in found if line.startswith("leaf1") and " red " in line] == []
    assert any(line.startswith("leaf2") and " red limit 0 min 70001 " in line for line in found)
    first = compile_node(plan.node("leaf2"), plan).tc.splitlines()[:3]
    assert [word for line in first for word in line.split() if word in ("tbf", "red", "bfifo")] == [
        "tbf",
        "red",
        "bfifo",
    ]


def test_hosts_get_routes_sysctls_and_what_the_machine_must_allow(tmp_path: Path) -> None:
    plan = with_sets(
        tmp_path, "hosts.h1.congestion_control: bbr, hosts.default.rto_min: 5 ms", "hosts.h1.window_limit: 8"
    )
    now, window = changes_of(plan)
    lines = lines_of(now)
    assert "h1 sysctl net.ipv4.tcp_congestion_control = bbr" in lines
    assert sum("ip route replace default rto_min 5ms" in line for line in lines) == len(plan.host_names)
    assert "bbr" in compile_machine_sysctl(plan)
    # A window is offered by those who receive; the first one is the sender's own.
    assert {line.split()[0] for line in lines_of(window)} == plan.host_names


def test_what_is_taken_from_a_host_can_be_given_back(tmp_path: Path) -> None:
    taken, given = changes_of(with_sets(tmp_path, "hosts.h1.sack: false", "hosts.h1.sack: true"))
    assert lines_of(taken) == ["h1 sysctl net.ipv4.tcp_sack = 0"]
    assert lines_of(given) == ["h1 sysctl net.ipv4.tcp_sack = 1"]


def test_a_line_changes_whatever_events_made_of_it(tmp_path: Path) -> None:
    events = "events:\n  a: {at: 1 s, link: 'leaf1:eth3', rate: 10 Mbps}\n  b: {at: 2 s, set: {links.rate: 100 Mbps}}\n"
    _, every = changes_of(plan_of(tmp_path, TWO_LEAVES, EXPERIMENT + events))
    rates = {(line.split()[0], line.split()[5]) for line in lines_of(every) if " tbf " in line}
    assert ("leaf1", "eth4") in rates and ("leaf1", "eth3") not in rates


def test_queues_groups_and_pools_of_a_shared_buffer(tmp_path: Path) -> None:
    plan = with_sets(
        tmp_path,
        "switches.leaf1.queues.3.wred.min: 20 KB, switches.leaf1.queues.3.wred.max: 20 KB",
        "switches.leaf1.pools.main.size: 500 KB",
        "switches.leaf1.pfc: none, switches.leaf1.priority_groups.3.lossless: false",
        experiment=SHARED,
    )
    marks, memory, pfc = map(lines_of, changes_of(plan))
    assert all(" switch_port queue 3 " in line and "wred 20000 20000 100.0000% ecn" in line for line in marks)
    # A smaller pool is the last thing: what ports reserve must fit into it all the time.
    assert memory[-1] == "leaf1 tc qdisc change dev eth1 root handle 1: switch_port memory 0 500000"
    assert all(" switch_port pfc none" in line for line in pfc)
    assert any(line.startswith("h1 ") for line in pfc), "the NIC that faces the switch"


def test_routing_is_told_by_vtysh(tmp_path: Path) -> None:
    plan = with_sets(tmp_path, "routing.max_paths: 1", "routing.keepalive: 1 s, routing.hold: 3 s", experiment=BGP)
    paths, timers = changes_of(plan)
    leaf1 = next(step for step in paths["steps"] if step["node"] == "leaf1")
    assert leaf1["tool"] == "vtysh"
    router = leaf1["lines"][0]
    assert router.startswith("router bgp ")
    assert leaf1["lines"][1:] == ["address-family ipv4 unicast", "maximum-paths 1", "exit", "exit"]
    assert next(step for step in timers["steps"] if step["node"] == "leaf1")["lines"] == [
        *(router, "timers bgp 1 3", "exit")
    ]


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("links.mtu: 9000", "leaf1:eth1: its mtu would change: this can't be done while the lab runs"),
        ("switches.leaf1.aqm.kind: codel", "its queue would be a different qdisc, and lose its packets"),
        ("routing.protocol: bgp-numbered", "switches would learn their routes in a different way"),
        ("hosts.h1.mptcp.subflows: 2", "h1: MPTCP's endpoints are made only when the lab starts"),
    ],
)
def test_what_cannot_change_is_an_error_at_its_line(tmp_path: Path, keys: str, text: str) -> None:
    with pytest.raises(LabError, match=text) as raised:
        with_sets(tmp_path, keys)
    (mistake,) = raised.value.mistakes
    assert mistake.key == "events.e1.set" and mistake.line == len(EXPERIMENT.splitlines()) + 2


def test_the_machine_has_memory_for_what_comes_and_containers_say_that_nothing_does(tmp_path: Path) -> None:
    plan = with_sets(tmp_path, "switches.default.buffer: 100 MB")
    assert machine_memory_bytes(plan) > machine_memory_bytes(plan.model_copy(update={"events": ()})) + 10**9
    assert shortfalls(plan)[-1].startswith("events.e1: nothing is set")
    assert "events" not in compile_job(plan, stock=True)
    assert "red" not in compile_node(plan.node("leaf1"), plan, stock=True).tc
