"""What a switch of a vendor's kind is by its own configuration (`fabriclab.registry.vendors`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network

from fabriclab.lab.network.layer2 import WrittenLayer2
from fabriclab.lab.network.load_balancing import WrittenLoadBalancing
from fabriclab.lab.network.static_routes import WrittenStaticRoute


@dataclass(frozen=True)
class OwnSession:
    """A BGP session as a switch's own configuration has it."""

    interface: str
    """The port that leads to the neighbour."""
    address: IPv4Address | None
    """The neighbour's address; None: the session runs over the port's link-local addresses."""
    asn: int | None
    """The neighbour's AS number; None: any other than ours."""
    keepalive_s: int
    hold_s: int
    bfd: bool


@dataclass(frozen=True)
class OwnConfiguration:
    """What a switch of a vendor's kind is by its own configuration (`fabriclab.registry.vendors`)."""

    file: str
    profile: str
    """Its buffers and QoS, the text of a switch profile."""
    sessions: tuple[OwnSession, ...] = ()
    max_paths: int | None = None
    networks: tuple[IPv4Network, ...] = ()
    """That it announces."""
    layer2: WrittenLayer2 = field(default_factory=WrittenLayer2)
    """Its VLANs and port channels."""
    static_routes: tuple[WrittenStaticRoute, ...] = ()
    load_balancing: WrittenLoadBalancing | None = None
    """How it chooses among next hops; None: the file says nothing."""
    notes: tuple[str, ...] = ()
    """What of these, and of its buffers, the lab has not; a sentence each."""
