"""`router bgp`: neighbours with their peer groups, address families, what is announced."""

from __future__ import annotations

from typing import Literal

from fabriclab.vendors.common.command_text import Command
from fabriclab.vendors.frr.read.config import Bgp, BgpNeighbour, FrrConfig, FrrInterface, RemoteAs
from fabriclab.vendors.frr.read.context import Context, as_address, option

_DEFAULT_FAMILY = "ipv4 unicast"
WORDS_OF_AS: tuple[Literal["internal", "external", "auto"], ...] = ("internal", "external", "auto")


def read_bgp(command: Command, config: FrrConfig, context: Context) -> None:
    """Read a `router bgp` block. One without an AS number (`router bgp`) goes on with the default instance."""
    words = command.words[2:]
    vrf = option(words, "vrf") or option(words, "view")
    asn = context.as_number(command, words[0]) if words and words[0][0].isdigit() else None
    known = next((one for one in config.bgp if one.vrf == vrf), None)
    if asn is None and known is None:
        if not words or not words[0][0].isdigit():
            context.complain(command, "has no AS number; write router bgp 65001, as `show running-config` prints it")
        return
    if known is None:
        known = Bgp(asn or 0, vrf, command.line)
        config.bgp.append(known)
    _BgpReader(known, config, context).read(command)


class _BgpReader:
    """Reads the lines of one instance."""

    def __init__(self, bgp: Bgp, config: FrrConfig, context: Context) -> None:
        self._bgp = bgp
        self._config = config
        self._context = context
        self._family: str | None = None
        """The address family whose context is entered."""

    def read(self, command: Command) -> None:
        for line in command.below:
            self._read_line(line)

    def _read_line(self, line: Command) -> None:
        match line.words:
            case ("address-family", family, *rest):
                self._family = f"{family} {rest[0] if rest else 'unicast'}"
                self._config.has_evpn = self._config.has_evpn or self._family == "l2vpn evpn"
            case ("exit-address-family" | "exit",):
                self._family = None
            case ("bgp", "router-id", text):
                self._bgp.router_id = text
            case ("no", "bgp", "ebgp-requires-policy") | ("bgp", "ebgp-requires-policy"):
                self._bgp.requires_policy = line.words[0] != "no"
            case ("no", "bgp", "default", "ipv4-unicast"):
                self._bgp.activates_ipv4 = False
            case ("no", "neighbor", name, "activate"):
                family = self._family or _DEFAULT_FAMILY
                known = BgpNeighbour(name, line.line, as_address(name))
                self._bgp.neighbours.setdefault(name, known).left_families.add(family)
            case ("bgp", "listen", "range", text, "peer-group", group):
                network = self._context.network(line, text)
                if network is not None:
                    self._bgp.listens.append((network, group))
            case ("neighbor", name, *rest) if rest:
                self._read_neighbour(line, name, tuple(rest))
            case _:
                self._read_announced(line)

    def _read_announced(self, line: Command) -> None:
        match line.words:
            case ("network", text, *_) if "/" in text:
                network = self._context.network(line, text)
                if network is not None:
                    self._bgp.networks.append(network)
            case ("advertise-all-vni",):
                self._config.is_vtep = True
            case ("redistribute", source, *_):
                self._bgp.redistributes.append(source)

    def _read_neighbour(self, line: Command, name: str, rest: tuple[str, ...]) -> None:
        neighbour = self._bgp.neighbours.setdefault(name, BgpNeighbour(name, line.line, as_address(name)))
        match rest:
            case ("interface", *words):
                neighbour.is_interface = True
                self._config.interfaces.setdefault(name, FrrInterface(name, line.line))
                self._read_interface(line, neighbour, tuple(words))
            case ("remote-as", text):
                neighbour.remote_as = self._remote_as(line, text)
            case ("peer-group",):
                neighbour.is_group = neighbour.address is None and not neighbour.is_interface
            case ("peer-group", group):
                neighbour.group = group
            case ("description", *words):
                neighbour.description = " ".join(words)
            case ("local-as", text, *_):
                neighbour.local_as = self._context.as_number(line, text)
            case ("shutdown", *_):
                neighbour.is_down = True
            case _:
                self._read_in_family(neighbour, rest)

    def _read_in_family(self, neighbour: BgpNeighbour, rest: tuple[str, ...]) -> None:
        match rest:
            case ("activate",):
                neighbour.families.add(self._family or _DEFAULT_FAMILY)
            case ("next-hop-self", *_):
                neighbour.is_next_hop_self = True
            case ("route-reflector-client",):
                neighbour.is_client = True
            case ("route-map" | "prefix-list" | "filter-list" | "distribute-list", _, "in" | "out" as direction):
                neighbour.policies.add(direction)

    def _read_interface(self, line: Command, neighbour: BgpNeighbour, words: tuple[str, ...]) -> None:
        neighbour.group = option(words, "peer-group") or neighbour.group
        remote_as = option(words, "remote-as")
        if remote_as is not None:
            neighbour.remote_as = self._remote_as(line, remote_as)

    def _remote_as(self, line: Command, text: str) -> RemoteAs | None:
        word = next((word for word in WORDS_OF_AS if word == text), None)
        if word is not None:
            return word
        if not text[0].isdigit():
            words = ", ".join(WORDS_OF_AS)
            self._context.complain(line, f"{text[:20]!r} is not a remote AS; write its number, or {words}", text)
            return None
        return self._context.as_number(line, text)
