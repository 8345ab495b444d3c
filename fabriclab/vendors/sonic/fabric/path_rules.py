"""Rules of where packets to hosts go: networks that nobody announces, that a switch has no way to, or that it reaches
over fewer links than lead there.

They follow routes as `sonic reach` does (`fabric/routing.py`). What may come from elsewhere is not judged: from a
neighbour without a file, or by tables that act on routes and are not emulated.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabriclab.formats.family import AnyNetwork, Family, is_within
from fabriclab.formats.finding import Severity
from fabriclab.keys.wording import listed
from fabriclab.resolve.bgp_paths import KeptOut
from fabriclab.vendors.sonic.fabric.forwarding import Forwarding, Part
from fabriclab.vendors.sonic.fabric.routing import Destination, FabricRouting, announced
from fabriclab.vendors.sonic.fabric.view import FabricFinding
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.lab.fabric_switches import FabricSwitch

_MOST_NAMED = 3


class _Cause(NamedTuple):
    """Why packets do not go where they should, and where it is written."""

    switch: str
    path: tuple[str, ...]
    why: str
    severity: Severity = "error"


def unreachable_hosts(routing: FabricRouting) -> Iterator[FabricFinding]:
    """Each switch with hosts has a way to each network of hosts that is announced, over all of its equal paths."""
    forwarding = Forwarding(routing)
    known = {name: _tells_all(routing, name) for name in routing.view.fabric.switches}
    sources = [name for name in sorted(routing.view.with_hosts) if routing.sessions[name] and known[name]]
    lost: dict[tuple[_Cause, str], dict[Destination, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for destination in _of_hosts(routing):
        # Of a switch without sessions other rules tell more.
        owner_tells = known[destination.owner] and routing.sessions[destination.owner]
        for part in forwarding.parts(destination) if owner_tells else ():
            for source in sources:
                if source in part.owners or source == destination.owner:
                    continue
                end = part.fate(source).lost
                if end is not None and known[end.switch]:
                    cause = _why_unreachable(routing, end.switch, destination, part)
                    lost[cause, end.why][destination][end.switch] = None
    for (cause, why), found in lost.items():
        networks = _some([str(one) for one in found])
        ends = list(dict.fromkeys(name for every in found.values() for name in every))
        bound = f"{why} on {_some(ends)} to {networks}{cause.why}"
        fate = "packets to the hosts there are lost"
        one = finding("hosts-unreachable", cause.path, None, bound, fate, severity=cause.severity)
        yield FabricFinding(cause.switch, one)


def _why_unreachable(routing: FabricRouting, name: str, destination: Destination, part: Part) -> _Cause:
    """Return why a switch has no way to a network, and where it is written; a policy may mean it."""
    switch = routing.view.fabric.switches[name]
    for one in (name, *part.comes_back(name)):
        for route in routing.view.fabric.switches[one].static_routes_of(routing.family):
            if route.prefix.prefixlen and route.prefix.overlaps(destination.network):
                table, key = route.key.split("|", 1)
                return _Cause(one, (table, key), ", because a static route comes before BGP's")
    astray = routing.astray(name, destination.network)
    if astray is not None:
        return _Cause(name, _map_of(routing, name, astray[1]), f": its next hop {astray[0]} is no switch's address")
    outcome = routing.outcome(destination.network)
    kept = () if outcome is None else outcome.kept_out
    for out in (*(out for out in kept if out.switch == name), *kept):
        return _Cause(out.switch, _path_of(routing, out), f": {out.switch}'s {out.by} keeps it out", "warning")
    for looped in () if outcome is None else outcome.looped:
        if looped.switch == name:
            return _Cause(name, _own_as(switch), f": {looped.by} keeps it out")
    return _Cause(name, ("BGP_NEIGHBOR",), "")


def _unicast(routing: FabricRouting) -> str:
    return f"ipv{routing.family}_unicast"


def _own_as(switch: FabricSwitch) -> tuple[str, ...]:
    if switch.config.frrcfgd:
        return ("BGP_GLOBALS", "default", "local_asn")
    return ("DEVICE_METADATA", "localhost", "bgp_asn")


def _map_of(routing: FabricRouting, name: str, interface: str) -> tuple[str, ...]:
    session, _ = routing.sessions[name][interface]
    return ("BGP_NEIGHBOR_AF", f"{session.key}|{_unicast(routing)}", "route_map_in")


def _path_of(routing: FabricRouting, kept: KeptOut) -> tuple[str, ...]:
    """Return where a policy is bound to the session that it keeps a route from."""
    kinds = {"route-map": "route_map", "prefix-list": "prefix_list", "as-path": "filter_list"}
    field = kinds.get(kept.by.partition(" ")[0], "route_map")
    for session, far in routing.sessions[kept.switch].values():
        if kept.peer is not None and far.switch == kept.peer.switch:
            return ("BGP_NEIGHBOR_AF", f"{session.key}|{_unicast(routing)}", f"{field}_{kept.direction}")
    return ("BGP_GLOBALS_AF_NETWORK",)


def _tells_all(routing: FabricRouting, name: str) -> bool:
    """Return whether a switch's routes are those of the files: none from a neighbour without a file, and none of what
    is not emulated."""
    config = routing.view.fabric.switches[name].config
    known = {session.key for _, (session, _) in routing.said(routing.view.fabric.switches[name])}
    outside = [one for one in config.bgp_neighbours if one.up and one.key not in known]
    return not outside and not any(one.touches == "routes" for one in config.not_emulated)


def _of_hosts(routing: FabricRouting) -> Iterator[Destination]:
    for one in routing.destinations:
        if not one.is_loopback and one.network in announced(routing.view.fabric.switches[one.owner], routing.family):
            yield one


def unannounced_networks(routing: FabricRouting) -> Iterator[FabricFinding]:
    """A switch that announces networks of its hosts announces all of them, with the mask that the interface has."""
    shared = Counter(one.network for one in routing.destinations)
    for switch in routing.view.linked:
        told = announced(switch, routing.family)
        # A network that several switches are in leads from one to the other.
        hosts = [one for one in routing.destinations if not one.is_loopback and shared[one.network] == 1]
        own = [one for one in hosts if one.owner == switch.name]
        with_session = {interface for _, interface in switch.sessions_of(routing.family)}
        missing = [one for one in own if one.network not in told and one.interface not in with_session]
        if not missing or not routing.sessions[switch.name] or not _tells_all(routing, switch.name):
            continue
        if not any(one.network in told for one in own):
            yield from _of_silence(routing, switch, missing)
            continue
        if not switch.config.frrcfgd:
            continue
        for one in missing:
            around = [network for network in told if is_within(one.network, network) or is_within(network, one.network)]
            if around and not _is_meant(switch, around[0], missing, routing.family):
                yield FabricFinding(switch.name, _of_mask(switch, one, around[0]))
            elif not around:
                others = listed(_some_networks(told))
                bound = f"not announced, although the switch announces the networks of other hosts ({others})"
                path, fate = ("BGP_GLOBALS_AF_NETWORK",), "no other switch has a route to the hosts there"
                yield FabricFinding(
                    switch.name,
                    finding("hosts-not-announced", path, one, bound, fate, "add it", (one.interface,)),
                )


def _of_silence(routing: FabricRouting, switch: FabricSwitch, missing: list[Destination]) -> Iterator[FabricFinding]:
    """A switch that announces no network of its hosts, beside others that announce theirs: it may be meant."""
    others = sorted({one.owner for one in _of_hosts(routing)} - {switch.name})
    if others:
        table = "BGP_GLOBALS_AF_NETWORK" if switch.config.frrcfgd else "INTERFACE"
        daemon = "" if switch.config.frrcfgd else "bgpcfgd announces those of VLANs alone; "
        verb = "announce" if len(others) > 1 else "announces"
        bound = f"not announced, although {_some(others)} {verb} networks of hosts"
        fate = f"{daemon}no other switch has a route to the hosts there"
        networks, ports = _some([str(one) for one in missing]), tuple(one.interface for one in missing)
        one = finding(
            "hosts-not-announced",
            (table,),
            networks,
            bound,
            fate,
            "announce it, if it is to be reached",
            ports,
            severity="warning",
        )
        yield FabricFinding(switch.name, one)


def _some_networks(networks: tuple[AnyNetwork, ...]) -> list[str]:
    return [str(one) for one in networks if one.prefixlen < one.max_prefixlen][:_MOST_NAMED]


def _is_meant(switch: FabricSwitch, around: AnyNetwork, missing: list[Destination], family: Family) -> bool:
    """Return whether an announced network is a summary: it stands for several, or has a static route of its own."""
    inside = [one for one in missing if is_within(one.network, around)]
    return len(inside) > 1 or any(one.prefix == around for one in switch.static_routes_of(family))


def _of_mask(switch: FabricSwitch, one: Destination, around: AnyNetwork) -> SonicFinding:
    key = f"default|ipv4_unicast|{around}"
    bound = f"not {one.network}, the network of {one.interface} ({switch.config.place('INTERFACE', one.interface)})"
    fate = "a route to other addresses than those of the hosts is told, or none at all with bgp network import-check"
    return finding("hosts-not-announced", ("BGP_GLOBALS_AF_NETWORK", key), around, bound, fate, "write the same mask")


def narrow_routes(routing: FabricRouting) -> Iterator[FabricFinding]:
    """A switch uses all of its neighbours from which a network of hosts is as near as from any other."""
    forwarding = Forwarding(routing)
    known = {name: _tells_all(routing, name) for name in routing.view.fabric.switches}
    told: dict[_Cause, dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for destination in _of_hosts(routing):
        for part in forwarding.parts(destination):
            distances = _distances(routing, part)
            for name, idle, used in _idle(routing, part, distances):
                if known[name]:
                    cause = _why_narrow(routing, name, idle[0], destination, distances)
                    told[cause][name, idle, used].append(str(destination))
    for cause, found in told.items():
        (name, idle, used), networks = next(iter(found.items()))
        also = [one for one, *_ in list(found)[1:] if one != name]
        bound = (
            f"{cause.why}: {name} reaches {_some(networks)} over {listed(used)} alone, although {_some(list(idle))} "
            f"{'are' if len(idle) > 1 else 'is'} as near{f'; so do {_some(also)}' if also else ''}"
        )
        fate = "some links carry nothing for these hosts, and others carry more than their share"
        one = finding("ecmp-narrow", cause.path, None, bound, fate, "correct it unless this is intended")
        yield FabricFinding(cause.switch, one)


def _idle(
    routing: FabricRouting, part: Part, distances: Mapping[str, int]
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield each switch that leaves near neighbours idle, with these and those that it uses."""
    for name, hops in part.hops.items():
        sessions = routing.sessions[name].values()
        near = {far.switch for _, far in sessions if distances.get(far.switch, -1) == distances.get(name, 0) - 1}
        used = {hop.switch for hop in hops}
        idle = tuple(sorted(near - used))
        if hops and idle and used <= near and all(part.fate(one).lost is None for one in idle):
            yield name, idle, tuple(sorted(used))


def _distances(routing: FabricRouting, part: Part) -> Mapping[str, int]:
    """Return how many sessions lie between each switch and the nearest one that is in a network."""
    found = dict.fromkeys(part.owners, 0)
    frontier = list(part.owners)
    while frontier:
        here = frontier.pop(0)
        for _, far in routing.sessions[here].values():
            if far.switch not in found:
                found[far.switch] = found[here] + 1
                frontier.append(far.switch)
    return found


def _why_narrow(
    routing: FabricRouting, name: str, idle: str, destination: Destination, distances: Mapping[str, int]
) -> _Cause:
    switch = routing.view.fabric.switches[name]
    for route in switch.static_routes_of(routing.family):
        if destination.network.overlaps(route.prefix):
            table, key = route.key.split("|", 1)
            return _Cause(name, (table, key), "a static route, which comes before BGP's")
    if switch.config.max_paths == 1:
        path = ("BGP_GLOBALS_AF", f"default|{_unicast(routing)}", "max_ebgp_paths")
        return _Cause(name, path, "max_ebgp_paths 1 leaves one path of several")
    of_policy = _policy_between(routing, name, idle, distances)
    return of_policy or _Cause(name, ("BGP_NEIGHBOR",), "BGP takes a route for worse than others of equal length")


def _policy_between(routing: FabricRouting, name: str, idle: str, distances: Mapping[str, int]) -> _Cause | None:
    """Return the map through which a route comes to a switch by a neighbour, the one nearest to its origin."""
    found, receiver, sender = None, name, idle
    while receiver != sender:
        for end, other, field in ((sender, receiver, "map_out"), (receiver, sender, "map_in")):
            for session, far in routing.sessions[end].values():
                named = getattr(session.policy, field, None)
                if far.switch == other and named:
                    path = ("BGP_NEIGHBOR_AF", f"{session.key}|{_unicast(routing)}", f"route_{field}")
                    found = _Cause(end, path, f"route-map {named} makes routes worse between {end} and {other}")
        nearer = [
            far.switch
            for _, far in routing.sessions[sender].values()
            if distances.get(far.switch, -1) == distances.get(sender, 0) - 1
        ]
        receiver, sender = sender, nearer[0] if nearer else sender
    return found


def static_next_hops(routing: FabricRouting) -> Iterator[FabricFinding]:
    """The next hop of a static route is in a network of the switch, or in one to which it has another route."""
    for name, switch in routing.view.fabric.switches.items():
        own = [one.network for every in switch.addresses_of(routing.family).values() for one in every]
        for route in switch.static_routes_of(routing.family) if _tells_all(routing, name) else ():
            others = [prefix for prefix in routing.tables[name] if prefix != route.prefix]
            for hop in route.hops:
                if hop.address is None or any(hop.address in network for network in (*own, *others)):
                    continue
                table, key = route.key.split("|", 1)
                bound = f"in no network of the switch, and no route leads to it; the route is for {route.prefix}"
                fate = "FRR does not use the next hop"
                path = (table, key, "nexthop")
                one = finding("static-next-hop", path, hop.address, bound, fate, "write a neighbour's address")
                yield FabricFinding(name, one)


def _some(names: list[str]) -> str:
    if len(names) <= _MOST_NAMED:
        return listed(names)
    return f"{listed(names[:2])} and {len(names) - 2} more"


PATH_RULES = (unreachable_hosts, unannounced_networks, narrow_routes, static_next_hops)
