"""What of a file still has to be told of a switch whose FRR runs the configuration that SONiC makes of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from fabriclab.lab.network.own_configuration import NotEmulated
from fabriclab.vendors.sonic.read.config_db import ConfigDb, LeftOut
from fabriclab.vendors.sonic.read.vrf_tables import FIELD, INTERFACES, ONLY_DEFAULT
from fabriclab.vendors.sonic.vrf import routers
from fabriclab.vendors.sonic.vrf.segments import sid_number
from fabriclab.vendors.sonic.vrf.words import Row, rows

_OF_NEIGHBOURS = frozenset(
    (
        *routers.NEIGHBOUR_FLAGS,
        *routers.NEIGHBOUR_VALUES,
        *routers.NEIGHBOUR_AF_FLAGS,
        *routers.NEIGHBOUR_AF_VALUES,
        *("local_asn", "local_as_no_prepend", "local_as_replace_as", "admin_status", "allow_as_in", "allow_as_origin"),
        *("send_default_route", "default_rmap"),
    )
)
_FIELDS = {
    **dict.fromkeys(("BGP_NEIGHBOR", "BGP_PEER_GROUP", "BGP_NEIGHBOR_AF", "BGP_PEER_GROUP_AF"), _OF_NEIGHBOURS),
    "BGP_GLOBALS": frozenset((*routers.GLOBALS, *routers.GLOBAL_VALUES)),
    "BGP_GLOBALS_AF": frozenset((*routers.AF_FLAGS, *routers.AF_VALUES)),
    "BGP_GLOBALS_AF_NETWORK": frozenset(("policy",)),
    "ROUTE_REDISTRIBUTE": frozenset(("route_map",)),
}
"""The fields that are in frr.conf, of frrcfgd's tables."""
_HANDED_OVER = {
    **dict.fromkeys(
        ("BGP_NEIGHBOR", "BGP_PEER_GROUP"),
        ("keepalive", "holdtime", "conn_retry", "ebgp_multihop", "ebgp_multihop_ttl", "asn", "peer_type", "name"),
    ),
    "BGP_GLOBALS": (
        "local_asn",
        "keepalive",
        "holdtime",
        "srv6_locator",
        "sid_vpn_per_vrf_export_explicit",
        "default_ipv4_unicast",
    ),
}
"""More of them, which a lab without VRFs has otherwise."""
_WHOLE = ("VRF", "SRV6_MY_SOURCE", "SRV6_MY_LOCATORS", "SRV6_MY_SIDS")
_BY_LAB = ("BGP_NEIGHBOR", "STATIC_ROUTE")
_TABLES = ("BGP_GLOBALS_AF_AGGREGATE_ADDR",)
_SIDS = "SRV6_MY_SIDS"


def left_to_tell(config: ConfigDb, found: Collection[NotEmulated]) -> Iterator[NotEmulated]:
    """Yield what does not act, of what a lab without VRFs has not."""
    for one in found:
        table, field = one.path[0], one.path[-1] if len(one.path) > 2 else ""
        is_written = config.frrcfgd and (field in _FIELDS.get(table, ()) or table in _TABLES)
        if not (
            (field == FIELD and one.value.partition(" ")[0] in config.vrfs)
            or is_written
            or _is_written_sid(one, config)
        ):
            yield one


def _is_written_sid(one: NotEmulated, config: ConfigDb) -> bool:
    """Return whether all SIDs of a file are in frr.conf, and each VRF that exports one has it by its number."""
    if one.path[0] != _SIDS or not config.frrcfgd:
        return False
    explicit = [row for row in rows(config, "BGP_GLOBALS") if row.word("sid_vpn_per_vrf_export_explicit")]
    return all(map(_acts, rows(config, _SIDS))) and all(sid_number(config, row) is not None for row in explicit)


def _acts(row: Row) -> bool:
    return row.word("action") in ("uN", "uDT46", "uDT4", "uDT6")


def without_rendered(left_out: Iterable[LeftOut]) -> Iterator[LeftOut]:
    """Yield what was left out, without the tables and fields that are in frr.conf or in the kernel."""
    for one in left_out:
        table, _, names = one.what.partition(": ")
        if table in (*_WHOLE, *_TABLES) and not names:
            continue
        known = (*_FIELDS.get(table, ()), *_HANDED_OVER.get(table, ()), *((FIELD,) if table in INTERFACES else ()))
        kept = [name for name in names.split(", ") if name not in known]
        if not names or kept:
            yield replace(one, what=f"{table}: {', '.join(kept)}" if names else table)


def is_of_routing(note: str) -> bool:
    """Return whether a note is about sessions, routes or addresses that a lab without VRFs has not, or otherwise."""
    is_of_keys = "keys without a VRF" in note
    return (note.startswith(_BY_LAB) and not is_of_keys) or note.endswith(ONLY_DEFAULT) or "IPv6 addresses " in note
