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
