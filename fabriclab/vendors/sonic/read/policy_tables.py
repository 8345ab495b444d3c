"""The policies of a switch's BGP that act in a lab: what sessions, networks and redistribution name, all that this
names in turn, and why the rest does not act.

frrcfgd alone reads these tables (DEVICE_METADATA|localhost|frr_mgmt_framework_config).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from fabriclab.formats import ranges
from fabriclab.formats.family import Family
from fabriclab.formats.plan.policies import (
    AsPathList,
    CommunityList,
    MapEntry,
    NeighbourPolicy,
    Policies,
    PrefixList,
    RouteMap,
)
from fabriclab.keys.wording import shown
from fabriclab.vendors.sonic.read.entries import Entry, FieldValue, Tables, shortest_key
from fabriclab.vendors.sonic.read.policy_maps import TABLE as ROUTE_MAP
from fabriclab.vendors.sonic.read.policy_maps import MapReader, named_sets
from fabriclab.vendors.sonic.read.policy_sets import FIELDS as SETS
from fabriclab.vendors.sonic.read.policy_sets import NotExpressibleError, SetReader, check_name

TABLES = (ROUTE_MAP, "ROUTE_MAP_SET", *SETS)
"""The tables of policies themselves."""
_VRF = "default"
_KINDS = {
    "map_in": ("route_map_in", "maps"),
    "map_out": ("route_map_out", "maps"),
    "prefixes_in": ("prefix_list_in", "prefixes"),
    "prefixes_out": ("prefix_list_out", "prefixes"),
    "paths_in": ("filter_list_in", "paths"),
    "paths_out": ("filter_list_out", "paths"),
}
"""What a session names: the field of CONFIG_DB, and what it is a name of."""
_NO_INTERFACE = "a lab does not know the interface of a redistributed route where this map is asked"
_NO_NEXT_HOP = "a lab does not know the next hop of a redistributed static route"
_REFUSED_IN: dict[str, dict[str, str]] = {
    "connected": {},
    "static": {"interface": _NO_INTERFACE, "next_hops": _NO_NEXT_HOP},
}
"""What maps of redistribution cannot ask for."""
_OWN_AS_BY_DEFAULT = 3
"""FRR's allowas-in without a number."""

Where = tuple[str, str, str]
"""Table, key and field."""


@dataclass
class SwitchPolicies:
    """The policies of a switch that act in a lab."""

    policies: Policies | None = None
    neighbours: dict[str, NeighbourPolicy] = field(default_factory=dict)
    """By the key of BGP_NEIGHBOR."""
    networks: dict[str, str] = field(default_factory=dict)
    """The map that a network of BGP_GLOBALS_AF_NETWORK goes through."""
    redistributed: dict[str, str] = field(default_factory=dict)
    """The map of routes of a protocol (connected, static); of connected ones, by an interface too where its map asks
    for that."""
    acting: set[Where] = field(default_factory=set)
    """The fields that do act in a lab."""
    why_not: dict[Where, str] = field(default_factory=dict)
    """Why a field does not."""

    def beside(self, other: SwitchPolicies) -> SwitchPolicies:
        """Return these with what acts, and what does not, of the other family's."""
        return replace(self, acting=self.acting | other.acting, why_not={**self.why_not, **other.why_not})


def read_policies(tables: Tables, is_frrcfgd: bool, family: Family = 4) -> SwitchPolicies:
    """Return the policies of routes of a family that frrcfgd makes of a file; none where bgpcfgd is the one that reads
    it."""
    for table in ("BGP_NEIGHBOR_AF", "BGP_PEER_GROUP_AF"):
        tables.ask(table, "afi_safi", "admin_status", *_AF_FIELDS)
    tables.ask("ROUTE_MAP_SET", "name")
    return _Reader(tables, family).read() if is_frrcfgd else SwitchPolicies()


_AF_FIELDS = (
    *(field for field, _ in _KINDS.values()),
    *("weight", "allow_as_in", "allow_as_count", "send_community"),
)
_TOLD = {"none": (), "standard": ("community",), "extended": ("extended",), "large": ()}
"""The kinds of communities that a neighbour is told, by send_community; of any other value both."""
_Found = RouteMap | PrefixList | AsPathList | CommunityList


class _Reader:
    """Reads what is named, once each."""

    def __init__(self, tables: Tables, family: Family) -> None:
        self._tables = tables
        self._ip = f"ipv{family}"
        self._family = f"ipv{family}_unicast"
        sets = SetReader(tables, family)
        maps = MapReader(tables, sets, family)
        self._readers: dict[str, Callable[[str], _Found | None]] = {
            "maps": maps.route_map,
            "prefixes": sets.prefixes,
            "paths": sets.paths,
            "communities": lambda name: sets.communities("community", name),
            "extended": lambda name: sets.communities("extcommunity", name),
        }
        self._known: dict[tuple[str, str], _Found | None] = {}
        self._found = SwitchPolicies()

    def read(self) -> SwitchPolicies:
        """Return what acts."""
        groups = {entry.key: entry for entry in self._of_family("BGP_PEER_GROUP_AF")}
        own = {shortest_key(entry.key): entry for entry in self._of_family("BGP_NEIGHBOR_AF")}
        for neighbour in self._tables.entries("BGP_NEIGHBOR"):
            vrf, _, _ = neighbour.key.rpartition("|")
            if vrf == _VRF:
                group = groups.get(f"{vrf}|{_text(neighbour.fields.get('peer_group_name'))}|{self._family}")
                entries = [
                    one for one in (group, own.get(f"{shortest_key(neighbour.key)}|{self._family}")) if one is not None
                ]
                policy = self._neighbour_policy(entries)
                if policy != NeighbourPolicy():
                    self._found.neighbours[neighbour.key] = policy
        self._read_announcements()
        self._found.policies = self._policies()
        return self._found

    def _of_family(self, table: str) -> Iterator[Entry]:
        return (entry for entry in self._tables.entries(table) if entry.key.endswith(f"|{self._family}"))

    def _neighbour_policy(self, entries: list[Entry]) -> NeighbourPolicy:
        """Return what a neighbour's peer group says, and over it what the neighbour says."""
        names: dict[str, str] = {}
        weight, own_as = 0, 0
        told: tuple[str, ...] = ("community", "extended")
        for entry in entries:
            for slot, (name, kind) in _KINDS.items():
                if (
                    found := self._bound(entry, name, kind, self._refused_out if slot == "map_out" else {})
                ) is not None:
                    names[slot] = found
            weight = self._number(entry, "weight", ranges.ROUTE_WEIGHT.most) or weight
            own_as = self._own_as(entry) or own_as
            told = _TOLD.get(_text(entry.fields.get("send_community")), told)
        return NeighbourPolicy(
            **names,
            weight=weight,
            own_as_in=own_as,
            hides_communities="community" not in told,
            hides_extended="extended" not in told,
        )

    def _own_as(self, entry: Entry) -> int:
        if _text(entry.fields.get("allow_as_in")).lower() != "true":
            return 0
        if "allow_as_origin" in entry.fields:
            return 0
        self._found.acting.add((entry.table, entry.key, "allow_as_in"))
        return self._number(entry, "allow_as_count", ranges.OWN_AS.most) or _OWN_AS_BY_DEFAULT

    def _number(self, entry: Entry, name: str, most: int) -> int | None:
        text, where = _text(entry.fields.get(name)), (entry.table, entry.key, name)
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= most):
            self._found.why_not[where] = f"{shown(text)} is not a whole number up to {most}"
            return None
        self._found.acting.add(where)
        return int(text)

    @cached_property
    def _refused_out(self) -> Mapping[str, str]:
        """What maps of what goes cannot ask for, and why: here networks that SONiC redistributes are announced by
        `network`, of which FRR knows neither interface nor next hop."""
        keys = self._tables.keys("ROUTE_REDISTRIBUTE")
        family = next(
            (one for one in self._tables.entries("BGP_GLOBALS_AF") if one.key == f"{_VRF}|{self._family}"), None
        )
        older = {} if family is None else family.fields
        is_connected = f"{_VRF}|connected|bgp|{self._ip}" in keys or "redistribute_connected" in older
        is_static = f"{_VRF}|static|bgp|{self._ip}" in keys or "redistribute_static_rmap" in older
        refused = {"interface": _NO_INTERFACE} if is_connected or is_static else {}
        return refused | ({"next_hops": _NO_NEXT_HOP} if is_static else {})

    def _bound(self, entry: Entry, name: str, kind: str, refused: Mapping[str, str]) -> str | None:
        """Return what a field names, with all that this needs; None: nothing, or it cannot act.

        `refused`: what entries of a map cannot ask for where it is named, and why.
        """
        value, where = entry.fields.get(name), (entry.table, entry.key, name)
        words = () if value is None else value.split(",") if isinstance(value, str) else value
        if not any(word.strip() for word in words):
            return None
        try:
            if len(words) > 1:
                raise NotExpressibleError(f"{len(words)} names, and FRR takes one")
            named = check_name(words[0].strip())
            self._read_all(kind, named)
            self._check_place(kind, named, refused)
        except NotExpressibleError as error:
            self._found.why_not[where] = str(error)
            return None
        self._found.acting.add(where)
        return named

    def _read_all(self, kind: str, name: str) -> None:
        """Read something and all that it names, or nothing of it. Raises NotExpressibleError."""
        read: dict[tuple[str, str], _Found | None] = {}
        waiting = [(kind, name)]
        while waiting:
            one = waiting.pop()
            if one in read or one in self._known:
                continue
            found = read[one] = self._readers[one[0]](one[1])
            if isinstance(found, RouteMap):
                waiting += named_sets(found.entries)
        self._known |= read

    def _check_place(self, kind: str, name: str, refused: Mapping[str, str]) -> None:
        """Check that a map can be what it is named for. Raises NotExpressibleError."""
        for route_map in self._called(name) if kind == "maps" and refused else ():
            for one in route_map.entries:
                for field_name, why in refused.items():
                    if getattr(one.matches, field_name) is not None:
                        raise NotExpressibleError(f"{ROUTE_MAP}|{route_map.name}|{one.sequence}: {why}")

    def _called(self, name: str) -> Iterator[RouteMap]:
        """Yield a map and all that it calls, each once."""
        waiting, seen = [name], {name}
        while waiting:
            found = self._known.get(("maps", waiting.pop()))
            if isinstance(found, RouteMap):
                yield found
                more = {entry.calls for entry in found.entries if entry.calls is not None} - seen
                waiting += sorted(more)
                seen |= more

    def _by_interface(self, name: str) -> None:
        """Make a map for each interface that the map of connected routes asks for: `network` does not tell FRR the
        interface, so that entries of this one stand without it."""
        maps = list(self._called(name))
        for interface in dict.fromkeys(entry.matches.interface for one in maps for entry in one.entries):
            if interface is not None:
                for one in maps:
                    own = RouteMap(
                        name=_map_of(one.name, interface),
                        entries=tuple(_of_interface(entry, interface) for entry in one.entries),
                    )
                    self._known["maps", own.name] = own
                self._found.redistributed[redistributed_over(interface)] = _map_of(name, interface)

    def _read_announcements(self) -> None:
        for entry in self._tables.entries("BGP_GLOBALS_AF_NETWORK"):
            prefix = entry.key.removeprefix(f"{_VRF}|{self._family}|")
            if prefix != entry.key and (named := self._bound(entry, "policy", "maps", {})) is not None:
                self._found.networks[prefix] = named
        self._read_redistribution()
        for entry in self._tables.entries("BGP_GLOBALS_AF"):
            if entry.key == f"{_VRF}|{self._family}":
                named = self._bound(entry, "redistribute_static_rmap", "maps", _REFUSED_IN["static"])
                if named is not None:
                    self._found.redistributed.setdefault("static", named)

    def _read_redistribution(self) -> None:
        for entry in self._tables.entries("ROUTE_REDISTRIBUTE"):
            for protocol in ("connected", "static"):
                if entry.key == f"{_VRF}|{protocol}|bgp|{self._ip}":
                    named = self._bound(entry, "route_map", "maps", _REFUSED_IN[protocol])
                    if named is not None:
                        self._found.redistributed[protocol] = named
                        if protocol == "connected":
                            self._by_interface(named)

    def _policies(self) -> Policies | None:
        found = [one for one in self._known.values() if one is not None]
        if not found:
            return None
        return Policies(
            prefix_lists=tuple(one for one in found if isinstance(one, PrefixList)),
            as_path_lists=tuple(one for one in found if isinstance(one, AsPathList)),
            community_lists=tuple(one for one in found if isinstance(one, CommunityList)),
            route_maps=tuple(one for one in found if isinstance(one, RouteMap)),
        )


def redistributed_over(interface: str) -> str:
    """Return what connected routes of an interface are called that has a map of its own."""
    return f"connected {interface}"


def _map_of(name: str, interface: str) -> str:
    return f"{name}/{interface}"


def _of_interface(entry: MapEntry, interface: str) -> MapEntry:
    calls = None if entry.calls is None else _map_of(entry.calls, interface)
    if entry.matches.interface != interface:
        return replace(entry, calls=calls)
    return replace(entry, matches=replace(entry.matches, interface=None), calls=calls)


def _text(value: FieldValue | None) -> str:
    return (value[0] if len(value) == 1 else "") if isinstance(value, tuple) else (value or "").strip()
