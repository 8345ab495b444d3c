"""What a config_db.json has that acts on traffic in the switch, and not in a lab: the one list of it.

An import, `sonic check`, `check` and `validate` tell it, and no verdict that hangs on it is a pass
(`fabriclab/validation/not_judged.py`). What only stands in the file is not in it: a route-map that nothing names, an
ACL without ports. `left_out` has everything else that a lab does not have, with the reasons of this list.
"""

from __future__ import annotations

from typing import NamedTuple

from fabriclab.lab.network.own_configuration import Touches


class Acting(NamedTuple):
    """What a table or a field acts on, and what a lab has instead."""

    touches: Touches
    why: str


_NO_FILTER = "no port has it, it copies packets or guards the switch's CPU, or it is not emulated"
_UNBOUND = "no session and no network of a lab names it, or what names it is not emulated"
_POLICY = Acting("routes", "a lab's routes follow from its topology and `routing`, whatever a policy permits")
_SESSION = Acting("routes", "a lab's sessions have neighbours, AS numbers, timers and BFD, and nothing else")
_ROUTES = Acting("routes", "a lab has the routes of its topology, in the default VRF")
_TUNNEL = Acting("routes", "there are no tunnels in a lab")
_FILTER = Acting("packets", "packets are not filtered")
_REWRITE = Acting("packets", "addresses are not translated")
_HASH = Acting("paths", "next hops and members are chosen by a hash of the five-tuple, or as ARS says")
_NO_TAGS = Acting("classes", "frames in a lab have no VLAN tag, so no 802.1p priority")
_MARKING = Acting("classes", "the switch port rewrites the DSCP of trimmed packets only")
_FORWARDING_CLASSES = Acting("classes", "forwarding classes are not emulated")
_PORT_LIMIT = Acting("memory", "the switch port has no limit for a whole port, only for its queues and groups")
_POLICING = Acting("rates", "traffic is not policed")
_VPN = Acting("routes", "routes of VPNs are not calculated, and a lab has them if an interface is in a VRF")
_SPEAKERS = Acting("routes", "a lab has the sessions of BGP_NEIGHBOR only")

TABLES: dict[str, Acting] = {
    **dict.fromkeys(("BGP_AGGREGATE_ADDRESS", "BGP_ALLOWED_PREFIXES", "BGP_GLOBALS_AF_AGGREGATE_ADDR"), _POLICY),
    "PREFIX_LIST": _POLICY,
    **dict.fromkeys(("BGP_PEER_RANGE", "BGP_GLOBALS_LISTEN_PREFIX", "BGP_SENTINELS"), _SPEAKERS),
    **dict.fromkeys(("BGP_INTERNAL_NEIGHBOR", "BGP_VOQ_CHASSIS_NEIGHBOR"), _SPEAKERS),
    **dict.fromkeys(("OSPFV2_ROUTER", "OSPFV2_INTERFACE", "VLAN_SUB_INTERFACE", "SAG", "VNET_ROUTE"), _ROUTES),
    **dict.fromkeys(("MCLAG_DOMAIN", "MCLAG_INTERFACE", "MUX_CABLE", "EVPN_ETHERNET_SEGMENT"), _ROUTES),
    **dict.fromkeys(("VXLAN_TUNNEL_MAP", "VXLAN_EVPN_NVO", "NVGRE_TUNNEL_MAP", "VNET_ROUTE_TUNNEL", "TUNNEL"), _TUNNEL),
    "SRV6_MY_SIDS": Acting(
        "routes", "routes over SRv6 are not calculated, and a lab has them if an interface is in a VRF"
    ),
    "SUBNET_DECAP": _TUNNEL,
    **dict.fromkeys(("STATIC_NAT", "STATIC_NAPT", "NAT_BINDINGS"), _REWRITE),
    **dict.fromkeys(("DASH_ENI", "DASH_ROUTE_TABLE", "DASH_VNET_MAPPING_TABLE"), _TUNNEL),
    "DASH_QOS": _POLICING,
    "NEIGH": Acting("packets", "the neighbours of a lab have addresses of their own, which are learned"),
    **dict.fromkeys(("DASH_ACL_IN", "DASH_ACL_OUT", "POLICY_BINDING_TABLE"), _FILTER),
    **dict.fromkeys(("STP", "STP_VLAN", "STP_PORT"), Acting("packets", "spanning tree is not emulated")),
    **dict.fromkeys(("FG_NHG", "PBH_RULE"), _HASH),
    **dict.fromkeys(("PORT_STORM_CONTROL", "STORM_CONTROL"), _POLICING),
}
"""Tables of which each entry acts."""
_POLICY_FIELDS = (
    *("route_map_in", "route_map_out", "prefix_list_in", "prefix_list_out", "filter_list_in", "filter_list_out"),
    *("default_rmap", "unsuppress_map_name", "send_default_route", "max_prefix_limit", "weight", "as_override"),
    *("remove_private_as_enabled", "replace_private_as", "unchanged_as_path", "unchanged_med", "unchanged_nexthop"),
    *("allow_as_in", "allow_as_origin", "tx_add_paths"),
)
_SESSION_FIELDS = (
    *("auth_password", "ttl_security_hops", "local_asn", "local_as_no_prepend", "local_as_replace_as", "peer_port"),
    *("passive_mode", "strict_capability_match", "override_capability", "dont_negotiate_capability"),
)
_NEIGHBOURS = ("BGP_NEIGHBOR", "BGP_PEER_GROUP", "BGP_NEIGHBOR_AF", "BGP_PEER_GROUP_AF")
_INTERFACES = ("INTERFACE", "VLAN_INTERFACE", "PORTCHANNEL_INTERFACE", "LOOPBACK_INTERFACE")
FIELDS: dict[tuple[str, str], Acting] = {
    **{(table, name): _POLICY for table in _NEIGHBOURS for name in _POLICY_FIELDS},
    **{(table, name): _SESSION for table in _NEIGHBOURS[:2] for name in _SESSION_FIELDS},
    ("BGP_GLOBALS_AF_NETWORK", "policy"): _POLICY,
    ("ROUTE_REDISTRIBUTE", "route_map"): _POLICY,
    **{("BGP_GLOBALS_AF", name): _VPN for name in ("import_vpn", "export_vpn")},
    **{("BGP_GLOBALS_AF", name): _POLICY for name in ("import_vrf", "import_vrf_route_map", "route_download_filter")},
    **{("BGP_GLOBALS", name): _POLICY for name in ("graceful_shutdown", "max_med_admin", "ignore_as_path_length")},
    **{("BGP_GLOBALS", name): _POLICY for name in ("default_shutdown", "confed_id", "rr_cluster_id")},
    ("DEVICE_METADATA", "docker_routing_config_mode"): Acting(
        "routes", "FRR's own files in the switch's /etc/frr configure routing, and they are not given"
    ),
    ("DEVICE_METADATA", "sub_role"): Acting(
        "routes", "one ASIC of several in a switch; a lab's switch has one, and links between ASICs are left out"
    ),
    ("BGP_DEVICE_GLOBAL", "tsa_enabled"): Acting("routes", "the switch withdraws its routes, and a lab's does not"),
    ("BGP_DEVICE_GLOBAL", "idf_isolation_state"): _POLICY,
    ("BGP_DEVICE_GLOBAL", "wcmp_enabled"): Acting("paths", "all next hops of a route have the same weight"),
    ("BGP_BBR", "status"): _POLICY,
    **{
        (table, "vrf_name"): Acting("routes", "VRF has no such name, so the switch waits for it")
        for table in _INTERFACES
    },
    **{(table, "vnet_name"): Acting("routes", "a lab has the default VRF only") for table in _INTERFACES},
    ("PORT_QOS_MAP", "dot1p_to_tc_map"): _NO_TAGS,
    ("PORT_QOS_MAP", "tc_to_dscp_map"): _MARKING,
    ("PORT_QOS_MAP", "dscp_to_fc_map"): _FORWARDING_CLASSES,
    ("PORT_QOS_MAP", "exp_to_fc_map"): _FORWARDING_CLASSES,
    ("PORT_QOS_MAP", "scheduler"): Acting("rates", "queues have schedulers, a port has its line rate"),
    ("PORT", "macsec"): Acting("packets", "MACsec is not emulated"),
    ("PORT", "pfc_asym"): Acting("memory", "PFC is the same both ways"),
    ("PORTCHANNEL", "min_links"): Acting("paths", "a port channel of a lab is up while one of its members is"),
}
"""Fields that act; what they say then is a name or a number, or that they are on."""
OFF = frozenset(("", "0", "false", "False", "off", "none", "disabled", "unisolated", "default", "separated", "unified"))
"""What a field says that does nothing; of docker_routing_config_mode, that FRR's files are made of CONFIG_DB
(sonic-buildimage, dockers/docker-fpm-frr/docker_init.sh)."""
LEAST = {("PORTCHANNEL", "min_links"): 2}
"""The least number with which a field acts."""
SECRET = "auth_password"
"""A field whose value is not shown."""
HASH = _HASH
"""Of fields of SWITCH_HASH that Linux has not."""
FILTER = _FILTER
"""Of an ACL that is bound to ports and has a rule that does more than forward."""
PORT_LIMIT = _PORT_LIMIT
"""Of a port's profile that is a limit."""
INACTIVE = Acting("routes", "a lab's neighbours exchange routes")
"""Of a neighbour without them."""
WHY = {
    **{table: acting.why for table, acting in TABLES.items()},
    **dict.fromkeys(("ROUTE_MAP", "ROUTE_MAP_SET", "PREFIX_SET", "PREFIX"), _UNBOUND),
    **dict.fromkeys(("COMMUNITY_SET", "EXTENDED_COMMUNITY_SET", "AS_PATH_SET"), _UNBOUND),
    **dict.fromkeys(("BGP_MONITORS", "BGP_BBR", "BGP_DEVICE_GLOBAL"), _POLICY.why),
    **dict.fromkeys(("ACL_TABLE", "ACL_RULE"), _NO_FILTER),
    **dict.fromkeys(("NAT_POOL", "NAT_GLOBAL"), _REWRITE.why),
    **dict.fromkeys(("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"), _PORT_LIMIT.why),
    **dict.fromkeys(("DOT1P_TO_TC_MAP", "TC_TO_DOT1P_MAP"), _NO_TAGS.why),
    **dict.fromkeys(("DSCP_TO_FC_MAP", "EXP_TO_FC_MAP"), _FORWARDING_CLASSES.why),
    "TC_TO_DSCP_MAP": _MARKING.why,
    "POLICER": _POLICING.why,
}
"""Of whole tables, bound or not."""
