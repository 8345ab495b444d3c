"""What each table of SONiC's YANG models does to traffic, and what becomes of it here.

`docs/sonic-tables.md` is made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from fabriclab.vendors.sonic.read.acting import TABLES
from fabriclab.vendors.sonic.read.known_tables import OF_MODELS

Effect = Literal["acts", "judged", "told", "none"]
"""`acts`: the table acts in a lab. `judged`: rules of `sonic check` ask it, and a lab does not have it. `told`: it acts
in the switch and not in a lab, which is told as `not judged`. `none`: it changes no packet of hosts, neither its path
nor its queue."""


class TableEffect(NamedTuple):
    """What a table does."""

    table: str
    effect: Effect
    what: str
    """What it is in a lab, or why it has no effect or none in a lab."""


_ACTS = {
    "ACL_RULE": "rules of filters, as classifiers of tc",
    "ACL_TABLE": "filters of ports, port channels and VLANs",
    "AS_PATH_SET": "`bgp as-path access-list`",
    "BGP_GLOBALS": "AS number, router id; frrcfgd's style of configuration",
    "BGP_GLOBALS_AF": "multipath, redistribution",
    "BGP_GLOBALS_AF_NETWORK": "announced networks with their policies",
    "BGP_NEIGHBOR": "sessions over ports and port channels",
    "BGP_NEIGHBOR_AF": "policies of sessions",
    "BGP_PEER_GROUP": "what sessions have in common",
    "BGP_PEER_GROUP_AF": "policies of groups of sessions",
    "BUFFER_PG": "priority groups of ports",
    "BUFFER_POOL": "pools of memory, shared headroom",
    "BUFFER_PROFILE": "reserved memory, thresholds, headroom",
    "BUFFER_QUEUE": "limits of queues",
    "CABLE_LENGTH": "propagation delay, headroom",
    "COMMUNITY_SET": "`bgp community-list`",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": "the threshold of computed profiles, oversubscription of headroom",
    "DEVICE_METADATA": "hostname, AS number, hwsku (the chip), the hash's seed, style of configuration",
    "DEVICE_NEIGHBOR": "cables",
    "DEVICE_NEIGHBOR_METADATA": "whether a neighbour is a switch or a server",
    "DSCP_TO_TC_MAP": "classes of packets",
    "EXTENDED_COMMUNITY_SET": "`bgp extcommunity-list`",
    "INTERFACE": "addresses of ports",
    "LOOPBACK_INTERFACE": "addresses of loopbacks",
    "LOSSLESS_TRAFFIC_PATTERN": "headroom of the dynamic buffer model",
    "MAP_PFC_PRIORITY_TO_QUEUE": "queues that pause frames stop",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": "groups whose pause frames have which priority",
    "PFC_WD": "the watchdog of lossless queues",
    "PORT": "rate, MTU, state; FEC, lanes and autonegotiation are judged",
    "PORTCHANNEL": "bonds, without LACP",
    "PORTCHANNEL_INTERFACE": "addresses of port channels",
    "PORTCHANNEL_MEMBER": "members of bonds",
    "PORT_QOS_MAP": "maps and PFC of ports",
    "PREFIX": "`ip prefix-list`: its entries",
    "PREFIX_SET": "`ip prefix-list`",
    "QUEUE": "scheduler and WRED of queues",
    "ROUTE_MAP": "`route-map`: its entries",
    "ROUTE_MAP_SET": "`route-map`",
    "ROUTE_REDISTRIBUTE": "announced networks, with policies",
    "SCHEDULER": "strict or weighted service, committed and peak rates",
    "STATIC_ROUTE": "routes of the kernel, with distances and blackholes",
    "SWITCH_HASH": "fields of the ECMP hash",
    "SWITCH_TRIMMING": "trimmed packets instead of drops",
    "TC_TO_PRIORITY_GROUP_MAP": "priority groups of classes",
    "TC_TO_QUEUE_MAP": "queues of classes",
    "VLAN": "bridges",
    "VLAN_INTERFACE": "addresses of bridges",
    "VLAN_MEMBER": "members of bridges, untagged",
    "VRF": "VRFs of the kernel, each with its router of FRR, in the lab of several files",
    "WRED_PROFILE": "ECN marks and early drops of green frames",
}
_JUDGED = {"BREAKOUT_CFG": "the rule `breakout-mode` compares it with the lanes of PORT"}
_OF_FIELDS = {
    "BGP_BBR": "`status`: routes with the switch's own AS number come in",
    "BGP_DEVICE_GLOBAL": "`tsa_enabled`, `idf_isolation_state`, `wcmp_enabled`",
    "BUFFER_PORT_EGRESS_PROFILE_LIST": "profiles that are a limit: a lab's ports have none as a whole",
    "BUFFER_PORT_INGRESS_PROFILE_LIST": "profiles that are a limit: a lab's ports have none as a whole",
    "DOT1P_TO_TC_MAP": "through PORT_QOS_MAP `dot1p_to_tc_map`: frames in a lab have no VLAN tag",
    "DSCP_TO_FC_MAP": "through PORT_QOS_MAP `dscp_to_fc_map`: forwarding classes are not emulated",
    "EXP_TO_FC_MAP": "through PORT_QOS_MAP `exp_to_fc_map`: forwarding classes are not emulated",
    "TC_TO_DSCP_MAP": "through PORT_QOS_MAP `tc_to_dscp_map`: only trimmed packets get another DSCP",
    "MACSEC_PROFILE": "through PORT `macsec`: MACsec is not emulated",
    "VNET": "through `vnet_name` of interfaces: a lab has the default VRF only",
}
"""Tables that act through a field which is told, of their own or of another table."""
_WITH = {
    "DASH_ACL_GROUP": "DASH_ACL_IN",
    "DASH_ACL_RULE": "DASH_ACL_IN",
    "DASH_APPLIANCE": "DASH_ENI",
    "DASH_HA_GLOBAL_CONFIG": "DASH_ENI",
    "DASH_ROUTING_TYPE": "DASH_ROUTE_TABLE",
    "DASH_VNET": "DASH_ENI",
    "FG_NHG_MEMBER": "FG_NHG",
    "FG_NHG_PREFIX": "FG_NHG",
    "MCLAG_UNIQUE_IP": "MCLAG_DOMAIN",
    "MUX_LINKMGR": "MUX_CABLE",
    "NAT_GLOBAL": "NAT_BINDINGS",
    "NAT_POOL": "NAT_BINDINGS",
    "NVGRE_TUNNEL": "NVGRE_TUNNEL_MAP",
    "PBH_HASH": "PBH_RULE",
    "PBH_HASH_FIELD": "PBH_RULE",
    "PBH_TABLE": "PBH_RULE",
    "PEER_SWITCH": "MUX_CABLE",
    "POLICER": "PORT_STORM_CONTROL",
    "SRV6_MY_LOCATORS": "SRV6_MY_SIDS",
    "STP_MST": "STP",
    "STP_MST_INST": "STP",
    "STP_MST_PORT": "STP",
    "STP_VLAN_PORT": "STP",
    "VXLAN_TUNNEL": "VXLAN_TUNNEL_MAP",
}
"""Tables that do nothing without another one, which is told."""
_NONE: dict[str, tuple[str, ...]] = {
    "management of the switch": (
        *("AAA", "AUTO_TECHSUPPORT", "AUTO_TECHSUPPORT_FEATURE", "BANNER_MESSAGE", "CONSOLE_PORT", "CONSOLE_SWITCH"),
        *("DNS_NAMESERVER", "DNS_OPTIONS", "FIPS", "GNMI", "GNMI_CLIENT_CERT", "KDUMP", "LDAP", "LDAP_SERVER"),
        *("MGMT_INTERFACE", "MGMT_PORT", "MGMT_VRF_CONFIG", "NTP", "NTP_KEY", "NTP_SERVER", "PASSW_HARDENING"),
        *("RADIUS", "RADIUS_SERVER", "RESTAPI", "SERIAL_CONSOLE", "SNMP", "SNMP_COMMUNITY", "SSH_SERVER"),
        *("SYSLOG_CONFIG", "SYSLOG_SERVER", "TACPLUS", "TACPLUS_SERVER", "ZTP"),
    ),
    "the switch's software and its logs": (
        *("EVENT", "EVENT_STATS", "FEATURE", "HEARTBEAT", "KUBERNETES_MASTER", "LOGGER", "MEMORY_STATISTICS"),
        *("STORMOND_CONFIG", "SYSTEM_DEFAULTS", "VERSIONS", "XCVRD_LOG"),
    ),
    "restarts and upgrades": ("WARM_RESTART",),
    "sensors, cooling and alarms": (
        *("ALARM", "ALARM_STATS", "ASIC_SENSORS", "LEAK_CONTROL_POLICY", "LEAK_PROFILE"),
        "SUPPRESS_ASIC_SDK_HEALTH_EVENT",
    ),
    "counters and telemetry": (
        *("BMP", "CRM", "DEBUG_COUNTER", "DEBUG_COUNTER_DROP_REASON", "DEBUG_DROP_MONITOR", "FLEX_COUNTER_TABLE"),
        *("FLOW_COUNTER_ROUTE_PATTERN", "HIGH_FREQUENCY_TELEMETRY_GROUP", "HIGH_FREQUENCY_TELEMETRY_PROFILE"),
        *("TELEMETRY", "TELEMETRY_CLIENT"),
    ),
    "sessions to a monitor, which only export routes": ("BGP_MONITORS",),
    "sampled packets go to a collector, and stay as they are": ("SFLOW", "SFLOW_COLLECTOR", "SFLOW_SESSION"),
    "copies of packets go to a monitor, through a rule that mirrors; a lab has no copies": ("MIRROR_SESSION",),
    "guards the switch's own CPU": ("COPP_GROUP", "COPP_TRAP"),
    "types of ACL_TABLE: the fields of its rules are read there": ("ACL_TABLE_TYPE",),
    "neighbours are learned; a lab finds cables otherwise": ("LLDP", "LLDP_PORT"),
    "hosts of a lab have addresses already": (
        *("DHCPV4_RELAY", "DHCP_RELAY", "DHCP_SERVER", "DHCP_SERVER_IPV4", "DHCP_SERVER_IPV4_CUSTOMIZED_OPTIONS"),
        *("DHCP_SERVER_IPV4_PORT", "DHCP_SERVER_IPV4_RANGE"),
    ),
    "how quickly a port comes up": ("SWITCH_FAST_LINKUP",),
    "the inside of a chassis or of a switch with DPUs, which a lab does not have": (
        *("CHASSIS_MODULE", "DPU", "DPUS", "FABRIC_MONITOR", "FABRIC_PORT", "MID_PLANE_BRIDGE", "REMOTE_DPU"),
        *("SYSTEM_PORT", "VDPU", "VOQ_INBAND_INTERFACE"),
    ),
    "the management connection of dual ToR": ("GRPCCLIENT",),
    "addresses of a lab's hosts do not move": ("MAC_MOVE_GUARD",),
    "there is no MPLS in a lab made from SONiC's files": ("MPLS_TC_TO_TC_MAP",),
}


def table_effects() -> tuple[TableEffect, ...]:
    """Return what each table of the models does, by name; a table of which nothing is known is missing."""
    return tuple(sorted(_all(), key=lambda one: one.table))


def _all() -> Iterator[TableEffect]:
    yield from (TableEffect(table, "acts", what) for table, what in _ACTS.items())
    yield from (TableEffect(table, "judged", what) for table, what in _JUDGED.items())
    yield from (TableEffect(table, "told", TABLES[table].why) for table in sorted(OF_MODELS & TABLES.keys()))
    yield from (TableEffect(table, "told", what) for table, what in _OF_FIELDS.items())
    yield from (TableEffect(table, "told", f"with {other}: {TABLES[other].why}") for table, other in _WITH.items())
    yield from (TableEffect(table, "none", what) for what, tables in _NONE.items() for table in tables)
