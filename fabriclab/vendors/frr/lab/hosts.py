"""What stands at the edge: a host in each network that one router only is in, and where there are too few of these,
hosts in networks that are made up, and announced by lines added to their routers' frr.conf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from fabriclab.keys.wording import listed
from fabriclab.vendors.frr.lab.links import LinkFinder
from fabriclab.vendors.frr.lab.routers import End, Router, Routers, first_ipv4
from fabriclab.vendors.frr.read.config import InterfaceAddress

_LEAST_HOSTS = 2
_INTERIORS = ("ospf", "isis", "rip")
"""Protocols in which `announcement` announces."""
_POOLS = (IPv4Network("172.31.0.0/16"), IPv4Network("10.254.0.0/16"), IPv4Network("192.168.0.0/16"))
"""Where networks that are made up are from: the first that no configuration has anything of."""


@dataclass(frozen=True)
class Host:
    """A host at the edge."""

    name: str
    interface: str
    end: End
    """The router's interface that it is behind."""
    address: IPv4Interface
    gateway: IPv4Interface
    vrf: str | None
    found_by: str
    is_made_up: bool = False
    """Whether its network is in no configuration."""


class HostFinder:
    """Finds the hosts of a network's edge."""

    def __init__(self, routers: Routers, finder: LinkFinder, notes: dict[str, None]) -> None:
        self._routers = routers
        self._finder = finder
        self._notes = notes
        self._taken = set(routers)
        self._given = set[End]()
        """Interfaces of routers that are made up."""

    def hosts(self) -> list[Host]:
        """Return the hosts, those of files first."""
        found = [*self._said(), *(host for router in self._routers.values() for host in self._behind(router))]
        if len(found) < _LEAST_HOSTS:
            found += self._made_up({host.end.node for host in found}, _LEAST_HOSTS - len(found))
        return found

    def _said(self) -> Iterator[Host]:
        """Yield the hosts that links were said to lead to; one with several links is one, with several interfaces."""
        links = dict[str, int]()
        for link in self._finder.links:
            ends = [end for end in link.ends if end.node in self._routers]
            other = next((end.node for end in link.ends if end.node not in self._routers), None)
            if other is None:
                continue
            router, name = self._routers[ends[0].node], re.sub(r"[^A-Za-z0-9_-]+", "-", other).strip("-_")[:63]
            known = router.config.interfaces.get(ends[0].interface)
            gateway = None if known is None else first_ipv4(router, known.name)
            if gateway is None:
                self._notes[f"{link.a} to {link.b} is left out: {ends[0]} has no IPv4 network ({link.found_by})"] = None
                continue
            self._taken.add(name)
            links[name] = links.get(name, 0) + 1
            address, _ = self._address(router, ends[0], gateway)
            yield Host(
                name,
                f"eth{links[name]}",
                ends[0],
                IPv4Interface((address, gateway.network.prefixlen)),
                gateway,
                router.vrf_of(ends[0].interface),
                link.found_by,
            )

    def _behind(self, router: Router) -> Iterator[Host]:
        only_ipv6, down = [], []
        for interface in router.ports():
            end = End(router.name, interface.name)
            if self._finder.is_linked(end) or router.is_unnumbered(interface):
                continue
            gateway = first_ipv4(router, interface.name)
            if interface.is_down:
                down.append(interface.name)
            elif gateway is None or not 8 <= gateway.network.prefixlen <= 31:
                only_ipv6.append(interface.name)
            else:
                yield self._host(router, end, gateway)
        if down:
            self._notes[
                f"{router.name}: these interfaces are shut down and have no neighbour, so they are left out: "
                f"{listed(down)}"
            ] = None
        if only_ipv6:
            self._notes[
                f"{router.name}: these interfaces have no IPv4 network for a host, so no host is behind them: "
                f"{listed(only_ipv6)}"
            ] = None

    def _host(self, router: Router, end: End, gateway: IPv4Interface) -> Host:
        address, why = self._address(router, end, gateway)
        vrf = router.vrf_of(end.interface)
        ipv4 = IPv4Interface((address, gateway.network.prefixlen))
        return Host(self._name(router.name), "eth1", end, ipv4, gateway, vrf, why)

    def _address(self, router: Router, end: End, gateway: IPv4Interface) -> tuple[IPv4Address, str]:
        """Return the address of who stands there: a neighbour's, a next hop, or the first free one; and by what."""
        network = gateway.network
        own = {one.value.ip for one in router.config.interfaces[end.interface].addresses}
        for bgp, peer in router.peers():
            if isinstance(peer.address, IPv4Address) and peer.address in network and peer.address not in own:
                remote = bgp.remote_as(peer)
                where = router.config.place(peer.line)
                self._notes[
                    f"{router.name}: {peer.address} (AS {remote}, {where}) has no file: a host takes its place, and "
                    "the session never comes up"
                ] = None
                return peer.address, f"{network}, a neighbour without a file"
        hops = [route.next_hop for route in router.config.routes]
        hop = next((one for one in hops if isinstance(one, IPv4Address) and one in network and one not in own), None)
        if hop is not None:
            return hop, f"{network}, a static route's next hop"
        return next(one for one in network.hosts() if one not in own), str(network)

    def _made_up(self, served: set[str], count: int) -> Iterator[Host]:
        """Yield a host behind each of some routers that have none: those at the edge, which have the fewest links."""
        degree = dict.fromkeys(self._routers, 0)
        for node in (end.node for link in self._finder.links for end in link.ends if end.node in degree):
            degree[node] += 1
        edge = min(degree.values())
        chosen = [name for name in self._routers if name not in served and degree[name] == edge]
        if len(chosen) < count:
            chosen = [name for name in self._routers if name not in served]
        if len(chosen) < count:
            chosen = [*chosen, *self._routers][:count]
        networks = self._free_networks()
        for name in chosen:
            network = next(networks)
            end = End(name, self._free_interface(name))
            gateway, address = (IPv4Interface((ip, network.prefixlen)) for ip in (network[0], network[1]))
            yield Host(self._name(name), "eth1", end, address, gateway, None, "made up", is_made_up=True)

    def _free_networks(self) -> Iterator[IPv4Network]:
        used: list[InterfaceAddress] = [
            one.value
            for router in self._routers.values()
            for interface in router.config.interfaces.values()
            for one in interface.addresses
        ]
        free = (pool for pool in _POOLS if not any(one.version == 4 and one.network.overlaps(pool) for one in used))
        return next(free, _POOLS[0]).subnets(new_prefix=31)

    def _free_interface(self, router: str) -> str:
        taken = {*self._routers[router].config.interfaces} | {
            end.interface for link in self._finder.links for end in link.ends if end.node == router
        }
        taken |= {end.interface for end in self._given if end.node == router}
        number = next(number for number in range(101, 101 + len(taken) + 1) if f"eth{number}" not in taken)
        self._given.add(End(router, f"eth{number}"))
        return f"eth{number}"

    def _name(self, router: str) -> str:
        number, name = 2, f"{router[:50]}-host"
        while name in self._taken:
            name, number = f"{router[:50]}-host{number}", number + 1
        self._taken.add(name)
        return name


def announcement(router: Router, host: Host) -> list[str]:
    """Return the lines of frr.conf by which a router announces a network that is made up, to whom it speaks to."""
    network, interface = host.gateway.network, host.end.interface
    below = [f" ip address {host.gateway}"]
    lines: list[str] = []
    for process in router.config.interiors:
        if process.vrf is not None:
            continue
        if process.protocol == "ospf" and process.networks:
            area = process.networks[0][1]
            lines += [" ".join(("router ospf", process.name)).rstrip(), f" network {network} area {area}", "exit"]
        elif process.protocol == "ospf":
            area = next((one.areas["ospf"] for one in router.config.interfaces.values() if "ospf" in one.areas), "0")
            below += [f" ip ospf area {area}", " ip ospf passive"]
        elif process.protocol == "isis":
            below += [f" ip router isis {process.name}", " isis passive"]
        elif process.protocol == "rip":
            lines += ["router rip", f" network {network}", "exit"]
    bgp = router.config.own_bgp
    if bgp is not None:
        lines += [f"router bgp {bgp.asn}", " address-family ipv4 unicast", f"  network {network}"]
        lines += [" exit-address-family", "exit"]
    return [
        f"! Added by fabriclab import frr: the network of {host.name}, a host that fabriclab added.",
        f"interface {interface}",
        *below,
        "exit",
        *lines,
    ]


def _has_interior(router: Router) -> bool:
    """Return whether an interior protocol announces IPv4 networks that are made up."""
    return any(process.vrf is None and process.protocol in _INTERIORS for process in router.config.interiors)


def unannounced(host: Host, routers: Routers) -> str:
    """Return why no other router learns of a network that is made up; nothing where one may."""
    router = routers[host.end.node]
    if len(routers) == 1 or _has_interior(router):
        return ""
    bgp = router.config.own_bgp
    if bgp is None:
        others = dict.fromkeys(process.protocol for process in router.config.interiors if process.vrf is None)
        only = f" for IPv4, only {listed(others)}" if others else ""
        return f"{router.name} runs no routing protocol{only}"
    peers = [*bgp.peers()]
    if not bgp.listens and not any(bgp.exchanges_ipv4(peer) for peer in peers):
        return f"{router.name} exchanges IPv4 unicast routes with none of its {len(peers)} neighbours"
    return ""


def filtering(routers: Routers) -> list[str]:
    """Return the routers with a policy of some neighbour, which knows nothing of networks that are made up."""
    speakers = {name: router.config.own_bgp for name, router in routers.items()}
    return [name for name, bgp in speakers.items() if bgp is not None and any(map(bgp.policies, bgp.peers()))]


def is_announced(host: Host, router: Router) -> bool:
    """Return whether a router tells others of a host's network; one without a routing protocol has no need to."""
    network, speakers = host.gateway.network, [bgp for bgp in router.config.bgp if bgp.vrf == host.vrf]
    processes = [process for process in router.config.interiors if process.vrf == host.vrf]
    known = router.config.interfaces.get(host.end.interface)
    if host.is_made_up or not (router.config.bgp or router.config.interiors):
        return True
    redistributed = [source for bgp in speakers for source in bgp.redistributes]
    redistributed += [source for process in processes for source in process.redistributes]
    if "connected" in redistributed:
        return True
    if known is not None and set(known.areas) & {process.protocol for process in router.config.interiors}:
        return True
    if any(host.gateway.ip in one for process in processes for one, _ in process.networks if one.version == 4):
        return True
    return any(network == one for bgp in speakers for one in bgp.networks)
