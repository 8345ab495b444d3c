"""A fabric in the making: nodes and links with ports, addresses, loopbacks and AS numbers handed out in order.

Addresses, all of 10.0.0.0/8 and apart from each other:

- a link between switches is a /31 (RFC 3021) of 10.0.0.0/10, the upper switch's end even;
- a switch's links to hosts are /31s of one block of 10.64.0.0/10 (a /24, larger for more than 128 hosts), the host's
  end odd;
- a switch's loopback is an address of 10.255.0.0/16.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface

from fabriclab.errors import ArgumentError
from fabriclab.formats import ranges
from fabriclab.formats.names import NODE_NAME
from fabriclab.units import format_duration, format_rate

FABRIC_POOL = IPv4Network("10.0.0.0/10")
HOST_POOL = IPv4Network("10.64.0.0/10")
LOOPBACK_POOL = IPv4Network("10.255.0.0/16")
PRIVATE_ASNS = range(64_512, 65_535)
"""Private 16-bit AS numbers (RFC 6996)."""
PRIVATE_LONG_ASNS_FROM = 4_200_000_000
"""The first private 32-bit AS number (RFC 6996), for fabrics that need more."""
_OPTION = re.compile(r"--([a-z][a-z-]*)")
MOST_NODES = 4096
"""More do not fit into one machine, and a mistyped number far more often."""


class FabricError(ArgumentError):
    """A fabric that cannot be; the text names the argument, its value and what would be right."""

    def __init__(self, text: str) -> None:
        """Take the text with arguments as the command line writes them: `--hosts-per-edge 0: ...`."""
        self._written = text
        super().__init__("{0}", text)

    def spelled(self, spell: Callable[[str], str]) -> str:
        """Return the text with each argument's name as `spell` writes it."""
        return _OPTION.sub(lambda option: spell(option[1].replace("-", "_")), self._written)


@dataclass(frozen=True)
class FabricNode:
    """A node. Hosts have neither AS number nor loopback."""

    name: str
    group: str
    """`superspine`, `spine`, `leaf`, `server`: the words by which `containerlab graph` sorts nodes."""
    tier: int
    """Level of the fabric, 1 at the top (RFC 7938)."""
    asn: int | None = None
    loopback: IPv4Address | None = None
    loopback6: IPv6Address | None = None

    @property
    def is_host(self) -> bool:
        """Whether the node is a host."""
        return self.group == "server"


@dataclass(frozen=True)
class FabricLink:
    """A link; ports are `node:interface`, the lower node first."""

    section: str
    """What it is part of, for people: `Hosts`."""
    ports: tuple[str, str]
    addresses: tuple[IPv4Interface, IPv4Interface]
    rate_bps: int
    delay_ns: int
    ipv6: tuple[IPv6Interface, IPv6Interface] | None = None


@dataclass(frozen=True)
class Fabric:
    """All that a topology file holds, and what its comment says."""

    name: str
    command: str
    """The command that makes the file again."""
    picture: tuple[str, ...]
    """Lines of ASCII."""
    facts: tuple[str, ...]
    """Sentences about rates, addresses and AS numbers."""
    nodes: tuple[FabricNode, ...]
    links: tuple[FabricLink, ...]
    mtu_bytes: int

    def __post_init__(self) -> None:
        if not NODE_NAME.is_in(self.name):
            raise FabricError(f"--name {self.name!r} is not a lab name; write letters, digits, '-' and '_', at most 63")
        if not ranges.MTU.least <= self.mtu_bytes <= ranges.MTU.most:
            raise FabricError(
                f"--mtu {self.mtu_bytes} is out of range; write {ranges.MTU.least} to {ranges.MTU.most} bytes of an IP "
                "packet"
            )
        for link in self.links:
            _check_link(link)

    @property
    def hosts(self) -> tuple[FabricNode, ...]:
        """Return the fabric's hosts in the order in which they were added."""
        return tuple(node for node in self.nodes if node.is_host)


def _check_link(link: FabricLink) -> None:
    place = f"{link.section}, link {link.ports[0]} to {link.ports[1]}"
    if not ranges.LINE_RATE.least <= link.rate_bps <= ranges.LINE_RATE.most:
        bounds = f"{format_rate(ranges.LINE_RATE.least)} to {format_rate(ranges.LINE_RATE.most)}"
        raise FabricError(f"{place}: a rate of {format_rate(link.rate_bps)} is out of range; choose one from {bounds}")
    if link.delay_ns > ranges.DELAY.most:
        most = format_duration(ranges.DELAY.most)
        raise FabricError(
            f"{place}: a delay of {format_duration(link.delay_ns)} is out of range; choose one up to {most}"
        )


@dataclass
class FabricBuilder:
    """Adds nodes and links; a node's ports are eth1, eth2, ... in the order of its links."""

    hosts_per_switch: int
    """The most hosts that one switch has: it decides how large the switches' blocks are."""
    nodes: dict[str, FabricNode] = field(default_factory=dict)
    links: list[FabricLink] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._blocks = HOST_POOL.subnets(new_prefix=min(24, 32 - (2 * self.hosts_per_switch - 1).bit_length()))
        self._host_links: dict[str, Iterator[IPv4Network]] = {}
        self._fabric_links = FABRIC_POOL.subnets(new_prefix=31)
        self._loopbacks = LOOPBACK_POOL.hosts()
        self._ports: Counter[str] = Counter()
        self._section = ""

    def add_switch(self, name: str, group: str, tier: int, asn: int) -> str:
        """Add a switch with the next loopback address; return its name."""
        self.nodes[name] = FabricNode(name, group, tier, asn, next(self._loopbacks))
        return name

    def add_host(self, name: str, tier: int) -> str:
        """Add a host; return its name."""
        self.nodes[name] = FabricNode(name, "server", tier)
        return name

    def begin(self, section: str) -> None:
        """Say what the links that follow are part of."""
        self._section = section

    def connect(self, lower: str, upper: str, rate_bps: int, delay_ns: int) -> None:
        """Add a link on the next free port of both."""
        even, odd = (IPv4Interface((int(address), 31)) for address in self._network(lower, upper))
        self.links.append(
            FabricLink(self._section, (self._port(lower), self._port(upper)), (odd, even), rate_bps, delay_ns)
        )

    def _network(self, lower: str, upper: str) -> IPv4Network:
        if not self.nodes[lower].is_host:
            return next(self._fabric_links)
        if upper not in self._host_links:
            self._host_links[upper] = next(self._blocks).subnets(new_prefix=31)
        return next(self._host_links[upper])

    def _port(self, node: str) -> str:
        self._ports[node] += 1
        return f"{node}:eth{self._ports[node]}"


def private_asns(count: int) -> range:
    """Return `count` private AS numbers: 16-bit ones, which are easier to read, where they suffice."""
    if count <= len(PRIVATE_ASNS):
        return PRIVATE_ASNS[:count]
    return range(PRIVATE_LONG_ASNS_FROM, PRIVATE_LONG_ASNS_FROM + count)


def check_count(option: str, value: int, at_least: int = 1) -> None:
    """Raise FabricError for a number that is too small."""
    if value < at_least:
        raise FabricError(f"{option} {value}: a fabric needs some; write {at_least} or more")


def check_total(option: str, nodes: int) -> None:
    """Raise FabricError for more nodes than fit; `option` with its value is the one to make smaller."""
    if nodes > MOST_NODES:
        raise FabricError(f"{option}: this makes {nodes} nodes, but at most {MOST_NODES} fit into one virtual machine")
