"""The switch profiles that come with fabriclab: each has its sources, its sums fit the chip,
and one busy queue gets what is published."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from shared_labs import star

from fabriclab.lab import parse_lab
from fabriclab.lab.reading.document import SequenceValue, parse_document
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written
from fabriclab.lab.switch.keys import PROFILES
from fabriclab.lab.switch.profile import parse_profile, profile_names
from fabriclab.lab.switch.written import Threshold, WrittenAccount, WrittenProfile, WrittenSwitch
from fabriclab.units import format_fraction

MEMORY = {
    "trident-2": 61_440 * 208,
    "trident-3": 32 * 2**20,
    "triumph": 4_000_000,
    "scorpion": 4_000_000,
    "jericho-plus": 4 * 10**9,
    "jericho-2": 8 * 2**30,
}
"""Bytes of packet memory, by the sources that the files name; Trident 2's 12 MB in its cells."""
PORTS = {"trident-2": 32, "trident-3": 32, "triumph": 52, "scorpion": 24, "jericho-plus": 9, "jericho-2": 48}
LOSSLESS = ("trident-2", "trident-3", "jericho-plus", "jericho-2")
PFC = "pfc: {priorities: [3, 4]}"


def shipped(name: str) -> WrittenProfile:
    profile, problems = parse_profile((PROFILES / f"{name}.yml").read_text(encoding="utf-8"), name, name)
    assert profile is not None and problems.found() == []
    return profile


def switch_of(directory: Path, keys: str) -> WrittenSwitch:
    (directory / "topology.clab.yml").write_text(star(), encoding="utf-8")
    traffic = "traffic: {one: {kind: flows, senders: [h1], receiver: h2, size: 1 KB}}"
    (directory / "experiment.yml").write_text(
        f"title: T\nswitches: {{default: {{{keys}}}}}\n{traffic}\n", encoding="utf-8"
    )
    return parse_lab(directory).experiment.shared_switches["s1"]


def value(written: Written[int] | None) -> int:
    return 0 if written is None else written.value


def accounts(switch: WrittenSwitch) -> list[WrittenAccount]:
    return [part.account for parts in (switch.buffer.queues, switch.buffer.groups) for part in parts.values()]


def test_these_are_shipped() -> None:
    assert set(profile_names()) == set(MEMORY) == set(PORTS)


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_reads_and_names_its_sources(name: str) -> None:
    profile = shipped(name)
    assert profile.title and profile.bandwidth is not None and profile.port_rate is not None
    document = parse_document((PROFILES / f"{name}.yml").read_text(encoding="utf-8"), name, Problems())
    assert document is not None
    sources = document.entries["source"]
    assert isinstance(sources, SequenceValue) and len(sources.items) >= 3


@pytest.mark.parametrize("pfc", ["", PFC])
@pytest.mark.parametrize("name", profile_names())
def test_its_sums_fit_the_chip(name: str, pfc: str, tmp_path: Path) -> None:
    switch = switch_of(tmp_path, f"profile: {name}, {pfc}")
    pools = switch.buffer.pools
    for side, pool in pools.items():
        reserved = sum(
            value(account.reserved)
            for account in accounts(switch)
            if account.pool is not None and account.pool.value == side
        )
        assert reserved * PORTS[name] < value(pool.size)
        shared_headroom = value(pool.headroom)
        own_headroom = 0 if shared_headroom else _own_headroom(switch, side) * PORTS[name]
        assert value(pool.size) + shared_headroom + own_headroom <= MEMORY[name]


def _own_headroom(switch: WrittenSwitch, pool: str) -> int:
    """Return the bytes of headroom of one port's groups; what is computed at the lab's rates counts nothing."""
    of_pool = [
        group
        for group in switch.buffer.groups.values()
        if group.account.pool is not None and group.account.pool.value == pool
    ]
    return sum(group.headroom.value or 0 for group in of_pool if group.headroom is not None)


@pytest.mark.parametrize("name", profile_names())
def test_each_is_usable_as_it_is(name: str, tmp_path: Path) -> None:
    """Without PFC all eight queues are alike and bounded; hosts' frames of any DSCP find memory."""
    switch = switch_of(tmp_path, f"profile: {name}")
    assert sorted(switch.buffer.queues) == list(range(8)) and len(set(switch.buffer.queues.values())) == 1
    (account,) = {queue.account for queue in switch.buffer.queues.values()}
    assert account.pool is not None and account.pool.value == "egress" and account.alpha_log is not None
    assert not any(group.lossless for group in switch.buffer.groups.values())
    assert switch.dormant_groups == ((3, 4) if name in LOSSLESS else ())


@pytest.mark.parametrize("name", LOSSLESS)
def test_pfc_makes_classes_3_and_4_lossless(name: str, tmp_path: Path) -> None:
    switch = switch_of(tmp_path, f"profile: {name}, {PFC}")
    assert [number for number, group in switch.buffer.groups.items() if group.lossless is not None] == [3, 4]
    assert switch.dormant_groups == ()
    assert all(switch.buffer.queues[number].voq_limit is None for number in (3, 4))


@pytest.mark.parametrize("name", ["jericho-plus", "jericho-2"])
def test_deep_switches_limit_a_virtual_output_queue_by_time(name: str, tmp_path: Path) -> None:
    limit = switch_of(tmp_path, f"profile: {name}").buffer.queues[0].voq_limit
    assert limit is not None and limit.value == Threshold(5_000_000, "ns")


def test_triumphs_alpha_is_the_power_of_two_nearest_to_700_kb_of_4_mb(tmp_path: Path) -> None:
    alone = {log: Fraction(4_000_000) * alpha / (1 + alpha) for log in range(-8, 8) for alpha in [Fraction(2) ** log]}
    nearest = min(alone, key=lambda log: abs(alone[log] - 700_000))
    assert (format_fraction(Fraction(2) ** nearest), int(alone[nearest]), int(alone[nearest - 1])) == (
        "1/4",
        800_000,
        444_444,
    )
    account = switch_of(tmp_path, "profile: triumph").buffer.queues[0].account
    assert account.alpha_log is not None and account.alpha_log.value == nearest


def test_trident_2s_pool_is_sonics_less_the_headroom_of_its_ports() -> None:
    layer = shipped("trident-2").layer
    headroom = layer.groups.ranges[3].headroom
    assert headroom is not None and headroom.value is not None and layer.cell is not None
    cell = layer.cell.value
    assert value(layer.pools["ingress"].size) == 12_766_208 - 32 * 2 * headroom.value
    assert (12_766_208 % cell, headroom.value % cell) == (0, 0)


def test_trident_3_and_jericho_2_share_what_their_headroom_leaves() -> None:
    for name, sonics in (("trident-3", 32_732_160), ("jericho-2", 6_441_610_000)):
        pool = shipped(name).layer.pools["ingress"]
        assert value(pool.size) + value(pool.headroom) == sonics
