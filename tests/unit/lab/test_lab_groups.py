"""Groups of hosts, drawn and given; axes of seeds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language import HOSTS, ONE_FLOW, lab_of, plan_of

from fabriclab.lab import LabError
from fabriclab.lab.axes import expand_numbers
from fabriclab.lab.groups import draw

GROUPS = """groups:
  left: {rack: leaf1}
  background: {share: 33 %}
  foreground: rest
  probing: {count: 1, of: left}
"""


def test_a_draw_is_the_same_everywhere() -> None:
    """These hosts are part of the language: another draw would be another experiment under the same seed."""
    assert [draw(HOSTS, 3, "background", seed) for seed in (1, 2, 3)] == [
        ("h2", "h4", "h7"),
        ("h1", "h6", "h7"),
        ("h1", "h3", "h6"),
    ]


@given(seed=st.integers(min_value=0, max_value=2**31 - 1), less=st.integers(0, 8), more=st.integers(0, 8))
def test_a_larger_draw_holds_the_smaller(seed: int, less: int, more: int) -> None:
    smaller, larger = (draw(HOSTS, count, "g", seed) for count in sorted((less, more)))
    assert set(smaller) <= set(larger)
    assert list(larger) == [host for host in HOSTS if host in larger]


def test_every_host_is_drawn_about_as_often_as_any_other() -> None:
    counts = dict.fromkeys(HOSTS, 0)
    for seed in range(4000):
        for host in draw(HOSTS, 2, "g", seed):
            counts[host] += 1
    # 1000 each; seven degrees of freedom: chi-squared below 40.5 but for one case in a million.
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 40.5


def test_groups_in_the_plan(tmp_path: Path) -> None:
    groups = plan_of(tmp_path, GROUPS + ONE_FLOW).groups
    assert groups["left"] == HOSTS[:4]
    assert groups["background"] == draw(HOSTS, 3, "background", 1)
    assert groups["foreground"] == tuple(host for host in HOSTS[4:] if host not in groups["background"])
    assert groups["probing"] == draw(HOSTS[:4], 1, "probing", 1)


def test_the_draw_follows_the_seed_wherever_it_is_given(tmp_path: Path) -> None:
    drawn = draw(HOSTS, 3, "background", 7)
    assert drawn != draw(HOSTS, 3, "background", 1)
    assert plan_of(tmp_path, "seed: 7\n" + GROUPS + ONE_FLOW).groups["background"] == drawn
    assert plan_of(tmp_path, GROUPS + ONE_FLOW, seed=7).groups["background"] == drawn
    assert plan_of(tmp_path, GROUPS + ONE_FLOW, settings={"seed": "7"}).groups["background"] == drawn


def test_other_groups_do_not_change_a_draw(tmp_path: Path) -> None:
    alone = plan_of(tmp_path, "groups: {background: {share: 33 %}}\n" + ONE_FLOW).groups["background"]
    assert plan_of(tmp_path, GROUPS + ONE_FLOW).groups["background"] == alone


def test_groups_stand_wherever_hosts_are_named(tmp_path: Path) -> None:
    text = """groups: {some: [h1, h3..h4], others: [some, h8]}
hosts: {some: {rto_min: 10 ms}, h3: {rto_min: 20 ms}}
traffic:
  a: {kind: flows, senders: others, receiver: h8, size: 1 KB}
  b: {kind: arrivals, senders: [some, h2], receivers: others, size: 1 KB, interval: 1 ms, stop: 1 s}
  c: {kind: query, aggregators: some, workers: others, response: 1 KB, interval: 1 ms, stop: 1 s}
"""
    plan = plan_of(tmp_path, text)
    flows, arrivals, query = (asdict(traffic) for traffic in plan.traffic)
    assert flows["senders"] == ("h1", "h3", "h4")  # the receiver is left out of a group
    assert (arrivals["pairs"]["senders"], arrivals["pairs"]["receivers"]) == (
        ("h1", "h3", "h4", "h2"),
        ("h1", "h3", "h4", "h8"),
    )
    assert (query["aggregators"], query["workers"], query["fan_out"]) == (
        ("h1", "h3", "h4"),
        ("h1", "h3", "h4", "h8"),
        3,
    )
    minima = {node.name: node.transport.rto_min_us for node in plan.nodes if node.transport}
    assert [minima[host] for host in ("h1", "h2", "h3", "h4")] == [10_000, 200_000, 20_000, 10_000]


def test_a_groups_share_is_an_axis(tmp_path: Path) -> None:
    text = (
        GROUPS
        + ONE_FLOW
        + "parameters: {background: groups.background.share}\nmatrix: {m: {background: [25 %, 50%]}}\n"
    )
    lab = lab_of(tmp_path, text)
    applied = [lab.apply(point) for point in lab.points()]
    assert [point.settings["background"] for point in applied] == ["25 %", "50 %"]
    assert [len(point.experiment.groups["background"]) for point in applied] == [2, 4]


def test_hosts_of_a_group_can_be_set(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, GROUPS + ONE_FLOW, settings={"hosts.left.ecn": "on"})
    assert [node.name for node in plan.nodes if node.transport and node.transport.ecn == "on"] == list(HOSTS[:4])


def test_an_axis_of_seeds(tmp_path: Path) -> None:
    text = ONE_FLOW + "matrix: {m: {hosts.default.ecn: [on, off], seed: [1..3, 9]}}\n"
    lab = lab_of(tmp_path, text)
    assert [point["seed"] for point in lab.points()] == ["1", "2", "3", "9"] * 2
    assert [lab.apply(point).experiment.seed for point in lab.points()] == [1, 2, 3, 9] * 2
    assert [point["seed"] for point in lab.points(seeds=range(5, 7))] == ["5", "6"] * 2


def test_seeds_from_outside_run_slowest_where_the_matrix_has_none(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, ONE_FLOW + "matrix: {m: {hosts.default.ecn: [on, off]}}\n")
    points = [(point["seed"], point["hosts.default.ecn"]) for point in lab.points(seeds=range(1, 3))]
    assert points == [("1", "on"), ("1", "off"), ("2", "on"), ("2", "off")]


def test_seeds_of_a_lab_without_a_matrix(tmp_path: Path) -> None:
    assert lab_of(tmp_path).points(seeds=range(1, 3)) == [{"seed": "1"}, {"seed": "2"}]


def test_a_seed_that_breaks_the_lab_is_found_beforehand(tmp_path: Path) -> None:
    """A drawn group may be one that a sender cannot do with: the point's seed is among those that are checked."""
    text = "groups: {targets: {count: 1}}\nmatrix: {m: {seed: 1..40}}\n"
    text += (
        "traffic: {one: {kind: arrivals, senders: [h1], receivers: targets, size: 1 KB, interval: 1 ms, stop: 1 s}}\n"
    )
    with pytest.raises(LabError) as raised:
        lab_of(tmp_path, text)
    (problem,) = raised.value.mistakes
    first = next(seed for seed in range(1, 41) if draw(HOSTS, 1, "targets", seed) == ("h1",))
    assert problem.message == f"sender 'h1' is the only receiver; a host does not send to itself (at seed {first})"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1..3", range(1, 4)), ("5 .. 5", range(5, 6)), ("3", None), ("h1..h3", None), ("2 KB .. 3 KB", None)],
)
def test_ranges_of_numbers(text: str, numbers: range | None) -> None:
    assert expand_numbers(text) == numbers
