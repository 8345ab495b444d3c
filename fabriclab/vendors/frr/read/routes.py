"""Interior routing protocols, static routes and VRFs of an FRR configuration."""

from __future__ import annotations

from fabriclab.vendors.common.command_text import Command
from fabriclab.vendors.frr.read.config import FrrConfig, FrrInterface, Interior, Protocol, StaticRoute, Vrf
from fabriclab.vendors.frr.read.context import Context, as_address, option

INTERIOR: dict[str, Protocol] = {
    "ospf": "ospf",
    "ospf6": "ospf6",
    "isis": "isis",
    "rip": "rip",
    "eigrp": "eigrp",
    "openfabric": "openfabric",
    "babel": "babel",
}
_NOWHERE = ("blackhole", "reject", "null0")
_WORDS_AFTER = ("tag", "vrf", "label", "table", "nexthop-vrf", "onlink", "color", "bfd", "segments", "track")


def read_interior(command: Command, config: FrrConfig, context: Context) -> None:
    """Read a block of `router ospf` and its like."""
    words = command.words[2:]
    vrf = option(words, "vrf")
    name = words[0] if words and words[0] != "vrf" else ""
    process = Interior(INTERIOR[command.words[1]], name, vrf, command.line)
    config.interiors.append(process)
    for line in command.below:
        match line.words:
            case ("network", text, "area", area):
                network = context.network(line, text)
                if network is not None:
                    process.networks.append((network, area))
            case ("network", text, *_) if "/" in text:
                network = context.network(line, text)
                if network is not None:
                    process.networks.append((network, ""))
            case ("network", name, *_) if process.protocol in ("rip", "babel"):
                config.interfaces.setdefault(name, FrrInterface(name, line.line)).areas[process.protocol] = ""
            case ("interface", name, "area", area) if process.protocol == "ospf6":
                config.interfaces.setdefault(name, FrrInterface(name, line.line)).areas["ospf6"] = area
            case ("redistribute", source, *_):
                process.redistributes.append(source)


def read_static_route(command: Command, config: FrrConfig, context: Context, vrf: str | None = None) -> None:
    """Read `ip route` or `ipv6 route`, which may stand below a VRF."""
    words = command.words[2:]
    if len(words) >= 2 and words[0].count(".") == words[1].count(".") == 3 and "/" not in words[0]:
        words = (f"{words[0]}/{words[1]}", *words[2:])  # a network and its mask
    if len(words) < 2:
        context.complain(command, "no next hop; write ip route 10.1.0.0/16 10.0.0.1")
        return
    if words[0] == "from":
        return  # by source; no interface depends on it
    prefix = context.network(command, words[0])
    if prefix is None:
        return
    until = next((number for number, word in enumerate(words) if word in _WORDS_AFTER), len(words))
    hops = words[1:until]
    next_hop = next((found for word in hops if (found := as_address(word)) is not None), None)
    named = next(
        (word for word in hops if as_address(word) is None and word.lower() not in _NOWHERE and not word.isdigit()),
        None,
    )
    own_vrf = option(words, "nexthop-vrf") or option(words, "vrf") or vrf
    config.routes.append(StaticRoute(prefix, next_hop, named, own_vrf, command.line))


def read_vrf(command: Command, config: FrrConfig, context: Context) -> None:
    """Read a `vrf` block: its VNI, its static routes."""
    name = command.words[1]
    vrf = config.vrfs.setdefault(name, Vrf(name, command.line))
    for line in command.below:
        match line.words:
            case ("vni", text, *_) if text.isascii() and text.isdigit() and len(text) <= 8:
                vrf.vni = int(text)
            case ("vni", text, *_):
                context.complain(line, f"{text[:20]!r} is not a VNI; write a number up to 16777215", text)
            case ("ip" | "ipv6", "route", *_):
                read_static_route(line, config, context, name)
