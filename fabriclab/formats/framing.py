"""What a packet has around its data on an Ethernet line (IEEE 802.3, clauses 3 and 4), and in its headers. Bytes."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.family import Family

HEADER_BYTES = 14
"""Ethernet's header: what a packet's length in the kernel and in a buffer has on top of the MTU."""
FRAMING_BYTES = 4 + 8 + 12
"""Frame check sequence, preamble and inter-frame gap: on the line only, not in the packet's length."""
AROUND_MTU_BYTES = HEADER_BYTES + FRAMING_BYTES
"""What a packet has on the line on top of the MTU."""
LEAST_ON_LINE_BYTES = 64 - 4 + FRAMING_BYTES
"""The shortest frame, 64 bytes with its check sequence, on the line; a pause is one."""

TCP_BYTES = 20
"""TCP's header without options (RFC 9293)."""
IP_BYTES: Mapping[Family, int] = {4: 20, 6: 40}
"""Headers of IPv4 and IPv6 without options or extensions (RFC 791, RFC 8200)."""
TIMESTAMP_BYTES = 12
"""TCP's timestamps, padded (RFC 7323, appendix A): in every segment of an established connection."""


ROCE_HEADER_BYTES = 20 + 8 + 12
"""What each packet of RoCEv2 has before its data: IPv4, UDP, InfiniBand's base transport header (InfiniBand
Architecture Specification, volume 1, annex A17)."""
ROCE_RETH_BYTES = 16
"""The extended header of the first packet of a WRITE, and of the request of a READ: address, key and length."""
ROCE_AETH_BYTES = 4
"""The extended header of an acknowledgement, and of the first and the last response to a READ."""
ROCE_CRC_BYTES = 4
"""The invariant CRC behind the data, which are padded to whole words of four bytes."""
ROCE_TELEMETRY_BYTES = 8 + 5 * 8
"""What a packet has behind its checksum where switches write into it (the kernel's `roce/telemetry.h`)."""
ROCE_AROUND_PAYLOAD_BYTES = ROCE_HEADER_BYTES + ROCE_RETH_BYTES + ROCE_CRC_BYTES
"""What the longest packet has beside its data, of the MTU."""


def ip_and_tcp_bytes(family: Family) -> int:
    """Return the length of IP's and TCP's headers without options."""
    return IP_BYTES[family] + TCP_BYTES


def segment_header_bytes(family: Family) -> int:
    """Return what a full packet spends of the MTU before data."""
    return ip_and_tcp_bytes(family) + TIMESTAMP_BYTES
