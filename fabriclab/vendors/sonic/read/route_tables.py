"""Reading STATIC_ROUTE: `vrf|prefix`, or `prefix` alone, with lists of what each next hop is.

The lists are separated by commas and of one length, as bgpcfgd wants them (sonic-bgpcfgd, managers_static_rt.py). A
next hop of which nothing is written, 0.0.0.0 or ::, has an interface only. distance 0, SONiC's default, is FRR's: 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from fabriclab.formats.family import AnyAddress, Family
from fabriclab.keys.wording import shown
from fabriclab.lab.network.static_routes import DISTANCE, StaticHop, WrittenStaticRoute
from fabriclab.vendors.sonic.read.bgp_tables import DEFAULT_VRF
from fabriclab.vendors.sonic.read.entries import Entry, Fields, Tables

TABLE = "STATIC_ROUTE"
_LISTS = ("nexthop", "ifname", "distance", "blackhole", "nexthop-vrf", "advertise", "bfd")
_DISTANCE = re.compile(r"[0-9]{1,3}")
_NEVER = 255
"""A distance that makes a route unusable."""
_ANY = ("0.0.0.0", "::")
_ONLY_IPV4 = "IPv6, left out: a lab has only IPv4"


class StaticRoutes(NamedTuple):
    """The routes of the default VRF, and what a lab cannot have of the table, a sentence each with its line."""

    routes: tuple[WrittenStaticRoute, ...]
    """Of IPv4."""
    notes: tuple[str, ...]
    """Of a lab that has IPv4 alone."""
    routes6: tuple[WrittenStaticRoute, ...]
    notes6: tuple[str, ...]
    """Of a lab that has IPv6."""


def read_static_routes(tables: Tables) -> StaticRoutes:
    """Read STATIC_ROUTE."""
    tables.ask(TABLE, *_LISTS)
    routes: dict[Family, list[WrittenStaticRoute]] = {4: [], 6: []}
    notes: dict[Family, dict[str, None]] = {4: {}, 6: {}}
    for entry in tables.entries(TABLE):
        family: Family = 6 if ":" in entry.key else 4
        reader = _Reader(tables, entry, _is_redistributed(tables, family), {})
        routes[family] += [route] if (route := reader.route()) is not None else []
        notes[6] |= reader.notes
        notes[4] |= reader.notes if family == 4 or route is None else {reader.sentence("", _ONLY_IPV4): None}
    return StaticRoutes(tuple(routes[4]), tuple(notes[4]), tuple(routes[6]), tuple(notes[6]))


def _is_redistributed(tables: Tables, family: Family) -> bool:
    """Return whether BGP announces static routes of a family: ROUTE_REDISTRIBUTE, or a map of the address family, as
    older versions of frrcfgd have it."""
    of_family = (one for one in tables.entries("BGP_GLOBALS_AF") if one.key == f"{DEFAULT_VRF}|ipv{family}_unicast")
    is_by_map = any("redistribute_static_rmap" in one.fields for one in of_family)
    return is_by_map or f"{DEFAULT_VRF}|static|bgp|ipv{family}" in tables.keys("ROUTE_REDISTRIBUTE")


@dataclass(frozen=True)
class _Reader:
    """Reads one entry."""

    tables: Tables
    entry: Entry
    redistributed: bool
    """Whether frrcfgd's tables announce all static routes."""
    notes: dict[str, None]

    def route(self) -> WrittenStaticRoute | None:
        """Return the route; None after telling why there is none."""
        vrf, _, text = self.entry.key.rpartition("|")
        if vrf not in ("", DEFAULT_VRF):
            self._note("", f"in VRF {shown(vrf)}, left out: a lab has only the default VRF")
            return None
        try:
            prefix = ip_network(text, strict=False)
        except ValueError:
            example = "2001:db8::/64" if ":" in text else "10.0.0.0/24"
            message = f"{shown(text)} is not a network; write one such as {example}"
            self.tables.complain((TABLE, self.entry.key), message, text)
            return None
        lists = self._lists()
        if lists is None:
            return None
        hops = tuple(self._hops(lists, 6 if prefix.version == 6 else 4))
        if not hops:
            self._note("", "left out: it has no next hop that a lab can have")
            return None
        advertised = self.redistributed or any(self._flags("advertise", lists["advertise"]))
        place = self.tables.json.place((TABLE, self.entry.key))
        return WrittenStaticRoute(prefix, hops, advertised, f"{TABLE}|{self.entry.key}", place)

    def _lists(self) -> dict[str, tuple[str, ...]] | None:
        """Return every field's words, one for each next hop; None after a complaint about their lengths."""
        fields = Fields(self.tables, self.entry)
        words = {name: self._words(fields, name) for name in _LISTS}
        if len(words["advertise"]) == 1:  # SONiC's minigraph writes one for all next hops
            words["advertise"] *= len(words["nexthop"])
        counts = {name: len(found) for name, found in words.items() if any(found)}
        first = next(iter(counts), None)
        if first is None:
            self.tables.complain((TABLE, self.entry.key), "no next hop; write nexthop, ifname, or blackhole true")
            return None
        for name, count in counts.items():
            if count != counts[first]:
                message = f"{count} in this list, but {counts[first]} in {first}; each next hop needs one of each"
                fields.complain(name, message, ",".join(words[name]))
                return None
        return {name: found if any(found) else ("",) * counts[first] for name, found in words.items()}

    @staticmethod
    def _words(fields: Fields, name: str) -> tuple[str, ...]:
        """Return a list's words; an empty one keeps its place, which `Fields.words` drops."""
        value = fields.entry.fields.get(name, "")
        return value if isinstance(value, tuple) else tuple(word.strip() for word in value.split(","))

    def _hops(self, lists: dict[str, tuple[str, ...]], family: Family) -> Iterator[StaticHop]:
        fields = Fields(self.tables, self.entry)
        if any(self._flags("bfd", lists["bfd"])):
            self._note("bfd", "not emulated for static routes: a next hop is lost when its link goes down")
        blackholes = self._flags("blackhole", lists["blackhole"])
        for number, text in enumerate(lists["nexthop"]):
            distance = self._distance(fields, lists["distance"][number])
            address = _parsed(text)
            vrf, interface = lists["nexthop-vrf"][number], lists["ifname"][number]
            if distance is None:
                continue
            if vrf not in ("", DEFAULT_VRF):
                self._note("nexthop-vrf", f"{shown(vrf)}: that next hop was left out; a lab has only the default VRF")
            elif blackholes[number]:
                yield StaticHop(None, "", distance, blackhole=True)
            elif text in ("", *_ANY):
                if interface:
                    yield StaticHop(None, interface, distance)
                else:
                    self._note("nexthop", "a next hop without address and interface was left out: it leads nowhere")
            elif address is not None and address.version == family:
                yield StaticHop(address, interface, distance)
            elif family == 4 and ":" in text:
                self._note("nexthop", f"{shown(text)}: that next hop was left out; a lab has only IPv4")
            else:
                example = "10.0.0.1" if family == 4 else "2001:db8::1"
                message = f"{shown(text)} is not an IPv{family} address; write one such as {example}"
                fields.complain("nexthop", message, text)

    def _distance(self, fields: Fields, text: str) -> int | None:
        """Return a next hop's distance; None after telling why it has none."""
        if text and not (_DISTANCE.fullmatch(text) and int(text) <= _NEVER):
            fields.complain("distance", f"{shown(text)}: must be a whole number from 0 to {_NEVER}", text)
            return None
        if text and int(text) == _NEVER:
            self._note("distance", "255: that next hop was left out; a route of this distance is never used")
            return None
        return int(text or 0) or DISTANCE

    def _flags(self, name: str, words: tuple[str, ...]) -> list[bool]:
        for word in words:
            if word not in ("", "true", "false"):
                Fields(self.tables, self.entry).complain(name, f"{shown(word)} is unknown; write true or false", word)
        return [word == "true" for word in words]

    def _note(self, field: str, message: str) -> None:
        self.notes[self.sentence(field, message)] = None

    def sentence(self, field: str, message: str) -> str:
        """Return what is to be told of a field, or of the whole entry, with its place."""
        place = self.tables.json.place((TABLE, self.entry.key, field) if field else (TABLE, self.entry.key))
        return f"{place}: {TABLE}|{self.entry.key}{'|' if field else ''}{field}: {message}"


def _parsed(text: str) -> AnyAddress | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
