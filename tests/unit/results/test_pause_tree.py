"""The pause tree: who paused whom, back to the root, from tables written by hand; and which cycles are deadlocks."""

from __future__ import annotations

import json

import polars as pl
import pytest
from lab_runs import LABS

from fabriclab.formats.pauses import PauseTree
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.turns import turns
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.results.pause_text import pause_lines
from fabriclab.results.pause_tree import NO_PFC, NOT_SAMPLED, pause_metrics, pause_tree
from fabriclab.results.summary import Measured
from fabriclab.results.switch_tables import SwitchTables

MS = 10**6
RING = tuple(f"s{number}:eth2" for number in range(1, 6))
FLOWS = [(f"h{number}", f"h{(number + 1) % 5 + 1}") for number in range(1, 6)]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return resolve_plan(parse_lab(LABS / "pfc-deadlock", every_point=False), {"variant": "pfc"})


def samples(
    port: str, paused_ms: list[int], sent: list[int] | None = None, storms: list[int] | None = None
) -> list[tuple[object, ...]]:
    """Return a queue's samples, one each millisecond: it holds 1,000 bytes, and its pauses, sent bytes and storms are
    given."""
    sent, storms = sent or [0] * len(paused_ms), storms or [0] * len(paused_ms)
    return [
        (at * MS, port, 3, 1_000, of_sent, min(1, paused), paused * MS, of_storms)
        for at, (paused, of_sent, of_storms) in enumerate(zip(paused_ms, sent, storms, strict=True))
    ]


def measured(rows: list[tuple[object, ...]], xoffs: dict[str, list[int]]) -> Measured:
    columns = ["time_ns", "port", "queue", "bytes", "sent_bytes", "pauses_received", "paused_ns", "storms"]
    queues = pl.LazyFrame(rows, schema=columns, orient="row")
    groups = [(at * MS, port, 3, min(1, ms), ms * MS) for port, lasted in xoffs.items() for at, ms in enumerate(lasted)]
    of_groups = pl.LazyFrame(groups, schema=["time_ns", "port", "group", "xoffs", "xoff_ns"], orient="row")
    flows = pl.LazyFrame(FLOWS, schema=["src", "dst"], orient="row")
    return Measured(flows, None, None, None, SwitchTables(queues=queues, groups=of_groups))


def ring(plan: Plan, paused_ms: list[int], sent: list[int], storms: list[int] | None = None) -> PauseTree:
    """Return the tree of five queues that pause each other alike."""
    rows = [row for port in RING for row in samples(port, paused_ms, sent, storms)]
    return pause_tree(measured(rows, {f"s{number}:eth3": paused_ms for number in range(1, 6)}), plan)


def test_a_tree_goes_back_to_the_queue_that_was_never_paused(plan: Plan) -> None:
    """s3's queue to its host is congested; s3 pauses s2, and s2 its host."""
    rows = [*samples("s3:eth1", [0, 0, 0]), *samples("s2:eth2", [0, 1, 2], [0, 10, 20])]
    rows += [*samples("h2:eth1", [0, 0, 1], [0, 5, 5]), *samples("s1:eth2", [0, 0, 0])]
    tree = pause_tree(measured(rows, {"s3:eth3": [0, 1, 2], "s2:eth1": [0, 0, 1]}), plan)
    assert [(root.port, root.queue, root.kind, root.peak_bytes) for root in tree.roots] == [
        ("s3:eth1", 3, "congested", 1_000)
    ]
    assert [(one.port, one.by, one.paused_ns, one.share) for one in tree.stopped] == [
        ("s2:eth2", "s3:eth3", 2 * MS, 1.0),
        ("h2:eth1", "s2:eth1", MS, 0.5),
    ]
    assert pause_lines(tree) == [
        "s3:eth1 queue 3 is congested, up to 1 KB, and was never paused",
        "  s3:eth3 stops s2:eth2 queue 3: 2 ms (100 %, 1 pause)",
        "    s2:eth1 stops h2:eth1 queue 3: 1 ms (50 %, 1 pause)",
    ]
    assert pause_metrics(tree) == {"deadlocks": 0, "deadlock_ns": 0}


def test_queues_that_stand_still_to_the_end_are_a_deadlock(plan: Plan) -> None:
    tree = ring(plan, [0, 0, 1, 2, 3], [0, 9, 9, 9, 9])
    (cycle,) = tree.cycles
    assert cycle.queues == tuple((port, 3) for port in RING) and not tree.roots
    assert (cycle.is_deadlock, cycle.from_ns, cycle.to_ns, cycle.ended_by) == (True, MS, 4 * MS, "run")
    assert pause_lines(tree)[0] == "DEADLOCK from 1 ms for 3 ms, until the run's end: no frame moved"
    assert pause_metrics(tree) == {"deadlocks": 1, "deadlock_ns": 3 * MS}
    document = json.loads(json.dumps(tree.document()))
    assert document["reason"] is None and document["cycles"][0]["queues"][0] == {"port": "s1:eth2", "queue": 3}


def test_a_watchdog_ends_a_deadlock_and_another_may_follow(plan: Plan) -> None:
    paused, sent = [0, 1, 2, 2, 3, 3], [0, 0, 0, 7, 7, 9]
    tree = ring(plan, paused, sent, [0, 0, 0, 1, 1, 2])
    (cycle,) = tree.cycles
    assert (cycle.is_deadlock, cycle.times, cycle.ended_by) == (True, 2, "watchdog")
    assert (cycle.from_ns, cycle.to_ns, cycle.stood_ns) == (0, 2 * MS, 3 * MS)


def test_a_circle_that_moves_again_is_no_deadlock(plan: Plan) -> None:
    tree = ring(plan, [0, 1, 2, 2], [0, 0, 0, 7])
    assert [cycle.is_deadlock for cycle in tree.cycles] == [False]
    assert "dissolved by itself" in pause_lines(tree)[0]


def test_frames_turn_where_their_shortest_paths_do(plan: Plan) -> None:
    """Before the link across fails, h5's frames take it; then they go by s1. None goes back by where it came from."""
    of_ring = turns(plan.nodes, plan.events, FLOWS)
    assert of_ring is not None
    assert of_ring["s2:eth4"] >= {"s2:eth1"} and of_ring["s1:eth3"] == {"s1:eth1", "s1:eth2"}
    assert turns(plan.nodes, plan.events, [("h1", "h2")]) == {
        "s1:eth1": {"s1:eth2"},
        "s2:eth3": {"s2:eth1"},
        "h2:eth1": frozenset(),
    }


def test_what_was_not_measured_has_a_reason(plan: Plan) -> None:
    blind = Measured(pl.LazyFrame(schema=["src", "dst"]), None, None, None, SwitchTables())
    tree = pause_tree(blind, plan)
    assert tree.reason == NOT_SAMPLED and tree.document()["stopped"] is None
    assert pause_metrics(tree) == {"deadlocks": None, "deadlock_ns": None}
    incast = resolve_plan(parse_lab(LABS / "incast", every_point=False), {})
    assert pause_tree(blind, incast).reason == NO_PFC and pause_lines(pause_tree(blind, incast))
