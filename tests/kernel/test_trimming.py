"""Which packets are trimmed, and the IP header of what is left of them."""

from __future__ import annotations

import ctypes
import struct
from ipaddress import IPv4Address

from hypothesis import given
from hypothesis import strategies as st
from switch_port import DROPS

DSCPS, ECNS = st.integers(0, 63), st.integers(0, 3)
LENGTHS = st.integers(60, 65_535)


def trimmed(library: ctypes.CDLL, header: bytes, left: int, dscp: int) -> bytes:
    buffer = (ctypes.c_uint8 * len(header)).from_buffer_copy(header)
    library.trim_header(buffer, left, dscp)
    return bytes(buffer)


def checksum(header: bytes) -> int:
    """RFC 1071."""
    total: int = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(length: int, tos: int, options: bytes = b"") -> bytes:
    addresses = IPv4Address("10.1.0.2").packed + IPv4Address("10.2.0.2").packed
    return struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, tos, length, 7, 0x4000, 64, 17, 0) + addresses + options


def ipv6(payload: int, traffic_class: int) -> bytes:
    return struct.pack(">IHBB", 6 << 28 | traffic_class << 20 | 0xABCDE, payload, 17, 64) + bytes(range(32))


def test_what_had_no_room_is_trimmed(algorithms: ctypes.CDLL) -> None:
    trims = {cause for number, cause in enumerate(DROPS) if algorithms.trims_for(number)}
    assert trims == {"queue_limit", "queue_pool", "ingress", "voq"}


def test_only_ip_has_a_header_to_keep(algorithms: ctypes.CDLL) -> None:
    found = [algorithms.ip_header_bytes(bytes([first])) for first in (0x45, 0x4F, 0x44, 0x60, 0x00, 0xFF)]
    assert found == [20, 60, 0, 40, 0, 0]


@given(LENGTHS, st.integers(60, 2_000), DSCPS, DSCPS, ECNS, st.sampled_from([0, 4, 40]))
def test_ipv4_has_the_length_and_the_checksum_of_what_is_left(
    algorithms: ctypes.CDLL, length: int, left: int, before: int, dscp: int, ecn: int, options: int
) -> None:
    header = ipv4(length, before << 2 | ecn, bytes(options))
    after = trimmed(algorithms, header, left, dscp)
    assert after[1] == dscp << 2 | ecn, "marks stay"
    assert struct.unpack_from(">H", after, 2)[0] == min(length, left)
    assert checksum(after) == 0
    assert after[4:10] + after[12:] == header[4:10] + header[12:]


@given(st.integers(20, 65_535), st.integers(60, 2_000), DSCPS, DSCPS, ECNS)
def test_ipv6_has_the_length_of_what_is_left(
    algorithms: ctypes.CDLL, payload: int, left: int, before: int, dscp: int, ecn: int
) -> None:
    header = ipv6(payload, before << 2 | ecn)
    after = trimmed(algorithms, header, left, dscp)
    word, length = struct.unpack_from(">IH", after)
    assert (word >> 28, word >> 20 & 0xFF, word & 0xFFFFF) == (6, dscp << 2 | ecn, 0xABCDE)
    assert length == min(payload, left - 40)
    assert after[6:] == header[6:]
