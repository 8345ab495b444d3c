"""What of an EOS startup-config acts where FRR stands in for the switch: QoS, addresses, MTU, AS number."""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import IPv4Interface

from fabriclab.lab.reading.problems import LabError
from fabriclab.registry.vendors import StandIn
from fabriclab.vendors.arista.profile import import_qos, parse_config_text, read_chip
from fabriclab.vendors.arista.profile.config_text import ConfigText
from fabriclab.vendors.arista.profile.imported import lab_interface
from fabriclab.vendors.common.command_text import Command
from fabriclab.vendors.common.stand_in import (
    LARGEST_ASN,
    LARGEST_MTU,
    SMALLEST_MTU,
    Unread,
    counted,
    parsed_address,
    parsed_number,
)

CHIP = "trident-3"
"""Whose memory the switch has: EOS's configuration says nothing of it."""
_REST = "not QoS"
_OF_QOS = ("qos", "priority-flow-control", "tx-queue", "uc-tx-queue", "service-profile")
_HEADLESS = re.compile(r"(#|format:|title:|source:|  - |bandwidth:|port_rate:)")
_SLOT = re.compile(r"Ethernet1/(\d+)")
"""A port of vEOS: Ethernet1/3 is its third."""


def read(data: bytes, file: str, interfaces: Collection[str]) -> StandIn:
    """Return what a startup-config says; `interfaces` are those with a link, as Linux calls them (`eth1`).

    Raises LabError for what is not configuration. A mistake in its QoS is a note, and nothing of that is taken.
    """
    config = parse_config_text(data, file)
    found = _Reader(config, interfaces)
    found.read()
    profile, notes = _profile(config, interfaces)
    qos = (f"QoS, on the memory of {CHIP}",) if profile else ()
    return StandIn(
        addresses=found.addresses,
        mtus=found.mtus,
        loopback=None if found.loopback is None else found.loopback.ip,
        asn=found.asn,
        profile=profile,
        read=(*qos, *counted("address", found.addresses), *counted("MTU", found.mtus), *found.said),
        unread=found.unread.words(),
        notes=notes,
    )


class _Reader:
    """Reads what is not QoS."""

    def __init__(self, config: ConfigText, interfaces: Collection[str]) -> None:
        self._config = config
        self._interfaces = interfaces
        self.addresses: dict[str, IPv4Interface] = {}
        self.mtus: dict[str, int] = {}
        self.loopback: IPv4Interface | None = None
        self.asn: int | None = None
        self.said: tuple[str, ...] = ()
        self.unread = Unread()

    def read(self) -> None:
        """Read all commands."""
        for command in self._config.commands:
            match command.words:
                case ("interface", name):
                    self._interface(command, name)
                case ("router", "bgp", number):
                    self.asn = parsed_number(number, 1, LARGEST_ASN)
                    self.said = () if self.asn is None else (f"AS {self.asn}",)
                    self.unread.add("router bgp", command.size - 1)
                case ("hostname", _) | ("end",):
                    pass
                case (head, *_) if head not in _OF_QOS:
                    self.unread.add(" ".join(command.words[:2]) if len(command.words) > 1 else head, command.size)

    def _interface(self, command: Command, name: str) -> None:
        for line in command.below:
            match line.words:
                case ("ip", "address", text):
                    self._address(line, name, text)
                case ("mtu", text) if (mtu := parsed_number(text, SMALLEST_MTU, LARGEST_MTU)) is not None:
                    self.mtus[self._linux(name)] = mtu
                case ("no", "switchport") | ("description", *_):
                    pass
                case (head, *_) if head not in _OF_QOS:
                    self.unread.add(f"interface's {head}", line.size)

    def _linux(self, name: str) -> str:
        """Return what Linux calls an interface."""
        slot = _SLOT.fullmatch(name)
        whole = lab_interface(name)
        return whole if slot is None or whole in self._interfaces else f"eth{slot[1]}"

    def _address(self, line: Command, name: str, text: str) -> None:
        address = parsed_address(text)
        if address is None:
            self.unread.add("interface's ip address", line.size)
        elif name.startswith("Loopback"):
            self.loopback = self.loopback or address
        else:
            self.addresses.setdefault(self._linux(name), address)


def _profile(config: ConfigText, interfaces: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Return the QoS as a profile without its head, and what is worth a sentence of it."""
    try:
        imported = import_qos(config, read_chip(CHIP), only=interfaces)
    except LabError as error:
        return "", (f"its QoS is not used: {'; '.join(str(problem) for problem in error.mistakes)}",)
    if not imported.interfaces:
        return "", ()
    lines = [line for line in imported.text.splitlines() if _HEADLESS.match(line) is None]
    notes = [note for note in imported.notes if "`scale: bandwidth`" not in note]  # that is of a profile's head
    left = [f"{one.what}: {one.why}" for one in imported.left_out if one.why != _REST]
    return "".join(f"{line}\n" for line in lines), (*notes, *(f"a part of its QoS is not used: {one}" for one in left))
