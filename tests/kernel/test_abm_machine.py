"""Sharing policies in the machine: what saturated queues hold by ABM, by complete sharing, and unscheduled frames."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from machine import FULL_FRAME, START_NS, Boot, Star, send, shown
from switch_port import DWRR, STRICT, Account, Port, Queue, Sharing, read_shown
from test_shared_buffer_machine import CELL, CELLS, POOL, look_often, mean_cells, pool_is_empty

pytestmark = pytest.mark.vm
TC_TO_QUEUE_MAP = 8
SLOW_BPS = 100_000_000


def slow(*queues: Queue, **maps: tuple[int, ...]) -> Port:
    by_number = {TC_TO_QUEUE_MAP: maps["tc_to_queue"]} if maps else {}
    return Port(rate_bps=SLOW_BPS, cell=CELL, pools={0: (POOL, 0)}, queues=list(queues), maps=by_number)


def by_abm(number: int, alpha_log: int, scheduling: int = STRICT, quantum: int = 1, congested: int = 0) -> Queue:
    sharing = Sharing("abm", interval_ns=20_000_000, congested=congested)
    return Queue(number, Account(pool=0, alpha_log=alpha_log), scheduling, quantum, sharing=sharing)


@pytest.mark.parametrize("alpha_log", [-3, -1, 0])
@pytest.mark.parametrize("queues", [1, 2, 4])
def test_queues_of_a_priority_hold_alpha_b_over_one_plus_alpha_together(
    boot: Boot, alpha_log: int, queues: int
) -> None:
    """One in each port: T = alpha / n (B - Q), so each holds a part of what one alone would. As with the dynamic
    threshold a frame is taken whole: a frame's cells off, and one of rounding."""
    star = Star([Port()] * (2 * queues), [*[Port(cell=CELL)] * queues, *[slow(by_abm(0, alpha_log))] * queues])
    senders = [(f"h{n}", [send(f"10.{queues + n}.0.2", count=8_000)]) for n in range(1, queues + 1)]
    looks = [("s1", [look_often(f"eth{queues + n}", f"port-{n}")]) for n in range(1, queues + 1)]
    run = boot.run(star, [*senders, *looks])
    alpha = 2.0**alpha_log
    share = alpha * (POOL // CELL) / (1 + alpha) / queues
    for n in range(1, queues + 1):
        assert mean_cells(run, f"port-{n}") == pytest.approx(share, abs=CELLS + 1)
    assert pool_is_empty(run, f"eth{queues + 1}")


@pytest.mark.parametrize("cells", [1, 1_000, 10**6])
def test_by_a_length_queues_count_as_what_they_hold_of_it(boot: Boot, cells: int) -> None:
    """Two queues of q cells count as n = 2 q / L, from 1 to 2, and q = alpha / n (B - 2 q): with a short L each holds
    what ABM gives to two, with a long one what the dynamic threshold does, and between them the root of
    2 q^2 + 2 alpha L q = alpha L B."""
    alpha, whole = 0.5, POOL // CELL
    star = Star([Port()] * 4, [*[Port(cell=CELL)] * 2, *[slow(by_abm(0, -1, congested=cells * CELL))] * 2])
    senders = [(f"h{n}", [send(f"10.{2 + n}.0.2", count=8_000)]) for n in (1, 2)]
    looks = [("s1", [look_often(f"eth{2 + n}", f"port-{n}")]) for n in (1, 2)]
    run = boot.run(star, [*senders, *looks])
    scale = alpha * cells
    root = (-scale + math.sqrt(scale**2 + 2 * scale * whole)) / 2
    counted = min(max(2 * root / cells, 1), 2)
    share = root if 1 < counted < 2 else alpha * whole / (counted + 2 * alpha)
    for n in (1, 2):
        assert mean_cells(run, f"port-{n}") == pytest.approx(share, abs=CELLS + 1)


def cells_of(run: Path, name: str, queue: int) -> float:
    looks: list[int] = [read_shown(path.read_text()).queues[queue]["cells"] for path in sorted(run.glob(f"{name}-*"))]
    return sum(looks) / len(looks)


@pytest.mark.parametrize("weights", [(1, 1), (3, 1)])
def test_two_priorities_of_a_port_share_by_what_each_drains(boot: Boot, weights: tuple[int, int]) -> None:
    """T_i = alpha (B - Q) mu_i, with mu_i the weights' shares: together they hold what one alone would. The share is
    measured in whole frames of 20 ms, 162 of them."""
    quanta = [1538 * weight for weight in weights]
    queues = [by_abm(number, 0, DWRR, quantum) for number, quantum in enumerate(quanta)]
    star = Star([Port()] * 3, [Port(cell=CELL), Port(cell=CELL), slow(*queues)])
    senders = [(f"h{n}", [send("10.3.0.2", count=8_000, tc=n - 1)]) for n in (1, 2)]
    run = boot.run(star, [*senders, ("s1", [look_often("eth3", "both")])])
    for number, weight in enumerate(weights):
        share = (POOL // CELL) / 2 * weight / sum(weights)
        assert cells_of(run, "both", number) == pytest.approx(share, abs=CELLS + 1 + share / 80)


@pytest.mark.parametrize("policy", ["complete", "abm"])
def test_complete_sharing_lets_one_queue_take_all_and_abm_does_not(boot: Boot, policy: str) -> None:
    """A second port's burst of 20 frames comes when the first port's queue has had time to fill the memory."""
    queue = Queue(0, Account(pool=0)) if policy == "complete" else by_abm(0, -1)
    star = Star([Port()] * 4, [Port(cell=CELL), Port(cell=CELL), slow(queue), slow(queue)])
    late = send("10.4.0.2", count=20, start_ns=START_NS + 50_000_000)
    run = boot.run(star, [("h1", [send("10.3.0.2", count=8_000)]), ("h2", [late])])
    first, second = (shown(run, "s1", port).queues[0] for port in ("eth3", "eth4"))
    cells = first["watermark_bytes"] // FULL_FRAME * CELLS
    if policy == "complete":
        assert POOL // CELL - CELLS < cells <= POOL // CELL
        assert second["drops"]["queue_pool"] >= 15
    else:
        assert cells == pytest.approx(POOL // CELL / 3, abs=CELLS + 1)
        assert sum(second["drops"].values()) == 0


@pytest.mark.parametrize("unscheduled", [False, True])
def test_unscheduled_frames_have_an_alpha_of_their_own(boot: Boot, unscheduled: bool) -> None:
    """A burst of class 1 in the same full queue as class 0."""
    classes = 1 << 1 if unscheduled else 0
    sharing = Sharing("abm", 20_000_000, unscheduled_alpha_log=6, unscheduled_classes=classes)
    queue = Queue(0, Account(pool=0, alpha_log=-3), sharing=sharing)
    star = Star([Port()] * 3, [Port(cell=CELL), Port(cell=CELL), slow(queue, tc_to_queue=(0,) * 8)])
    burst = send("10.3.0.2", count=100, tc=1, start_ns=START_NS + 50_000_000)
    run = boot.run(star, [("h1", [send("10.3.0.2", count=8_000)]), ("h2", [burst])])
    watermark = shown(run, "s1", "eth3").queues[0]["watermark_bytes"] // FULL_FRAME
    alone = POOL // CELL / 9 / CELLS
    if unscheduled:
        assert alone + 85 < watermark < alone + 105
    else:
        assert watermark == pytest.approx(alone, abs=2)


def test_no_congested_queue_is_left_behind_by_ports_that_go_and_policies_that_change(boot: Boot) -> None:
    """While both ports' queues are full one is deleted and made anew, again and again, and changes its policy. A queue
    that is alone afterwards holds what it holds alone."""
    abm, plain = slow(by_abm(0, -1)), slow(Queue(0, Account(pool=0, alpha_log=-1)))
    star = Star([Port()] * 4, [Port(cell=CELL), Port(cell=CELL), abm, abm])
    churn = [
        "sleep 0.012",
        "for i in 1 2 3 4 5 6; do",
        "/job/port-tool change eth4 /job/plain; sleep 0.0005; /job/port-tool change eth4 /job/s1-eth4; sleep 0.0005",
        "/job/port-tool del eth4; sleep 0.0005; /job/port-tool add eth4 /job/s1-eth4; sleep 0.0005",
        "ip link set eth4 down; sleep 0.0005; ip link set eth4 up; sleep 0.0005",
        "done",
    ]
    first = [("h1", [send("10.3.0.2", count=300)]), ("h2", [send("10.4.0.2", count=1_500)])]
    again = ("h1", [send("10.3.0.2", count=8_000, start_ns=START_NS + 60_000_000, port=7001)])
    looks = ("s1", [look_often("eth3", "alone")])
    run = boot.run(star, [*first, ("s1", churn), again, looks], files={"plain": plain.pack()})
    assert mean_cells(run, "alone") == pytest.approx(POOL // CELL / 3, abs=CELLS + 1)
    assert shown(run, "s1", "eth4").backlog["qlen"] == 0
