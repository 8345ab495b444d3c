"""Reading ARS_PROFILE, ARS_OBJECT, ARS_INTERFACE and ARS_NEXTHOP (sonic-ars.yang): adaptive routing and switching.

In SONiC an ARS object belongs to a group of next hops: to every group, or to the groups whose interfaces or next hops
are listed. A switch of a lab has one choice for all its routes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from ipaddress import IPv4Interface

from fabriclab.formats import ranges
from fabriclab.formats.load_balancing import Mode
from fabriclab.keys.wording import listed
from fabriclab.vendors.sonic.read.config_db import AdaptiveRouting, ArsObject, BgpNeighbour
from fabriclab.vendors.sonic.read.entries import Entry, Fields, Tables

TABLES = ("ARS_PROFILE", "ARS_OBJECT", "ARS_INTERFACE", "ARS_NEXTHOP")
SELECTORS = ("global", "interface", "nexthop")
FLOWLET = "per_flowlet_quality"
MODES: dict[str, Mode] = {FLOWLET: "flowlet-quality", "per_packet_quality": "packet-quality"}
"""The lab's word for each assign_mode."""
IDLE_TIME_US = (2, 2047)
"""The range of flowlet_idle_time."""
LARGEST_LOAD = 65_535
"""The range of the load's bounds."""
_LISTS = {"interface": "ARS_INTERFACE", "nexthop": "ARS_NEXTHOP"}


def read_ars(
    tables: Tables,
    ports: Collection[str],
    neighbours: Collection[BgpNeighbour],
    addresses: Mapping[str, tuple[IPv4Interface, ...]],
) -> AdaptiveRouting:
    """Return how the switch chooses among next hops, and what of the tables its routes cannot have."""
    objects = {entry.key: _object(Fields(tables, entry)) for entry in tables.entries("ARS_OBJECT")}
    members = {selector: list(tables.entries(table)) for selector, table in _LISTS.items()}
    profiles = list(tables.entries("ARS_PROFILE"))
    if not profiles:
        notes = ("ARS_OBJECT without ARS_PROFILE: next hops are chosen by hash",) if objects else ()
        return AdaptiveRouting(notes=notes)
    for other in profiles[1:]:
        tables.complain(("ARS_PROFILE", other.key), f"a second profile; SONiC has one, here {profiles[0].key}")
    fields = Fields(tables, profiles[0])
    selector = fields.choice("ars_nhg_path_selector_mode", SELECTORS) or "interface"
    names = _names(fields, selector, objects, members)
    load_min, load_max = _loads(fields)
    for entry in members["interface"]:
        if entry.key not in ports:
            tables.complain(("ARS_INTERFACE", entry.key), "is not a port of PORT", entry.key)
    if fields.flag("ipv4_enable") is False:
        return AdaptiveRouting(notes=("ARS_PROFILE: ipv4_enable is false: next hops are chosen by hash",))
    if not names:
        table = _LISTS.get(selector)
        notes = () if table is None else (f"{table} is empty: next hops are chosen by hash",)
        return AdaptiveRouting(notes=notes)
    chosen, _ = Counter(names).most_common(1)[0]
    lacking = _lacking(selector, members.get(selector, []), neighbours, addresses, ports)
    table = _LISTS.get(selector, "")
    told = (*_several(names, chosen), *_unlisted(table, lacking))
    return AdaptiveRouting(objects.get(chosen), load_min, load_max, told, table, lacking)


def _object(fields: Fields) -> ArsObject:
    """Return an object; what is not written is the default of SONiC's design (HLD of ARS)."""
    return ArsObject(
        name=fields.entry.key,
        assign_mode=fields.choice("assign_mode", tuple(MODES)) or FLOWLET,
        idle_time_us=fields.number("flowlet_idle_time", *IDLE_TIME_US, "us"),
        max_flows=fields.number("max_flows", *ranges.FLOWLETS),
    )


def _names(
    fields: Fields, selector: str, objects: Mapping[str, ArsObject], members: Mapping[str, list[Entry]]
) -> list[str]:
    """Return the object of each interface or next hop that is listed; of `global` that of all."""
    default = fields.reference("default_ars_object", "ARS_OBJECT", objects)
    own = {
        table: [Fields(fields.tables, entry).reference("ars_obj_name", "ARS_OBJECT", objects) for entry in entries]
        for table, entries in members.items()
    }
    found = [default] if selector == "global" else [name or default for name in own[selector]]
    if None in found and "default_ars_object" not in fields and not fields.tables.problems:
        why = "ars_nhg_path_selector_mode is global" if selector == "global" else f"{_LISTS[selector]} names no object"
        fields.complain("default_ars_object", f"missing, although {why}; write the name of an ARS_OBJECT")
    return [name for name in found if name is not None]


def _loads(fields: Fields) -> tuple[int | None, int | None]:
    """Return the bounds of the load as it is. Both 0, the default, means that the platform has its own."""
    least = fields.number("current_load_min_value", 0, LARGEST_LOAD)
    most = fields.number("current_load_max_value", 0, LARGEST_LOAD)
    if not least and not most:
        return None, None
    if (most or 0) <= (least or 0):
        fields.complain("current_load_max_value", f"not above current_load_min_value, {least or 0}; write more")
        return None, None
    return least, most


def _several(names: list[str], chosen: str) -> Iterator[str]:
    if len(set(names)) > 1:
        yield (
            f"ARS_OBJECT {listed(sorted(set(names)))} are in use; a switch of a lab has one for all its routes: "
            f"{chosen}"
        )


def _lacking(
    selector: str,
    members: list[Entry],
    neighbours: Collection[BgpNeighbour],
    addresses: Mapping[str, tuple[IPv4Interface, ...]],
    ports: Collection[str],
) -> tuple[str, ...]:
    """Return the BGP neighbours whose groups of next hops SONiC would leave to the hash."""
    if selector == "global":
        return ()
    if selector == "nexthop":
        known = {entry.words[-1] for entry in members}
        return tuple(
            str(one.address) for one in neighbours if one.address is not None and str(one.address) not in known
        )
    known = {entry.key for entry in members}
    towards = [one.interface or _towards(one, addresses) for one in neighbours]
    return tuple(name for name in dict.fromkeys(towards) if name in ports and name not in known)


def _unlisted(table: str, lacking: tuple[str, ...]) -> Iterator[str]:
    if lacking:
        yield (
            f"{table} without {listed(lacking)}, which lead to BGP neighbours: "
            "SONiC chooses by hash among next hops of which one is not listed; in a lab the choice holds for all routes"
        )


def _towards(neighbour: BgpNeighbour, addresses: Mapping[str, tuple[IPv4Interface, ...]]) -> str:
    for name, own in addresses.items():
        if neighbour.address is not None and any(neighbour.address in one.network for one in own):
            return name
    return ""
