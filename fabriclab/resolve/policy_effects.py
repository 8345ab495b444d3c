"""Which policy keeps which route out: what `check` tells of it, and the cause of pairs that do not reach each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from ipaddress import ip_interface
from typing import NamedTuple

from fabriclab.formats.plan.node import Node
from fabriclab.keys.wording import listed
from fabriclab.resolve.bgp import bgp_routes, kept_out, unannounced
from fabriclab.resolve.bgp_paths import KeptOut, Outcome, has_policies
from fabriclab.resolve.interfaces import families_of, interfaces


class _Effect(NamedTuple):
    """A policy that keeps routes out, and what follows."""

    switch: str
    by: str
    direction: str
    loses: str
    """The switch whose routes are fewer."""
    is_lost: bool
    """Whether it has none to these prefixes."""


class PolicyEffects:
    """What the policies of a lab's switches keep out."""

    def __init__(self, nodes: Sequence[Node], *, unnumbered: bool) -> None:
        self._nodes = nodes
        self._unnumbered = unnumbered

    @cached_property
    def _kept(self) -> Mapping[str, tuple[str, Outcome]]:
        return kept_out(self._nodes, unnumbered=self._unnumbered)

    def causes(self, host: str, switch: str) -> tuple[str, ...]:
        """Return, in words, what keeps the networks of a host from a switch: policies, or a switch that does not
        announce them."""
        found: list[str] = []
        for network in self._networks_of(host):
            found += (f"{owner} does not announce {network}" for owner in self._silent.get(network, ()))
            if network in self._kept:
                _, outcome = self._kept[network]
                if switch not in outcome.used:
                    found += _sentences(_nearest(outcome.kept_out, switch), network)
        return tuple(dict.fromkeys(found))

    @cached_property
    def _silent(self) -> Mapping[str, Sequence[str]]:
        """The switches that do not announce a network of their hosts."""
        nodes = {node.name: node for node in self._nodes}
        found: dict[str, list[str]] = defaultdict(list)
        for node in self._nodes:
            for network in unannounced(node, nodes) if node.role == "switch" else ():
                found[network].append(node.name)
        return found

    def _networks_of(self, host: str) -> Iterator[str]:
        """Yield the prefixes that hosts' switches announce and that hold a host's addresses."""
        node = next(node for node in self._nodes if node.name == host)
        yield from (
            str(ip_interface(interface.address).network)
            for family in families_of(node)
            for interface in interfaces(node, family)
        )

    def warnings(self) -> Iterator[str]:
        """Yield a sentence for each policy that leaves a switch with fewer routes than the topology has, and for
        prefixes whose routes never settle."""
        prefixes: dict[_Effect, dict[str, None]] = defaultdict(dict)
        for prefix, (_, outcome) in self._kept.items():
            for effect in self._effects(prefix, outcome):
                prefixes[effect][prefix] = None
        for effect, found in prefixes.items():
            count = "no route" if effect.is_lost else "fewer next hops"
            yield (
                f"{effect.switch}: {effect.by} ({effect.direction}) keeps {listed(found)} out: {effect.loses} has "
                f"{count} to {'it' if len(found) == 1 else 'them'}"
            )
        unsettled = [prefix for prefix, (_, outcome) in self._kept.items() if not outcome.settles]
        if unsettled:
            yield (
                f"policies of routes to {listed(unsettled)} contradict each other: what becomes of them depends on "
                "which switch decides first (RFC 4264), so the traffic may wait for routes that do not come"
            )

    def _effects(self, prefix: str, outcome: Outcome) -> Iterator[_Effect]:
        for switch, hops in self._without_policies.items():
            if prefix not in hops:
                continue
            left = len(outcome.used.get(switch, ()))
            if left < hops[prefix]:
                for one in _nearest(outcome.kept_out, switch):
                    yield _Effect(one.switch, one.by, one.direction, switch, left == 0)

    @cached_property
    def _without_policies(self) -> Mapping[str, Mapping[str, int]]:
        """The next hops of each switch by prefix, were there no policies."""
        bare = [_without_policies(node) for node in self._nodes]
        routes = bgp_routes(bare, unnumbered=self._unnumbered)
        return {name: {one.destination: len(one.next_hops) for one in found} for name, found in routes.items()}


def policy_warnings(nodes: Sequence[Node], *, unnumbered: bool) -> Iterator[str]:
    """Yield what the policies of switches keep out."""
    if has_policies(nodes):
        yield from PolicyEffects(nodes, unnumbered=unnumbered).warnings()


def _without_policies(node: Node) -> Node:
    if node.bgp is None:
        return node
    neighbours = tuple(one.model_copy(update={"policy": None, "policy6": None}) for one in node.bgp.neighbours)
    none = {"announcements": (), "policies": None, "policies6": None}
    bgp = node.bgp.model_copy(update={"neighbours": neighbours, **none})
    return node.model_copy(update={"bgp": bgp})


def _nearest(every: Sequence[KeptOut], switch: str) -> list[KeptOut]:
    """Return what keeps a prefix from a switch itself; where nothing does, what keeps it from others."""
    own = [one for one in every if _loser(one) == switch]
    return own or list(every)


def _loser(one: KeptOut) -> str | None:
    if one.direction == "in":
        return one.switch
    return None if one.peer is None else one.peer.switch


def _sentences(every: Sequence[KeptOut], prefix: str) -> Iterator[str]:
    """Yield a sentence for each policy, with all the neighbours of whose sessions it is."""
    peers: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for one in every:
        peers[one.switch, one.by, one.direction] += [] if one.peer is None else [one.peer.switch]
    for (switch, by, direction), named in peers.items():
        way = {"in": "from", "out": "to"}[direction]
        sessions = f" ({direction}, {way} {listed(dict.fromkeys(named))})" if named else ""
        yield f"{switch}: {by}{sessions} keeps {prefix} out"
