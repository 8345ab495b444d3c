"""A frame's bytes as what a person reads of it: ends, protocol, sequence, ECN."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from typing import Any

from fabriclab.formats.live_look import FRAME
from fabriclab.live.records import Raw, known

Ends = tuple[str, str]
"""Source and destination, `10.0.0.1:40000`."""

_FRAME = struct.Struct(FRAME)
_IPV4, _IPV6 = 0x0800, 0x86DD
_ETHERTYPES = {0x0806: "arp", 0x8808: "pause", 0x88CC: "lldp"}
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp6", 89: "ospf"}
_WITH_PORTS = ("tcp", "udp")
_ECN = ("not-ECT", "ECT(1)", "ECT(0)", "CE")
_FLAGS = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"]
_LEAST_IPV4, _LEAST_IPV6, _LEAST_TCP = 20, 40, 20


def packet_answer(raw: Raw, flows: Mapping[Ends, int]) -> dict[str, Any]:
    """Return what there is to say of a frame; `flows` has the lab's flow of each pair of ends, either way."""
    waited_ns, size, ethertype, header = _FRAME.unpack_from(raw.body)
    packet: dict[str, Any] = {
        **dict.fromkeys(("src", "dst", "protocol", "flow")),
        **{"bytes": size, **dict.fromkeys(("seq", "ack", "flags", "ecn")), "waited_ns": known(waited_ns)},
    }
    data = bytes(raw.body[_FRAME.size : _FRAME.size + header])
    if ethertype == _IPV4 and len(data) >= _LEAST_IPV4:
        length = (data[0] & 15) * 4
        hosts = [socket.inet_ntop(socket.AF_INET, data[at : at + 4]) for at in (12, 16)]
        is_first = not int.from_bytes(data[6:8], "big") & 0x1FFF
        _add_ip(packet, hosts, data[9], data[1] & 3, data[length:] if is_first else b"")
    elif ethertype == _IPV6 and len(data) >= _LEAST_IPV6:
        hosts = [f"[{socket.inet_ntop(socket.AF_INET6, data[at : at + 16])}]" for at in (8, 24)]
        _add_ip(packet, hosts, data[6], data[1] >> 4 & 3, data[_LEAST_IPV6:])
    else:
        packet["protocol"] = _ETHERTYPES.get(ethertype, f"0x{ethertype:04x}")
    packet["flow"] = flows.get((packet["src"], packet["dst"]))
    return packet


def _add_ip(packet: dict[str, Any], hosts: list[str], protocol: int, ecn: int, rest: bytes) -> None:
    name = _PROTOCOLS.get(protocol, f"ip-{protocol}")
    packet |= {"protocol": name, "ecn": _ECN[ecn]}
    if name in _WITH_PORTS and len(rest) >= 4:
        hosts = [f"{host}:{port}" for host, port in zip(hosts, struct.unpack_from(">HH", rest), strict=True)]
    packet["src"], packet["dst"] = hosts
    if name == "tcp" and len(rest) >= _LEAST_TCP:
        packet["seq"], acknowledged, flags = struct.unpack_from(">IIxB", rest, 4)
        packet["ack"] = acknowledged if flags >> 4 & 1 else None
        packet["flags"] = " ".join(word for bit, word in enumerate(_FLAGS) if flags >> bit & 1)
