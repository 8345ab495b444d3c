"""What a switch of a vendor's kind is by its own configuration (`fabriclab.registry.vendors`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from pathlib import PurePath
from typing import Literal

from fabriclab.formats.family import AnyAddress, Family
from fabriclab.formats.finding import Severity
from fabriclab.formats.plan.filters import FilterTable
from fabriclab.formats.plan.policies import Announcement, NeighbourPolicy, Policies
from fabriclab.formats.plan.setup import Setup
from fabriclab.lab.network.layer2 import WrittenLayer2
from fabriclab.lab.network.load_balancing import WrittenLoadBalancing
from fabriclab.lab.network.static_routes import WrittenStaticRoute
from fabriclab.lab.reading.problems import Place

Touches = Literal["routes", "packets", "paths", "classes", "memory", "rates", "ipv4", "ipv6"]
"""What something acts on: which routes there are, which packets pass, which of equal paths a packet takes, which class
it has, how much memory it may take, how much of its traffic passes, whether hosts have addresses of a family."""


@dataclass(frozen=True)
class NotEmulated:
    """Something of a switch's configuration that acts on traffic in the switch, and not in a lab."""

    path: tuple[str, ...]
    """Table, key and field, as far as it is about one."""
    value: str
    """What stands there; empty: its being there is enough."""
    touches: Touches
    why: str
    """What a lab has instead."""
    place: Place
    ports: tuple[str, ...] = ()
    """The ports, port channels or VLANs to which it is bound; empty: the whole switch."""

    @property
    def where(self) -> str:
        """The place as `TABLE|key|field`, and the value."""
        return " ".join(filter(None, ["|".join(self.path), self.value]))

    @property
    def sentence(self) -> str:
        """Return what it is, where, and what a lab has instead; without the file's directory, which is the lab's."""
        line = "" if self.place.line is None else f":{self.place.line}"
        said = f"{self.where} ({PurePath(self.place.file).name}{line})"
        return f"{said} acts in the switch and is not emulated: {self.why}"


@dataclass(frozen=True)
class Contradiction:
    """Something that a switch's configuration and that of another one say differently."""

    severity: Severity
    """error: it breaks traffic, although a lab can run with it."""
    sentence: str


@dataclass(frozen=True)
class OwnSession:
    """A BGP session as a switch's own configuration has it."""

    interface: str
    """The port that leads to the neighbour."""
    address: AnyAddress | None
    """The neighbour's address; None: the session runs over the port's link-local addresses."""
    asn: int | None
    """The neighbour's AS number; None: any other than ours."""
    keepalive_s: int
    hold_s: int
    bfd: bool
    policy: NeighbourPolicy | None = None
    """What becomes of routes over it; None: all pass."""
    families: tuple[Family, ...] = ()
    """Of which it carries routes; none: of all that the lab has."""
    policy6: NeighbourPolicy | None = None
    """As `policy`, of routes of IPv6."""


@dataclass(frozen=True)
class OwnConfiguration:
    """What a switch of a vendor's kind is by its own configuration (`fabriclab.registry.vendors`)."""

    file: str
    profile: str
    """Its buffers and QoS, the text of a switch profile."""
    sessions: tuple[OwnSession, ...] = ()
    max_paths: int | None = None
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """That it announces."""
    families: tuple[Family, ...] = (4,)
    """Of which its addresses are in the lab."""
    policies: Policies | None = None
    """The lists and maps that sessions and announcements name, for routes of IPv4."""
    policies6: Policies | None = None
    """Those for routes of IPv6."""
    announcements: tuple[Announcement, ...] = ()
    """What of `networks` goes through a map first."""
    layer2: WrittenLayer2 = field(default_factory=WrittenLayer2)
    """Its VLANs and port channels."""
    static_routes: tuple[WrittenStaticRoute, ...] = ()
    filters: tuple[FilterTable, ...] = ()
    """Its packet filters, of ports that have links."""
    load_balancing: WrittenLoadBalancing | None = None
    """How it chooses among next hops; None: the file says nothing."""
    not_emulated: tuple[NotEmulated, ...] = ()
    """What of the file acts on traffic in the switch, and not in the lab."""
    remedies: Mapping[str, str] = field(default_factory=dict)
    """What to write where a rule finds something in a switch, in the words of its configuration, by rule."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What it calls the fields of a switch, by the lab's words without numbers and names: `queues.wred.min`."""
    setup: Setup | None = None
    """What it does in the switch beyond that, where addresses and routes are its own matter; None: they are the
    lab's."""
    contradictions: tuple[Contradiction, ...] = ()
    """What it and other switches' files say differently; told at one of them."""
    notes: tuple[str, ...] = ()
    """What of these, and of its buffers, the lab has not; a sentence each."""
