"""Merged routes lead every packet the way that it went before, and a fabric's switches need fewer of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from bgp_fabrics import generated
from hypothesis import given
from hypothesis import strategies as st
from small_fabrics import forwarded

from fabriclab.formats.family import AnyAddress, AnyNetwork
from fabriclab.resolve.route_aggregation import NextHops, aggregate

BASE = int(IPv4Address("10.0.0.0"))
EAST, WEST = (("10.9.0.1", "eth1"),), (("10.9.0.3", "eth2"),)


def routes(*written: tuple[str, NextHops]) -> list[tuple[IPv4Network, NextHops]]:
    return [(IPv4Network(network), next_hops) for network, next_hops in written]


def ways(found: Sequence[tuple[AnyNetwork, NextHops]]) -> dict[AnyAddress, NextHops]:
    """Return the next hops of every address that has a route; no address may have two."""
    pairs = [(address, next_hops) for network, next_hops in found for address in network]
    known = dict(pairs)
    assert len(known) == len(pairs)
    return known


@given(st.lists(st.one_of(st.none(), st.sampled_from((EAST, WEST))), min_size=1, max_size=40))
def test_every_address_keeps_its_way(hops: list[NextHops | None]) -> None:
    given_routes = [(IPv4Network((BASE + 2 * index, 31)), each) for index, each in enumerate(hops) if each is not None]
    merged = aggregate(given_routes)
    assert ways(merged) == ways(given_routes)
    halves = {(network.supernet(), next_hops) for network, next_hops in merged}
    assert len(halves) == len(merged), "two halves with the same next hops are left"


@pytest.mark.parametrize(
    ("written", "merged"),
    [
        ([("10.0.0.0/31", EAST), ("10.0.0.2/31", EAST)], [("10.0.0.0/30", EAST)]),
        ([("10.0.0.0/31", EAST), ("10.0.0.2/31", WEST)], [("10.0.0.0/31", EAST), ("10.0.0.2/31", WEST)]),
        # Neighbours, but no halves of one network.
        ([("10.0.0.2/31", EAST), ("10.0.0.4/31", EAST)], [("10.0.0.2/31", EAST), ("10.0.0.4/31", EAST)]),
        # Networks of different lengths, the second half first.
        ([("10.0.1.0/24", EAST), ("10.0.0.128/25", EAST), ("10.0.0.0/25", EAST)], [("10.0.0.0/23", EAST)]),
        # A merged route stands where the earlier of the two stood.
        (
            [("10.0.0.2/31", EAST), ("10.1.0.0/31", WEST), ("10.0.0.0/31", EAST)],
            [("10.0.0.0/30", EAST), ("10.1.0.0/31", WEST)],
        ),
        ([("0.0.0.0/1", EAST), ("128.0.0.0/1", EAST)], [("0.0.0.0/0", EAST)]),
        ([], []),
    ],
)
def test_what_is_merged(written: list[tuple[str, NextHops]], merged: list[tuple[str, NextHops]]) -> None:
    assert aggregate(routes(*written)) == routes(*merged)


def test_a_fat_tree_keeps_all_equal_paths_with_fewer_routes(tmp_path: Path) -> None:
    plan = generated(tmp_path, "fat-tree --k 4", "h1-1-1")
    hosts = [node.name for node in plan.nodes if node.role == "host"]
    for source, destination in itertools.permutations(hosts, 2):
        # Names are h<pod>-<edge>-<host>; k/2 ways up at each of the levels where the two differ.
        pod, edge = (a == b for a, b in zip(source.split("-")[:2], destination.split("-")[:2], strict=True))
        paths = forwarded(plan, source, destination)
        assert len({tuple(path) for path in paths}) == len(paths) == (1 if pod and edge else 2 if pod else 4)
        assert {len(path) for path in paths} == {3 if pod and edge else 5 if pod else 7}
    switches = [node for node in plan.nodes if node.role == "switch"]
    links = sum(len(node.ports) for node in plan.nodes) // 2
    assert sum(len(node.routes) for node in switches) < 0.6 * len(switches) * (links - len(switches[0].ports))
