"""What a config_db.json holds and a lab does not have: told table by table, with the reason.

`acting` has the reasons of what acts on traffic.
"""

from __future__ import annotations

from collections.abc import Collection

from fabriclab.vendors.sonic.read import acl_tables, ars_tables, hash_tables, policy_tables
from fabriclab.vendors.sonic.read.acting import FIELDS, WHY
from fabriclab.vendors.sonic.read.config_db import LeftOut
from fabriclab.vendors.sonic.read.entries import Tables, printable

READ = (
    *("DEVICE_METADATA", "PORT", "INTERFACE", "LOOPBACK_INTERFACE", "VLAN", "VLAN_MEMBER", "VLAN_INTERFACE", "VRF"),
    *(
        "PORTCHANNEL",
        "PORTCHANNEL_MEMBER",
        "PORTCHANNEL_INTERFACE",
        "DEVICE_NEIGHBOR",
        "DEVICE_NEIGHBOR_METADATA",
        "CABLE_LENGTH",
    ),
    *(
        "BGP_NEIGHBOR",
        "BGP_GLOBALS",
        "BGP_GLOBALS_AF",
        "BGP_GLOBALS_AF_NETWORK",
        "ROUTE_REDISTRIBUTE",
        "BGP_PEER_GROUP",
        "STATIC_ROUTE",
    ),
    *("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "DEFAULT_LOSSLESS_BUFFER_PARAMETER"),
    *("QUEUE", "SCHEDULER", "WRED_PROFILE", "PORT_QOS_MAP", "PFC_WD", "SWITCH_TRIMMING"),
    *(
        "DSCP_TO_TC_MAP",
        "TC_TO_QUEUE_MAP",
        "TC_TO_PRIORITY_GROUP_MAP",
        "MAP_PFC_PRIORITY_TO_QUEUE",
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    ),
    *ars_tables.TABLES,
    *("BGP_NEIGHBOR_AF", "BGP_PEER_GROUP_AF"),
    *policy_tables.TABLES,
    *acl_tables.TABLES,
    hash_tables.TABLE,
)
"""The tables that are read."""

NOT_EMULATED = "not emulated"
_ROUTING = "a lab's routes follow from its topology and `routing`"
_THRESHOLDS = ("min_threshold", "max_threshold", "drop_probability")
_PORT_CHANNELS = "the members of a port channel are chosen by hash in any mode"
_PRESENT_LOAD = "the quality of a port is what it has to send when a packet comes; nothing is sampled or averaged"
_NO_ALTERNATIVE = "all next hops of a route have the same cost; none is an alternative"
_WHY = {
    **WHY,
    "ARS_PORTCHANNEL": _PORT_CHANNELS,
    "ARS_PORTCHANNELS": _PORT_CHANNELS,
    "ARS_INTERFACES": "SONiC's YANG model calls the table ARS_INTERFACE",
    "ARS_NEXTHOPS": "SONiC's YANG model calls the table ARS_NEXTHOP",
    "LOSSLESS_TRAFFIC_PATTERN": "the headroom is taken from the profiles, or computed for full frames",
    "MPLS_TO_TC_MAP": "there is no MPLS in a lab",
    "SFLOW": "telemetry is the sampler's",
    "FLEX_COUNTER_TABLE": "telemetry is the sampler's",
    "CRM": "tables of the chip are not emulated",
    "VERSIONS": "the switch's software",
    "FEATURE": "the switch's software",
    "LOGGER": "the switch's software",
}
NAMED = frozenset(_WHY)
"""Tables that are left out for a reason of their own."""
MANAGEMENT = (
    "MGMT_",
    "NTP",
    "SNMP",
    "SYSLOG",
    "TACPLUS",
    "RADIUS",
    "LDAP",
    "AAA",
    "SSH",
    "AUTO_TECHSUPPORT",
    "DNS",
    "BANNER",
    "KDUMP",
    "TELEMETRY",
)
_IPV4 = "a lab made from SONiC's files has only IPv4"
_INTERFACES = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE")
_LOOPS = "packets that leave by the port that they came by are forwarded"
_COLOURS = "all frames of a lab are green"
_FIELDS = {
    **{where: one.why for where, one in FIELDS.items()},
    **{(table, "ipv6_use_link_local_only"): _IPV4 for table in _INTERFACES},
    **{(table, "mac_addr"): "a lab's ports have addresses of their own" for table in _INTERFACES},
    **{(table, "loopback_action"): _LOOPS for table in _INTERFACES},
    **{(table, "mpls"): "there is no MPLS in a lab" for table in _INTERFACES},
    **{(table, "nat_zone"): WHY["STATIC_NAT"] for table in (*_INTERFACES, "LOOPBACK_INTERFACE")},
    ("LOOPBACK_INTERFACE", "admin_status"): "a loopback of a lab is up",
    ("BGP_GLOBALS_AF_NETWORK", "backdoor"): _ROUTING,
    ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "over_subscribe_ratio"): "the pool says how much headroom is shared",
    ("SCHEDULER", "priority"): "strict queues are served by their numbers, the higher one first",
    ("BUFFER_POOL", "percentage"): "a pool's size has to be written in bytes",
    ("PFC_WD", "POLL_INTERVAL"): "the lab's watchdog is exact and does not poll",
    **{
        ("ARS_PROFILE", name): _PRESENT_LOAD
        for name in (
            "algorithm",
            "sampling_interval",
            *(f"{when}_load_{what}" for when in ("past", "future") for what in ("min_value", "max_value", "weight")),
        )
    },
    ("ARS_PROFILE", "ars_lag_path_selector_mode"): _PORT_CHANNELS,
    ("ARS_PROFILE", "max_flows"): "the table of flowlets has the max_flows of the ARS_OBJECT",
    ("ARS_PROFILE", "ipv6_enable"): _IPV4,
    ("ARS_INTERFACE", "scaling_factor"): "loads are compared in bytes, whatever the ports' speeds",
    ("ARS_OBJECT", "primary_path_threshold"): _NO_ALTERNATIVE,
    ("ARS_OBJECT", "alternative_path_cost"): _NO_ALTERNATIVE,
    ("ARS_NEXTHOP", "role"): _NO_ALTERNATIVE,
    **{("WRED_PROFILE", f"{colour}_{name}"): _COLOURS for colour in ("yellow", "red") for name in _THRESHOLDS},
    **{("WRED_PROFILE", f"wred_{colour}_enable"): _COLOURS for colour in ("yellow", "red")},
}
_FIELDS_OF = {
    "DEVICE_METADATA": "management of the switch",
    "DEVICE_NEIGHBOR": "management of the neighbour",
    "DEVICE_NEIGHBOR_METADATA": "management of the neighbour",
    "PORT": "settings of the front panel, the transceiver, or the chip",
    "BGP_NEIGHBOR": _ROUTING,
    "BGP_PEER_GROUP": _ROUTING,
    "BGP_NEIGHBOR_AF": _ROUTING,
    "BGP_PEER_GROUP_AF": _ROUTING,
    "BGP_GLOBALS": _ROUTING,
    "BGP_GLOBALS_AF": _ROUTING,
    "VLAN": "a VLAN of a lab has members and an address",
    "VLAN_INTERFACE": "a VLAN of a lab has members and an address",
    "PORTCHANNEL": "a lab's port channels are static: LACP is not emulated",
    "PFC_WD": "telemetry is the sampler's",
    "SWITCH_HASH": "the hash is Linux's",
}
"""Why any other field of a table is left out."""


def left_out(tables: Tables, acting: Collection[str] = ()) -> tuple[LeftOut, ...]:
    """Return what was not read: whole tables, and fields, those of a table that are left out
    for one reason together. `acting`: tables of policies and filters of which something acts."""
    unused = {*policy_tables.TABLES, *acl_tables.TABLES} - set(acting)
    whole = [
        LeftOut(printable(table), tables.count(table), _why(table))
        for table in tables.names()
        if table not in READ or table in unused
    ]
    partly: dict[tuple[str, str], dict[str, int]] = {}
    for (table, name), count in tables.unasked().items():
        partly.setdefault((table, _why_field(table, name)), {})[name] = count
    fields = [
        LeftOut(f"{table}: {', '.join(map(printable, names))}", max(names.values()), why)
        for (table, why), names in partly.items()
    ]
    return (*whole, *fields)


def _why_field(table: str, name: str) -> str:
    return _FIELDS.get((table, name)) or _FIELDS_OF.get(table) or NOT_EMULATED


def _why(table: str) -> str:
    if table.startswith(MANAGEMENT):
        return "management of the switch"
    return _WHY.get(table, NOT_EMULATED)
