"""Rules of what switches of a fabric have alike: the tables of a tier, links and sessions at both ends, relays, storm
control."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from ipaddress import ip_address

from fabriclab.formats.family import FAMILIES, AnyAddress, Family
from fabriclab.keys.wording import listed
from fabriclab.vendors.sonic.fabric.routing import FabricRouting
from fabriclab.vendors.sonic.fabric.view import FabricFinding, View
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.lab.fabric_switches import End, FabricSwitch
from fabriclab.vendors.sonic.read.entries import FieldValue, shortest

_OF_TIER = (
    *("WRED_PROFILE", "BUFFER_POOL", "BUFFER_PROFILE", "SCHEDULER", "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP"),
    *("TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE", "SWITCH_HASH", "SWITCH_TRIMMING", "BGP_DEVICE_GLOBAL"),
    *("BGP_GLOBALS_AF", "CRM", "PFC_WD", "ARS_PROFILE", "ARS_OBJECT"),
)
_WHOLE = frozenset({"SWITCH_HASH", "SWITCH_TRIMMING", "BGP_DEVICE_GLOBAL", "ARS_PROFILE", "ARS_OBJECT"})
"""Tables of the switch as a whole, in which an entry that is missing says something as well."""
_FEWEST = 4
"""Of fewer switches nobody knows which one is meant."""
_MOST_OTHERS = 0.25
_DOWN = ("down", "false")
_RELAYS: Mapping[Family, tuple[tuple[str, str], ...]] = {
    4: (("DHCPV4_RELAY", "dhcpv4_servers"), ("VLAN", "dhcp_servers")),
    6: (("DHCP_RELAY", "dhcpv6_servers"), ("VLAN", "dhcpv6_servers")),
}
"""The tables and fields that name servers to which requests of a VLAN are relayed."""


def missing_sessions(view: View) -> Iterator[FabricFinding]:
    """A link between two switches with addresses, both of which have sessions over others, has one as well."""
    speaking = {switch.name: {name for _, name in switch.sessions()} for switch in view.linked}
    for link in view.links:
        near, far = view.switch(link.a), view.switch(link.b)
        interfaces = [switch.channel_of.get(end.port, end.port) for switch, end in ((near, link.a), (far, link.b))]
        both = speaking[near.name] and speaking[far.name]
        over = interfaces[0] in speaking[near.name] or interfaces[1] in speaking[far.name]
        if both and not over and near.interface_of(link.a.port) is not None and not _is_mclag(view, link.a, link.b):
            bound = f"without a session over the link to {link.b} at either end, although both have others"
            fate = "no route leads over the link: it carries nothing"
            path, remedy = ("BGP_NEIGHBOR",), "write BGP_NEIGHBOR in both, or remove the addresses"
            one = finding("session-missing", path, link.a.port, bound, fate, remedy, (link.a.port,))
            yield FabricFinding(near.name, one)


def _is_mclag(view: View, *ends: End) -> bool:
    """Return whether a link is between the switches of an MCLAG, which forward over it without routes."""
    return any(
        _text(fields.get("peer_link")) in (end.port, view.switch(end).channel_of.get(end.port))
        for end in ends
        for fields in entries(view.switch(end).config, "MCLAG_DOMAIN").values()
    )


def bfd(view: View) -> Iterator[FabricFinding]:
    """Both ends of a session ask for BFD, or neither does."""
    asks = {
        End(switch.name, port): session.bfd
        for switch in view.linked
        for session, name in switch.sessions()
        for port in switch.ports
        if switch.channel_of.get(port, port) == name
    }
    for link in view.links:
        if {asks.get(end) for end in link.ends} == {True, False}:
            near, far = link.ends if asks[link.a] else link.ends[::-1]
            bound = f"with BFD, but {far} does not ask for it"
            fate = "BFD never comes up, so a silent failure is noticed only when the hold timer ends"
            key = next(
                session.key
                for session, name in view.switch(near).sessions()
                if name in (near.port, view.switch(near).channel_of.get(near.port))
            )
            one = finding(
                "bfd-one-sided", ("BGP_NEIGHBOR", key), None, bound, fate, "write the same at both", (near.port,)
            )
            yield FabricFinding(near.switch, one)


def one_end_down(view: View) -> Iterator[FabricFinding]:
    """Both ends of a link are up, or both are down."""
    for link in view.down:
        ups = [end.port in view.switch(end).ports for end in link.ends]
        if ups[0] != ups[1]:
            near, far = link.ends if ups[0] else link.ends[::-1]
            place = view.switch(far).config.place("PORT", far.port, "admin_status")
            bound = f"up, but the other end, {far}, is down ({place})"
            one = finding(
                "link-one-end-down",
                ("PORT", near.port, "admin_status"),
                None,
                bound,
                "the link is down",
                "write the same at both",
                (near.port,),
            )
            yield FabricFinding(near.switch, one)


def mac_addresses(view: View) -> Iterator[FabricFinding]:
    """No two switches have one MAC address; those of an MCLAG and of a dual ToR may share that of a gateway only."""
    first: dict[str, FabricSwitch] = {}
    for switch in view.fabric.switches.values():
        mac = _text(entries(switch.config, "DEVICE_METADATA").get("localhost", {}).get("mac")).lower()
        other = first.setdefault(mac, switch) if mac else switch
        if other is not switch:
            path = ("DEVICE_METADATA", "localhost", "mac")
            bound = f"also the address of {other.name} ({other.config.place(*path)})"
            fate = "their neighbours and bridges take one for the other, and frames are lost"
            yield FabricFinding(switch.name, finding("mac-twice", path, mac, bound, fate, "write its own"))


def tiers(view: View) -> Iterator[FabricFinding]:
    """An entry that nearly all switches of one type and hwsku have alike is the same on the others."""
    groups: dict[tuple[str, str], list[FabricSwitch]] = defaultdict(list)
    for switch in (one for one in view.linked if one.name not in view.unsound):
        fields = entries(switch.config, "DEVICE_METADATA").get("localhost", {})
        groups[_text(fields.get("type")), switch.config.hwsku].append(switch)
    for (kind, _), switches in groups.items():
        for table in _OF_TIER if kind and len(switches) >= _FEWEST else ():
            yield from _outliers(table, kind, switches)


def _outliers(table: str, kind: str, switches: list[FabricSwitch]) -> Iterator[FabricFinding]:
    tables = {switch.name: entries(switch.config, table) for switch in switches}
    for key in dict.fromkeys(key for own in tables.values() for key in own if not key.startswith("Ethernet")):
        fields = dict.fromkeys(name for own in tables.values() for name in own.get(key, {}))
        for name in fields:
            values = {
                switch: json.dumps(own.get(key, {}).get(name))
                for switch, own in tables.items()
                if key in own or table in _WHOLE
            }
            usual, count = Counter(values.values()).most_common(1)[0]
            others = [switch for switch, value in values.items() if value != usual]
            if len(values) >= _FEWEST and others and len(others) <= _MOST_OTHERS * len(values):
                for switch in others:
                    bound = f"not {_shown(usual)}, which {count} of {len(values)} switches of type {kind} have"
                    fate = "the switch treats packets otherwise than its tier: a failure that only some paths show"
                    one = finding(
                        "tier-differs", (table, key, name), _shown(values[switch]), bound, fate, "write the same"
                    )
                    yield FabricFinding(switch, one)


def _shown(text: str) -> str:
    value = json.loads(text)
    return "nothing" if value is None else ",".join(value) if isinstance(value, list) else str(value)


def _text(value: FieldValue | None) -> str:
    return value.strip() if isinstance(value, str) else ""


def relays(view: View) -> Iterator[FabricFinding]:
    """Switches relay the requests of one VLAN to the same servers, which are not the switch itself."""
    for family in FAMILIES:
        yield from _relays(view, family)


def _relays(view: View, family: Family) -> Iterator[FabricFinding]:
    servers: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for switch in view.fabric.switches.values():
        loopbacks = switch.config.loopbacks if family == 4 else switch.config.loopbacks6
        own = {str(one.ip) for every in (*switch.addresses_of(family).values(), *loopbacks.values()) for one in every}
        for vlan, path, found in _servers(switch, family):
            servers[vlan][switch.name] = found
            mine = [server for server in found if server in own]
            if mine:
                fate = "requests go to the switch itself, and hosts get no address"
                one = finding(
                    "dhcp-servers",
                    path,
                    mine[0],
                    "an address of the switch itself",
                    fate,
                    "write the server's",
                    severity="error",
                )
                yield FabricFinding(switch.name, one)
    for vlan, by_switch in servers.items():
        usual, count = Counter(tuple(sorted(found)) for found in by_switch.values()).most_common(1)[0]
        for name, found in by_switch.items():
            if tuple(sorted(found)) != usual and count * 2 > len(by_switch):
                bound = f"not {listed(usual)}, to which {count} of {len(by_switch)} switches relay {vlan}"
                path = next(path for each, path, _ in _servers(view.fabric.switches[name], family) if each == vlan)
                fate = "hosts behind this switch ask other servers than those of the same VLAN elsewhere"
                one = finding("dhcp-servers", path, listed(found), bound, fate, "write the same")
                yield FabricFinding(name, one)


def lost_servers(routing: FabricRouting) -> Iterator[FabricFinding]:
    """A server to which requests are relayed is in a network of the fabric, where those of all other VLANs are.

    One outside is reached by a route that these files do not have, so that it is told only where no other one is.
    """
    found = {
        (switch.name, server): path
        for switch in routing.view.fabric.switches.values()
        for _, path, servers in _servers(switch, routing.family)
        for server in servers
    }
    addresses = {server: _address(server, routing.family) for _, server in found}
    inside = [one.network for one in routing.destinations]
    outside = {
        server for server, one in addresses.items() if one is not None and not any(one in network for network in inside)
    }
    for (name, server), path in found.items() if len(outside) == 1 and len(addresses) > 1 else ():
        if server in outside and not any(addresses[server] in prefix for prefix in routing.tables[name]):
            bound = "in no network of the fabric, unlike all other servers, and no route of the switch leads there"
            fate = "requests are lost, and hosts get no address"
            yield FabricFinding(name, finding("dhcp-servers", path, server, bound, fate, "correct the address"))


def _address(text: str, family: Family) -> AnyAddress | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return found if found.version == family else None


def _servers(switch: FabricSwitch, family: Family) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield VLAN, place and servers of each relay of DHCP or DHCPv6: of the relays' own table, or of the field of VLAN;
    addresses of IPv6 in their shortest form."""
    root = switch.config.json.value if switch.config.json is not None else None
    for table, name in _RELAYS[family]:
        written = root.get(table) if isinstance(root, dict) else None
        for key, fields in written.items() if isinstance(written, dict) else ():
            servers = fields.get(name) if isinstance(fields, dict) else None
            found = servers.split(",") if isinstance(servers, str) else servers if isinstance(servers, list) else []
            words = tuple(shortest(one.strip()) for one in found if isinstance(one, str) and one.strip())
            if words:
                yield key, (table, key, name), words


def storm_control(view: View) -> Iterator[FabricFinding]:
    """Ports of hosts have the same storm control as nearly all others; ports between switches have none."""
    for switch in view.linked:
        for key in entries(switch.config, "PORT_STORM_CONTROL"):
            port = key.partition("|")[0]
            if End(switch.name, port) in view.far:
                bound = f"at a port that leads to {view.far[End(switch.name, port)]}"
                fate = "frames of all hosts behind the link share the limit, and ARP is lost when one of them floods"
                path = ("PORT_STORM_CONTROL", key)
                yield FabricFinding(
                    switch.name, finding("storm-control-differs", path, None, bound, fate, "remove it", (port,))
                )
    yield from _rates(view)


def _rates(view: View) -> Iterator[FabricFinding]:
    rates: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for switch in view.linked:
        for key, fields in entries(switch.config, "PORT_STORM_CONTROL").items():
            port, _, kind = key.partition("|")
            if End(switch.name, port) not in view.far:
                rates[kind][switch.name, key] = _text(fields.get("kbps"))
    for values in rates.values():
        usual, count = Counter(values.values()).most_common(1)[0]
        for (name, key), rate in values.items():
            if rate != usual and len(values) >= _FEWEST and len(values) - count <= _MOST_OTHERS * len(values):
                bound = f"not {usual} kbps, which {count} of {len(values)} ports of hosts have"
                fate = "a flood is stopped at other ports and not at this one, or broadcasts are lost here alone"
                one = finding(
                    "storm-control-differs", ("PORT_STORM_CONTROL", key, "kbps"), rate, bound, fate, "write the same"
                )
                yield FabricFinding(name, one)


RELAY_RULES = (lost_servers,)
"""Those that follow routes."""
TIER_RULES = (missing_sessions, bfd, one_end_down, mac_addresses, tiers, relays, storm_control)
