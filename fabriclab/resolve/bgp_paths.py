"""The routes of a fabric whose switches have policies: BGP's decisions, round by round, until nothing changes.

The decision is FRR's (bgpd/bgp_route.c: bgp_path_info_cmp) as far as external sessions go: weight, local preference,
own routes, length of the AS path, origin, metric among paths of one neighbouring AS; what is equal so far is used
together. Which of equal paths is told on depends on when it came; here it is that of the first port.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import ip_address
from typing import NamedTuple

from fabriclab.formats.family import AnyInterface, Family
from fabriclab.formats.plan.node import Node, OwnBgp
from fabriclab.formats.plan.policies import PEER_ADDRESS, UNCHANGED, NeighbourPolicy, Policies
from fabriclab.resolve.bgp_policies import OWN_NEXT_HOP, Attributes, Denied, PolicyBook

_OWN_WEIGHT = 32_768
_ORIGINS = ("igp", "egp", "incomplete")
_STAYS_HERE = frozenset({"no-export", "no-advertise", "local-AS"})
"""Communities with which a route is not told to another AS (RFC 1997)."""
_NOTHING = NeighbourPolicy()


class SessionEnd(NamedTuple):
    """One end of a session."""

    switch: str
    interface: str


@dataclass(frozen=True)
class Speaking:
    """A switch and its sessions: the other end of each, by its own interface, in the order of its ports."""

    name: str
    asn: int
    own: OwnBgp | None
    """What its configuration says; None: nothing of its own."""
    sessions: Mapping[str, SessionEnd]
    addresses: Mapping[str, AnyInterface] = field(default_factory=dict)
    """Those of its interfaces, of the family."""
    unnumbered: bool = False
    """Whether sessions of which its configuration says nothing run over link-local addresses."""
    family: Family = 4
    """Of the routes."""

    def is_numbered(self, interface: str) -> bool:
        """Return whether a session runs over addresses of IPv4."""
        if self.own is None:
            return not self.unnumbered
        return interface not in self._neighbours or self._neighbours[interface][1] != interface

    def way_to(self, address: str) -> str | None:
        """Return the interface in whose network an address is; None: it is in none."""
        wanted = ip_address(address)
        return next((name for name, one in self.addresses.items() if wanted in one.network), None)

    def has(self, address: str) -> bool:
        """Return whether an address is the switch's own."""
        return any(str(one.ip) == address for one in self.addresses.values())

    @cached_property
    def book(self) -> PolicyBook:
        """Its lists and maps."""
        own = self.own
        return PolicyBook((None if own is None else own.policies_of(self.family)) or Policies())

    @cached_property
    def _neighbours(self) -> Mapping[str, tuple[NeighbourPolicy, str]]:
        own = () if self.own is None else self.own.neighbours
        return {
            one.interface: (one.policy_of(self.family) or _NOTHING, one.address or one.interface)
            for one in own
            if one.carries(self.family)
        }

    def policy(self, interface: str) -> tuple[NeighbourPolicy, str]:
        """Return the policy of the session over an interface, and what the switch calls the neighbour."""
        return self._neighbours.get(interface, (_NOTHING, interface))

    def is_alone(self, interface: str) -> bool:
        """Return whether no other session announces as this one does: then a route does not go back over the session
        that it came by (bgpd/bgp_route.c: subgroup_announce_check, onlypeer)."""
        own = _outward(self.policy(interface)[0])
        return [_outward(self.policy(one)[0]) for one in self.sessions].count(own) < 2

    @cached_property
    def announcements(self) -> Mapping[str, str]:
        """The map that a network of its own goes through."""
        return {} if self.own is None else {one.prefix: one.map for one in self.own.announcements}


def _outward(policy: NeighbourPolicy) -> tuple[object, ...]:
    """Return what a session's announcements depend on."""
    hidden = (policy.hides_communities, policy.hides_extended)
    return policy.map_out, policy.prefixes_out, policy.paths_out, *hidden


@dataclass(frozen=True)
class KeptOut:
    """A route that a policy keeps from a switch."""

    switch: str
    """The switch that has the policy."""
    peer: SessionEnd | None
    """The neighbour that the route is from, or would go to; None: the switch's own network."""
    direction: str
    """in or out."""
    by: str
    """In words."""


class Path(NamedTuple):
    """A route that a switch may use, and the interface that it came by; None: its own network."""

    attributes: Attributes
    interface: str | None
    way: tuple[str, str] | None = None
    """Another next hop than the neighbour that it came from: its address, and the interface that leads there."""


Paths = tuple[Path, ...]
"""Equal ones, of one switch."""


@dataclass(frozen=True)
class Outcome:
    """What becomes of a prefix."""

    used: Mapping[str, Paths]
    """The equal paths of each switch that has any."""
    kept_out: tuple[KeptOut, ...]
    looped: tuple[KeptOut, ...] = ()
    """Routes that a switch refuses because its own AS number is in their path (RFC 4271, 9.1.2)."""
    settles: bool = True
    """False: what comes of it depends on who decides first, or nothing does: choices go on changing one another."""


def has_policies(nodes: Sequence[Node]) -> bool:
    """Return whether any switch has a policy."""
    owns = [node.bgp for node in nodes if node.bgp is not None]
    return any(own.announcements or any(one.policy or one.policy6 for one in own.neighbours) for own in owns)


def used_paths(prefix: str, origins: Sequence[str], speakers: Mapping[str, Speaking]) -> Mapping[str, Paths] | None:
    """Return the equal paths that each switch uses to a prefix; None where choices go on changing one another."""
    own, _ = _own_routes(prefix, origins, speakers)
    return _decide(prefix, own, speakers, None)


def outcome_of(prefix: str, origins: Sequence[str], speakers: Mapping[str, Speaking]) -> Outcome:
    """Return what becomes of a prefix that some switches have as their own.

    Policies may contradict each other so that there are several outcomes, or none (RFC 4264): then it also depends on
    the order in which switches decide.
    """
    own, kept = _own_routes(prefix, origins, speakers)
    together = _decide(prefix, own, speakers, None)
    used = {} if together is None else together
    names = list(speakers)
    orders = (names, names[::-1])
    settles = together is not None and all(_decide(prefix, own, speakers, order) == together for order in orders)
    denied: list[KeptOut] = []
    looped: list[KeptOut] = []
    for speaking in speakers.values():
        list(_heard(prefix, speaking, speakers, used, denied, looped))
    return Outcome(used, (*kept, *denied), tuple(looped), settles)


def accepted(prefix: str, name: str, speakers: Mapping[str, Speaking], used: Mapping[str, Paths]) -> Iterator[str]:
    """Yield the interfaces over which a switch takes a route to a prefix, whether it uses it or not."""
    for path in _heard(prefix, speakers[name], speakers, used, [], []):
        if path.interface is not None:
            yield path.interface


def _decide(
    prefix: str, own: Mapping[str, Paths], speakers: Mapping[str, Speaking], order: Sequence[str] | None
) -> dict[str, Paths] | None:
    """Return what each switch uses when nobody changes anything any more; None: that does not come.

    `order`: they decide one after the other, and know what those before them decided; else all at once.
    """
    used: dict[str, Paths] = {}
    for _ in range(4 * len(speakers) + 8):
        known, following = used, dict(used)
        for name in order or speakers:
            candidates = [*own.get(name, ()), *_heard(prefix, speakers[name], speakers, known, [], [])]
            following[name] = _best(candidates)
            if order is not None:
                known = following
        following = {name: following[name] for name in speakers if following[name]}
        if following == used:
            return used
        used = following
    return None


def _own_routes(
    prefix: str, origins: Sequence[str], speakers: Mapping[str, Speaking]
) -> tuple[dict[str, Paths], list[KeptOut]]:
    own: dict[str, Paths] = {}
    kept = []
    for name in origins:
        speaking = speakers[name]
        plain, through = Attributes(weight=_OWN_WEIGHT), speaking.announcements.get(prefix)
        made = plain if through is None else speaking.book.mapped(through, prefix, plain)
        if isinstance(made, Denied):
            kept.append(KeptOut(name, None, "out", made.by))
        else:
            own[name] = (Path(made, None),)
    return own, kept


def _heard(
    prefix: str,
    speaking: Speaking,
    speakers: Mapping[str, Speaking],
    used: Mapping[str, Paths],
    denied: list[KeptOut],
    looped: list[KeptOut],
) -> Iterator[Path]:
    """Yield what a switch takes from its neighbours, and record what it does not."""
    for interface, far in speaking.sessions.items():
        other = speakers[far.switch]
        told = used.get(far.switch, ())
        if not told or _STAYS_HERE & told[0].attributes.communities:
            continue
        if told[0].interface == far.interface and other.is_alone(far.interface):
            continue
        policy, peer = other.policy(far.interface)
        sent = other.book.outgoing(policy, prefix, _before_it_goes(told[0]), peer)
        if isinstance(sent, Denied):
            denied.append(KeptOut(far.switch, SessionEnd(speaking.name, interface), "out", sent.by))
            continue
        arrived = _with_next_hop(_arrived(sent, other.asn, policy), told[0], speaking, interface, other)
        policy, peer = speaking.policy(interface)
        if arrived.as_path.count(speaking.asn) > policy.own_as_in:
            looped.append(KeptOut(speaking.name, far, "in", f"AS {speaking.asn} in its path, the switch's own,"))
            continue
        taken = speaking.book.incoming(policy, prefix, arrived, peer)
        if isinstance(taken, Denied):
            denied.append(KeptOut(speaking.name, far, "in", taken.by))
            continue
        way, refusal = _way(taken, arrived.next_hop, speaking, other.addresses.get(far.interface))
        if refusal:
            denied.append(KeptOut(speaking.name, far, "in", refusal))
        else:
            yield Path(taken, interface, way)


def _with_next_hop(sent: Attributes, told: Path, speaking: Speaking, interface: str, other: Speaking) -> Attributes:
    """Return a route with the next hop that it comes with (FRR, bgpd/bgp_updgrp_packet.c: bpacket_reformat_for_peer).

    It is the neighbour's own address, unless a map has set another one, or the neighbour's next hop is in the same
    network."""
    far = speaking.sessions[interface]
    if speaking.family == 6:
        # The neighbour tells its link-local address beside another one, and packets go there. Its interface counts
        # only where that is the one (bgpd/bgp_attr.c: bgp_mp_reach_parse).
        is_alone = other.addresses.get(far.interface) is None
        return replace(sent, next_hop=OWN_NEXT_HOP, interface=interface if is_alone else "", prefers_global=False)
    if not speaking.is_numbered(interface):
        return replace(sent, next_hop=OWN_NEXT_HOP, interface=interface, given_hop=None)
    own, given, before = other.addresses.get(far.interface), sent.given_hop, told.attributes.next_hop
    hop = OWN_NEXT_HOP if own is None else str(own.ip)
    is_shared = own is not None and ip_address(before) in own.network and told.interface != far.interface
    if given not in (None, PEER_ADDRESS, UNCHANGED):
        hop = str(given)
    elif before != OWN_NEXT_HOP and (given == UNCHANGED or (given is None and is_shared)):
        hop = before
    return replace(sent, next_hop=hop, interface="", given_hop=None)


def _way(
    taken: Attributes, arrived: str, speaking: Speaking, neighbour: AnyInterface | None
) -> tuple[tuple[str, str] | None, str]:
    """Return the next hop of a route where it is not the neighbour, or why it is refused: a session to the neighbour of
    a link takes only next hops in networks of its own (FRR, bgpd/bgp_nht.c; bgp_route.c: bgp_update_martian_nexthop).
    """
    own = OWN_NEXT_HOP if neighbour is None else str(neighbour.ip)
    if speaking.family == 6:
        # Without `prefer-global` packets go to the link-local address, whatever else a map sets (bgpd/bgp_nht.c:
        # make_prefix).
        hop = (taken.global_hop or own) if taken.prefers_global else OWN_NEXT_HOP
    else:
        hop = _hop_of_ipv4(taken, arrived, own)
    if hop == OWN_NEXT_HOP or (hop == own and not taken.prefers_global):
        return None, ""
    if speaking.has(hop):
        return None, f"next hop {hop}, the switch's own address,"
    way = speaking.way_to(hop)
    if way is None:
        return None, f"next hop {hop}, which is in no network of the switch,"
    return (hop, way), ""


def _hop_of_ipv4(taken: Attributes, arrived: str, own: str) -> str:
    is_peer = taken.given_hop == PEER_ADDRESS and arrived != OWN_NEXT_HOP
    return own if is_peer else taken.next_hop


def _arrived(sent: Attributes, asn: int, policy: NeighbourPolicy) -> Attributes:
    """Return a route as the neighbour gets it."""
    return replace(
        sent,
        as_path=(asn, *sent.as_path),
        metric=sent.metric if sent.tells_metric else 0,
        tells_metric=True,
        local_preference=Attributes().local_preference,
        communities=frozenset() if policy.hides_communities else sent.communities,
        extended=frozenset() if policy.hides_extended else sent.extended,
    )


def _before_it_goes(path: Path) -> Attributes:
    """Return a route as the map of a session to another AS finds it: a metric that came from one does not go on, nor
    what a map has set as next hop when it came."""
    is_own = path.interface is None
    return replace(
        path.attributes, tells_metric=is_own and path.attributes.tells_metric, given_hop=None, global_hop=None
    )


def _best(candidates: Sequence[Path]) -> Paths:
    """Return the paths that are equally good and better than the others."""
    if not candidates:
        return ()
    best = min(map(_rank, candidates))
    alike = [path for path in candidates if _rank(path) == best]
    least: dict[int, int] = {}
    for path in alike:
        least[_neighbour_as(path)] = min(path.attributes.metric, least.get(_neighbour_as(path), 2**32))
    return tuple(path for path in alike if path.attributes.metric == least[_neighbour_as(path)])


def _rank(path: Path) -> tuple[int, int, bool, int, int]:
    found = path.attributes
    is_learnt = path.interface is not None
    return -found.weight, -found.local_preference, is_learnt, len(found.as_path), _ORIGINS.index(found.origin)


def _neighbour_as(path: Path) -> int:
    return path.attributes.as_path[0] if path.attributes.as_path else 0
