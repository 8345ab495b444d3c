"""What two files say of one thing: AS numbers, sessions, areas. What FRR takes is not an error: it is noted, with both
places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address

from fabriclab.keys.wording import listed
from fabriclab.vendors.frr.lab.links import Link
from fabriclab.vendors.frr.lab.routers import End, Router, Routers
from fabriclab.vendors.frr.read.config import Address, Bgp, BgpNeighbour, Network, Protocol


class Checks:
    """Compares what the files say."""

    def __init__(self, routers: Routers, links: Sequence[Link], notes: dict[str, None]) -> None:
        self._routers = routers
        self._far = {near: far for link in links for near, far in (link.ends, link.ends[::-1])}
        self._links = links
        self._notes = notes
        self._owners = {
            (router.vrf_of(interface.name), one.value.ip): (router, interface.name)
            for router in routers.values()
            for interface in router.config.interfaces.values()
            for one in interface.addresses
        }

    def check(self) -> None:
        """Note what is doubtful."""
        self._check_router_ids()
        for router in self._routers.values():
            self._check_policies(router)
            self._check_next_hops(router)
            for bgp, peer in router.peers():
                if not peer.is_down:
                    self._check_session(router, bgp, peer)
        for link in self._links:
            for protocol in ("ospf", "ospf6", "isis"):
                self._check_areas(link, protocol)

    def _check_router_ids(self) -> None:
        first: dict[str, tuple[Router, Bgp]] = {}
        for router in self._routers.values():
            bgp = router.config.own_bgp
            if bgp is None or bgp.router_id is None:
                continue
            other, other_bgp = first.setdefault(bgp.router_id, (router, bgp))
            if other is not router:
                self._notes[
                    f"bgp router-id {bgp.router_id} is {other.name}'s ({other.config.place(other_bgp.line)}) and "
                    f"{router.name}'s ({router.config.place(bgp.line)}): sessions between the two never come up"
                ] = None

    def _check_policies(self, router: Router) -> None:
        """Note external neighbours without a policy, where FRR wants one (RFC 8212)."""
        silent = []
        for bgp, peer in router.peers():
            required = not router.config.is_datacenter if bgp.requires_policy is None else bgp.requires_policy
            remote = bgp.remote_as(peer)
            external = remote == "external" or (isinstance(remote, int) and remote != bgp.local_as(peer))
            if required and external and bgp.policies(peer) != {"in", "out"}:
                silent.append(peer.name)
        if silent:
            self._notes[
                f"{router.name}: exchanges no routes with these external neighbours, because they lack a policy in "
                f"or out, which FRR requires without `no bgp ebgp-requires-policy`: {listed(silent)}"
            ] = None

    def _check_next_hops(self, router: Router) -> None:
        """Note external next hops that internal neighbours are told and cannot reach (RFC 4271, section 5.1.3)."""
        bgp = router.config.own_bgp
        if bgp is None or router.config.interiors or "connected" in bgp.redistributes:
            return
        peers = [peer for peer in bgp.peers() if bgp.exchanges_ipv4(peer)]
        announced = [network for network in bgp.networks if network.version == 4]
        hops = [
            str(peer.address)
            for peer in peers
            if isinstance(peer.address, IPv4Address) and not bgp.is_internal(peer) and not _is_in(peer, announced)
        ]
        told = [peer.name for peer in peers if bgp.is_internal(peer) and not bgp.is_next_hop_for(peer)]
        if hops and told:
            self._notes[
                f"{router.name}: announces routes with next hop {listed(hops)} to internal neighbours "
                f"({listed(told)}), but no router announces the networks of these next hops; neighbours that do not "
                "know these networks ignore the routes (next-hop-self)"
            ] = None

    def _owner(self, bgp: Bgp, address: Address) -> tuple[Router, str] | None:
        """Return whose an address is: in the same VRF, or the only one anywhere."""
        own = self._owners.get((bgp.vrf, address))
        every = [owner for (_, ip), owner in self._owners.items() if ip == address]
        return own or (every[0] if len(every) == 1 else None)

    def _other(self, router: Router, bgp: Bgp, peer: BgpNeighbour) -> tuple[Router, str] | None:
        """Return the router at the other end of a session, and its interface there."""
        if peer.address is not None:
            return self._owner(bgp, peer.address)
        far = self._far.get(End(router.name, peer.name))
        return None if far is None or far.node not in self._routers else (self._routers[far.node], far.interface)

    def _check_session(self, router: Router, bgp: Bgp, peer: BgpNeighbour) -> None:
        found = self._other(router, bgp, peer)
        if found is None:
            return
        other, interface = found
        where = router.config.place(peer.line)
        if other is router:
            self._notes[f"{router.name}: neighbor {peer.name} is its own address ({where})"] = None
            return
        back = [*self._sessions_back(other, interface, router, bgp)]
        if not back:
            self._notes[
                f"{router.name} has a BGP session with {other.name} (neighbor {peer.name}, {where}), but "
                f"{other.name} has none with {router.name}: the session never comes up"
            ] = None
            return
        remote, (their_bgp, their_peer) = bgp.remote_as(peer), back[0]
        theirs = their_bgp.asn if their_peer is None else their_bgp.local_as(their_peer)
        ours = bgp.local_as(peer)
        is_wrong = (isinstance(remote, int) and remote not in (theirs, their_bgp.asn)) or (
            (remote == "internal" and theirs != ours) or (remote == "external" and theirs == ours)
        )
        if is_wrong:
            self._notes[
                f"{router.name}: neighbor {peer.name} has AS {remote} ({where}), but {other.name} is in AS {theirs} "
                f"({other.config.place(their_bgp.line)}): the session never comes up"
            ] = None

    def _sessions_back(
        self, other: Router, interface: str, router: Router, bgp: Bgp
    ) -> Iterator[tuple[Bgp, BgpNeighbour | None]]:
        ours = {one.value.ip for known in router.config.interfaces.values() for one in known.addresses}
        for their_bgp, peer in other.peers():
            far = self._far.get(End(other.name, peer.name))
            is_ours = peer.address in ours or (far is not None and far.node == router.name)
            if is_ours and (peer.address is not None or peer.name == interface):
                yield their_bgp, peer
        for their_bgp in other.config.bgp:
            if any(ip in network for network, _ in their_bgp.listens for ip in ours if ip.version == network.version):
                yield their_bgp, None
        del bgp

    def _check_areas(self, link: Link, protocol: Protocol) -> None:
        if any(end.node not in self._routers for end in link.ends):
            return
        (here, a), (there, b) = ((end, _area(self._routers[end.node], end.interface, protocol)) for end in link.ends)
        places = [self._routers[end.node].place(end.interface) for end in (here, there)]
        if (a is None) != (b is None):
            speaks, silent = (here, there) if b is None else (there, here)
            place = places[0] if b is None else places[1]
            self._notes[f"{protocol.upper()} runs at {speaks} ({place}), but not at the other end, {silent}"] = None
        elif protocol != "isis" and a is not None and b is not None and _number(a) != _number(b):
            self._notes[
                f"{protocol.upper()}: area {a} at {here} ({places[0]}), but area {b} at the other end, {there} "
                f"({places[1]}): they never become neighbours"
            ] = None


def _area(router: Router, interface: str, protocol: Protocol) -> str | None:
    """Return the area that an interface is in; None where it does not speak the protocol."""
    known = router.config.interfaces.get(interface)
    if known is None:
        return None
    if protocol in known.areas:
        return known.areas[protocol]
    for process in router.config.interiors:
        for network, area in process.networks if process.protocol == protocol else ():
            if any(one.value.ip in network for one in known.addresses if one.value.version == network.version):
                return area
    return None


def _number(area: str) -> int | str:
    """Return an OSPF area as a number: 0 and 0.0.0.0 are one."""
    words = area.split(".")
    if all(word.isascii() and word.isdigit() for word in words) and len(words) in (1, 4):
        return sum(int(word) << 8 * place for place, word in enumerate(reversed(words)))
    return area


def _is_in(peer: BgpNeighbour, networks: Sequence[Network]) -> bool:
    return peer.address is not None and any(peer.address in network for network in networks)
