"""The rules by which a config_db.json is judged.

Each is named in kebab-case, for `--rules`, `--ignore`, and whoever reads a report.
"""

from __future__ import annotations

from typing import NamedTuple

from fabriclab.formats.finding import Severity
from fabriclab.vendors.sonic.judge.findings import SonicFinding

_YANG = "sonic-yang-models"
_SAI = "SAI, saiwred.h"
_THRESHOLD = "Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998"
_HEADROOM = "IEEE 802.1Qbb; sonic-swss, buffer_headroom_mellanox.lua"
_PFC = "IEEE 802.1Qbb; sonic-buildimage, qos_config.j2"


class Rule(NamedTuple):
    """A rule: the severity of what it finds at worst, what it asks for, and where that is from."""

    name: str
    severity: Severity
    asks: str
    source: str


_OF_TABLES = (
    Rule("malformed", "error", "the YANG models allow the values, ranges, references and keys", _YANG),
    Rule("yang", "error", "the YANG models of --yang-dir accept the file", _YANG),
    Rule("old-reference", "warning", "references are names, without [TABLE|...] around them", f"{_YANG}: leafref"),
    Rule("port-list-key", "warning", "a key names one port", f"{_YANG}; doc/Configuration.md differs"),
    Rule(
        "range-overlap",
        "error",
        "no two keys of a port contain the same queue or priority group",
        "sonic-swss, bufferorch, qosorch",
    ),
    Rule(
        "blank-in-key", "warning", "an address in a key ends with its prefix length", "sonic-swss-common, ipprefix.cpp"
    ),
    Rule("unknown-table", "error", "the file has tables of CONFIG_DB only", _YANG),
    Rule(
        "silent-tables",
        "warning",
        "the tables of BGP are those of the daemon that runs: frrcfgd's need frr_mgmt_framework_config",
        "sonic-buildimage, dockers/docker-fpm-frr/docker_init.sh",
    ),
    Rule("unknown-field", "note", "fabriclab knows every field of a table that it reads", _YANG),
    Rule("two-thresholds", "error", "a profile has static_th or dynamic_th, not both", "sonic-swss, bufferorch"),
    Rule("no-threshold", "warning", "a profile has static_th or dynamic_th", "sonic-swss, bufferorch"),
    Rule("pool-direction", "error", "groups take from ingress pools, queues from egress pools", "SAI, saibuffer.h"),
    Rule(
        "pool-percentage",
        "error",
        "a percentage needs buffer_model dynamic, and excludes a size",
        f"{_YANG}, sonic-buffer-pool",
    ),
    Rule("ecn-without-wred", "error", "a profile with ecn has wred_green_enable", "sonic-buildimage#4545"),
    Rule("ecn-without-green", "warning", "ECN is on for green, the colour of all frames that no meter coloured", _SAI),
    Rule("wred-inverted", "error", "the minimum threshold is not above the maximum", "sonic-swss#579"),
    Rule("wred-without-threshold", "error", "WRED that is enabled has both thresholds", _SAI),
    Rule("wred-without-probability", "error", "WRED that is enabled has a probability", _SAI),
    Rule(
        "rate-unit",
        "warning",
        "cir and pir are in bytes per second, and not above the line rate",
        f"{_YANG}, sonic-scheduler",
    ),
    Rule(
        "rates-inconsistent",
        "error",
        "pir needs a cir that is not larger, and each burst needs its rate",
        f"{_YANG}, sonic-scheduler: must",
    ),
    Rule(
        "watchdog-faster-than-poll",
        "error",
        "detection and restoration times are at least a poll interval",
        f"{_YANG}, sonic-pfcwd: must",
    ),
)
_OF_PORTS = (
    Rule("port-lanes", "error", "a port has lanes of the chip, which no other port has", "sonic-swss, portsorch"),
    Rule(
        "breakout-mode",
        "error",
        "PORT has the ports of each breakout mode",
        "sonic-utilities, config interface breakout",
    ),
    Rule("alias-twice", "warning", "an alias belongs to one port", _YANG),
    Rule("speed-unknown", "warning", "a port's speed is an Ethernet speed", "IEEE 802.3"),
    Rule("port-down-in-use", "warning", "ports with an address, a VLAN or a port channel are up", _YANG),
    Rule(
        "channel-without-links",
        "error",
        "a port channel has members, at least min_links of them",
        "sonic-swss, teammgrd",
    ),
    Rule("mtu-differs", "warning", "members of a port channel have the port channel's MTU", "sonic-swss, teammgrd"),
    Rule("member-speed", "warning", "members of a port channel have one speed", "IEEE 802.1AX"),
    Rule("networks-overlap", "error", "each interface has a network of its own", "sonic-swss, intfmgrd"),
    Rule(
        "address-unusable", "warning", "an interface's address is a host address of its network", "RFC 3021, RFC 1122"
    ),
    Rule(
        "interface-without-entry", "error", "an interface with an address also has an entry without an address", _YANG
    ),
    Rule("loopback-prefix", "warning", "a loopback's address is a /32", "sonic-buildimage, bgpcfgd"),
    Rule(
        "loopback-missing",
        "error",
        "Loopback0 has an address if bgpcfgd configures sessions",
        "sonic-buildimage, bgpcfgd",
    ),
    Rule(
        "session-without-network",
        "error",
        "both addresses of a session are in one network",
        "sonic-buildimage, bgpcfgd",
    ),
    Rule("as-number", "error", "a switch with sessions has an AS number, and so do neighbours", "RFC 7607"),
    Rule("hold-time", "warning", "the hold time is at least three times the keepalive time", "RFC 4271, 4.4"),
    Rule("session-shut", "warning", "sessions are not shut down", "sonic-buildimage, bgpcfgd"),
    Rule("neighbour-without-port", "warning", "DEVICE_NEIGHBOR names ports", _YANG),
    Rule("traffic-shifted", "warning", "no switch is left in maintenance", "sonic-bgp-device-global.yang"),
    Rule("hash-without-flows", "error", "the hash looks at what flows differ in", "sonic-hash.yang"),
    Rule("ars-incomplete", "warning", "all next hops of a group have adaptive routing, or none", "sonic-ars.yang"),
    Rule(
        "server-is-self", "warning", "servers are other computers than the switch", "sonic-ntp.yang, sonic-syslog.yang"
    ),
    Rule("trap-drops", "error", "the CPU gets BGP, ARP and LACP", "sonic-swss, copporch"),
    Rule(
        "profile-of-other-port",
        "warning",
        "a profile is bound to ports of its speed and cable",
        "sonic-swss, buffermgrd",
    ),
    Rule(
        "acl-rule-shadowed",
        "warning",
        "no rule of an ACL hides another one with the opposite action",
        "sonic-swss, aclorch",
    ),
    Rule("policy-unseen", "warning", "bgpd gets each field of a ROUTE_MAP", "sonic-buildimage, frrcfgd.py"),
    Rule("class-leads-nowhere", "warning", "each class of a DSCP has a queue and a group", "SAI, saiport.h: 0 without"),
    Rule("wred-below-frame", "error", "WRED's thresholds are in bytes, and at least a frame", _SAI),
    Rule("pool-above-memory", "error", "a pool is not larger than the memory", "SAI, saibuffer.h"),
)
_OF_SWITCH = (
    Rule("one-port-differs", "warning", "a port has the same profiles as all other ports of its speed", "this check"),
    Rule(
        "queue-without-profile",
        "error",
        "a queue to which DSCPs are mapped has a buffer profile",
        "sonic-swss, bufferorch",
    ),
    Rule("wred-drops-lossless", "warning", "WRED of a lossless class marks and does not drop", "sonic-swss#4718"),
    Rule("map-missing", "warning", "a port with queues or PFC has its maps", "SAI, saiport.h: 0 without a map"),
    Rule("pfc-queue-map-missing", "warning", "a port with PFC has a pfc_to_queue_map", _PFC),
    Rule("lossless-group-unused", "error", "a DSCP is mapped to each lossless group", _PFC),
    Rule(
        "pfc-without-watchdog",
        "error",
        "the PFC watchdog watches every PFC priority",
        "sonic-buildimage, PFC watchdog",
    ),
    Rule(
        "cnp-in-lossless-queue", "warning", "congestion notifications have a queue without data", "DCQCN, SIGCOMM 2015"
    ),
    Rule("pfc-without-ecn", "warning", "lossless queues mark before they pause", "DCQCN, SIGCOMM 2015"),
    Rule("trimming-lossless", "error", "packets are trimmed in, and sent by, lossy queues", "sonic-swss, switchorch"),
    Rule("cable-length-missing", "warning", "a port with lossless groups has a cable length", "sonic-swss, buffermgrd"),
    Rule("reserved-above-pool", "error", "reserved sizes and headroom fit into their pool", "SAI, saibuffer.h"),
    Rule(
        "account-below-frame",
        "error",
        "every pool and every limit holds a frame of the port's MTU",
        "switch port of fabriclab's kernel",
    ),
    Rule(
        "pool-below-frames",
        "warning",
        "a pool holds a frame of each port that takes from it",
        "switch port of fabriclab's kernel",
    ),
    Rule("wred-unreachable", "error", "a queue can be as long as the minimum threshold", _THRESHOLD),
    Rule(
        "wred-unreachable-when-busy",
        "warning",
        "a queue can be as long as the minimum threshold even if all ports are busy",
        f"{_THRESHOLD}: alpha B / (1 + alpha N)",
    ),
    Rule("wred-max-unreachable", "warning", "a queue can be as long as the maximum threshold", _THRESHOLD),
    Rule("wred-above-xoff", "error", "marks come before pauses", "Zhu et al., SIGCOMM 2015 (DCQCN): K below xoff"),
    Rule("wred-above-ingress-limit", "warning", "marks come before drops at the ingress limit", _THRESHOLD),
    Rule(
        "starvation",
        "error",
        "no strict queue without a peak rate starves the weighted queues",
        "SAI, saischeduler.h",
    ),
    Rule("cir-above-line", "warning", "the sum of guaranteed rates is at most the line rate", "SAI, saischeduler.h"),
    Rule("pfc-lossy-group", "error", "a PFC priority belongs to a lossless group", _PFC),
    Rule("lossless-without-pfc", "error", "a lossless group has a PFC priority", _PFC),
    Rule("pause-stops-other-queue", "error", "a pause stops the queue that fills the group", _PFC),
    Rule(
        "lossless-queue-drops",
        "error",
        "the queue of a lossless class can hold all frames that its groups accept",
        _PFC,
    ),
    Rule("headroom-below-frame", "error", "headroom holds a frame", _HEADROOM),
    Rule(
        "headroom-below-need",
        "error",
        "headroom holds all full frames that a busy sender sends until the pause takes effect",
        _HEADROOM,
    ),
    Rule(
        "headroom-for-full-frames",
        "warning",
        "headroom is also enough for small frames and with traffic in the other direction",
        _HEADROOM,
    ),
    Rule("shared-headroom-too-small", "error", "headroom that groups share is enough for one of them", _HEADROOM),
    Rule("headroom-oversubscribed", "note", "headroom that groups share is enough for all of them", _HEADROOM),
    Rule(
        "xon-above-limit",
        "error",
        "a group lets its neighbour continue only below the length at which it stopped it",
        "IEEE 802.1Qbb",
    ),
)
_OF_FABRIC = (
    Rule("link-found", "error", "the files of both ends say the same of a cable", "sonic-swss, DEVICE_NEIGHBOR"),
    Rule("link-speed", "error", "both ends of a link have one speed", "IEEE 802.3"),
    Rule("link-fec", "error", "both ends of a link use one FEC", "IEEE 802.3, clauses 74, 91, 108"),
    Rule("link-autoneg", "error", "both ends of a link negotiate its speed, or neither", "IEEE 802.3, clause 73"),
    Rule("link-lanes", "warning", "both ends of a link have as many lanes", "IEEE 802.3"),
    Rule("link-mtu", "error", "both ends of a link have one MTU", "RFC 1191"),
    Rule("link-channel", "error", "members of a port channel lead to those of one other", "IEEE 802.1AX"),
    Rule("link-address", "error", "addresses are unique, and the ends of a link share a network", "RFC 3021"),
    Rule("link-pfc", "error", "both ends of a link pause the same priorities", _PFC),
    Rule("session-as", "error", "a neighbour has the AS number that its own file says", "RFC 4271, 6.2"),
    Rule("session-address", "error", "a neighbour has the address that its own file says", "RFC 4271"),
    Rule("session-one-sided", "error", "both ends have a session, or neither", "RFC 4271"),
    Rule("router-id-twice", "error", "each switch has a router id of its own", "RFC 6286"),
    Rule("class-differs", "error", "a DSCP has one class end to end", _PFC),
    Rule(
        "hash-seeds",
        "warning",
        "switches that choose one after the other hash differently",
        "sonic-buildimage: dockers/docker-orchagent/switch.json.j2",
    ),
    Rule("ecmp-rates", "warning", "next hops of one route have one rate", "RFC 2992"),
    Rule(
        "blackhole-hides-hosts", "error", "no static route drops what hosts of the fabric should get", "RFC 1812, 5.2"
    ),
    Rule("session-missing", "warning", "a link between two switches that speak BGP has a session", "RFC 7938"),
    Rule("bfd-one-sided", "warning", "both ends of a session ask for BFD, or neither", "RFC 5882"),
    Rule("link-one-end-down", "warning", "both ends of a link are up, or both are down", "sonic-port.yang"),
    Rule("link-vrf", "error", "both ends of a link are in a VRF, or neither", "sonic-vrf.yang"),
    Rule("mac-twice", "error", "each switch has a MAC address of its own", "IEEE 802, 8.2"),
    Rule("tier-differs", "warning", "switches of one type and hwsku have the same tables of QoS", "RFC 7938, 3.2"),
    Rule("mclag-peer", "error", "two switches of an MCLAG name each other, and their link", "sonic-mclag.yang"),
    Rule("mclag-members", "error", "both switches of an MCLAG have its port channels, alike", "sonic-mclag.yang"),
    Rule("tor-peer", "error", "two switches of a dual ToR name each other", "sonic-peer-switch.yang"),
    Rule("tor-servers", "error", "both switches of a dual ToR have its servers, alike", "sonic-mux-cable.yang"),
    Rule("vtep-source", "error", "a VTEP has an address of its own that others reach", "RFC 7348; RFC 8365"),
    Rule("vni-differs", "error", "a VNI means one VLAN or VRF on all switches", "RFC 8365, 5.1"),
    Rule("vxlan-mtu", "error", "links between VTEPs carry a host's packet with 50 bytes more", "RFC 7348, 4.3"),
    Rule("evpn-one-sided", "error", "both ends of a session exchange EVPN's routes, or neither", "RFC 4760"),
    Rule("dhcp-servers", "warning", "switches relay a VLAN's requests to the same servers", "sonic-vlan.yang"),
    Rule("storm-control-differs", "warning", "ports of hosts have the same storm control", "sonic-storm-control.yang"),
    Rule(
        "hosts-unreachable", "error", "switches have ways to all networks of hosts that are announced", "RFC 4271, 9.1"
    ),
    Rule(
        "hosts-not-announced", "warning", "the networks of all hosts are announced, with their masks", "RFC 4271, 9.2"
    ),
    Rule("ecmp-narrow", "warning", "a switch uses all of its equally near neighbours", "RFC 2992; RFC 7938, 6"),
    Rule(
        "static-next-hop",
        "error",
        "a static route's next hop is in a network that the switch has a route to",
        "FRR, zebra: nexthop_active",
    ),
    Rule("session-options", "error", "the two ends of a session fit: password, TTL, who calls", "RFC 2385; RFC 5082"),
    Rule("prefix-limit", "error", "fewer prefixes come than max_prefix_limit", "FRR, bgpd: neighbor maximum-prefix"),
    Rule("acl-cuts-off", "error", "no ACL drops all packets between a port's hosts and others", "sonic-swss, aclorch"),
    Rule("port-differs", "warning", "ports of a tier that lead to the same kind of neighbour are alike", "this check"),
    Rule("hostname-twice", "error", "each switch has a hostname of its own", "sonic-device_metadata.yang"),
    Rule("link-cable", "warning", "both ends of a link say one length of the cable", "sonic-cable-length.yang"),
    Rule("link-lacp", "warning", "both ends of a port channel use LACP alike", "IEEE 802.1AX; sonic-portchannel.yang"),
    Rule("remark-changes-class", "error", "a DSCP that is rewritten keeps its class at the next switch", _PFC),
    Rule("evpn-not-told", "error", "a switch with VNIs tells them, and takes those of others", "RFC 8365, 5"),
    Rule("srv6-locator-twice", "error", "each switch has an SRv6 locator of its own", "RFC 8986, 3.1"),
)
RULES: dict[str, Rule] = {rule.name: rule for rule in (*_OF_TABLES, *_OF_PORTS, *_OF_SWITCH, *_OF_FABRIC)}
"""By name, in the order in which a file is judged."""
SWITCH_RULES = frozenset(rule.name for rule in _OF_SWITCH)
"""Rules of the switch as a whole, which ask for tables that are sound."""
FABRIC_RULES = frozenset(rule.name for rule in _OF_FABRIC)
"""Rules of several switches together, which ask for their files."""


def finding(
    rule: str,
    path: tuple[str, ...],
    value: object,
    bound: str,
    consequence: str,
    remedy: str = "",
    ports: tuple[str, ...] = (),
    severity: Severity | None = None,
) -> SonicFinding:
    """Return what a rule found, as severe as the rule is unless it is said."""
    return SonicFinding(
        rule,
        severity or RULES[rule].severity,
        path,
        "" if value is None else str(value),
        bound,
        consequence,
        remedy,
        ports,
    )
