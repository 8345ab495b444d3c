"""The routes that FRR's daemons and the kernel tell of: whether a table has a prefix, by a path of wanted attributes.

Words of the answers: FRR, bgpd/bgp_route.c, ospfd/ospf_vty.c, ospf6d/ospf6_route.c, isisd/isis_route.c,
zebra/zebra_vty.c; iproute2, ip/iproute.c.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabriclab.lab.wanted_state import WrittenRoute
from fabriclab.validation.daemon_sessions import as_list, as_mapping, told

_EXTERNAL_2 = ("E2", "External-2")
_COMMUNITIES = {
    "community": "community",
    "large_community": "largeCommunity",
    "extended_community": "extendedCommunity",
}


def asked(route: WrittenRoute) -> tuple[str, ...]:
    """Return the command that tells of a route."""
    vrf = route.attributes.get("vrf")
    instance, ip = ("" if vrf is None else f" vrf {vrf}"), "ip" if route.family == 4 else "ipv6"
    match route.table:
        case "kernel":
            return ("ip", "-j", f"-{route.family}", "route", "show")
        case "bgp":
            words = f"bgp{instance} ipv{route.family} unicast {route.prefix}"
        case "ospf":
            words = f"ip ospf{instance} route"
        case "ospf6":
            words = f"ipv6 ospf6{instance} route detail"
        case "isis":
            words = f"isis{instance} route level-{route.attributes.get('level', '2')}"
        case "rib":
            words = f"{ip} route{instance}"
    return ("vtysh", "-c", f"show {words} json")


def paths(route: WrittenRoute, output: str) -> list[Mapping[str, Any]] | None:
    """Return the paths to a route's prefix, attributes and all; None of what is not an answer."""
    answer = told(output)
    return None if answer is None else [as_mapping(path) for path in _paths(route, answer)]


def fits(route: WrittenRoute, path: Mapping[str, Any]) -> bool:
    """Return whether a path has all wanted attributes."""
    read = {"bgp": _of_bgp, "ospf": _of_ospf, "ospf6": _of_ospf6, "isis": _of_isis, "rib": _of_rib}.get(route.table)
    wanted = {key: value for key, value in route.attributes.items() if key not in ("vrf", "level")}
    return read is None or all(read(path, key, value) for key, value in wanted.items())


def _paths(route: WrittenRoute, answer: object) -> list[Any]:
    match route.table:
        case "kernel":
            network = route.prefix
            names = {network, network.removesuffix("/32").removesuffix("/128")}
            names |= {"default"} if network in ("0.0.0.0/0", "::/0") else set()
            return [one for one in as_list(answer) if as_mapping(one).get("dst") in names]
        case "bgp":
            return as_list(as_mapping(answer).get("paths"))
        case "ospf":
            # With a VRF's name it lies below that name.
            below = as_mapping(as_mapping(answer).get(str(route.attributes.get("vrf")))) or as_mapping(answer)
            return as_list(below.get(route.prefix))
        case "ospf6":
            return as_list(as_mapping(as_mapping(answer).get("routes")).get(route.prefix))
        case "isis":
            return list(_isis_paths(route, answer))
        case "rib":
            return as_list(as_mapping(answer).get(route.prefix))


def _isis_paths(route: WrittenRoute, answer: object) -> Iterator[Mapping[str, Any]]:
    for area in as_list(answer):
        level = as_mapping(as_mapping(area).get(f"level-{route.attributes.get('level', '2')}"))
        for path in map(as_mapping, as_list(level.get(f"ipv{route.family}"))):
            if path.get("prefix", path.get("Prefix")) == route.prefix:
                yield path


def _of_bgp(path: Mapping[str, Any], key: str, value: object) -> bool:
    if key in _COMMUNITIES:
        return str(value) in str(as_mapping(path.get(_COMMUNITIES[key])).get("string", ""))
    match key:
        case "next_hop":
            return any(as_mapping(hop).get("ip") == value for hop in as_list(path.get("nexthops")))
        case "as_path":
            return bool(as_mapping(path.get("aspath")).get("string") == value)
        case "as_numbers":
            segments = map(as_mapping, as_list(as_mapping(path.get("aspath")).get("segments")))
            wanted = set(value) if isinstance(value, tuple) else {value}
            return wanted <= {number for one in segments for number in as_list(one.get("list"))}
        case "best":
            return bool(as_mapping(path.get("bestpath")).get("overall", False)) == value
        case "peer":
            return bool(as_mapping(path.get("peer")).get("routerId") == value)
        case "cluster":
            return value in as_list(as_mapping(path.get("clusterList")).get("list"))
    return bool(path.get({"local_preference": "locPrf", "med": "metric"}[key]) == value)


def _of_ospf(path: Mapping[str, Any], key: str, value: object) -> bool:
    if key == "type":
        return str(path.get("routeType", "")).strip() == value
    return bool(path.get("type2cost" if _EXTERNAL_2[0] in str(path.get("routeType")) else "cost") == value)


def _of_ospf6(path: Mapping[str, Any], key: str, value: object) -> bool:
    if key == "type":
        return bool(path.get("pathType") == value)
    return bool(path.get("metricCostE2" if path.get("pathType") == _EXTERNAL_2[1] else "metricCost") == value)


def _of_isis(path: Mapping[str, Any], _key: str, value: object) -> bool:
    return bool(path.get("metric", path.get("Metric")) == value)


def _of_rib(path: Mapping[str, Any], key: str, value: object) -> bool:
    return bool(path.get("metric" if key == "cost" else key) == value)
