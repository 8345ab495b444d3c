"""BGP of each VRF for FRR: as frrcfgd makes it of its tables (sonic-buildimage, src/sonic-frr-mgmt-framework,
frrcfgd.py: global_key_map, global_af_key_map, cmn_key_map, nbr_af_key_map), or bgpcfgd of BGP_NEIGHBOR.

A failed session is tried again each second, as in any lab; a neighbour's own `conn_retry` stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address

from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.vrf.segments import locator_lines, sid_line
from fabriclab.vendors.sonic.vrf.words import DEFAULT, Row, rows, with_group

RETRY_S = 1
FAMILIES = {
    "ipv4_unicast": "ipv4 unicast",
    "ipv6_unicast": "ipv6 unicast",
    "ipv4_vpn": "ipv4 vpn",
    "ipv6_vpn": "ipv6 vpn",
}
"""Address families by their words in CONFIG_DB and in FRR; EVPN is not among them."""
GLOBALS = {
    "always_compare_med": "bgp always-compare-med",
    "external_compare_router_id": "bgp bestpath compare-routerid",
    "ignore_as_path_length": "bgp bestpath as-path ignore",
    "deterministic_med": "bgp deterministic-med",
    "disable_ebgp_connected_rt_check": "bgp disable-ebgp-connected-route-check",
    "network_import_check": "bgp network import-check",
    "graceful_shutdown": "bgp graceful-shutdown",
    "default_shutdown": "bgp default shutdown",
    "rr_allow_out_policy": "bgp route-reflector allow-outbound-policy",
    "load_balance_mp_relax": "bgp bestpath as-path multipath-relax",
}
"""Fields of BGP_GLOBALS that are on or off."""
GLOBAL_VALUES = {
    "router_id": "bgp router-id {}",
    "rr_cluster_id": "bgp cluster-id {}",
    "default_local_preference": "bgp default local-preference {}",
    "confed_id": "bgp confederation identifier {}",
}
AF_FLAGS = {
    "export_vpn": "export vpn",
    "import_vpn": "import vpn",
    "redistribute_connected": "redistribute connected",
}
AF_VALUES = {
    "rd_vpn_export": "rd vpn export {}",
    "rt_vpn_export": "rt vpn export {}",
    "rt_vpn_import": "rt vpn import {}",
    "rt_vpn_both": "rt vpn both {}",
    "redistribute_static_rmap": "redistribute static route-map {}",
    "rmap_vpn_export": "route-map vpn export {}",
    "rmap_vpn_import": "route-map vpn import {}",
    "max_ebgp_paths": "maximum-paths {}",
    "max_ibgp_paths": "maximum-paths ibgp {}",
    "route_download_filter": "table-map {}",
    "import_vrf": "import vrf {}",
    "import_vrf_route_map": "import vrf route-map {}",
}
NEIGHBOUR_FLAGS = {
    "passive_mode": "passive",
    "capability_ext_nexthop": "capability extended-nexthop",
    "disable_ebgp_connected_route_check": "disable-connected-check",
    "enforce_first_as": "enforce-first-as",
    "solo_peer": "solo",
    "bfd": "bfd",
    "dont_negotiate_capability": "dont-capability-negotiate",
    "override_capability": "override-capability",
    "strict_capability_match": "strict-capability-match",
}
NEIGHBOUR_VALUES = {
    "local_addr": "update-source {}",
    "min_adv_interval": "advertisement-interval {}",
    "ttl_security_hops": "ttl-security hops {}",
    "peer_port": "port {}",
}
NEIGHBOUR_AF_FLAGS = {
    "rrclient": "route-reflector-client",
    "as_override": "as-override",
    "nhself": "next-hop-self",
    "nexthop_self_force": "next-hop-self force",
    "route_server_client": "route-server-client",
}
NEIGHBOUR_AF_VALUES = {
    "route_map_in": "route-map {} in",
    "route_map_out": "route-map {} out",
    "prefix_list_in": "prefix-list {} in",
    "prefix_list_out": "prefix-list {} out",
    "filter_list_in": "filter-list {} in",
    "filter_list_out": "filter-list {} out",
    "unsuppress_map_name": "unsuppress-map {}",
    "weight": "weight {}",
    "max_prefix_limit": "maximum-prefix {}",
}


def router_lines(config: ConfigDb) -> Iterator[str]:
    """Yield the routers of all VRFs, the default one's first: FRR wants it before it leaks routes into another."""
    if config.frrcfgd:
        found = {row.words[0]: row for row in rows(config, "BGP_GLOBALS") if row.word("local_asn")}
    else:
        asn = {} if config.asn is None else {"local_asn": str(config.asn)}
        found = {vrf: Row("BGP_GLOBALS", vrf, (vrf,), asn) for vrf in (DEFAULT, *config.vrfs) if asn}
    for vrf, row in sorted(found.items(), key=lambda one: one[0] != DEFAULT):
        if vrf == DEFAULT or vrf in config.vrfs:
            yield from _Router(config, vrf, row).lines()


class _Router:
    """One router."""

    def __init__(self, config: ConfigDb, vrf: str, row: Row) -> None:
        self._config = config
        self._vrf = vrf
        self._row = row
        self._groups = {one.words: one for one in rows(config, "BGP_PEER_GROUP") if one.words[0] == vrf}
        self._neighbours = [with_group(one, self._groups) for one in rows(config, "BGP_NEIGHBOR") if self._is_own(one)]

    def _is_own(self, row: Row) -> bool:
        if len(row.words) == 1:
            return self._vrf == DEFAULT and not self._config.frrcfgd
        return len(row.words) == 2 and row.words[0] == self._vrf

    def lines(self) -> Iterator[str]:
        """Yield the router's lines."""
        row = self._row
        yield f"router bgp {row.word('local_asn')}" + ("" if self._vrf == DEFAULT else f" vrf {self._vrf}")
        if not row.word("router_id") and self._config.router_id is not None:
            yield f" bgp router-id {self._config.router_id}"
        elif not row.word("router_id") and (own := next(iter(self._config.loopbacks.get("Loopback0", ())), None)):
            yield f" bgp router-id {own.ip}"
        # Without it RFC 8212 keeps a session without policies from carrying any route.
        yield " no bgp ebgp-requires-policy"
        if not row.says("default_ipv4_unicast"):
            yield " no bgp default ipv4-unicast"
        if not self._config.frrcfgd:
            yield " bgp bestpath as-path multipath-relax"
        yield from (f" {words}" for name, words in GLOBALS.items() if row.says(name))
        yield from (f" {words.format(row.word(name))}" for name, words in GLOBAL_VALUES.items() if row.word(name))
        if row.word("keepalive") and row.word("holdtime"):
            yield f" timers bgp {row.word('keepalive')} {row.word('holdtime')}"
        yield from locator_lines(self._config, row)
        yield from sid_line(self._config, row)
        for one in self._neighbours:
            yield from self._neighbour(one)
        for family, words in FAMILIES.items():
            lines = [*self._family(family)]
            if lines:
                yield from (f" address-family {words}", *(f"  {line}" for line in lines), " exit-address-family")
        yield "exit"

    def _neighbour(self, row: Row) -> Iterator[str]:
        name, asn = row.words[-1], row.word("asn") or row.word("peer_type")
        if not asn:
            return
        yield f" neighbor {name}{'' if is_address(name) else ' interface v6only'} remote-as {asn}"
        local = row.word("local_asn")
        if local and local != self._row.word("local_asn"):  # FRR refuses the router's own
            more = " no-prepend" if row.says("local_as_no_prepend") else ""
            more += " replace-as" if more and row.says("local_as_replace_as") else ""
            yield f" neighbor {name} local-as {local}{more}"
        if row.text("admin_status") in ("false", "down"):
            yield f" neighbor {name} shutdown"
        if row.says("ebgp_multihop"):
            yield f" neighbor {name} ebgp-multihop {row.word('ebgp_multihop_ttl') or 255}"
        if row.word("keepalive") and row.word("holdtime"):
            yield f" neighbor {name} timers {row.word('keepalive')} {row.word('holdtime')}"
        yield f" neighbor {name} timers connect {row.word('conn_retry') or RETRY_S}"
        yield from (f" neighbor {name} {words}" for field, words in NEIGHBOUR_FLAGS.items() if row.says(field))
        for field, words in NEIGHBOUR_VALUES.items():
            if row.word(field):
                yield f" neighbor {name} {words.format(row.word(field))}"

    def _family(self, family: str) -> Iterator[str]:
        own = next((one for one in rows(self._config, "BGP_GLOBALS_AF") if one.words == (self._vrf, family)), None)
        yield from self._networks(family)
        if own is not None and family.endswith("_unicast"):  # FRR has none of these for VPNs
            yield from (words for name, words in AF_FLAGS.items() if own.says(name))
            yield from (words.format(own.text(name)) for name, words in AF_VALUES.items() if own.text(name))
        elif not self._config.frrcfgd and any(self._carries(one, family) for one in self._neighbours):
            yield "maximum-paths 64"
        entries = {one.words: one for one in rows(self._config, "BGP_NEIGHBOR_AF")}
        groups = {one.words: one for one in rows(self._config, "BGP_PEER_GROUP_AF")}
        for neighbour in self._neighbours:
            name = neighbour.words[-1]
            if self._carries(neighbour, family):
                yield f"neighbor {name} activate"
            group = groups.get((self._vrf, neighbour.word("peer_group_name"), family))
            said = entries.get((self._vrf, name, family))
            fields = {**({} if group is None else group.fields), **({} if said is None else said.fields)}
            yield from _of_neighbour(name, Row("BGP_NEIGHBOR_AF", name, (name,), fields))

    def _networks(self, family: str) -> Iterator[str]:
        if not self._config.frrcfgd:
            yield from self._of_bgpcfgd(family)
            return
        for row in rows(self._config, "BGP_GLOBALS_AF_NETWORK"):
            if row.words[:2] == (self._vrf, family) and len(row.words) == 3:
                policy = row.word("policy")
                yield f"network {row.words[2]}" + (f" route-map {policy}" if policy else "")
        for row in rows(self._config, "BGP_GLOBALS_AF_AGGREGATE_ADDR"):
            if row.words[:2] == (self._vrf, family) and len(row.words) == 3:
                more = " as-set" if row.says("as_set") else ""
                more += " summary-only" if row.says("summary_only") else ""
                yield f"aggregate-address {row.words[2]}{more}"
        for row in rows(self._config, "ROUTE_REDISTRIBUTE") if family.endswith("_unicast") else ():
            if len(row.words) == 4 and (row.words[0], row.words[3]) == (self._vrf, family.partition("_")[0]):
                named = next(filter(None, row.items("route_map")), "")
                more = f" metric {row.word('metric')}" if row.word("metric") else ""
                yield f"redistribute {row.words[1]}{more}" + (f" route-map {named}" if named else "")

    def _of_bgpcfgd(self, family: str) -> Iterator[str]:
        """Yield what bgpcfgd announces: Loopback0 and the networks of VLANs of the default VRF, and static routes."""
        config, version = self._config, 6 if family.startswith("ipv6") else 4
        if not family.endswith("unicast"):
            return
        loopbacks, addresses = (
            (config.loopbacks, config.addresses) if version == 4 else (config.loopbacks6, config.addresses6)
        )
        in_vrfs = {name for every in config.vrfs.values() for name in every}
        if self._vrf == DEFAULT:
            own = loopbacks.get("Loopback0", ())[:1] if "Loopback0" not in in_vrfs else ()
            # Without a length FRR would take an address for a network of its class.
            yield from (f"network {one.ip}/{one.max_prefixlen}" for one in own)
            names = [name for name in addresses if name.startswith("Vlan") and name not in in_vrfs]
            yield from (f"network {addresses[name][0].network}" for name in names)
        if any("true" in row.items("advertise") for row in rows(config, "STATIC_ROUTE") if vrf_of(row) == self._vrf):
            yield "redistribute static"

    def _carries(self, row: Row, family: str) -> bool:
        """Return whether a session exchanges routes of a family: as it says, or its peer group; where neither says
        anything of any family, those of its own address."""
        said = self._said(row)
        name = row.words[-1]
        native = ["ipv4_unicast", "ipv6_unicast"] if not is_address(name) else [_native(name)]
        return said.get(family, not said and family in native)

    def _said(self, row: Row) -> Mapping[str, bool]:
        found: dict[str, bool] = {}
        if self._config.frrcfgd:
            for table, name in (("BGP_PEER_GROUP_AF", row.word("peer_group_name")), ("BGP_NEIGHBOR_AF", row.words[-1])):
                for one in rows(self._config, table):
                    status = one.says("admin_status")
                    if one.words[:2] == (self._vrf, name) and len(one.words) == 3 and status is not None:
                        found[one.words[2]] = status
        return found


def _of_neighbour(name: str, row: Row) -> Iterator[str]:
    if row.says("allow_as_in"):
        words = "origin" if row.says("allow_as_origin") else row.word("allow_as_count")
        yield f"neighbor {name} allowas-in {words}".rstrip()
    if row.says("send_default_route"):
        named = row.word("default_rmap")
        yield f"neighbor {name} default-originate" + (f" route-map {named}" if named else "")
    yield from (f"neighbor {name} {words}" for field, words in NEIGHBOUR_AF_FLAGS.items() if row.says(field))
    for field, words in NEIGHBOUR_AF_VALUES.items():
        if row.word(field):
            yield f"neighbor {name} {words.format(row.word(field))}"


def is_address(name: str) -> bool:
    """Return whether a neighbour is known by an address, and not by an interface."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _native(name: str) -> str:
    return "ipv6_unicast" if ":" in name else "ipv4_unicast"


def vrf_of(row: Row) -> str:
    """Return the VRF of a key that may do without it."""
    return row.words[0] if len(row.words) > 1 else DEFAULT


def has_bfd(config: ConfigDb) -> bool:
    """Return whether a session wants BFD."""
    every: Sequence[Row] = [*rows(config, "BGP_NEIGHBOR"), *rows(config, "BGP_PEER_GROUP")]
    return any(one.says("bfd") for one in every)
