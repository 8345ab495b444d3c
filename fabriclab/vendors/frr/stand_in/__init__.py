"""What of a frr.conf acts where the lab's own FRR stands in for it: addresses, AS number, loopback."""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Interface

from fabriclab.lab.reading.problems import Problems
from fabriclab.registry.vendors import StandIn
from fabriclab.vendors.common.stand_in import Unread, counted
from fabriclab.vendors.frr.read import read_frr


def read(data: bytes, file: str, interfaces: Collection[str]) -> StandIn:
    """Return what a frr.conf says. Raises LabError for mistakes in it."""
    problems = Problems()
    config = read_frr(data, file, problems)
    problems.raise_if_any()
    addresses = {
        name: one.value
        for name in interfaces
        if name in config.interfaces
        for one in reversed(config.interfaces[name].addresses)
        if isinstance(one.value, IPv4Interface)
    }
    own = config.interfaces.get("lo")
    loopback = next((one.value.ip for one in own.addresses if one.value.version == 4), None) if own else None
    unread = Unread()
    unread.add("neighbours and policies of BGP", sum(len(bgp.neighbours) for bgp in config.bgp))
    for process in config.interiors:
        unread.add(f"router {process.protocol}")
    unread.add("static routes", len(config.routes))
    asn = None if config.own_bgp is None else config.own_bgp.asn
    return StandIn(
        addresses=addresses,
        loopback=loopback if isinstance(loopback, IPv4Address) else None,
        asn=asn,
        read=(*counted("address", addresses), *(() if asn is None else (f"AS {asn}",))),
        unread=unread.words(),
    )
