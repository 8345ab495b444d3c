"""The two families of addresses: which there are, and the types of what is of either."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import Literal

Family = Literal[4, 6]
"""IPv4 or IPv6."""
FAMILIES: tuple[Family, ...] = (4, 6)
AnyAddress = IPv4Address | IPv6Address
AnyInterface = IPv4Interface | IPv6Interface
AnyNetwork = IPv4Network | IPv6Network


def family_of(text: str) -> Family:
    """Return the family of an address, or of a network, as text."""
    return 6 if ":" in text else 4


def is_within(one: AnyNetwork, other: AnyNetwork) -> bool:
    """Return whether a network is another one, or a part of it; of two families neither is."""
    if isinstance(one, IPv4Network):
        return isinstance(other, IPv4Network) and one.subnet_of(other)
    return isinstance(other, IPv6Network) and one.subnet_of(other)
