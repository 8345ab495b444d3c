"""A node's addresses, neighbours and routes as lines for `ip -batch`. Source of the words: ip-address(8), ip-neighbour(8), ip-route(8)."""

from __future__ import annotations

import math

from fabriclab.compile.frr import speaks_bgp
from fabriclab.plan.model import Node, Plan, Port, Route, Transport


def compile_ip(node: Node, plan: Plan) -> str:
    """Return the node's `ip.batch`."""
    lines = [f"address add {port.address} dev {port.interface}" for port in node.ports]
    lines += [compile_neighbour(port, plan) for port in node.ports]
    if speaks_bgp(node, plan):
        # Its routes come from its neighbours; the loopback is what they know it by.
        lines.append(f"address add {node.loopback}/32 dev lo")
    else:
        lines += [compile_route(node, route) for route in node.routes]
    return "".join(line + "\n" for line in lines)


def compile_neighbour(port: Port, plan: Plan) -> str:
    """Return the line that makes the port's neighbour known."""
    # Known from the start: no flow pays for address resolution, and an idle network is idle.
    peer = plan.peer_of(port)
    return f"neighbour replace {peer.address.partition('/')[0]} lladdr {peer.mac} dev {port.interface} nud permanent"


def compile_route(node: Node, route: Route, verb: str = "add") -> str:
    """Return the line that adds one of the node's routes, or replaces it."""
    # The metrics come first: after `nexthop` ip reads next hops only.
    metrics = "" if node.transport is None else _metrics(node.transport)
    words = f"route {verb} {route.destination}{metrics}"
    if len(route.next_hops) == 1:
        gateway, interface = route.next_hops[0]
        return f"{words} via {gateway} dev {interface}"
    return words + "".join(f" nexthop via {gateway} dev {interface}" for gateway, interface in route.next_hops)


def _metrics(transport: Transport) -> str:
    # ip-route(8) takes whole milliseconds, and a kernel timer is no finer (HZ = 1000).
    words = [f"rto_min {math.ceil(transport.rto_min_us / 1000)}ms", f"initcwnd {transport.initial_window_segments}"]
    if not transport.delayed_ack:
        words.append("quickack 1")
    if transport.window_limit_segments is not None:
        words.append(f"cwnd lock {transport.window_limit_segments}")
    return " " + " ".join(words)
