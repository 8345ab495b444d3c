"""Static routes as a switch's own configuration has them."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats.family import AnyAddress, AnyNetwork
from fabriclab.lab.reading.problems import Place

DISTANCE = 1
"""Administrative distance of a static route of which none is written (FRR, lib/zebra.h:
ZEBRA_STATIC_DISTANCE_DEFAULT)."""


@dataclass(frozen=True)
class StaticHop:
    """One way of a static route; without an address and an interface, it drops what it gets."""

    address: AnyAddress | None
    """The next hop's address; None: whoever has the destination's address behind the interface."""
    interface: str
    """Empty: the one whose network has the address."""
    distance: int = DISTANCE
    """Administrative distance, 1 to 254: of several routes to one prefix the lowest is used."""
    blackhole: bool = False


@dataclass(frozen=True)
class WrittenStaticRoute:
    """A static route and where it stands."""

    prefix: AnyNetwork
    hops: tuple[StaticHop, ...]
    advertised: bool
    """Whether BGP announces it."""
    key: str
    """`STATIC_ROUTE|default|10.0.0.0/8`."""
    place: Place

    def sentence(self, field: str, message: str) -> str:
        """Return what is to be told of a field, with its file and line."""
        return f"{self.place}: {self.key}{'|' if field else ''}{field}: {message}"
