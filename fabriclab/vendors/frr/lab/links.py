"""The links between routers: said ones first, then by network, then by what descriptions say of unnumbered interfaces.

Networks of two routers are links; those of more are segments, which a bridge of its own makes; those of one lead out.
An address that stands on several routers is an anycast gateway's, and no end of a link.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fabriclab.keys.wording import listed
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.common.imported_lab import FoundLink
from fabriclab.vendors.frr.lab.routers import End, Router, Routers
from fabriclab.vendors.frr.lab.said_links import Said
from fabriclab.vendors.frr.read.config import InterfaceAt, Network

_LINK_HOST_BITS = 2
"""Networks of at most four addresses have two ends."""
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*")


Link = FoundLink[End]
"""A link between two routers, or a router and a node without a file."""


@dataclass(frozen=True)
class Segment:
    """A network that more than two routers are in."""

    network: Network
    ends: tuple[End, ...]


@dataclass(frozen=True)
class _Member:
    """An interface in a network."""

    end: End
    address: InterfaceAt
    vrf: str | None


class LinkFinder:
    """Finds the links of a network."""

    def __init__(self, routers: Routers, said: Said, notes: dict[str, None], problems: Problems) -> None:
        self._routers = routers
        self._said = said
        self._notes = notes
        self._problems = problems
        self._linked: dict[End, Link] = {}
        self.links: list[Link] = []
        self.segments: list[Segment] = []

    def find(self) -> None:
        """Find all links and segments; what contradicts itself is recorded."""
        self._take_said()
        for network, members in self._networks().items():
            self._take_network(network, members)
        self._take_described()

    def is_linked(self, end: End) -> bool:
        """Return whether an interface has a link, or is in a segment."""
        return end in self._linked or any(end in segment.ends for segment in self.segments)

    def _add(self, a: End, b: End, found_by: str) -> None:
        order = [*self._routers]
        ends = sorted((a, b), key=lambda end: order.index(end.node) if end.node in order else len(order))
        link = Link(ends[0], ends[1], found_by)
        self.links.append(link)
        self._linked.update(dict.fromkeys(link.ends, link))

    def _take_said(self) -> None:
        for said in self._said.links:
            known = [self._linked.get(end) for end in (said.a, said.b)]
            if known[0] is not None and known[0] is known[1]:
                continue  # LLDP sees a link from both ends
            taken = next((end for end, link in zip((said.a, said.b), known, strict=True) if link is not None), None)
            if taken is None:
                self._add(said.a, said.b, said.source)
                continue
            link = self._linked[taken]
            message = f"has a link already, {link.a} to {link.b} ({link.found_by}); an interface has only one link"
            self._problems.add(said.place, str(taken), message, str(taken))

    def _networks(self) -> dict[Network, list[_Member]]:
        """Return the networks of all ports that no link was said of, with who is in each."""
        networks: dict[Network, list[_Member]] = defaultdict(list)
        for router in self._routers.values():
            for interface in router.ports():
                end = End(router.name, interface.name)
                for address in router.networks(interface.name) if end not in self._linked else ():
                    vrf = router.vrf_of(interface.name)
                    networks[address.value.network].append(_Member(end, address, vrf))
        return networks

    def _take_network(self, network: Network, members: list[_Member]) -> None:
        members = [one for one in members if not self.is_linked(one.end)]
        groups = [members] if len({one.end.node for one in members}) == len(members) <= 2 else _apart(members)
        for group in groups:
            if self._is_anycast(network, group):
                continue
            ends = tuple(dict.fromkeys(one.end for one in group))
            if len(ends) == 2 and ends[0].node != ends[1].node:
                self._add(*ends, str(network))
            elif len({end.node for end in ends}) > 1:
                self.segments.append(Segment(network, ends))

    def _is_anycast(self, network: Network, group: Sequence[_Member]) -> bool:
        """Return whether several have one address; of the two ends of a link that is a mistake."""
        by_address: dict[object, list[_Member]] = defaultdict(list)
        for one in group:
            by_address[one.address.value.ip].append(one)
        same = next((every for every in by_address.values() if len(every) > 1), None)
        if same is None:
            return False
        first, second = same[:2]
        there = self._routers[first.end.node].config.place(first.address.line)
        here = self._routers[second.end.node].config.place(second.address.line)
        said = f"{first.address.value.ip} of {first.end} ({there})"
        if network.max_prefixlen - network.prefixlen <= _LINK_HOST_BITS:
            message = f"is also the address {said}; each end of a link needs its own address"
            self._problems.add(here, second.end.interface, message, str(second.address.value))
        self._notes[
            f"{said} is also the address of {second.end} ({here}): it is taken to be an anycast gateway, and no link "
            "joins the two"
        ] = None
        return True

    def _take_described(self) -> None:
        """Join unnumbered interfaces by what descriptions say of the other end; the last two by being that."""
        free = [
            End(router.name, interface.name)
            for router in self._routers.values()
            for interface in router.ports()
            if router.is_unnumbered(interface) and End(router.name, interface.name) not in self._linked
        ]
        pairs = list(_described_pairs(free, self._routers))
        for a, b in pairs:
            if a not in self._linked and b not in self._linked:
                self._add(a, b, "descriptions")
        left = [end for end in free if end not in self._linked]
        if len(left) == 2 and left[0].node != left[1].node:
            self._add(left[0], left[1], "being the only two left")
        elif left:
            self._notes[
                "unnumbered, without a description that names the other end, and so left out: "
                f"{listed(map(str, left))}; to add a link, write a line such as leaf1:swp1 spine1:swp3 in --links "
                "FILE"
            ] = None


def _apart(members: Sequence[_Member]) -> list[list[_Member]]:
    """Return the members of a network by VRF: networks of the same addresses are apart there.

    A VRF with one member only is with those of the default one.
    """
    by_vrf: dict[str | None, list[_Member]] = defaultdict(list)
    for one in members:
        by_vrf[one.vrf].append(one)
    for vrf, group in list(by_vrf.items()):
        if vrf is not None and len(group) == 1 and None in by_vrf:
            by_vrf[None] += by_vrf.pop(vrf)
    return [*by_vrf.values()]


def _described_pairs(free: Sequence[End], routers: Routers) -> Iterator[tuple[End, End]]:
    """Yield the pairs of unnumbered interfaces that descriptions join, the surest first."""
    names = {end: _named_ends(end, free, routers) for end in free}
    for end in free:  # a description that has the other end's interface, too
        exact = [other for other, is_exact in names[end].items() if is_exact]
        if len(exact) == 1:
            yield end, exact[0]
    for end in free:  # two that have each other's node, one or several side by side in the order of the files
        for other in names[end]:
            if end in names[other]:
                yield end, other
    for end in free:  # one that names a node whose only free interface, of which nothing is said, it can be
        others = [*names[end]]
        if len(others) == 1 and not names[others[0]]:
            yield end, others[0]


def _named_ends(end: End, free: Iterable[End], routers: Routers) -> dict[End, bool]:
    """Return the ends that an interface's description may mean, and whether it has their interface's name."""
    words = {word.lower().rstrip(".") for text in _descriptions(end, routers[end.node]) for word in _WORD.findall(text)}
    words |= {part for word in words for part in re.split(r"[./]", word)}
    found = {}
    for other in free:
        if other.node != end.node and other.node.lower() in words:
            found[other] = other.interface.lower() in words
    exact = {other: True for other, is_exact in found.items() if is_exact}
    return exact or found


def _descriptions(end: End, router: Router) -> list[str]:
    """Return what an interface and the sessions over it are described as; names joined by - or _ are taken apart."""
    said = [router.config.interfaces[end.interface].description]
    said += [peer.description for _, peer in router.peers() if peer.name == end.interface]
    return [*said, *(re.sub(r"[-_]", " ", text) for text in said)]
