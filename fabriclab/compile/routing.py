"""A node's addresses, neighbours, routes and rules as lines for `ip -batch`.

Source of the words: ip-address(8), ip-neighbour(8), ip-route(8), ip-rule(8).
"""

from __future__ import annotations

import ipaddress
import math
from collections import Counter
from collections.abc import Iterator, Mapping

from fabriclab.compile.frr import speaks_bgp
from fabriclab.compile.layer2 import compile_groups
from fabriclab.compile.mptcp import compile_endpoints
from fabriclab.compile.setup import compile_own_network
from fabriclab.formats.family import Family, family_of
from fabriclab.formats.framing import ip_and_tcp_bytes, segment_header_bytes
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import DEFAULT, Node, Route, StaticRoute, Transport
from fabriclab.resolve.addressing import extra_network
from fabriclab.resolve.bgp import extra_behind, link_local
from fabriclab.resolve.interfaces import Interface, interfaces, neighbours

_LARGEST_WINDOW_BYTES = 65_535 << 14
"""RFC 7323, section 2.3."""
_DISTANCE_SHIFT = 24
_FIRST_TABLE = 101
"""Routing tables of a host's interfaces; those from 253 on are the kernel's."""


def compile_ip(node: Node, plan: Plan) -> str:
    """Return the node's `ip.batch`."""
    if plan.configured is not None:
        return compile_own_network(node)
    nodes = plan.by_name()
    own = [interface for family in plan.families for interface in interfaces(node, family)]
    lines = [*compile_groups(node, plan)]
    lines += [f"address add {interface.address} dev {interface.name}{_kept(interface)}" for interface in own]
    lines += [
        f"address add {address}{_single(address)} dev {interface.name}{_kept(interface, is_extra=True)}"
        for interface in own
        for address in interface.extra_addresses
    ]
    lines += [line for interface in own for line in compile_neighbours(node, interface, plan, nodes)]
    if speaks_bgp(node, plan):
        # Its routes come from its neighbours; the loopback is what they know it by.
        lines += [f"address add {address}{_single(address)} dev lo" for address in _loopbacks(node, plan)]
    else:
        own_static = {route.destination for route in node.static_routes}
        lines += [
            line
            for route in node.routes
            if route.destination not in own_static
            for line in compile_route(node, route, plan)
        ]
    lines += [static_route_line(route, "add") for route in node.static_routes]
    lines += [line for interface in own for line in compile_own_routes(node, interface, plan)]
    if 4 in plan.families:
        lines += _source_rules(node, 4)
    lines += compile_endpoints(node, plan)
    return "".join(line + "\n" for line in lines)


def compile_ip6(node: Node, plan: Plan) -> str:
    """Return the node's `ip6.batch`: rules of IPv6, which `ip` takes for IPv4's where nobody says otherwise."""
    return "".join(line + "\n" for line in _source_rules(node, 6)) if 6 in plan.families else ""


def _single(address: str) -> str:
    """Return the prefix length of a single address."""
    return "/128" if family_of(address) == 6 else "/32"


def _kept(interface: Interface, *, is_extra: bool = False) -> str:
    """Return the words after an interface's address.

    IPv6's are unique by the plan: nobody need ask for it, so that they hold at once. Of several the kernel takes the
    one that is most like the destination (RFC 6724, rule 8): MPTCP's further ones are deprecated, for those that name
    them alone.
    """
    if interface.family == 4:
        return ""
    return " nodad preferred_lft 0" if is_extra else " nodad"


def _loopbacks(node: Node, plan: Plan) -> Iterator[str]:
    for family in plan.families:
        loopback = node.loopback if family == 4 else node.loopback6
        if loopback is not None:
            yield loopback


def compile_neighbours(node: Node, interface: Interface, plan: Plan, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield the lines that make an interface's neighbours known."""
    # Known from the start: no flow pays for address resolution, and an idle network is idle.
    for neighbour in neighbours(node, interface, nodes):
        peer = neighbour.interface
        known = [peer.ip]
        if interface.family == 6 and speaks_bgp(node, plan) and speaks_bgp(neighbour.node, plan):
            # What its routes have as next hops.
            known.append(link_local(peer.mac))
        yield from (f"neighbour replace {ip} lladdr {peer.mac} dev {interface.name} nud permanent" for ip in known)


def compile_own_routes(node: Node, interface: Interface, plan: Plan, verb: str = "add") -> Iterator[str]:
    """Yield the lines of the routes over an interface that are not the node's own `routes`.

    A switch that speaks BGP knows by itself how to reach the extra addresses of its hosts, which it announces. Of a
    host with MPTCP and several interfaces each has a table for what has its addresses: so the subflows leave by the
    interface that they came by. A host in a VLAN sends to the others in it directly, with the metrics that its default
    route has.
    """
    yield from _routes_in_vlan(node, interface, plan)
    if speaks_bgp(node, plan):
        for network, gateway in extra_behind(node, interface, plan.by_name()):
            yield _route_line(Route(destination=str(network), next_hops=((gateway, interface.name),)), "", verb)
    table = _tables(node).get(interface.name)
    for route in node.routes if table is not None else ():
        if family_of_route(route) != interface.family:
            continue
        hops = tuple(hop for hop in route.next_hops if hop[1] == interface.name)
        if hops:
            yield from compile_route(node, route.model_copy(update={"next_hops": hops}), plan, verb, table)


def _routes_in_vlan(node: Node, interface: Interface, plan: Plan) -> Iterator[str]:
    """Yield the routes of a host to the others of its VLAN: the network's, in place of the kernel's own,
    and those of other windows."""
    if node.transport is None:
        return
    around = neighbours(node, interface, plan.by_name())
    if not any(neighbour.interface.is_vlan for neighbour in around):
        return
    beside = [neighbour.node.name for neighbour in around if neighbour.node.role == "host"]
    network = ipaddress.ip_interface(interface.address).network
    # IPv6's routes have neither a scope nor, where an interface has one address only, need of a source.
    scope = f"dev {interface.name} proto kernel"
    scope += f" scope link src {interface.ip}" if interface.family == 4 else " metric 256"
    every = _offered_windows(node, plan, interface.family)
    windows = {peer: window for peer, window in every.items() if peer in beside}
    common = Counter(windows.values()).most_common(1)[0][0] if windows else None
    yield f"route replace {network} {scope}{_metrics(node.transport)}{_window(common)}"
    for peer, window in windows.items():
        if window != common:
            theirs = interfaces(plan.node(peer), interface.family)
            address = next(one.ip for one in theirs if ipaddress.ip_address(one.ip) in network)
            yield f"route replace {address}{_single(address)} {scope}{_metrics(node.transport)}{_window(window)}"


def _tables(node: Node) -> dict[str, int]:
    """Return the routing tables of a host's interfaces; none where all goes through one."""
    if node.transport is None or node.transport.mptcp is None or len(own := interfaces(node)) < 2:
        return {}
    return {interface.name: number for number, interface in enumerate(own, _FIRST_TABLE)}


def _source_rules(node: Node, family: Family) -> Iterator[str]:
    """Yield the lines that lead what has an interface's address, or an extra one, to the interface's table."""
    for interface in interfaces(node, family):
        table = _tables(node).get(interface.name)
        if table is not None:
            extra = extra_network(interface.extra_addresses)
            sources = [f"{interface.ip}{_single(interface.ip)}", *([] if extra is None else [str(extra)])]
            yield from (f"rule add from {source} table {table} priority {table}" for source in sources)


def compile_route(node: Node, route: Route, plan: Plan, verb: str = "add", table: int | None = None) -> Iterator[str]:
    """Yield the lines that add one of the node's routes, or replace it: several for a host whose peers'
    window limits differ."""
    if node.transport is None:
        yield _route_line(route, "", verb)
        return
    metrics = ("" if table is None else f" table {table}") + _metrics(node.transport)
    windows = _offered_windows(node, plan, family_of_route(route))
    common = _common_window(route, windows, plan)
    yield _route_line(route, metrics + _window(common), verb)
    for peer, window in windows.items():
        if window != common:
            for destination in _destinations_behind(route, node, plan.node(peer)):
                own = route.model_copy(update={"destination": destination})
                yield _route_line(own, metrics + _window(window), verb)


def _common_window(route: Route, windows: Mapping[str, int | None], plan: Plan) -> int | None:
    """Return the window of the route itself: what most peers share needs no routes of its own;
    but it may lead to one peer alone."""
    for peer, window in windows.items():
        theirs = interfaces(plan.node(peer), family_of_route(route))
        if route.destination in [str(extra_network(one.extra_addresses)) for one in theirs]:
            return window
    return Counter(windows.values()).most_common(1)[0][0] if windows else None


def static_route_line(route: StaticRoute, verb: str) -> str:
    """Return the line of a static route of the switch's own configuration.

    zebra takes a kernel route's distance from the highest octet of its metric (FRR, zebra/rt_netlink.c); and between
    the kernel's own routes to one prefix the lowest metric decides, which is BGP's (20) only where zebra has installed
    it.
    """
    metric = f" metric {route.distance << _DISTANCE_SHIFT}"
    if route.blackhole:
        return f"route {verb} blackhole {route.destination}{metric}"
    return _route_line(Route(destination=route.destination, next_hops=route.next_hops), metric, verb)


def _route_line(route: Route, metrics: str, verb: str) -> str:
    # The metrics come first: after `nexthop` ip reads next hops only.
    words = f"route {verb} {route.destination}{metrics}"
    if len(route.next_hops) == 1:
        return words + _hop_words(*route.next_hops[0])
    return words + "".join(f" nexthop{_hop_words(*hop)}" for hop in route.next_hops)


def _hop_words(gateway: str, interface: str) -> str:
    return f" via {gateway} dev {interface}" if gateway else f" dev {interface}"


def family_of_route(route: Route) -> Family:
    """Return the family that a route is of."""
    return family_of(route.destination)


def _offered_windows(node: Node, plan: Plan, family: Family) -> dict[str, int | None]:
    """Return the window that a host offers each other host, in bytes (None: as large as its buffer); empty when no host
    has a limit.

    The limit is a sender's, but what holds it to that is the window of its receivers. A locked `cwnd` of its own route
    would not: the kernel reads that from what it remembers of earlier connections (tcp_init_metrics in
    net/ipv4/tcp_metrics.c), and here that is nothing.
    """
    if not plan.limits_windows:
        return {}
    hosts = [host for host in plan.nodes if host.transport is not None and host.name != node.name]
    if all(host.transport is None or host.transport.window_limit_segments is None for host in hosts):
        return {}
    return {host.name: _window_bytes(host, node, family) for host in hosts}


def _window_bytes(sender: Node, receiver: Node, family: Family) -> int | None:
    limit = None if sender.transport is None else sender.transport.window_limit_segments
    if limit is None:
        return None
    # Each end tells the other its MTU's segment size in the handshake, and the smaller one counts (RFC 9293, section
    # 3.7.1).
    mtu = min(port.mtu for port in (*sender.ports, *receiver.ports))
    if limit == 1:
        # Linux sends two halves into a window of one segment (tcp_bound_to_half_wnd): they must fill it.
        return mtu - segment_header_bytes(family)
    # A segment's timestamps count as its data: so the client's kernel counts its window in the handshake.
    return min(limit * (mtu - ip_and_tcp_bytes(family)), _LARGEST_WINDOW_BYTES)


def _destinations_behind(route: Route, node: Node, peer: Node) -> Iterator[str]:
    """Yield the peer's addresses that the route leads to; on a network of its own the node has
    another, more specific route."""
    family = family_of_route(route)
    within = ipaddress.ip_network("0.0.0.0/0" if route.destination == DEFAULT else route.destination)
    own = [ipaddress.ip_interface(interface.address).network for interface in interfaces(node, family)]
    for interface in interfaces(peer, family):
        address = ipaddress.ip_interface(interface.address).ip
        if address in within and not any(address in network for network in own):
            yield f"{address}{_single(str(address))}"
        extra = extra_network(interface.extra_addresses)
        if extra is not None and extra != within and extra.prefixlen >= within.prefixlen and extra[0] in within:
            yield str(extra)


def _window(window_bytes: int | None) -> str:
    return "" if window_bytes is None else f" window {window_bytes}"


def _metrics(transport: Transport) -> str:
    # ip-route(8) takes whole milliseconds, and a kernel timer is no finer (HZ = 1000).
    words = [f"rto_min {math.ceil(transport.rto_min_us / 1000)}ms"]
    # What a first burst may not pass is not left to the receiver: the window of its handshake is not a multiple of the
    # segments' data.
    window = transport.initial_window_segments
    words.append(f"initcwnd {min(window, transport.window_limit_segments or window)}")
    if not transport.delayed_ack:
        words.append("quickack 1")
    return " " + " ".join(words)
