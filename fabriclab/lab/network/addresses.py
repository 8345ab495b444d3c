"""Which IPv4 addresses a node of a lab can have."""

from __future__ import annotations

from ipaddress import IPv4Address


def is_unicast(address: IPv4Address) -> bool:
    """Return whether other nodes can reach the address: not multicast, loopback, reserved, link-local or of 0.0.0.0/8
    (IANA's special-purpose registry, RFC 6890)."""
    return not (
        address.is_multicast
        or address.is_loopback
        or address.is_reserved
        or address.is_link_local
        or int(address) >> 24 == 0
    )
