"""tcpdump's stream as pcapng, block by block."""

from __future__ import annotations

import struct

import pytest
from pcapng_reading import read_blocks, read_packets

from fabriclab.formats.pcapng import HEADS_BYTES, CaptureError, Pcapng, packet_bytes

HEAD = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
MINE, OTHER, THIRD = (bytes([2, 0xFA, 0, 0, 0, number]) for number in (1, 2, 3))


def test_packets_become_pcapng_however_they_come() -> None:
    packet = b"\1\2\3\4\5"
    pcap = HEAD + struct.pack("<IIII", 1_700_000_000, 123_456_789, len(packet), 60) + packet
    whole = Pcapng("s1:eth1").take(pcap)
    piecewise = Pcapng("s1:eth1")
    assert b"".join(piecewise.take(pcap[at : at + 1]) for at in range(len(pcap))) == whole
    blocks = read_blocks(whole)
    assert [kind for kind, _ in blocks] == [0x0A0D0D0A, 1, 6]
    assert blocks[1][1][:8] == struct.pack("<HHI", 1, 0, 262144) and b"s1:eth1" in blocks[1][1]
    interface, high, low, length, original = struct.unpack_from("<IIIII", blocks[2][1])
    assert (interface, high << 32 | low, length, original) == (0, 1_700_000_000_123_456_789, 5, 60)
    assert blocks[2][1][20:] == packet + bytes(3)


def test_what_is_no_capture_is_refused() -> None:
    with pytest.raises(CaptureError, match="begins with"):
        Pcapng("x").take(bytes(24))
    with pytest.raises(CaptureError, match="a packet of"):
        Pcapng("x").take(HEAD + struct.pack("<IIII", 0, 0, 1 << 30, 0))


def test_a_port_s_address_tells_what_came_in_from_what_went_out() -> None:
    ends = [(OTHER, MINE), (MINE, OTHER), (OTHER, THIRD), (b"\xff" * 6, MINE)]
    frames = [to + sender + b"\x08\x00" for to, sender in ends]
    pcap = HEAD + b"".join(struct.pack("<IIII", 5, 7, len(frame), 60) + frame for frame in frames)
    taken = Pcapng("s1:eth1", MINE, earlier_ns=3 * 10**9)
    packets = read_packets(taken.take(pcap))
    assert [packet.direction for packet in packets] == ["out", "in", None, "out"]
    assert {packet.time_ns for packet in packets} == {2_000_000_007}
    assert [packet.data for packet in packets] == frames and taken.packets == 4 and not taken.is_cut
    taken.take(b"\0")
    assert taken.is_cut


def test_a_stream_that_never_began_is_cut() -> None:
    assert Pcapng("s1:eth1").is_cut


@pytest.mark.parametrize("snaplen", [64, 127, 128])
def test_no_packet_s_block_is_longer_than_is_reckoned(snaplen: int) -> None:
    data = (OTHER + MINE).ljust(snaplen, b"x")
    pcapng = Pcapng("node-with-a-name-of-some-length:eth1", MINE)
    heads = pcapng.take(HEAD)
    block = pcapng.take(struct.pack("<IIII", 5, 7, snaplen, 9000) + data)
    assert len(block) == packet_bytes(snaplen) and len(heads) < HEADS_BYTES
