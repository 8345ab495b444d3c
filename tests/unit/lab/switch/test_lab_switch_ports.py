"""`ports` of a switch: what holds for some of its ports instead."""

from __future__ import annotations

from pathlib import Path

import language
import pytest

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.switch import SwitchPort
from fabriclab.lab import LabError, parse_lab
from fabriclab.lab.switch.port_keys import exactness
from fabriclab.resolve import resolve_plan

POOL = "pools: {all: {size: 4 MB}}"
QUEUES = "queues: {default: {alpha: 1, weight: 2}}"


def plan_of(directory: Path, keys: str, profile: str | None = None, default: str = "buffer: 64 KB") -> Plan:
    (directory / "topology.clab.yml").write_text(language.two_racks(), encoding="utf-8")
    text = f"title: T\nswitches:\n  leaf1: {{{keys}}}\n  leaf2: {{{default}}}\n{language.ONE_FLOW}"
    (directory / "experiment.yml").write_text(text, encoding="utf-8")
    if profile is not None:
        (directory / "mine.yml").write_text(
            f"format: fabriclab-switch-1\ntitle: T\nsource: S\n{profile}", encoding="utf-8"
        )
    return resolve_plan(parse_lab(directory), {})


def port(plan: Plan, interface: str) -> SwitchPort:
    found = next(one.switch_port for one in plan.node("leaf1").ports if one.interface == interface)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("key", "interface", "expected"),
    [
        ("eth1", "eth1", 2),
        ("eth1", "eth10", 0),
        ("eth1..eth4", "eth3", 1),
        ("eth1..eth4", "eth5", 0),
        ("eth2, eth1..eth4", "eth2", 2),
    ],
)
def test_keys_that_name_ports(key: str, interface: str, expected: int) -> None:
    assert exactness(key, interface) == expected


def test_a_port_s_own_word_wins_over_a_range_s_and_that_over_all(tmp_path: Path) -> None:
    ports = "ports: {'eth1..eth2': {queues: {3: {weight: 5}, 4: {weight: 6}}}, eth2: {queues: {3: {weight: 7}}}}"
    plan = plan_of(tmp_path, f"{POOL}, {QUEUES}, {ports}")
    weights = {
        name: [port(plan, name).queues[number].scheduler.weight for number in (3, 4, 5)]
        for name in ("eth1", "eth2", "eth3")
    }
    assert weights == {"eth1": [5, 6, 2], "eth2": [7, 6, 2], "eth3": [2, 2, 2]}


def test_pfc_maps_and_groups_of_some_ports(tmp_path: Path) -> None:
    own = "{pfc: {priorities: [3]}, maps: {dscp_to_tc: {46: 3}}, priority_groups: {3: {lossless: true}}}"
    plan = plan_of(tmp_path, f"{POOL}, ports: {{eth1: {own}}}")
    one, other = port(plan, "eth1"), port(plan, "eth2")
    assert (one.pfc is not None, other.pfc) == (True, None)
    assert (one.maps.dscp_to_tc[46], other.maps.dscp_to_tc[46]) == (3, 5)
    assert [group.lossless is not None for group in one.groups] == [True]
    assert other.groups == ()
    # The NIC that faces the port honours its pauses, the other does not.
    nics = [plan.node(host).ports[0].switch_port for host in ("h1", "h2")]
    assert [nic is not None and nic.pfc is not None for nic in nics] == [True, False]


def test_a_profile_s_ports_are_scaled_like_the_rest_and_overridden_by_the_experiment(tmp_path: Path) -> None:
    profile = (
        "bandwidth: 140 Gbps\nport_rate: 10 Gbps\npools: {all: {size: 40 MB}}\n"
        "ports: {eth1: {queues: {3: {limit: 100 KB, wred: {min: 20 KB, max: 40 KB}}}}, eth8: {queues: {3: {limit: "
        "9 KB}}}}\n"
    )
    plan = plan_of(tmp_path, "profile: mine, ports: {eth1: {queues: {3: {wred: {max: 30 KB}}}}}", profile)
    queue = port(plan, "eth1").queues[3]
    assert queue.account.limit_bytes == 10_000
    assert queue.wred is not None
    assert (queue.wred.min, queue.wred.max) == (2000, 30_000)
    assert port(plan, "eth2").queues[3].account.limit_bytes is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            "ports: {eth7: {queues: {3: {weight: 5}}}}",
            "switches.leaf1.ports.eth7: the switch has no such port; did you mean",
        ),
        ("ports: {'eth1...eth2': {}}", "is not a port; write an interface, a range or a list of them"),
        ("ports: {eth1: {pools: {}}}", "switches.leaf1.ports.eth1.pools: unknown key; "),
        ("ports: {eth1: {queues: {9: {weight: 5}}}}", "'9' is out of range; write numbers from 0 to 7"),
        ("ports: {eth1: {queues: {3: {pool: other}}}}", "'other' is not a pool"),
        (
            "ports: {eth1: {queues: {3: {scheduler: wrr}, 4: {scheduler: dwrr}}}}",
            "all queues of a port must use the same one",
        ),
    ],
)
def test_a_mistake_in_a_port_is_told_where_it_is(keys: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        plan_of(tmp_path, f"{POOL}, {keys}")
    assert message in str(caught.value)


def test_an_error_of_the_plan_is_told_at_the_port_s_own_value(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"switches.leaf1.ports.eth1.queues.3.wred.min"):
        plan_of(
            tmp_path,
            f"{POOL}, {QUEUES}, ports: {{eth1: {{queues: {{3: {{limit: 10 KB, wred: {{min: 20 KB, max: 30 KB}}}}}}}}}}",
        )


def test_a_setting_reaches_a_port(tmp_path: Path) -> None:
    plan_of(tmp_path, f"{POOL}, {QUEUES}, ports: {{eth1: {{queues: {{3: {{weight: 5}}}}}}}}")
    plan = resolve_plan(parse_lab(tmp_path), {"switches.leaf1.ports.eth1.queues.3.weight": "9"})
    assert port(plan, "eth1").queues[3].scheduler.weight == 9
