"""Interfaces of an FRR configuration."""

from __future__ import annotations

from fabriclab.vendors.common.command_text import Command
from fabriclab.vendors.frr.read.config import FrrConfig, FrrInterface, InterfaceAt, Protocol
from fabriclab.vendors.frr.read.context import Context, option

_BITS_A_MBIT = 10**6
_LARGEST_BANDWIDTH = 1_600_000
"""In megabits per second; FRR's own bound has been 100 Gbps and 1 Tbps."""


def read_interface(command: Command, config: FrrConfig, context: Context) -> None:
    """Read an `interface` block; several of one interface are one."""
    words = command.words[1:]
    name, vrf = words[0], option(words, "vrf")
    known = config.interfaces.setdefault(name, FrrInterface(name, command.line))
    known.vrf = vrf or known.vrf
    for line in command.below:
        _read_line(line, known, context)


def _read_line(line: Command, interface: FrrInterface, context: Context) -> None:
    match line.words:
        case ("ip" | "ipv6", "address", text, *_):
            value = context.interface_address(line, text)
            if value is not None and all(value != one.value for one in interface.addresses):
                interface.addresses.append(InterfaceAt(value, line.line))
        case ("description" | "desc", *words):
            interface.description = " ".join(words)
        case ("vrf", name):
            interface.vrf = name
        case ("bandwidth", text):
            interface.bandwidth_bps = _bandwidth(line, text, context)
        case ("shutdown",):
            interface.is_down = True
        case ("no", "shutdown"):
            interface.is_down = False
        case _:
            _read_protocol(line, interface)


def _read_protocol(line: Command, interface: FrrInterface) -> None:
    match line.words:
        case ("ip", "ospf", "area", area) | ("ip", "ospf", _, "area", area):
            interface.areas["ospf"] = area
        case ("ipv6", "ospf6", "area", area) | ("ipv6", "ospf6", _, "area", area):
            interface.areas["ospf6"] = area
        case ("ip" | "ipv6", "router", "isis" | "openfabric" as protocol, process):
            spoken: Protocol = "isis" if protocol == "isis" else "openfabric"
            interface.areas[spoken] = process
        case ("ip", "pim", *_):
            interface.areas["pim"] = ""


def _bandwidth(line: Command, text: str, context: Context) -> int | None:
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _LARGEST_BANDWIDTH and len(text) <= 9:
        return int(text) * _BITS_A_MBIT
    context.complain(line, f"{text[:20]!r} is not a bandwidth; write megabits per second, such as 10000", text)
    return None
