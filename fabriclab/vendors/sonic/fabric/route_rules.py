"""Rules of routes through the fabric: router ids, sessions that one end has, equal paths of unequal rates, and static
routes that drop what another switch's hosts get."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address

from fabriclab.formats.family import FAMILIES, AnyNetwork, is_within
from fabriclab.formats.finding import Severity
from fabriclab.keys.wording import listed
from fabriclab.lab.reading.problems import Problems
from fabriclab.units import format_rate
from fabriclab.vendors.sonic.fabric.view import FabricFinding, View
from fabriclab.vendors.sonic.judge import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.lab.fabric_checks import FabricChecks
from fabriclab.vendors.sonic.lab.fabric_switches import End, FabricSwitch

_BITS_A_MBIT = 10**6
_LOOPBACK = "Loopback0"
_MILD: Severity = "warning"
_SAME_AS = "the two have no session with each other, and others take one's routes for loops or duplicates"
_OTHER_AS = (
    "sessions between different AS numbers come up (RFC 6286, section 2.2), but nobody can tell the routes of the two "
    "apart"
)
_DYNAMIC = ("BGP_PEER_RANGE", "BGP_GLOBALS_LISTEN_PREFIX")


def router_ids(view: View) -> Iterator[FabricFinding]:
    """Each switch that speaks BGP has a router id of its own."""
    first: dict[IPv4Address, FabricSwitch] = {}
    for switch in view.linked:
        own = _router_id(switch)
        if own is None or not any(True for _ in switch.sessions()):
            continue
        other = first.setdefault(own, switch)
        if other is not switch:
            path = _router_id_path(switch)
            place = other.config.place(*_router_id_path(other))
            bound = f"also the router id of {other.name} ({place})"
            asns = (switch.config.asn, other.config.asn)
            differ = None not in asns and asns[0] != asns[1]
            fate, severity = (_OTHER_AS, _MILD) if differ else (_SAME_AS, None)
            one = finding("router-id-twice", path, own, bound, fate, "write its own", severity=severity)
            yield FabricFinding(switch.name, one)


def _router_id(switch: FabricSwitch) -> IPv4Address | None:
    config = switch.config
    loopback = next(iter(config.loopbacks.get(_LOOPBACK, ())), None)
    return config.router_id or (None if loopback is None else loopback.ip)


def _router_id_path(switch: FabricSwitch) -> tuple[str, ...]:
    if switch.config.router_id is None:
        loopback = next(iter(switch.config.loopbacks.get(_LOOPBACK, ())), None)
        return ("LOOPBACK_INTERFACE", f"{_LOOPBACK}|{loopback}")
    if "router_id" in entries(switch.config, "BGP_GLOBALS").get("default", {}):
        return ("BGP_GLOBALS", "default", "router_id")
    return ("DEVICE_METADATA", "localhost", "bgp_router_id")


def one_sided_sessions(view: View) -> Iterator[FabricFinding]:
    """A session is in the files of both switches, unless the other one takes whoever calls."""
    checks = FabricChecks(view.fabric, view.links, (), {}, Problems(), FAMILIES)
    for switch, session, far in checks.one_sided():
        other = view.fabric.switches[far.switch].config
        if not any(entries(other, table) for table in _DYNAMIC):
            bound = f"without a session of {far.switch} over {far.port} ({other.place('BGP_NEIGHBOR')})"
            path, remedy = ("BGP_NEIGHBOR", session.key), "write BGP_NEIGHBOR in both, or in neither"
            yield FabricFinding(
                switch.name, finding("session-one-sided", path, None, bound, "it never comes up", remedy)
            )


def equal_path_rates(view: View) -> Iterator[FabricFinding]:
    """Next hops of one route have one rate: each gets the same share of the traffic.

    A link whose ends have different speeds is none.
    """
    told: set[frozenset[End]] = set()
    for switch in view.linked:
        for target, neighbours in view.next_hops(switch.name).items():
            every = [end for name in neighbours for end in view.neighbours[switch.name][name]]
            ends = [end for end in every if _speed(view, end) == _speed(view, view.far[end])]
            rates: dict[int, list[End]] = defaultdict(list)
            for end in ends:
                rates[_speed(view, end)].append(end)
            if len(rates) > 1 and frozenset(ends) not in told:
                told.add(frozenset(ends))
                yield _unequal(switch, target, rates)


def _speed(view: View, end: End) -> int:
    return view.switch(end).config.ports[end.port].speed_mbps or 0


def _unequal(switch: FabricSwitch, target: str, rates: Mapping[int, list[End]]) -> FabricFinding:
    slow = min(rates)
    port, *_ = (end.port for end in rates[slow])
    others = [end.port for rate, ends in rates.items() if rate != slow for end in ends]
    bound = (
        f"slower than {listed(others[:3])} ({format_rate(max(rates) * _BITS_A_MBIT)}), beside which it leads to "
        f"{target} by paths of equal length"
    )
    fate = "ECMP gives each the same share, so the slow link is full while the others are not"
    path, value = ("PORT", port, "speed"), format_rate(slow * _BITS_A_MBIT)
    remedy = "write one speed, or leave the slow link out of the group"
    ports = tuple(end.port for end in rates[slow])
    return FabricFinding(switch.name, finding("ecmp-rates", path, value, bound, fate, remedy, ports))


def blackholes(view: View) -> Iterator[FabricFinding]:
    """No static route of a switch drops what hosts of the fabric should get: it comes before BGP's."""
    hosts = [
        (switch, interface, network) for switch in view.linked for interface, network in _host_networks(view, switch)
    ]
    for switch in view.linked:
        for route in (*switch.config.static_routes, *switch.config.static_routes6):
            dropped = all(hop.blackhole for hop in route.hops)
            hidden = [
                (owner, interface, network)
                for owner, interface, network in hosts
                if dropped and is_within(route.prefix, network) and (owner is not switch or route.prefix != network)
            ]
            if hidden:
                owner, interface, network = hidden[0]
                bound = f"a route that drops packets to {network}, the network of {owner.name}:{interface}"
                fate = "a static route comes before BGP's, and a longer prefix before all: hosts there are not reached"
                table, key = route.key.split("|", 1)
                remedy = "remove it, or write a shorter prefix"
                yield FabricFinding(
                    switch.name, finding("blackhole-hides-hosts", (table, key), route.prefix, bound, fate, remedy)
                )


def _host_networks(view: View, switch: FabricSwitch) -> Iterator[tuple[str, AnyNetwork]]:
    cabled = {switch.channel_of.get(end.port, end.port) for end in view.far if end.switch == switch.name}
    for family in FAMILIES:
        for interface, addresses in switch.addresses_of(family).items():
            if interface not in cabled:
                yield from ((interface, address.network) for address in addresses)


def hash_seeds(view: View) -> Iterator[FabricFinding]:
    """Switches that choose one after the other hash differently: else what one has chosen decides what the next does.

    Of two that do not, the one nearer to the start is named.
    """
    for switch in view.linked:
        after: dict[str, str] = {}
        for target, hops in view.next_hops(switch.name).items():
            for hop in sorted(hops):
                if hop != target and target in view.next_hops(hop) and _hashes_alike(view, switch.name, hop):
                    after.setdefault(hop, target)
        if after:
            yield FabricFinding(switch.name, _polarised(view, switch, after))


def _hashes_alike(view: View, one: str, other: str) -> bool:
    first, second = (view.fabric.switches[name].config.hash for name in (one, other))
    return first.seed_in_switch == second.seed_in_switch and set(first.said) == set(second.said)


def _polarised(view: View, switch: FabricSwitch, after: Mapping[str, str]) -> SonicFinding:
    own = switch.config.hash
    hop, target = next(iter(after.items()))
    other = view.fabric.switches[hop].config
    origin = "written" if own.seed is not None else "that of its type"
    bound = (
        f"the seed of {listed(after)} too ({other.place('DEVICE_METADATA', 'localhost')}), which "
        f"{'choose' if len(after) > 1 else 'chooses'} among several next hops after it ({origin}; on the way to "
        f"{target})"
    )
    fate = "the choice of the first decides that of the second: some of the second's links carry nothing"
    remedy = "write another DEVICE_METADATA|localhost|ecmp_hash_seed for each tier"
    return finding(
        "hash-seeds", ("DEVICE_METADATA", "localhost", "ecmp_hash_seed"), own.seed_in_switch, bound, fate, remedy
    )


ROUTE_RULES = (router_ids, one_sided_sessions, equal_path_rates, blackholes, hash_seeds)
