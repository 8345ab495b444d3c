"""Rules of addresses and BGP sessions: what one file can tell of them."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Interface

from fabriclab.keys.wording import did_you_mean, listed
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.read.config_db import ConfigDb

_POINT_TO_POINT = 31
_HOST = 32
_TABLES = (("Vlan", "VLAN_INTERFACE"), ("PortChannel", "PORTCHANNEL_INTERFACE"), ("", "INTERFACE"))


_OF_FRRCFGD = (
    *("BGP_GLOBALS", "BGP_GLOBALS_AF", "BGP_GLOBALS_AF_NETWORK", "BGP_NEIGHBOR_AF", "BGP_PEER_GROUP"),
    *("BGP_PEER_GROUP_AF", "ROUTE_REDISTRIBUTE", "ROUTE_MAP", "PREFIX_SET", "COMMUNITY_SET", "AS_PATH_SET"),
    "EXTENDED_COMMUNITY_SET",
)
"""Tables that frrcfgd reads, and bgpcfgd does not."""


def silent_tables(bindings: Bindings) -> Iterator[SonicFinding]:
    """Without frr_mgmt_framework_config bgpcfgd runs, which does not read frrcfgd's tables."""
    config = bindings.config
    found = [table for table in _OF_FRRCFGD if entries(config, table)]
    if found and not config.frrcfgd:
        bound = "a table of frrcfgd, but DEVICE_METADATA|localhost|frr_mgmt_framework_config is not true"
        fate = f"bgpcfgd runs, which reads none of {listed(found)}"
        remedy = "write frr_mgmt_framework_config true, or bgpcfgd's tables"
        yield finding("silent-tables", (found[0],), None, bound, fate, remedy)


def _table(interface: str) -> str:
    return next(table for start, table in _TABLES if interface.startswith(start))


def _every(config: ConfigDb) -> list[tuple[str, IPv4Interface]]:
    return [(name, address) for name, addresses in config.addresses.items() for address in addresses]


def addresses(bindings: Bindings) -> Iterator[SonicFinding]:
    """Networks of interfaces of one VRF do not overlap, and an address is a host's."""
    every = _every(bindings.config)
    vrf_of = {name: vrf for vrf, names in bindings.config.vrfs.items() for name in names}
    for index, (name, address) in enumerate(every):
        path = (_table(name), f"{name}|{address}")
        yield from _host(path, address)
        for other, theirs in every[:index]:
            is_one_table = vrf_of.get(name) == vrf_of.get(other)
            if other != name and is_one_table and address.network.overlaps(theirs.network):
                bound = f"in the network of {other}, {theirs.network}"
                fate = (
                    "the kernel has two routes to one network, and hosts behind one of the interfaces are not reached"
                )
                yield finding("networks-overlap", path, str(address), bound, fate, "write another network")


def _host(path: tuple[str, ...], address: IPv4Interface) -> Iterator[SonicFinding]:
    network = address.network
    if network.prefixlen == _HOST:
        bound, fate = "an address with a /32 prefix", "no neighbour is in its network, so no session over it comes up"
        yield finding("address-unusable", path, str(address), bound, fate, "write the network's prefix length")
    elif network.prefixlen < _POINT_TO_POINT and address.ip in (network.network_address, network.broadcast_address):
        what = "network" if address.ip == network.network_address else "broadcast"
        fate = "the kernel accepts it, but hosts do not"
        yield finding("address-unusable", path, str(address), f"the {what} address", fate, "write a host's address")


def interfaces(bindings: Bindings) -> Iterator[SonicFinding]:
    """An interface with an address has an entry of its own, and a loopback is a host's route."""
    for _, table in _TABLES:
        written = entries(bindings.config, table)
        for key in written:
            name, bar, _ = key.partition("|")
            if bar and name not in written:
                fate = "intfmgrd waits for the entry, and never sets the address"
                yield finding(
                    "interface-without-entry",
                    (table, key),
                    None,
                    f"the entry {name} is missing",
                    fate,
                    f'write "{name}": {{}}',
                )
    for name, found in bindings.config.loopbacks.items():
        for address in found:
            if address.network.prefixlen != _HOST:
                path, fate = (
                    ("LOOPBACK_INTERFACE", f"{name}|{address}"),
                    "bgpcfgd announces only the address, as a /32",
                )
                yield finding("loopback-prefix", path, str(address), "not a /32", fate, "write /32")


def sessions(bindings: Bindings) -> Iterator[SonicFinding]:
    """A session leads to a neighbour of a network of ours, from an address of ours, between numbers that there are."""
    config = bindings.config
    written = entries(config, "BGP_NEIGHBOR")
    networks = [address.network for _, address in _every(config)]
    own = {str(address.ip) for _, address in _every(config)}
    own |= {str(address.ip) for found in config.loopbacks.values() for address in found}
    for one in config.bgp_neighbours:
        fields, path = written.get(one.key, {}), ("BGP_NEIGHBOR", one.key)
        local = fields.get("local_addr")
        is_near = one.address is None or any(one.address in network for network in networks)
        if not is_near and "ebgp_multihop" not in fields and one.asn != config.asn:
            bound, fate = (
                "not in the network of any interface",
                "no session comes up without a route to it and multihop",
            )
            remedy = "write the neighbour's address"
            yield finding("session-without-network", path, one.key, bound, fate, remedy, severity="warning")
        elif one.address is not None and isinstance(local, str) and "." in local and local not in own:
            bound, fate = "not an address of this switch", "bgpcfgd waits for it, and sets up no session"
            yield finding(
                "session-without-network", (*path, "local_addr"), local, bound, fate, "write an address of this switch"
            )
        elif one.address is not None and isinstance(local, str) and not _same_network(config, one.key, local):
            bound = f"not in the network of {one.key}"
            fate = "the neighbour expects another address, and refuses the session"
            yield finding(
                "session-without-network",
                (*path, "local_addr"),
                local,
                bound,
                fate,
                "write this switch's address in that network",
            )
        yield from _times(path, one.keepalive_s, one.hold_s)
        if one.asn == 0:
            yield finding(
                "as-number",
                (*path, "asn"),
                0,
                "not an AS number",
                "FRR refuses the session",
                "write the neighbour's AS number",
            )
        others = {other.asn for other in config.bgp_neighbours} - {config.asn, None}
        if one.asn is not None and one.asn == config.asn and one.address is not None and others:
            bound, fate = (
                "the switch's own AS number, while other sessions are external",
                "this is an iBGP session, whose routes are not passed on to other iBGP neighbours",
            )
            remedy = "write the neighbour's AS number if it differs"
            yield finding("as-number", (*path, "asn"), one.asn, bound, fate, remedy, severity="warning")
        if not one.up:
            yield finding(
                "session-shut",
                (*path, "admin_status"),
                "down",
                "shut",
                "the session does not come up",
                "write up, or remove it",
            )


def _same_network(config: ConfigDb, neighbour: str, local: str) -> bool:
    """Return whether both are of one network of an interface; a loopback's session is another matter."""
    return all(
        str(address.ip) != local or any(neighbour == str(host) for host in _hosts(address))
        for _, address in _every(config)
        if address.network.prefixlen >= _POINT_TO_POINT - 1
    )


def _hosts(address: IPv4Interface) -> list[object]:
    return list(address.network)


def _times(path: tuple[str, ...], keepalive: int | None, hold: int | None) -> Iterator[SonicFinding]:
    if keepalive is None or hold is None or hold == 0 or hold >= 3 * keepalive:
        return
    fate = "one or two late keepalives end the session"
    if hold <= keepalive:
        fate = "the session repeatedly ends before the next keepalive arrives"
    yield finding(
        "hold-time", (*path, "holdtime"), hold, f"less than three times keepalive, {keepalive}", fate, "write 3 and 10"
    )


def identity(bindings: Bindings) -> Iterator[SonicFinding]:
    """A switch with sessions has an AS number and, for bgpcfgd, a Loopback0; ports of DEVICE_NEIGHBOR are there."""
    config = bindings.config
    if config.bgp_neighbours and config.asn is None:
        path, fate = ("DEVICE_METADATA", "localhost", "bgp_asn"), "bgpcfgd starts no BGP: no session comes up"
        yield finding(
            "as-number", path, None, "missing, although there are BGP_NEIGHBORs", fate, "write it, such as 65100"
        )
    if config.bgp_neighbours and not config.frrcfgd and not config.loopbacks.get("Loopback0"):
        bound, fate = "Loopback0 has no IPv4 address", "bgpcfgd waits for it, and sets up no session"
        remedy = 'write "Loopback0|10.1.0.1/32": {}'
        yield finding("loopback-missing", ("BGP_NEIGHBOR",), None, bound, fate, remedy)
    for name in entries(config, "DEVICE_NEIGHBOR"):
        if name not in config.ports and name not in {port.alias for port in config.ports.values()}:
            remedy = did_you_mean(name, config.ports)
            yield finding(
                "neighbour-without-port", ("DEVICE_NEIGHBOR", name), name, "not a PORT", "SONiC ignores it", remedy
            )
