"""What a packet has around its data on an Ethernet line (IEEE 802.3, clauses 3 and 4), and in its headers. Bytes."""

from __future__ import annotations

HEADER_BYTES = 14
"""Ethernet's header: what a packet's length in the kernel and in a buffer has on top of the MTU."""
FRAMING_BYTES = 4 + 8 + 12
"""Frame check sequence, preamble and inter-frame gap: on the line only, not in the packet's length."""
AROUND_MTU_BYTES = HEADER_BYTES + FRAMING_BYTES
"""What a packet has on the line on top of the MTU."""
LEAST_ON_LINE_BYTES = 64 - 4 + FRAMING_BYTES
"""The shortest frame, 64 bytes with its check sequence, on the line; a pause is one."""

IP_AND_TCP_BYTES = 20 + 20
"""Headers of IPv4 and TCP without options (RFC 791, RFC 9293)."""
TIMESTAMP_BYTES = 12
"""TCP's timestamps, padded (RFC 7323, appendix A): in every segment of an established connection."""
SEGMENT_HEADER_BYTES = IP_AND_TCP_BYTES + TIMESTAMP_BYTES
"""What a full packet spends of the MTU before data."""
