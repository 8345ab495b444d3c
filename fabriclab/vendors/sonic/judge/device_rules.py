"""Rules of the switch as a device: a drain that was left on, a hash and adaptive routing that do not spread, traps of
the CPU, servers, and profiles of other ports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabriclab.keys.wording import listed
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.read.entries import FieldValue

_ON = ("true", "on", "enabled")
_SAME_IN_ALL = frozenset({"SRC_MAC", "DST_MAC", "ETHERTYPE", "VLAN_ID", "IP_PROTOCOL", "IN_PORT"})
"""What all packets have alike that one neighbour routes to the switch (sonic-hash.yang, hash-field)."""
_SERVERS = ("NTP_SERVER", "SYSLOG_SERVER", "TACPLUS_SERVER", "RADIUS_SERVER", "LDAP_SERVER", "DNS_NAMESERVER")
_NEEDED = {
    **dict.fromkeys(("bgp", "bgpv6"), "BGP sessions do not come up"),
    **dict.fromkeys(("arp_req", "arp_resp", "neigh_discovery"), "neighbours are not resolved"),
    "lacp": "port channels do not come up",
    "ip2me": "nothing reaches the switch itself",
}
"""Traps without which a switch does not forward (sonic-swss, copporch; files/image_config/copp/copp_cfg.j2)."""
_COMPUTED = re.compile(r"pg_lossless_([0-9]{3,7})_([0-9]{1,5})m_profile")
"""Names that buffermgrd gives to the profiles that it makes, by speed in Mbps and length of the cable in metres."""


def traffic_shifted(bindings: Bindings) -> Iterator[SonicFinding]:
    """No switch is left in maintenance: its neighbours send it nothing then."""
    for path, word in (
        (("BGP_DEVICE_GLOBAL", "STATE", "tsa_enabled"), "traffic shift away (TSA)"),
        (("BGP_GLOBALS", "default", "graceful_shutdown"), "graceful shutdown"),
    ):
        if _text(entries(bindings.config, path[0]).get(path[1], {}).get(path[2])).lower() in _ON:
            bound = f"left on: {word}"
            fate = "neighbours prefer other switches, which carry this one's share of the traffic too"
            yield finding("traffic-shifted", path, None, bound, fate, "write false once the maintenance is over")


def hash_fields(bindings: Bindings) -> Iterator[SonicFinding]:
    """Next hops and members are chosen by fields in which flows differ."""
    fields = entries(bindings.config, "SWITCH_HASH").get("GLOBAL", {})
    for name, what in (("ecmp_hash", "next hops"), ("lag_hash", "members of port channels")):
        value = fields.get(name)
        words = tuple(value.split(",")) if isinstance(value, str) else value or ()
        if words and all(word.strip() in _SAME_IN_ALL for word in words):
            bound = f"{listed(list(words))} alone, which all packets of a neighbour have alike when it routes them"
            fate = f"all flows from one neighbour take one of the {what}"
            remedy = "add SRC_IP, DST_IP, L4_SRC_PORT and L4_DST_PORT"
            yield finding("hash-without-flows", ("SWITCH_HASH", "GLOBAL", name), None, bound, fate, remedy)


def adaptive_routing(bindings: Bindings) -> Iterator[SonicFinding]:
    """All next hops of a group are listed for adaptive routing, or none is."""
    lacking = bindings.config.adaptive_routing.lacking
    if lacking:
        bound = f"lacks {listed(list(lacking))}, which {'lead' if len(lacking) > 1 else 'leads'} to BGP neighbours"
        fate = "groups of next hops of which one is not listed are chosen from by hash: adaptive routing does nothing"
        table = bindings.config.adaptive_routing.table
        yield finding("ars-incomplete", (table,), None, bound, fate, "list all next hops")


def servers(bindings: Bindings) -> Iterator[SonicFinding]:
    """Servers of time, logs and accounts are other computers than the switch."""
    config = bindings.config
    own = {str(one.ip) for every in (*config.addresses.values(), *config.loopbacks.values()) for one in every}
    own |= {key.partition("|")[2].partition("/")[0] for key in entries(config, "MGMT_INTERFACE")}
    for table in _SERVERS:
        for key in entries(config, table):
            if key in own:
                bound, fate = "an address of the switch itself", "the switch asks itself, and gets no answer"
                yield finding("server-is-self", (table, key), key, bound, fate, "write the server's")


def traps(bindings: Bindings) -> Iterator[SonicFinding]:
    """The CPU gets the packets of the protocols by which the switch works."""
    groups = entries(bindings.config, "COPP_GROUP")
    for key, fields in entries(bindings.config, "COPP_TRAP").items():
        group = _text(fields.get("trap_group"))
        ids = fields.get("trap_ids")
        words = [word.strip() for word in (ids.split(",") if isinstance(ids, str) else ids or ())]
        needed = [word for word in words if word in _NEEDED]
        if needed and _text(groups.get(group, {}).get("trap_action")) == "drop":
            bound = f"the action for {listed(needed)} of COPP_TRAP|{key}"
            fate = listed(list(dict.fromkeys(_NEEDED[word] for word in needed)))
            path = ("COPP_GROUP", group, "trap_action")
            yield finding("trap-drops", path, "drop", bound, fate, "write trap")


def profiles_of_others(bindings: Bindings) -> Iterator[SonicFinding]:
    """A profile that is named for a speed and a cable, as buffermgrd names them, is bound to such ports."""
    config = bindings.config
    for port, groups in bindings.groups.items():
        speed, metres = config.ports[port].speed_mbps if port in config.ports else None, config.cable_metres.get(port)
        names = {one.profile: one.key for one in groups.values() if one.profile is not None}
        for name, key in names.items():
            match = _COMPUTED.fullmatch(name)
            if match is None or speed is None:
                continue
            own = f"pg_lossless_{speed}_{match[2] if metres is None else metres}m_profile"
            if own != name and own in config.profiles:
                bound = f"named for {match[1]} Mbps and {match[2]} m of cable, but there is {own}, named for {port}"
                fate = "its headroom and thresholds were computed for another link"
                path = ("BUFFER_PG", key, "profile")
                yield finding("profile-of-other-port", path, name, bound, fate, "bind the port's own profile", (port,))


def _text(value: FieldValue | None) -> str:
    return value.strip() if isinstance(value, str) else ""
