"""Which addresses a node of a lab can have, and how they are written."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv6Address, IPv6Interface

from fabriclab.formats.family import AnyAddress
from fabriclab.keys.wording import shown

SHORTEST_IPV6_PREFIX, LONGEST_IPV6_PREFIX = 8, 127
LEAST_IPV6_MTU = 1280
"""Linux has no IPv6 on a link that takes less (RFC 8200, section 5)."""


def is_unicast(address: AnyAddress) -> bool:
    """Return whether other nodes can reach the address: not multicast, loopback, reserved, link-local, unspecified or
    of 0.0.0.0/8 (IANA's special-purpose registries, RFC 6890)."""
    if isinstance(address, IPv6Address):
        return not (
            address.is_multicast
            or address.is_loopback
            or address.is_unspecified
            or address.is_link_local
            or address.ipv4_mapped is not None
        )
    return not (
        address.is_multicast
        or address.is_loopback
        or address.is_reserved
        or address.is_link_local
        or int(address) >> 24 == 0
    )


def parse_ipv4(text: str, *, alone: bool = False) -> IPv4Interface:
    """Return an address with its prefix length; `alone`: of a device without a link, which may have a /32. Raises
    ValueError."""
    example = "write it with its prefix length, such as '10.0.0.1/31'"
    if "/" not in text:
        raise ValueError(f"{shown(text)} has no prefix length; {example}")
    try:
        address = IPv4Interface(text)
    except ValueError:
        raise ValueError(f"{shown(text)} is not an IPv4 address; {example}") from None
    network = address.network
    longest = 32 if alone else 31
    if network.prefixlen > longest or network.prefixlen < 8:
        raise ValueError(f"{shown(text)}: {_device(alone=alone)} prefix length is 8 to {longest}")
    if not is_unicast(address):
        raise ValueError(f"{shown(text)} cannot be a port's address; take one of 10.0.0.0/8")
    if network.prefixlen < 31 and address.ip in (network.network_address, network.broadcast_address):
        raise ValueError(f"{shown(text)} is the network's own or its broadcast address; take one between them")
    return address


def parse_ipv6(text: str, *, alone: bool = False) -> IPv6Interface:
    """Return an address with its prefix length; `alone`: of a device without a link, which may have a /128. Raises
    ValueError."""
    example = "write it with its prefix length, such as 'fd00::1/127'"
    if "/" not in text:
        raise ValueError(f"{shown(text)} has no prefix length; {example}")
    try:
        address = IPv6Interface(text)
    except ValueError:
        raise ValueError(f"{shown(text)} is not an IPv6 address; {example}") from None
    if address.scope_id is not None:
        raise ValueError(f"{shown(text)} has a zone, {address.scope_id!r}; {example}")
    network = address.network
    longest = 128 if alone else LONGEST_IPV6_PREFIX
    if not SHORTEST_IPV6_PREFIX <= network.prefixlen <= longest:
        pair = "" if alone else "; a /127 is a link of two (RFC 6164)"
        bounds = f"{SHORTEST_IPV6_PREFIX} to {longest}"
        raise ValueError(f"{shown(text)}: {_device(alone=alone)} prefix length is {bounds}{pair}")
    if not is_unicast(address):
        what = "link-local, which every port has by itself" if address.is_link_local else "no port's"
        raise ValueError(f"{shown(text)} is {what}; take one of fd00::/8 (RFC 4193)")
    if network.prefixlen < LONGEST_IPV6_PREFIX and address.ip == network.network_address:
        raise ValueError(f"{shown(text)} is the address of all routers of its network (RFC 4291); take another one")
    return address


def _device(*, alone: bool) -> str:
    return "a dummy device's" if alone else "a link's"
