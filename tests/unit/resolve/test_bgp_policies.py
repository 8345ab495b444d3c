"""Routes that policies leave: BGP's decisions on a leaf-spine, and what contradicts itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from repository import ROOT
from shipped_labs import shipped_plan

from fabriclab.formats.plan.node import Node, OwnBgp
from fabriclab.formats.plan.policies import (
    EXPRESSION,
    AsPathList,
    Changes,
    CommunityList,
    MapEntry,
    Matches,
    NeighbourPolicy,
    Policies,
    PrefixList,
    PrefixRule,
    RouteMap,
)
from fabriclab.resolve.bgp import bgp_routes
from fabriclab.resolve.bgp_policies import Attributes, Denied, PolicyBook
from fabriclab.resolve.policy_effects import PolicyEffects, policy_warnings

NODES = shipped_plan(Path(ROOT / "labs" / "sonic-leaf-spine")).nodes
FAR = "10.64.1.0/31"
"""The network of h3 at leaf2."""


def with_policies(policies: dict[tuple[str, str], NeighbourPolicy], *entries: MapEntry, **lists: Any) -> list[Node]:
    """Return the fabric whose sessions over (switch, port) have a policy; the map M has these entries."""
    every = Policies(route_maps=(RouteMap(name="M", entries=entries),) if entries else (), **lists)
    nodes = []
    for node in NODES:
        own = node.bgp
        if own is not None:
            neighbours = tuple(
                one.model_copy(update={"policy": policies.get((node.name, one.interface))}) for one in own.neighbours
            )
            own = OwnBgp(neighbours=neighbours, networks=own.networks, max_paths=own.max_paths, policies=every)
        nodes.append(node.model_copy(update={"bgp": own}))
    return nodes


def hops(nodes: list[Node], switch: str, prefix: str = FAR) -> list[str]:
    routes = bgp_routes(nodes, unnumbered=False)[switch]
    return [name for route in routes if route.destination == prefix for _, name in route.next_hops]


def test_policies_that_permit_all_change_no_route() -> None:
    every = {
        (node.name, port.interface): NeighbourPolicy(map_in="M", map_out="M") for node in NODES for port in node.ports
    }
    nodes = with_policies(every, MapEntry(sequence=1, permits=True))
    assert bgp_routes(nodes, unnumbered=False) == bgp_routes(NODES, unnumbered=False)
    assert list(policy_warnings(nodes, unnumbered=False)) == []


CHANGED = [
    (Changes(prepend=(65009,)), ["Ethernet12"]),
    (Changes(metric=7), ["Ethernet12"]),
    (Changes(origin="egp"), ["Ethernet12"]),
    (Changes(local_preference=200), ["Ethernet8"]),
    (Changes(local_preference=90), ["Ethernet12"]),
    (Changes(communities=("65001:1",)), ["Ethernet8", "Ethernet12"]),
]


@pytest.mark.parametrize(("changes", "left"), CHANGED, ids=[str(left) for _, left in CHANGED])
def test_what_comes_from_one_spine_is_better_or_worse(changes: Changes, left: list[str]) -> None:
    nodes = with_policies(
        {("leaf1", "Ethernet8"): NeighbourPolicy(map_in="M")}, MapEntry(sequence=1, permits=True, changes=changes)
    )
    assert hops(nodes, "leaf1") == left
    assert hops(nodes, "leaf3") == ["Ethernet8", "Ethernet12"]


def test_weight_comes_first() -> None:
    assert hops(with_policies({("leaf1", "Ethernet12"): NeighbourPolicy(weight=1)}), "leaf1") == ["Ethernet12"]


def test_a_community_is_told_on_and_stops_at_a_session_that_hides_it() -> None:
    """leaf2 marks its networks, leaf1 refuses what is marked; spine2 tells no communities."""
    entries = (
        MapEntry(sequence=1, permits=False, matches=Matches(communities="C")),
        MapEntry(sequence=2, permits=True, matches=Matches(paths="OWN"), changes=Changes(communities=("1:2",))),
        MapEntry(sequence=3, permits=True),
    )
    policies = {
        ("leaf2", "Ethernet8"): NeighbourPolicy(map_out="M"),
        ("leaf2", "Ethernet12"): NeighbourPolicy(map_out="M"),
        ("leaf1", "Ethernet8"): NeighbourPolicy(map_in="M"),
        ("leaf1", "Ethernet12"): NeighbourPolicy(map_in="M"),
    }
    lists = {
        "as_path_lists": (AsPathList(name="OWN", expressions=("^$",)),),
        "community_lists": (CommunityList(kind="community", name="C", entries=(("1:2",),)),),
    }
    assert hops(with_policies(policies, *entries, **lists), "leaf1") == []
    policies["spine2", "Ethernet0"] = NeighbourPolicy(hides_communities=True)
    assert hops(with_policies(policies, *entries, **lists), "leaf1") == ["Ethernet12"]


def test_the_cause_is_the_policy_next_to_the_switch_that_has_no_route() -> None:
    nodes = with_policies(
        {("leaf1", port): NeighbourPolicy(map_in="M") for port in ("Ethernet8", "Ethernet12")},
        MapEntry(sequence=5, permits=False, matches=Matches(prefixes="FAR")),
        MapEntry(sequence=9, permits=True),
        prefix_lists=(PrefixList(name="FAR", rules=(PrefixRule(sequence=1, permits=True, prefix=FAR),)),),
    )
    effects = PolicyEffects(nodes, unnumbered=False)
    assert effects.causes("h3", "leaf1") == (f"leaf1: route-map M, entry 5 (in, from spine1, spine2) keeps {FAR} out",)
    assert effects.causes("h3", "leaf3") == effects.causes("h4", "leaf1") == ()


def test_policies_that_contradict_each_other_are_told() -> None:
    """leaf3 and spine1 each prefer what they hear of the other: it depends on who is first."""
    preferred = MapEntry(sequence=1, permits=True, changes=Changes(local_preference=200))
    policies = {
        ("spine1", "Ethernet8"): NeighbourPolicy(map_in="M", own_as_in=3),
        ("leaf3", "Ethernet12"): NeighbourPolicy(map_in="M"),
        ("leaf3", "Ethernet8"): NeighbourPolicy(own_as_in=3),
        ("spine2", "Ethernet8"): NeighbourPolicy(map_in="M", own_as_in=3),
    }
    (told,) = (
        one for one in policy_warnings(with_policies(policies, preferred), unnumbered=False) if "RFC 4264" in one
    )
    assert told.startswith("policies of routes to ")


RULES = [
    (PrefixRule(sequence=1, permits=True, prefix="10.0.0.0/8"), {"10.0.0.0/8"}),
    (PrefixRule(sequence=1, permits=True, prefix="10.0.0.0/8", most=24), {"10.0.0.0/8", "10.1.1.0/24"}),
    (PrefixRule(sequence=1, permits=True, prefix="10.0.0.0/8", least=24), {"10.1.1.0/24", "10.1.1.1/32"}),
    (PrefixRule(sequence=1, permits=True, prefix="default", most=32), {"10.0.0.0/8", "10.1.1.0/24", "10.1.1.1/32"}),
]


@pytest.mark.parametrize(("rule", "permitted"), RULES)
def test_lengths_of_prefixes(rule: PrefixRule, permitted: set[str]) -> None:
    book = PolicyBook(Policies(prefix_lists=(PrefixList(name="L", rules=(rule,)),)))
    every = ("10.0.0.0/8", "10.1.1.0/24", "10.1.1.1/32")
    found = {
        one for one in every if book.incoming(NeighbourPolicy(prefixes_in="L"), one, Attributes(), "") == Attributes()
    }
    assert found == permitted


def test_a_called_map_decides_and_sees_what_was_changed() -> None:
    caller = MapEntry(sequence=1, permits=True, changes=Changes(metric=7), calls="N")
    called = (
        MapEntry(sequence=1, permits=False, matches=Matches(metric=8)),
        MapEntry(sequence=2, permits=True, matches=Matches(metric=7), changes=Changes(metric=1, metric_sign="+")),
    )
    maps = (RouteMap(name="M", entries=(caller,)), RouteMap(name="N", entries=called))
    found = PolicyBook(Policies(route_maps=maps)).mapped("M", FAR, Attributes())
    assert isinstance(found, Attributes) and found.metric == 8
    endless = RouteMap(name="M", entries=(MapEntry(sequence=1, permits=True, calls="M"),))
    assert isinstance(PolicyBook(Policies(route_maps=(endless,))).mapped("M", FAR, Attributes()), Denied)


@pytest.mark.parametrize("text", ["(1+)+$", "1**", "(?=1)", "1{1,999}", ".*.*.*.*", "[_]", "(", "a", ""])
def test_expressions_that_may_take_for_ever_or_mean_something_else_are_none(text: str) -> None:
    assert not EXPRESSION.is_in(text)


@pytest.mark.parametrize("text", ["_65001_", "^65001 [0-9]+$", "^$", ".*", "^(65001|65002)_", "65001:1.{1,3}"])
def test_expressions_of_operators(text: str) -> None:
    assert EXPRESSION.is_in(text)
