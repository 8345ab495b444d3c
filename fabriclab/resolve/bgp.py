"""What switches that speak eBGP (RFC 7938) know: their AS numbers and loopbacks, and the routes that they have when
routing has converged.

The routes are those of path-vector routing with AS paths of equal length as equals (`multipath-relax`): a breadth-first
search from each switch that originates prefixes, in which a switch refuses a path with its own AS number in it (RFC
4271, section 9.1.2). Where all AS numbers differ, these are all shortest paths. Where a switch has policies, routes
are what these leave (`bgp_paths.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_interface

from fabriclab.formats.family import FAMILIES, AnyAddress, AnyNetwork, Family, family_of
from fabriclab.formats.plan.node import Node, Port, Route
from fabriclab.keys.wording import listed
from fabriclab.lab.network.topology import Topology
from fabriclab.resolve.addressing import IPV4, IPV6, Addresses, extra_network
from fabriclab.resolve.bgp_paths import Outcome, SessionEnd, Speaking, has_policies, outcome_of
from fabriclab.resolve.interfaces import Interface, families_of, interfaces, neighbours
from fabriclab.resolve.static_routes import is_alive, over_learnt

PRIVATE_ASNS_FROM = 4_200_000_000
"""The first private 32-bit AS number (RFC 6996): enough for any fabric,
and apart from the 16-bit ones that people write."""


@dataclass(frozen=True)
class Speaker:
    """A switch as BGP knows it."""

    asn: int
    loopback: str
    loopback6: str | None


def assign_speakers(topology: Topology, addresses: Addresses) -> dict[str, Speaker]:
    """Return AS number and loopbacks of every switch: what its labels say, else its own private ones in
    the order of the file.

    A router's identifier has the form of an IPv4 address (RFC 6286), so that it has one of these in any case.
    """
    switches = [node for node in topology.nodes if node.role == "switch"]
    asns = _free_asns({node.asn.value for node in switches if node.asn is not None})
    written = {node.loopback.value for node in switches if node.loopback is not None}
    written6 = {node.loopback6.value for node in switches if node.loopback6 is not None}
    loopbacks = _free_loopbacks(IPV4.loopbacks, written, _networks(addresses, 4))
    loopbacks6 = _free_loopbacks(IPV6.loopbacks, written6, _networks(addresses, 6))
    speakers = {}
    for node in switches:
        asn = next(asns) if node.asn is None else node.asn.value
        loopback = next(loopbacks) if node.loopback is None else node.loopback.value
        automatic6 = next(loopbacks6)
        loopback6 = str(automatic6 if node.loopback6 is None else node.loopback6.value) if 6 in addresses else None
        speakers[node.name] = Speaker(asn, str(loopback), loopback6)
    return speakers


def _networks(addresses: Addresses, family: Family) -> list[AnyNetwork]:
    return [address.address.network for address in addresses.get(family, {}).values()]


def _free_asns(taken: Collection[int]) -> Iterator[int]:
    number = PRIVATE_ASNS_FROM
    while True:
        if number not in taken:
            yield number
        number += 1


def _free_loopbacks(
    pool: AnyNetwork, taken: Collection[AnyAddress], networks: Sequence[AnyNetwork]
) -> Iterator[AnyAddress]:
    near = [network for network in networks if network.overlaps(pool)]
    for address in pool.hosts():
        if address not in taken and not any(address in network for network in near):
            yield address


@dataclass(frozen=True)
class _Session:
    """A session of a switch: the neighbour's name, its interface, and the next hop by what is learnt there, for each
    family."""

    neighbour: str
    far: str
    hops: Mapping[Family, tuple[str, str]]
    """Those of which both ends exchange routes."""


def _carrying(sessions: Mapping[str, list[_Session]], family: Family) -> Mapping[str, list[_Session]]:
    """Return the sessions of each switch over which routes of a family go."""
    return {name: [each for each in of_switch if family in each.hops] for name, of_switch in sessions.items()}


def bgp_routes(nodes: Sequence[Node], *, unnumbered: bool, dead: Collection[str] = ()) -> dict[str, tuple[Route, ...]]:
    """Return the routes of every switch, with all its equal next hops, while the ports `dead` (`node:interface`) carry
    nothing.

    Prefixes are the switches' loopbacks and the networks that they share with hosts, in the order of the plan; IPv4's,
    then IPv6's.
    """
    every = {node.name: node for node in nodes}
    switches = {node.name: node for node in nodes if node.role == "switch"}
    families = families_of(nodes[0]) if nodes else ()
    sessions = {name: list(_sessions(node, every, dead, unnumbered)) for name, node in switches.items()}
    routes: dict[str, list[Route]] = {name: [] for name in switches}
    follow_policies = has_policies(nodes)
    for family in families:
        by_origins = _by_origins(switches, every, family, dead)
        carrying = _carrying(sessions, family)
        if follow_policies:
            speakers = _speakers(switches, carrying, unnumbered, dead, family)
            _add_by_policies(routes, by_origins, speakers, carrying, family)
            continue
        for origins, prefixes in by_origins.items():
            for name, used in _paths_to(origins, switches, carrying).items():
                hops = tuple(each.hops[family] for each in used)
                routes[name] += [Route(destination=prefix, next_hops=hops) for prefix in prefixes]
    return {
        name: over_learnt(switches[name], found, dead_interfaces(switches[name], dead))
        for name, found in routes.items()
    }


def kept_out(nodes: Sequence[Node], *, unnumbered: bool) -> dict[str, tuple[str, Outcome]]:
    """Return, for each prefix, who announces it and what becomes of it, where policies keep it from a switch or its
    routes do not settle."""
    every = {node.name: node for node in nodes}
    switches = {node.name: node for node in nodes if node.role == "switch"}
    if not has_policies(nodes):
        return {}
    sessions = {name: list(_sessions(node, every, (), unnumbered)) for name, node in switches.items()}
    found = {}
    for family in families_of(nodes[0]):
        speakers = _speakers(switches, _carrying(sessions, family), unnumbered, (), family)
        for origins, prefixes in _by_origins(switches, every, family, ()).items():
            for prefix, outcome in _outcomes(origins, prefixes, speakers):
                if outcome.kept_out or not outcome.settles:
                    found[prefix] = (listed(origins), outcome)
    return found


def _add_by_policies(
    routes: dict[str, list[Route]],
    by_origins: Mapping[tuple[str, ...], Sequence[str]],
    speakers: Mapping[str, Speaking],
    sessions: Mapping[str, list[_Session]],
    family: Family,
) -> None:
    """Add the routes of a family that policies leave."""
    by_interface = {name: {each.hops[family][1]: each for each in of_switch} for name, of_switch in sessions.items()}
    for origins, prefixes in by_origins.items():
        for prefix, outcome in _outcomes(origins, prefixes, speakers):
            for name, paths in outcome.used.items():
                if paths and all(path.interface is not None for path in paths):
                    hops = [path.way or by_interface[name][path.interface or ""].hops[family] for path in paths]
                    routes[name].append(Route(destination=prefix, next_hops=tuple(dict.fromkeys(hops))))


def _speakers(
    switches: Mapping[str, Node],
    sessions: Mapping[str, list[_Session]],
    unnumbered: bool,
    dead: Collection[str],
    family: Family,
) -> dict[str, Speaking]:
    return {
        name: Speaking(
            name,
            node.asn or 0,
            node.bgp,
            {each.hops[family][1]: SessionEnd(each.neighbour, each.far) for each in sessions[name]},
            {
                one.name: ip_interface(one.address)
                for one in interfaces(node, family)
                if one.address and not _is_dead(node, one, dead)
            },
            unnumbered,
            family,
        )
        for name, node in switches.items()
    }


def _outcomes(
    origins: Sequence[str], prefixes: Sequence[str], speakers: Mapping[str, Speaking]
) -> Iterator[tuple[str, Outcome]]:
    """Yield what becomes of each prefix: the same, of those that all lists of prefixes and all maps treat alike."""
    known: dict[tuple[object, ...], Outcome] = {}
    for prefix in prefixes:
        alike = tuple((one.announcements.get(prefix), one.book.prefix_verdicts(prefix)) for one in speakers.values())
        if alike not in known:
            known[alike] = outcome_of(prefix, origins, speakers)
        yield prefix, known[alike]


def _by_origins(
    switches: Mapping[str, Node], nodes: Mapping[str, Node], family: Family, dead: Collection[str]
) -> dict[tuple[str, ...], list[str]]:
    """Return the prefixes by the switches that originate them: one, but of static routes that several announce."""
    origins: dict[str, list[str]] = {}
    for name, switch in switches.items():
        for prefix in originated_prefixes(switch, nodes, dead, family):
            origins.setdefault(prefix, []).append(name)
    found: dict[tuple[str, ...], list[str]] = {}
    for prefix, names in origins.items():
        found.setdefault(tuple(dict.fromkeys(names)), []).append(prefix)
    return found


def originated_prefixes(
    switch: Node, nodes: Mapping[str, Node], dead: Collection[str] = (), family: Family = 4
) -> Iterator[str]:
    """Yield what a switch announces as its own: its loopback, the networks that it shares with hosts, those of their
    extra addresses, and static routes; of these what its own configuration says, if it has one."""
    said = None if switch.bgp is None else frozenset(switch.bgp.networks)
    for prefix in _own_prefixes(switch, nodes, dead, family):
        if said is None or prefix in said:
            yield prefix


def unannounced(switch: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield the networks of hosts that a switch's own configuration does not announce."""
    if switch.bgp is None:
        return
    told = {prefix for family in families_of(switch) for prefix in originated_prefixes(switch, nodes, (), family)}
    for interface in (one for family in families_of(switch) for one in interfaces(switch, family)):
        network = str(ip_interface(interface.address).network)
        if nodes[interface.ports[0].peer_node].role == "host" and network not in told:
            yield network


def _own_prefixes(switch: Node, nodes: Mapping[str, Node], dead: Collection[str], family: Family) -> Iterator[str]:
    loopback = switch.loopback if family == 4 else switch.loopback6
    if loopback is not None:
        yield f"{loopback}/{32 if family == 4 else 128}"
    for interface in interfaces(switch, family):
        if nodes[interface.ports[0].peer_node].role == "host" and not _is_dead(switch, interface, dead):
            yield str(ip_interface(interface.address).network)
            yield from (str(network) for network, _ in extra_behind(switch, interface, nodes))
    static = [route for route in switch.static_routes if family_of(route.destination) == family]
    if static:
        gone = dead_interfaces(switch, dead)
        yield from dict.fromkeys(route.destination for route in static if route.advertised and is_alive(route, gone))


def dead_interfaces(node: Node, dead: Collection[str]) -> frozenset[str]:
    """Return the interfaces of a node that carry nothing while the ports `dead` do not."""
    return frozenset(interface.name for interface in interfaces(node) if _is_dead(node, interface, dead))


def extra_behind(node: Node, interface: Interface, nodes: Mapping[str, Node]) -> Iterator[tuple[AnyNetwork, str]]:
    """Yield the networks of the extra addresses of an interface's neighbours,
    each with the address that leads there."""
    for neighbour in neighbours(node, interface, nodes):
        network = extra_network(neighbour.interface.extra_addresses)
        if network is not None:
            yield network, neighbour.interface.ip


def _sessions(node: Node, nodes: Mapping[str, Node], dead: Collection[str], unnumbered: bool) -> Iterator[_Session]:
    for interface in interfaces(node):
        if nodes[interface.ports[0].peer_node].role == "switch" and not _is_dead(node, interface, dead):
            for neighbour in neighbours(node, interface, nodes):
                both = spoken_over(node, interface) & spoken_over(neighbour.node, neighbour.interface)
                hops = _hops(interface, neighbour.interface, unnumbered)
                if both:
                    carried = {family: hop for family, hop in hops.items() if family in both}
                    yield _Session(neighbour.node.name, neighbour.interface.name, carried)


def spoken_over(node: Node, interface: Interface) -> frozenset[Family]:
    """Return the families of which a switch tells routes over an interface: without a configuration of its own, all
    over each."""
    if node.bgp is None:
        return frozenset(FAMILIES)
    over = [one for one in node.bgp.neighbours if one.interface == interface.name]
    return frozenset(family for family in FAMILIES if any(one.carries(family) for one in over))


def _is_dead(node: Node, interface: Interface, dead: Collection[str]) -> bool:
    """Return whether nothing gets through: every link of the interface is dead at one of its ends."""
    return bool(dead) and all(
        f"{node.name}:{port.interface}" in dead or _peer(port) in dead for port in interface.ports
    )


def _peer(port: Port) -> str:
    return f"{port.peer_node}:{port.peer_interface}"


def _paths_to(
    origins: Sequence[str], switches: Mapping[str, Node], sessions: Mapping[str, list[_Session]]
) -> dict[str, list[_Session]]:
    """Return, for each switch that learns of `origins`, the sessions that it uses towards the nearest of them."""
    path = {origin: frozenset((switches[origin].asn,)) for origin in origins}
    used: dict[str, list[_Session]] = {}
    frontier = list(origins)
    while frontier:
        candidates = dict.fromkeys(session.neighbour for name in frontier for session in sessions[name])
        heard = frozenset(frontier)
        frontier = []
        for name in candidates:
            asn = switches[name].asn
            usable = [each for each in sessions[name] if each.neighbour in heard and asn not in path[each.neighbour]]
            if name not in path and usable:
                used[name] = usable
                frontier.append(name)
        for name in frontier:
            path[name] = path[used[name][0].neighbour] | {switches[name].asn}
    return used


def _hops(interface: Interface, peer: Interface, unnumbered: bool) -> dict[Family, tuple[str, str]]:
    """Return gateway address and interface for routes of each family. Those of IPv6 have the link-local address that a
    neighbour tells beside its other one (RFC 2545, section 3)."""
    beside = link_local(peer.mac)
    return {4: (beside if unnumbered else peer.ip, interface.name), 6: (beside, interface.name)}


def link_local(mac: str) -> str:
    """Return the IPv6 link-local address that Linux makes of a MAC address (modified EUI-64, RFC 4291, appendix A)."""
    octets = bytes.fromhex(mac.replace(":", ""))
    identifier = bytes([octets[0] ^ 0x02]) + octets[1:3] + b"\xff\xfe" + octets[3:]
    return str(IPv6Address(b"\xfe\x80" + bytes(6) + identifier))
