"""Finding what `acting` lists in a file: each field, table or ACL that acts, with its line and its ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fabriclab.lab.network.own_configuration import NotEmulated
from fabriclab.vendors.sonic.read import acting
from fabriclab.vendors.sonic.read.acl_tables import COPYING, SwitchAcls
from fabriclab.vendors.sonic.read.acting import Acting
from fabriclab.vendors.sonic.read.entries import SEPARATOR, printable
from fabriclab.vendors.sonic.read.hash_tables import TABLE as HASH
from fabriclab.vendors.sonic.read.hash_tables import SwitchHash
from fabriclab.vendors.sonic.read.json_text import Json, JsonText
from fabriclab.vendors.sonic.read.policy_tables import SwitchPolicies
from fabriclab.vendors.sonic.read.vrf_tables import FIELD as VRF_FIELD

_Entries = Mapping[str, Mapping[str, Json]]
_INTERFACES = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE")
_LOCAL_AS = ("BGP_NEIGHBOR", "local_asn")
_PASSING = frozenset({"FORWARD", "ACCEPT"})
_PORT_LISTS = ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")
_DOWN = frozenset({"false", "down", "False"})


def not_emulated(
    json: JsonText, policies: SwitchPolicies, acls: SwitchAcls, hashing: SwitchHash
) -> tuple[NotEmulated, ...]:
    """Return what acts on traffic in the switch and not in a lab, in the order of the file. `policies` and
    `acls`: those of routes and the filters that do act, and why others do not."""
    reader = _Reader(json, policies, acls, hashing)
    return tuple(sorted(reader.found(), key=lambda one: one.place.line or 0))


class _Reader:
    """Looks through the tables of a file; what is malformed there is somebody else's to tell."""

    def __init__(self, json: JsonText, policies: SwitchPolicies, acls: SwitchAcls, hashing: SwitchHash) -> None:
        self._json = json
        self._policies = policies
        self._hashing = hashing
        self._acls_why_not = acls.why_not
        self._acting_acls = frozenset(one.name for one in acls.tables)

    def found(self) -> Iterator[NotEmulated]:
        """Yield what acts."""
        for table, what in acting.TABLES.items():
            if entries := self._entries(table):
                first, *others = entries
                yield self._one((table, first), _more(len(others), "entry", "entries"), what)
        for (table, name), what in acting.FIELDS.items():
            yield from self._fields(table, name, what)
        yield from self._inactive()
        yield from self._hash()
        yield from self._acls()
        yield from self._port_limits()

    def _one(self, path: tuple[str, ...], value: str, what: Acting, ports: tuple[str, ...] = ()) -> NotEmulated:
        words = tuple(map(printable, path))
        # A reason names keys of the file, which may hold anything; a warning is one line.
        why = "".join(letter if letter.isprintable() else "?" for letter in what.why)
        return NotEmulated(words, printable(value), what.touches, why, self._json.place(path), ports)

    def _entries(self, table: str) -> _Entries:
        root = self._json.value
        entries = root.get(table) if isinstance(root, dict) else None
        found = entries.items() if isinstance(entries, dict) else ()
        return {key: fields for key, fields in found if isinstance(fields, dict)}

    def _fields(self, table: str, name: str, what: Acting) -> Iterator[NotEmulated]:
        """Yield a field once for each value, with the ports of all entries that have it."""
        by_value: dict[str, list[str]] = {}
        for key, fields in self._entries(table).items():
            if (table, key, name) in self._policies.acting or (name == VRF_FIELD and SEPARATOR in key):
                continue
            if (table, name) == _LOCAL_AS and _text(fields.get(name)) == self._own_as(key):
                continue  # FRR refuses the router's own number
            value = "(set)" if name == acting.SECRET and fields.get(name) else _text(fields.get(name))
            if value not in acting.OFF and _number(value) >= acting.LEAST.get((table, name), 0):
                by_value.setdefault(value, []).append(key)
        for value, keys in by_value.items():
            more = _more(len(keys) - 1, "entry", "entries")
            ports = tuple(dict.fromkeys(key.partition(SEPARATOR)[0] for key in keys))
            why = self._policies.why_not.get((table, keys[0], name), what.why)
            told = what._replace(why=why)
            one = self._one((table, keys[0], name), value, told, ports if table.startswith("PORT") else ())
            yield replace(one, value=f"{one.value} {more}".rstrip())

    def _own_as(self, neighbour: str) -> str:
        """Return the AS number of a neighbour's router, as frrcfgd's tables have it."""
        vrf = neighbour.partition(SEPARATOR)[0]
        return _text(self._entries("BGP_GLOBALS").get(vrf, {}).get("local_asn"))

    def _inactive(self) -> Iterator[NotEmulated]:
        """Yield neighbours whose exchange of routes is shut: of IPv4, and of IPv6 where interfaces have no other."""
        addresses = [key.partition(SEPARATOR)[2] for table in _INTERFACES for key in self._entries(table)]
        is_of_ipv6 = any(":" in one for one in addresses) and not any("." in one for one in addresses)
        family = "ipv6_unicast" if is_of_ipv6 else "ipv4_unicast"
        for key, fields in self._entries("BGP_NEIGHBOR_AF").items():
            if key.endswith(family) and _text(fields.get("admin_status")) in _DOWN:
                path = ("BGP_NEIGHBOR_AF", key, "admin_status")
                yield self._one(path, _text(fields.get("admin_status")), acting.INACTIVE)

    def _hash(self) -> Iterator[NotEmulated]:
        """Yield what of SWITCH_HASH a lab's switches do not choose by."""
        said = self._entries(HASH).get("GLOBAL", {})
        for name, why in self._hashing.why_not.items():
            yield self._one((HASH, "GLOBAL", name), _text(said.get(name)), acting.HASH._replace(why=why))

    def _acls(self) -> Iterator[NotEmulated]:
        """Yield the ACLs that are bound to ports and have a rule that does more than forward."""
        rules: dict[str, list[str]] = {}
        for key, fields in self._entries("ACL_RULE").items():
            table, _, rule = key.partition(SEPARATOR)
            action = _text(fields.get("PACKET_ACTION")) or _other_action(fields)
            if action and action not in _PASSING:
                rules.setdefault(table, []).append(f"{rule} {action}")
        for name, fields in self._entries("ACL_TABLE").items():
            ports = tuple(_text(fields.get("ports")).split(",")) if _text(fields.get("ports")) else ()
            is_filter = ports and rules.get(name) and _text(fields.get("type")).upper() not in COPYING
            if is_filter and name not in self._acting_acls:
                first, *others = rules[name]
                value = f"{_text(fields.get('stage')) or 'ingress'}: {first} {_more(len(others), 'rule', 'rules')}"
                reason = self._acls_why_not.get(name)
                why = f"{acting.FILTER.why}: {reason}" if reason else acting.FILTER.why
                told = acting.FILTER._replace(why=why)
                yield self._one(("ACL_TABLE", name), value.rstrip(), told, ports)

    def _port_limits(self) -> Iterator[NotEmulated]:
        """Yield the profiles of whole ports that are a limit: not those that allow as much as their pool has."""
        profiles, pools = self._entries("BUFFER_PROFILE"), self._entries("BUFFER_POOL")
        for table in _PORT_LISTS:
            bound: dict[str, list[str]] = {}
            for key, fields in self._entries(table).items():
                for name in filter(None, _text(fields.get("profile_list")).split(",")):
                    bound.setdefault(name, []).append(key)
            for name, keys in bound.items():
                if _is_limit(profiles.get(name, {}), pools):
                    yield self._one((table, keys[0], "profile_list"), name, acting.PORT_LIMIT, tuple(keys))


def _is_limit(profile: Mapping[str, Json], pools: _Entries) -> bool:
    size, most = pools.get(_text(profile.get("pool")), {}).get("size"), _number(_text(profile.get("static_th")))
    return "dynamic_th" in profile or 0 < most < _number(_text(size))


def _more(count: int, one: str, many: str) -> str:
    return f"and {count} more {one if count == 1 else many}" if count else ""


def _other_action(fields: Mapping[str, Json]) -> str:
    """Return the action of a rule that has no PACKET_ACTION, such as one that redirects or marks."""
    return next((name for name in fields if name.endswith("_ACTION") and not name.startswith("MIRROR")), "")


def _text(value: Json) -> str:
    """Return a text, or a list's items between commas; empty: nothing is said."""
    if isinstance(value, list):
        return ",".join(item.strip() for item in value if isinstance(item, str))
    if isinstance(value, bool):
        return str(value).lower()
    return value.strip() if isinstance(value, str) else ""


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
