"""The functions that netlab's tests call, as what is wanted here: `bgp_prefix('10.1.0.0/24',best=True)` is a route of
BGP's table whose best path is looked at.

What each asks and when it holds: netlab, netsim/validate: linux.py, bgp/frr.py, ospf/frr.py, isis/frr.py, route/frr.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_interface
from typing import Any, NamedTuple

from fabriclab.lab.wanted_state import ABSENT
from fabriclab.other_labs.netlab_values import UnknownValueError


class Wanted(NamedTuple):
    """An entry of a section of `validation`, for one node."""

    node: str
    section: str
    values: dict[str, Any]


_Read = Callable[[str, Sequence[Any], Mapping[str, Any]], Wanted]
_BGP_ATTRIBUTES = {
    "nh": "next_hop",
    "aspath": "as_path",
    "as_elements": "as_numbers",
    "locpref": "local_preference",
    "med": "med",
    "best": "best",
    "peer": "peer",
    "clusterid": "cluster",
}
_COMMUNITIES = {
    "community": "community",
    "largeCommunity": "large_community",
    "extendedCommunity": "extended_community",
}


def _bound(names: str, values: Sequence[Any], words: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by name. Raises UnknownValueError for one that is not known."""
    known = names.split()
    strange = [word for word in words if word not in known]
    if strange or len(values) > len(known):
        raise UnknownValueError(f"argument {strange[0]}" if strange else "too many arguments")
    return {**dict(zip(known, values, strict=False)), **words}


def _ping(node: str, values: Sequence[Any], words: Mapping[str, Any]) -> Wanted:
    given = _bound("host src af count pkt_len expect", values, words)
    if "pkt_len" in given:
        raise UnknownValueError("argument pkt_len")
    family = {"ipv4": "4", "ipv6": "6"}.get(str(given.get("af")))
    source = given.get("src")
    wanted = {
        "to": _address(given["host"]),
        **({} if family is None else {"ip": family}),
        **({} if source is None else {"source": _address(source)}),
        "answers": given.get("expect") != "fail",
    }
    return Wanted(node, "pings", wanted)


def _bgp_neighbor(node: str, values: Sequence[Any], words: Mapping[str, Any]) -> Wanted:
    given = _bound("ngb n_id af state activate intf", values, words)
    af, activate = given.get("af", "ipv4"), given.get("activate")
    address = next((one[af] for one in given["ngb"] if one.get("name") == given["n_id"] and af in one), None)
    neighbor = given.get("intf") if address is True else address
    if not neighbor:
        raise UnknownValueError(f"node {node} has no neighbour {given['n_id']} in {af}")
    states = given.get("state")
    states = [states] if isinstance(states, str) else states
    states = None if states is None else [ABSENT if one == "missing" else one for one in states]
    wanted = {"protocol": "bgp", "neighbor": neighbor, "family": activate or af}
    if activate in ("ipv4", "ipv6"):
        wanted["negotiated"] = True
    return Wanted(node, "sessions", wanted | ({} if states is None else {"state": states}))


def _adjacency(protocol: str, names: str) -> _Read:
    """Return the reader of a function that looks for a neighbour of OSPF or IS-IS."""

    def read(node: str, values: Sequence[Any], words: Mapping[str, Any]) -> Wanted:
        given = _bound(names, values, words)
        state = ABSENT if given.get("present") is False else given.get("state")
        wanted = {"protocol": protocol, "neighbor": given["id"], **({} if not state else {"state": [state]})}
        if given.get("level"):
            level = str(given["level"]).removeprefix("L").replace("1L2", "1-2")
            wanted["level"] = level
        wanted |= {key: given[key] for key in ("area",) if given.get(key)}
        return Wanted(node, "sessions", wanted)

    return read


def _bgp_prefix(node: str, values: Sequence[Any], words: Mapping[str, Any]) -> Wanted:
    given = _bound(f"pfx af state community {' '.join(_BGP_ATTRIBUTES)}", values, words)
    communities = given.get("community") or {}
    attributes = {ours: given[theirs] for theirs, ours in _BGP_ATTRIBUTES.items() if theirs in given}
    attributes |= {_COMMUNITIES[name]: value for name, value in communities.items()}
    if "next_hop" in attributes:
        attributes["next_hop"] = _address(attributes["next_hop"])
    return _route(node, "bgp", given, attributes)


def _table(table: str, names: str) -> _Read:
    """Return the reader of a function that looks for a prefix in a table."""
    ours = {"cost": "cost", "metric": "cost", "rt": "type", "level": "level", "proto": "protocol"}

    def read(node: str, values: Sequence[Any], words: Mapping[str, Any]) -> Wanted:
        given = _bound(names, values, words)
        return _route(node, table, given, {ours[key]: given[key] for key in ours if given.get(key)})

    return read


def _default6(node: str, values: Sequence[Any], words: Mapping[str, Any]) -> Wanted:
    _bound("", values, words)
    return Wanted(node, "routes", {"table": "kernel", "prefix": "::/0"})


def _route(node: str, table: str, given: Mapping[str, Any], attributes: Mapping[str, Any]) -> Wanted:
    absent = given.get("state") == "missing" or given.get("present") is False
    return Wanted(
        node,
        "routes",
        {"table": table, "prefix": _prefix(given["pfx"]), **({"present": False} if absent else {}), **attributes},
    )


def _address(value: object) -> str:
    """Return an address without its prefix's length; a host's name as it is."""
    text = str(value)
    try:
        return str(ip_interface(text).ip)
    except ValueError:
        return text


def _prefix(value: object) -> str:
    try:
        return str(ip_interface(str(value)).network)
    except ValueError:
        raise UnknownValueError(f"{value} is not a prefix") from None


FUNCTIONS: Mapping[str, _Read] = {
    "ping": _ping,
    "default6": _default6,
    "bgp_neighbor": _bgp_neighbor,
    "ospf_neighbor": _adjacency("ospf", "id present vrf"),
    "ospf6_neighbor": _adjacency("ospf6", "id present"),
    "isis_neighbor": _adjacency("isis", "id present state level area"),
    "bgp_prefix": _bgp_prefix,
    "ospf_prefix": _table("ospf", "pfx state cost rt"),
    "ospf6_prefix": _table("ospf6", "pfx state cost rt"),
    "isis_prefix": _table("isis", "pfx level af present cost"),
    "rt_prefix": _table("rib", "pfx af proto state metric"),
}
