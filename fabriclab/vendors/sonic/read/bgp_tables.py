"""Reading BGP in either style.

bgpcfgd reads DEVICE_METADATA.bgp_asn and BGP_NEIGHBOR, whose keys may do without the VRF; frrcfgd reads
BGP_GLOBALS|vrf, BGP_NEIGHBOR|vrf|neighbour and BGP_PEER_GROUP|vrf|name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import TypeVar

from fabriclab.formats.family import FAMILIES, Family
from fabriclab.keys.wording import shown
from fabriclab.vendors.sonic.read.config_db import BgpNeighbour
from fabriclab.vendors.sonic.read.entries import (
    Entry,
    Fields,
    FieldValue,
    Tables,
    parse_bare_address,
    shortest_key,
    suggestion,
)
from fabriclab.vendors.sonic.read.policy_tables import SwitchPolicies, read_policies

N = TypeVar("N", IPv4Network, IPv6Network)
DEFAULT_VRF = "default"
LINK_PREFIX6 = 126
"""Networks of IPv6 at least as long as this one have two ends."""
_OVER_LINK_LOCAL = "BGP_NEIGHBOR: sessions over IPv6 addresses run over the links' link-local addresses in the lab"
_CARRYING_IPV4 = ", and carry the routes of IPv4, too"
ONLY_IPV4 = "a lab has only IPv4"
WHERE_BOTH = "a lab has IPv6 where an interface of hosts has it and a BGP session carries its routes"
_LEFT_OUT = f"BGP_NEIGHBOR: sessions over IPv6 were left out; {ONLY_IPV4}"
_UP = ("true", "up")
_LARGEST_ASN = 2**32 - 1


@dataclass(frozen=True)
class Bgp:
    """A switch's BGP; None: not written."""

    asn: int | None
    router_id: IPv4Address | None
    frrcfgd: bool
    max_paths: int | None
    neighbours: tuple[BgpNeighbour, ...]
    neighbours6: tuple[BgpNeighbour, ...]
    of_one_family: Mapping[str, str]
    """As in ConfigDb."""
    networks: tuple[IPv4Network, ...]
    """That frrcfgd announces."""
    announces_connected: bool
    """frrcfgd announces the networks of all interfaces."""
    networks6: tuple[IPv6Network, ...]
    announces_connected6: bool
    policies: SwitchPolicies
    policies6: SwitchPolicies
    """Those of routes of IPv6."""


def read_bgp(
    tables: Tables,
    ports: Collection[str],
    addresses: Mapping[str, tuple[IPv4Interface, ...]],
    addresses6: Mapping[str, tuple[IPv6Interface, ...]],
) -> Bgp:
    """Read the BGP tables. Other VRFs than the default one are left out, with a note."""
    neighbours = _neighbours(tables, ports, addresses6, by_tables=_is_frrcfgd(tables))
    metadata = _metadata(tables)
    by_tables = _is_frrcfgd(tables)
    asn = _asn_of_bgpcfgd(metadata)
    router_id = _router_id(metadata, "bgp_router_id")
    for entry in tables.entries("BGP_GLOBALS"):
        if entry.key == DEFAULT_VRF:
            fields = Fields(tables, entry)
            asn = fields.number("local_asn", 1, _LARGEST_ASN) or asn
            router_id = _router_id(fields, "router_id") or router_id
    policies, policies6 = (read_policies(tables, by_tables, family) for family in FAMILIES)
    once = tuple(_each_interface_once(tables, neighbours, addresses, addresses6))
    chosen = {one.key for one in once}
    return Bgp(
        asn=asn or None,
        router_id=router_id,
        frrcfgd=by_tables,
        max_paths=_max_paths(tables),
        neighbours=tuple(
            replace(one, policy=policies.neighbours.get(one.key), policy6=policies6.neighbours.get(one.key))
            for one in map(_as_chosen, once)
        ),
        neighbours6=tuple(
            replace(one, policy6=policies6.neighbours.get(one.key))
            for one in neighbours
            if one.over_ipv6 and one.key not in chosen
        ),
        of_one_family={_LEFT_OUT: _LEFT_OUT.replace(ONLY_IPV4, WHERE_BOTH)},
        networks=tuple(_networks(tables, "ipv4_unicast", IPv4Network)),
        announces_connected=_announces_connected(tables, 4),
        networks6=tuple(_networks(tables, "ipv6_unicast", IPv6Network)),
        announces_connected6=_announces_connected(tables, 6),
        policies=policies,
        policies6=policies6,
    )


def _asn_of_bgpcfgd(metadata: Fields | None) -> int | None:
    """Return the AS number; None where none is written, or by the words that SONiC's minigraph has for that
    (bgpd.main.conf.j2)."""
    if metadata is None or (metadata.text("bgp_asn") or "").lower() in ("none", "null"):
        return None
    return metadata.number("bgp_asn", 0, _LARGEST_ASN)


def _metadata(tables: Tables) -> Fields | None:
    return next(
        (Fields(tables, entry) for entry in tables.entries("DEVICE_METADATA") if entry.key == "localhost"), None
    )


def _is_frrcfgd(tables: Tables) -> bool:
    metadata = _metadata(tables)
    return metadata is not None and (metadata.flag("frr_mgmt_framework_config") or False)


def _router_id(fields: Fields | None, name: str) -> IPv4Address | None:
    text = fields.text(name) if fields is not None else None
    if fields is None or text is None:
        return None
    address = parse_bare_address(text)
    if address is None:
        fields.complain(name, f"{shown(text)} is not an IPv4 address; write one such as 10.255.0.1", text)
    return address


def _max_paths(tables: Tables) -> int | None:
    for entry in tables.entries("BGP_GLOBALS_AF"):
        if entry.key == f"{DEFAULT_VRF}|ipv4_unicast":
            return Fields(tables, entry).number("max_ebgp_paths", 1, 256)
    return None


def _networks(tables: Tables, of: str, make: Callable[[str], N]) -> Iterator[N]:
    for entry in tables.entries("BGP_GLOBALS_AF_NETWORK"):
        vrf, _, rest = entry.key.partition("|")
        family, _, prefix = rest.partition("|")
        if vrf != DEFAULT_VRF or family != of:
            continue
        try:
            yield make(prefix)
        except ValueError:
            example = "10.0.0.0/24" if of == "ipv4_unicast" else "2001:db8::/64"
            message = f"{shown(prefix)} is not a network; write one such as {example}"
            tables.complain((entry.table, entry.key), message, prefix)


def _announces_connected(tables: Tables, version: Family) -> bool:
    """Return whether frrcfgd announces all networks of its interfaces: ROUTE_REDISTRIBUTE, or a field of the family
    that newer versions have."""
    older = (one for one in tables.entries("BGP_GLOBALS_AF") if one.key == f"{DEFAULT_VRF}|ipv{version}_unicast")
    is_older = any(Fields(tables, one).text("redistribute_connected") == "true" for one in older)
    return is_older or f"{DEFAULT_VRF}|connected|bgp|ipv{version}" in tables.keys("ROUTE_REDISTRIBUTE")


def _as_chosen(one: BgpNeighbour) -> BgpNeighbour:
    """Return a session over IPv6 that is the only one of its link: it runs over link-local addresses, and carries
    routes of IPv4 too."""
    return replace(one, address=None, families=tuple(sorted({4, *one.families}))) if one.over_ipv6 else one


def _each_interface_once(
    tables: Tables,
    neighbours: Sequence[BgpNeighbour],
    addresses: Mapping[str, tuple[IPv4Interface, ...]],
    addresses6: Mapping[str, tuple[IPv6Interface, ...]],
) -> Iterator[BgpNeighbour]:
    """Yield the sessions, those over IPv6 only where no other one leads over their link, which has two ends."""
    others = [one for one in neighbours if not one.over_ipv6]
    known = {one.interface for one in others}
    for name, every in addresses.items():
        if any(one.address is not None and one.address in address.network for one in others for address in every):
            known.add(name)
    left = 0
    for one in neighbours:
        if one.over_ipv6 and (one.interface in known or not _has_two_ends(one, addresses6)):
            left += 1
            continue
        yield one
        if one.over_ipv6:
            known.add(one.interface)
            tables.note(_OVER_LINK_LOCAL + (_CARRYING_IPV4 if addresses else ""))
    if left:
        tables.note(_LEFT_OUT)


def _has_two_ends(one: BgpNeighbour, addresses6: Mapping[str, tuple[IPv6Interface, ...]]) -> bool:
    own = addresses6.get(one.interface or "", ())
    return any(one.address in each.network for each in own if each.network.prefixlen >= LINK_PREFIX6)


def _neighbours(
    tables: Tables, ports: Collection[str], addresses6: Mapping[str, tuple[IPv6Interface, ...]], *, by_tables: bool
) -> tuple[BgpNeighbour, ...]:
    groups = {entry.key: entry.fields for entry in tables.entries("BGP_PEER_GROUP")}
    tables.ask("BGP_PEER_GROUP", "asn", "peer_type", "name", "keepalive", "holdtime", "bfd", "admin_status")
    tables.ask("BGP_NEIGHBOR", "local_addr")  # follows from the interface
    activated = _activated(tables) if by_tables else {}
    found = []
    for entry in tables.entries("BGP_NEIGHBOR"):
        vrf, _, peer = entry.key.rpartition("|")
        if vrf not in ("", DEFAULT_VRF):
            tables.note(f"BGP_NEIGHBOR: sessions of VRF {shown(vrf)} were left out; a lab has only the default VRF")
        elif ":" in peer and (towards := _interface_towards(peer, addresses6)) is None:
            tables.note(_LEFT_OUT)
        elif vrf == "" and by_tables:
            tables.note(
                "BGP_NEIGHBOR: keys without a VRF were left out, because frr_mgmt_framework_config is true and "
                "frrcfgd reads vrf|neighbour"
            )
        elif ":" in peer:
            if (neighbour := _neighbour(tables, entry, towards or "", groups, ports)) is not None:
                carried = _carried(entry, vrf, (6,), activated)
                address = IPv6Address(peer)
                found.append(replace(neighbour, over_ipv6=True, address=address, families=carried))
        elif (neighbour := _neighbour(tables, entry, peer, groups, ports)) is not None:
            native: tuple[Family, ...] = FAMILIES if neighbour.address is None else (4,)
            carried = tuple(sorted({4, *_carried(entry, vrf, native, activated)}))
            found.append(replace(neighbour, families=carried))
    return tuple(found)


def _activated(tables: Tables) -> dict[tuple[str, Family], bool]:
    """Return whether routes of a family are exchanged, by the key of a neighbour or of a peer group, as far as frrcfgd
    is told."""
    found: dict[tuple[str, Family], bool] = {}
    for table, kind in (("BGP_PEER_GROUP_AF", "group "), ("BGP_NEIGHBOR_AF", "")):
        for entry in tables.entries(table):
            key, _, family = shortest_key(entry.key).rpartition("|")
            status = Fields(tables, entry).text("admin_status")
            for each in FAMILIES:
                if family == f"ipv{each}_unicast" and status is not None:
                    found[kind + key, each] = status in _UP
    return found


def _carried(
    entry: Entry, vrf: str, native: tuple[Family, ...], activated: Mapping[tuple[str, Family], bool]
) -> tuple[Family, ...]:
    """Return the families of which a session exchanges routes. `native`: those of it where nothing is said, or only of
    one family of two."""
    group = entry.fields.get("peer_group_name")
    said: dict[Family, bool] = {}
    for family in FAMILIES:
        of_group = activated.get((f"group {vrf}|{group}", family))
        own = activated.get((shortest_key(entry.key), family), of_group)
        if own is not None:
            said[family] = own
    silent = () if said and len(native) > 1 else native
    return tuple(family for family in FAMILIES if said.get(family, family in silent))


def _interface_towards(peer: str, addresses6: Mapping[str, tuple[IPv6Interface, ...]]) -> str | None:
    """Return the interface in whose network a neighbour's address is, one with two addresses before others."""
    try:
        address = IPv6Address(peer)
    except ValueError:
        return None
    around = [
        (-min(one.network.prefixlen, LINK_PREFIX6), name)
        for name, every in addresses6.items()
        for one in every
        if address in one.network and not one.is_link_local
    ]
    return min(around, key=lambda pair: pair[0])[1] if around else None


def _neighbour(
    tables: Tables, entry: Entry, peer: str, groups: Mapping[str, Mapping[str, FieldValue]], ports: Collection[str]
) -> BgpNeighbour | None:
    fields = Fields(tables, _with_group(tables, entry, groups))
    address = parse_bare_address(peer)
    if address is None and peer not in ports and not peer.startswith(("PortChannel", "Vlan")):
        valid = suggestion(peer, ports)
        tables.complain((entry.table, entry.key), f"{shown(peer)} is neither an address nor a PORT; {valid}", peer)
        return None
    asn = fields.number("asn", 0, _LARGEST_ASN)
    external = fields.choice("peer_type", ("internal", "external"))
    if asn is None and external is None and "asn" not in fields:
        fields.complain("asn", "missing; write the neighbour's AS number")
    if external == "internal":
        tables.note(f"{entry.origin()}: an internal session; a lab supports only external sessions (RFC 7938)")
        return None
    return BgpNeighbour(
        key=entry.key,
        address=address,
        interface=None if address is not None else peer,
        name=fields.text("name") or "",
        asn=asn,
        keepalive_s=fields.number("keepalive", 0, 65_535, "seconds"),
        hold_s=fields.number("holdtime", 0, 65_535, "seconds"),
        bfd=fields.flag("bfd") or False,
        up=(fields.choice("admin_status", ("up", "down", "true", "false")) or "up") in ("up", "true"),
    )


def _with_group(tables: Tables, entry: Entry, groups: Mapping[str, Mapping[str, FieldValue]]) -> Entry:
    """Return the entry with what its peer group says and it does not."""
    vrf = entry.key.rpartition("|")[0]
    name = Fields(tables, entry).text("peer_group_name")
    if name is None:
        return entry
    group = groups.get(f"{vrf}|{name}")
    if group is None:
        tables.complain(
            (entry.table, entry.key, "peer_group_name"), f"{shown(name)} is not a BGP_PEER_GROUP of {vrf}", name
        )
        return entry
    return replace(entry, fields={**group, **entry.fields})
