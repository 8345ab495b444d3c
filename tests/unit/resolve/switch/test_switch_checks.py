"""Checks of a switch: each rule with a switch that breaks it, what it says, and that what is right is found right."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_labs import plan_of, two_tiers
from switch_by_hand import (
    GBPS,
    GOOD,
    LINE,
    LOSSLESS,
    ONE_CLASS,
    OWN,
    SHARED,
    TWO_CLASSES,
    check,
    group,
    lossless_port,
    queue,
    switch,
    wred,
)

from fabriclab.formats.plan.switch import (
    Account,
    Lossless,
    Pfc,
    Phantom,
    Pool,
    PriorityGroup,
    Scheduler,
    Sharing,
    SwitchPort,
)
from fabriclab.resolve.switch.checks import check_switch, unmarked
from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.headroom import Line
from fabriclab.resolve.switch.memory import Memory


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert check(switch(), GOOD) == {}
    assert check(switch(), lossless_port(group())) == {}


def test_reserved_above_the_pool() -> None:
    """4 ports x (9 + 1 cells of 256 bytes); a reserved size takes whole cells."""
    reserving = Account(pool="shared", reserved_bytes=2_100, limit_bytes=10_000)
    port = SwitchPort(
        queues=(queue(account=reserving), queue(1, Account(pool="shared", reserved_bytes=1))), maps=ONE_CLASS
    )
    fits = switch(4 * 10 * 256, cell_bytes=256)
    assert "reserved-above-pool" not in check(fits, port)
    finding = check(switch(4 * 10 * 256 - 1, cell_bytes=256), port)["reserved-above-pool"]
    assert (finding.severity, finding.path, finding.ports) == ("error", ("pools", "shared", "size"), ())
    assert finding.sentence == (
        "pools.shared.size: 10239 B is less than the 10240 B that queues and priority groups of 4 ports reserve in it; "
        "the switch can't be made; write a larger pool, or smaller reserved sizes"
    )


@pytest.mark.parametrize(
    ("account", "path"),
    [
        (Account(pool="shared", limit_bytes=1_513), ("queues", "0", "limit")),
        (Account(limit_bytes=1_000, reserved_bytes=513), ("queues", "0", "limit")),
        (Account(pool="small", alpha_log=7), ("pools", "small", "size")),
    ],
)
def test_below_a_frame(account: Account, path: tuple[str, ...]) -> None:
    port = SwitchPort(queues=(queue(account=account),), maps=ONE_CLASS)
    finding = check(switch(480_000, Pool(name="small", size_bytes=1_513)), port)["account-below-frame"]
    assert (finding.severity, finding.path) == ("error", path)
    assert "1514 B (MTU 1500)" in finding.bound


def test_a_frame_exactly_is_enough() -> None:
    port = SwitchPort(queues=(queue(account=Account(limit_bytes=1_000, reserved_bytes=514)),), maps=ONE_CLASS)
    assert check(switch(), port) == {}


def test_a_voq_holds_a_frame() -> None:
    fits, small = (SwitchPort(queues=(queue(voq_limit_bytes=limit),), maps=ONE_CLASS) for limit in (1_514, 1_513))
    assert check(switch(), fits) == {}
    finding = check(switch(), small)["account-below-frame"]
    assert (finding.severity, finding.path, finding.value) == ("error", ("queues", "0", "voq_limit"), "1513 B")


def test_a_pool_of_less_than_a_frame_for_each_port() -> None:
    """4 ports x 6 cells of 256 bytes: a profile scaled down to slow links."""
    port = SwitchPort(queues=(queue(account=Account(pool="shared", alpha_log=7)),), maps=ONE_CLASS)
    assert check(switch(4 * 6 * 256, cell_bytes=256), port) == {}
    finding = check(switch(4 * 6 * 256 - 1, cell_bytes=256), port)["pool-below-frames"]
    assert (finding.severity, finding.path, finding.ports) == ("warning", ("pools", "shared", "size"), ())
    assert finding.sentence == (
        "pools.shared.size: 6143 B is less than 6.144 KB, a frame for each of 4 ports; "
        "frames that wait at one port leave no room for those of the others; write a larger pool, or another scale"
    )
    assert "pool-below-frames" not in check(switch(5 * 256, cell_bytes=256), port), "that is an error of its own"


def test_what_is_reserved_for_a_frame_needs_no_pool() -> None:
    reserved = Account(pool="shared", reserved_bytes=1_536, alpha_log=7)
    assert (
        check(switch(4 * 6 * 256, cell_bytes=256), SwitchPort(queues=(queue(account=reserved),), maps=ONE_CLASS)) == {}
    )


def test_wred_that_a_static_limit_never_lets_a_queue_reach_is_an_error() -> None:
    static = Account(pool="shared", reserved_bytes=10_000, limit_bytes=20_000)
    finding = check(switch(), SwitchPort(queues=(queue(account=static, wred=wred(30_000)),), maps=ONE_CLASS))[
        "wred-unreachable"
    ]
    assert (finding.severity, finding.path, finding.value) == ("error", ("queues", "0", "wred", "min"), "30 KB")
    assert check(switch(), SwitchPort(queues=(queue(account=static, wred=wred(29_999)),), maps=ONE_CLASS)) == {}


@given(alpha_log=st.integers(-8, 7), size_bytes=st.integers(20_000, 10_000_000), busy=st.integers(1, 256))
def test_what_n_busy_queues_hold(alpha_log: int, size_bytes: int, busy: int) -> None:
    """alpha B / (1 + alpha N), and all together never more than the pool."""
    share = Fraction(2) ** alpha_log
    account = Account(pool="shared", alpha_log=alpha_log)
    held = Memory(switch(size_bytes), []).holds_bytes(account, busy, 1514)
    assert held == int(share * size_bytes / (1 + share * busy))
    assert held * busy <= size_bytes


def test_what_a_queue_holds_by_hand() -> None:
    """Trident 3 at 48 x 1 Gbps: 480 KB, 1875 cells; alpha 1: 937.5 cells alone, 38.3 with 48;
    a frame of 1514 bytes takes six."""
    memory = Memory(switch(480_000, cell_bytes=256), [])
    assert memory.holds_bytes(SHARED, 1, 1514) == 1875 * 1514 // 12
    assert memory.holds_bytes(SHARED, 48, 1514) == 1875 * 1514 // (49 * 6)
    assert memory.holds_bytes(Account(pool="shared", limit_bytes=100_000), 10, 1514) == 1875 * 1514 // 60
    assert memory.holds_bytes(Account(pool="shared"), 1, 1514) == 1875 * 1514 // 6
    assert memory.holds_bytes(Account(limit_bytes=15_360, reserved_bytes=1), 48, 1514) == 61 * 1514 // 6


def test_wred_that_a_dynamic_limit_never_lets_a_queue_reach() -> None:
    port = SwitchPort(queues=(queue(wred=wred(240_000)),), maps=ONE_CLASS)
    finding = check(switch(), port)["wred-unreachable"]
    assert finding.severity == "warning"
    assert finding.sentence == (
        "queues.0.wred.min: 240 KB is not below 240 KB, the most that the queue ever holds (alpha 1 of pool shared, "
        "480 KB); "
        "NO FRAME IS EVER MARKED, because frames are dropped at the limit first; write less than 240 KB, or a higher "
        "limit"
    )


@pytest.mark.parametrize(("ports", "stops"), [(14, None), (15, 15), (48, 15)])
def test_wred_that_is_reached_until_n_ports_are_busy(ports: int, stops: int | None) -> None:
    """480 KB / (1 + N) > 30 KB up to N = 14."""
    finding = check(switch(), GOOD, count=ports).get("wred-unreachable-when-busy")
    assert (finding is None) == (stops is None)
    if finding is not None:
        assert finding.sentence == (
            f"queues.0.wred.min: 30 KB is not below 30 KB, the most that the queue holds with 15 of {ports} ports "
            "busy (alpha "
            "1 of pool shared, "
            "480 KB); from then on no frame is marked, because frames are dropped first"
        )


@pytest.mark.parametrize(("ports", "stops"), [(7, None), (8, 8), (9, 8)])
def test_by_abm_more_busy_ports_take_more_of_a_queue(ports: int, stops: int | None) -> None:
    """alpha B / ((1 + alpha) N): 480 KB / 2 / 8 are the 30 KB at which marks begin."""
    port = SwitchPort(
        queues=(queue(wred=wred(30_000), sharing={"policy": "abm", "interval_ns": 80_000}),), maps=ONE_CLASS
    )
    finding = check(switch(), port, count=ports).get("wred-unreachable-when-busy")
    assert (finding is None) == (stops is None)
    if finding is not None:
        assert f"with {stops} of {ports} ports busy (alpha 1 by abm of pool shared, 480 KB)" in finding.sentence


@pytest.mark.parametrize(("length", "share"), [(None, 801), (801, 801), (1_000, 874), (4_000, 1201), (10**6, 1201)])
def test_by_a_length_a_queue_holds_what_solves_its_threshold(length: int | None, share: int) -> None:
    """q = alpha / n (B - 2 q), n = 2 min(1, q / length) from 1 to 2: the machine's queues hold the same
    (tests/kernel/test_abm_machine.py)."""
    sharing = Sharing(policy="abm", interval_ns=80_000, congested_bytes=length)
    held = Memory(switch(4_807), []).share_cells(Account(pool="shared", alpha_log=-1), 2, sharing)
    assert int(held) == share


def test_a_policy_of_ones_own_is_not_judged() -> None:
    port = SwitchPort(
        queues=(queue(wred=wred(900_000), sharing={"policy": "share_mine", "interval_ns": 80_000}),), maps=ONE_CLASS
    )
    found = check(switch(), port)
    assert set(found) == {"sharing-not-judged"}
    assert found["sharing-not-judged"].sentence == (
        "queues.0.sharing: share_mine is a policy of your own, and how much a queue may hold by it is known only when "
        "it runs; nobody has judged whether a queue ever reaches wred.min, where frames begin to be marked"
    )


def test_the_end_of_a_curve_that_is_out_of_reach() -> None:
    """140 KB of 100 KB to 500 KB: the queue alone gets 240 KB, 35 % of 20 %."""
    port = SwitchPort(queues=(queue(wred=wred(100_000, 500_000, probability_ppm=200_000, ecn=False)),), maps=ONE_CLASS)
    finding = check(switch(), port, count=1)["wred-max-unreachable"]
    assert (finding.path[-1], finding.value) == ("max", "500 KB")
    assert finding.consequence == "at most 7 % of the frames are dropped early before frames are dropped at the limit"


def test_a_threshold_by_delay_is_what_the_line_takes() -> None:
    """480 KB alone is 240 KB, 1.92 ms at 1 Gbps."""
    by_delay = SwitchPort(queues=(queue(wred=wred(1_920_000, unit="ns")),), maps=ONE_CLASS)
    finding = check(switch(), by_delay)["wred-unreachable"]
    assert (finding.severity, finding.value) == ("warning", "1920 us")
    within = SwitchPort(queues=(queue(wred=wred(300_000, unit="ns")),), maps=ONE_CLASS)
    assert check(switch(), within) == {}


def ingress(lossless: Lossless | None, limit_bytes: int) -> SwitchPort:
    account = Account(pool="in", limit_bytes=limit_bytes)
    return SwitchPort(
        queues=(queue(), queue(3, OWN, wred=wred(30_000))),
        groups=(group(account, lossless),),
        maps=TWO_CLASSES,
        pfc=Pfc(priorities=(3,)) if lossless else None,
    )


@pytest.mark.parametrize(("lossless", "rule"), [(LOSSLESS, "wred-above-xoff"), (None, "wred-above-ingress-limit")])
def test_wred_that_the_ingress_side_never_lets_a_queue_reach(lossless: Lossless | None, rule: str) -> None:
    memory = switch(480_000, Pool(name="in", size_bytes=480_000))
    finding = check(memory, ingress(lossless, 30_000))[rule]
    assert "the most that its priority group holds below its limit (limit 30 KB, pool in, 480 KB)" in finding.bound
    assert ("PFC pauses the sender" in finding.consequence) == (lossless is not None)
    assert check(memory, ingress(lossless, 40_000)) == {}
    busy = check(memory, ingress(lossless, 40_000), count=16)[rule]
    assert "with 16 of 16 ports busy" in busy.bound


def test_a_frame_counted_twice() -> None:
    both = SwitchPort(queues=(queue(),), groups=(PriorityGroup(index=0, account=SHARED),), maps=ONE_CLASS)
    assert check(switch(), both)["counted-twice"].path == ("priority_groups", "0", "pool")
    other_class = SwitchPort(queues=(queue(),), groups=(PriorityGroup(index=1, account=SHARED),), maps=ONE_CLASS)
    assert check(switch(), other_class) == {}


STRICT, WEIGHTED = Scheduler(kind="strict"), Scheduler(kind="dwrr", weight=3)


@pytest.mark.parametrize(
    ("high", "low", "is_found"),
    [
        (STRICT, WEIGHTED, True),
        (STRICT.model_copy(update={"pir_bps": GBPS // 10}), WEIGHTED, False),
        (STRICT, WEIGHTED.model_copy(update={"cir_bps": GBPS // 10}), False),
        (STRICT, STRICT, False),
        (WEIGHTED, WEIGHTED, False),
    ],
)
def test_starvation(high: Scheduler, low: Scheduler, is_found: bool) -> None:
    port = SwitchPort(queues=(queue(scheduler=low), queue(3, scheduler=high)), maps=TWO_CLASSES)
    found = check(switch(), port)
    assert list(found) == (["starvation"] if is_found else [])
    unreachable = port.model_copy(update={"maps": ONE_CLASS})
    assert check(switch(), unreachable) == {}


@pytest.mark.parametrize(("cir_bps", "is_found"), [(GBPS // 2, False), (GBPS // 2 + 1, True)])
def test_guarantees_above_the_line(cir_bps: int, is_found: bool) -> None:
    guaranteed = WEIGHTED.model_copy(update={"cir_bps": cir_bps})
    port = SwitchPort(queues=(queue(scheduler=guaranteed), queue(3, scheduler=guaranteed)), maps=TWO_CLASSES)
    assert list(check(switch(), port)) == (["cir-above-line"] if is_found else [])


def test_dctcp_on_a_queue_that_marks_nothing() -> None:
    marking = {"wred": wred(30_000), "phantom": Phantom(rate_bps=950_000_000, threshold_bytes=3_000), "neither": None}
    for name, mark in marking.items():
        plain = queue() if mark is None else queue().model_copy(update={name: mark})
        port = CheckedPort("eth1", LINE, SwitchPort(queues=(plain,), maps=TWO_CLASSES))
        found = [finding.path for finding in unmarked(switch(), [port], (0,))]
        assert found == ([("queues", "0", "wred")] if mark is None else [])
        assert [finding.path for finding in unmarked(switch(), [port], (24,))] == [("queues", "3", "wred")]
    dropping = CheckedPort("eth1", LINE, SwitchPort(queues=(queue(wred=wred(30_000, ecn=False)),), maps=TWO_CLASSES))
    assert list(unmarked(switch(), [dropping], (0,)))


def test_ports_alike_are_one_finding_and_others_are_named() -> None:
    slow = Line(GBPS // 10, 5_000, GBPS // 10, 5_000, 9000, honoured=(3,))
    lines: Sequence[Line] = (LINE, LINE, slow)
    few = Account(limit_bytes=3_000)
    ports = [
        CheckedPort(f"eth{n}", line, SwitchPort(queues=(queue(account=few),), maps=ONE_CLASS))
        for n, line in enumerate(lines, 1)
    ]
    (finding,) = check_switch(switch(), ports)
    assert (finding.rule, finding.ports) == ("account-below-frame", ("eth3",))


DCTCP = "traffic: {one: {kind: flows, senders: [h1], receiver: h4, size: 1 KB, congestion_control: dctcp, dscp: 24}}\n"


def test_a_plan_warns_once_of_all_switches_alike(tmp_path: Path) -> None:
    switches = "{default: {pools: {shared: {size: 100 KB}}, queues: {0..2: {wred: {min: 60 KB}}}}}"
    more = "hosts: {default: {nic: {gro: off}}}\n" + DCTCP
    plan = plan_of(tmp_path, switches, topology=two_tiers(), more=more)
    names = ", ".join(node.name for node in plan.nodes if node.role == "switch")
    assert plan.warnings == (
        f"{names}: queues.0..2.wred.min: 60 KB is not below 50 KB, the most that the queue ever holds (alpha 1 of "
        "pool shared, 100 KB); "
        "NO FRAME IS EVER MARKED, because frames are dropped at the limit first; write less than 50 KB, or a higher "
        "limit",
        f"{names}: queues.3.wred: none is the setting for DCTCP with DSCP 24; no packet is marked, so DCTCP fills the "
        "buffer as Reno does; "
        "write wred: {min: 30 KB} or a phantom queue",
    )


@pytest.mark.parametrize(
    ("host", "is_found"), [("h1", True), ("h2", False), ("h4", False)], ids=["sender", "another", "receiver"]
)
def test_only_what_dctcp_hosts_send_wants_marks(tmp_path: Path, host: str, is_found: bool) -> None:
    of_hosts = DCTCP.replace("congestion_control: dctcp, ", "") + f"hosts: {{{host}: {{congestion_control: dctcp}}}}\n"
    plan = plan_of(tmp_path, "{default: {pools: {shared: {size: 100 KB}}}}", topology=two_tiers(), more=of_hosts)
    assert any("the setting for DCTCP with DSCP 24" in warning for warning in plan.warnings) is is_found
