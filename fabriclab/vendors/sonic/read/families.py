"""Which families of addresses a lab of SONiC switches has: those that its hosts have by the files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from fabriclab.formats.family import Family
from fabriclab.vendors.sonic.read.config_db import ConfigDb, are_of_ipv6
from fabriclab.vendors.sonic.read.port_groups import first_ipv6


def lab_families(configs: Collection[ConfigDb], to_hosts: Iterable[tuple[ConfigDb, str]]) -> tuple[Family, ...]:
    """Return the families of a lab: IPv6 alone if no interface has IPv4, and both if an interface that leads to a host
    has IPv6 and a session carries its routes. `to_hosts`: the ports that lead to hosts, each with its switch's file."""
    if are_of_ipv6(configs):
        return (6,)
    sessions = [one for config in configs for one in (*config.bgp_neighbours, *config.bgp_neighbours6) if one.up]
    is_routed = not sessions or any(6 in one.families for one in sessions)
    has_hosts = any(first_ipv6(config, name) is not None for config, port in to_hosts for name in over(config, port))
    return (4, 6) if is_routed and has_hosts else (4,)


def over(config: ConfigDb, port: str) -> Iterator[str]:
    """Yield the interfaces that a port is, or is a member of: itself, a port channel, VLANs."""
    channel = next((one.name for one in config.port_channels if port in one.members), port)
    yield from dict.fromkeys((port, channel))
    yield from (vlan.name for vlan in config.vlans if {port, channel} & {*vlan.members})
