"""STATIC_ROUTE: of a lab without BGP the routes of each switch, and always those that a switch's
own config_db.json had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriclab.formats.family import family_of
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, StaticRoute
from fabriclab.lab.network.static_routes import DISTANCE
from fabriclab.vendors.sonic.export.tables import Tables

_ANY = "0.0.0.0"


def write_static_routes(node: Node, plan: Plan, names: Mapping[str, str], tables: Tables) -> None:
    """Write the table, routes of IPv4; `names` are SONiC's for the node's interfaces."""
    own: dict[str, list[StaticRoute]] = {}
    for route in node.static_routes:
        if family_of(route.destination) == 4:
            own.setdefault(route.destination, []).append(route)
    computed = [one for one in node.routes if family_of(one.destination) == 4] if plan.bgp is None else ()
    for each in computed:
        if each.destination not in own:
            tables.put("STATIC_ROUTE", f"default|{each.destination}", _hop_fields(each.next_hops, names))
    for destination, routes in own.items():
        tables.put("STATIC_ROUTE", f"default|{destination}", _fields(routes, names))


def _hop_fields(hops: Sequence[tuple[str, str]], names: Mapping[str, str]) -> dict[str, str]:
    return {
        "nexthop": ",".join(gateway or _ANY for gateway, _ in hops),
        "ifname": ",".join(names.get(interface, interface) for _, interface in hops),
    }


def _fields(routes: Sequence[StaticRoute], names: Mapping[str, str]) -> dict[str, str]:
    """Return lists with one word for each next hop; what drops is one, without address and interface."""
    hops = [(route, hop) for route in routes for hop in (route.next_hops or (("", ""),))]
    fields = _hop_fields([hop for _, hop in hops], names)
    if any(route.distance != DISTANCE for route in routes):
        fields["distance"] = ",".join(str(route.distance) for route, _ in hops)
    if any(route.blackhole for route in routes):
        fields["blackhole"] = ",".join("true" if route.blackhole else "false" for route, _ in hops)
    if any(route.advertised for route in routes):
        fields["advertise"] = ",".join("true" for _ in hops)
    return fields
