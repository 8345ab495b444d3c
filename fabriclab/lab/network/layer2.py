"""VLANs and port channels of a switch, as written below its name: `switches.leaf1.vlans`,
`switches.leaf1.port_channels`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, IPv6Interface, NetmaskValueError

from fabriclab.keys.mappings import Keys
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.network.keys import CHANNEL, LARGEST_CHANNEL, LARGEST_VLAN, LAYER2, VLAN
from fabriclab.lab.reading.names import Names, expand_range
from fabriclab.lab.reading.problems import Place
from fabriclab.lab.reading.section import Section, Written, duplicates

_VLAN_NAME = re.compile(r"Vlan([1-9][0-9]{0,3})")
_CHANNEL_NAME = re.compile(r"PortChannel[0-9]{1,4}")


@dataclass(frozen=True)
class WrittenVlan:
    """Hosts in one network behind ports of one switch."""

    name: str
    """`Vlan10`: the number is the VLAN's."""
    members: tuple[Written[str], ...]
    """Ports (by interface) and port channels of the switch."""
    key: str
    place: Place
    ipv4: Written[IPv4Interface] | None = None
    """The switch's own address in the VLAN; None: one of an automatic network."""
    hosts: Mapping[str, Written[IPv4Address]] = field(default_factory=dict)
    """Addresses of hosts by name; the others have automatic ones."""
    ipv6: Written[IPv6Interface] | None = None
    """The switch's own address of IPv6 there; None: one of an automatic network."""

    @property
    def vlan_id(self) -> int:
        """Return the VLAN's number, which is in its name."""
        return int(self.name.removeprefix("Vlan"))


@dataclass(frozen=True)
class WrittenPortChannel:
    """Parallel links to one neighbour, used as one."""

    name: str
    members: tuple[Written[str], ...]
    """Ports by interface."""
    key: str
    place: Place
    ipv4: Written[IPv4Interface] | None = None
    ipv6: Written[IPv6Interface] | None = None


@dataclass(frozen=True)
class WrittenLayer2:
    """VLANs and port channels of one switch, as written."""

    vlans: tuple[WrittenVlan, ...] = ()
    port_channels: tuple[WrittenPortChannel, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.vlans or self.port_channels)


def is_vlan_name(name: str) -> bool:
    """Return whether this names a VLAN, `Vlan1` to `Vlan4094`."""
    match = _VLAN_NAME.fullmatch(name)
    return match is not None and int(match[1]) <= LARGEST_VLAN


def is_channel_name(name: str) -> bool:
    """Return whether this names a port channel, `PortChannel0` to `PortChannel9999`,
    with zeros before it or without."""
    return _CHANNEL_NAME.fullmatch(name) is not None


def read_layer2(switches: Section, names: Names) -> dict[str, WrittenLayer2]:
    """Return what is written of each switch that has any; what is wrong by itself is recorded."""
    found = {}
    for name in switches.names():
        section = switches.section(name, None)
        if section is None or not any(key in section for key in (layer2.name for layer2 in LAYER2)):
            continue
        if name == "default":
            for key in (layer2.name for layer2 in LAYER2):
                if key in section:
                    section.complain(
                        key, "belongs to one switch, whose ports it names; write it below the switch's name"
                    )
        elif name in names.switches:
            found[name] = _Reader(section, name, names).read()
    return found


class _Reader:
    """Reads the groups of one switch."""

    def __init__(self, section: Section, switch: str, names: Names) -> None:
        self._section = section
        self._names = names
        self._ports = [port.partition(":")[2] for port in names.ports if port.partition(":")[0] == switch]

    def read(self) -> WrittenLayer2:
        channels = self._channels()
        return WrittenLayer2(self._vlans([channel.name for channel in channels]), channels)

    def _channels(self) -> tuple[WrittenPortChannel, ...]:
        found = []
        for name, group in self._groups("port_channels", CHANNEL):
            if name in self._ports:
                self._wrong_name("port_channels", name, "port channel but of a port of this switch; rename the port")
            elif is_channel_name(name):
                members = self._members(group, self._ports, "port")
                found.append(WrittenPortChannel(name, members, group.key, group.place, _interface(group)))
            else:
                self._wrong_name(
                    "port_channels", name, f"port channel; write PortChannel0 to PortChannel{LARGEST_CHANNEL}"
                )
        return tuple(found)

    def _vlans(self, channels: Sequence[str]) -> tuple[WrittenVlan, ...]:
        found = []
        for name, group in self._groups("vlans", VLAN):
            if name in self._ports:
                self._wrong_name("vlans", name, "VLAN but of a port of this switch; rename the port")
            elif is_vlan_name(name):
                members = self._members(group, [*self._ports, *channels], "port or port channel")
                found.append(WrittenVlan(name, members, group.key, group.place, _interface(group), self._hosts(group)))
            else:
                self._wrong_name("vlans", name, f"VLAN; write Vlan1 to Vlan{LARGEST_VLAN}")
        return tuple(found)

    def _groups(self, key: str, keys: Keys) -> list[tuple[str, Section]]:
        section = self._section.section(key, None)
        named = [] if section is None else [(name, section.section(name, keys)) for name in section.names()]
        return [(name, group) for name, group in named if group is not None]

    def _wrong_name(self, key: str, name: str, wanted: str) -> None:
        section = self._section.section(key, None)
        if section is not None:
            section.problems.add(
                section.mapping.key_place(name),
                section.path(name),
                f"{shown(name)} is not the name of a {wanted}",
                name,
            )

    def _members(self, group: Section, valid: Sequence[str], what: str) -> tuple[Written[str], ...]:
        group.require("members", example="members: [eth1, eth2]")
        members = []
        for word in group.words("members") or ():
            try:
                expanded = expand_range(word.value) or [word.value]
            except ValueError as error:
                word.complain(group.problems, str(error))
                continue
            members += [Written(name, word.key, word.text, word.place) for name in expanded]
        for member in members:
            if self._names.complete and member.value not in valid:
                member.complain(
                    group.problems,
                    f"{shown(member.value)} is not a {what} of this switch; {did_you_mean(member.value, valid)}",
                )
        for again in duplicates(members):
            again.complain(group.problems, f"{shown(again.value)} occurs twice among the members")
        return tuple(members)

    def _hosts(self, group: Section) -> dict[str, Written[IPv4Address]]:
        hosts = group.section("hosts", None)
        found = {}
        for name in hosts.names() if hosts is not None else ():
            address = (
                hosts.convert(name, "an IPv4 address such as 192.168.0.11", _address) if hosts is not None else None
            )
            if address is not None:
                found[name] = address
        return found


def _interface(group: Section) -> Written[IPv4Interface] | None:
    def convert(text: str) -> IPv4Interface:
        try:
            if "/" in text:
                return IPv4Interface(text)
        except (AddressValueError, NetmaskValueError):
            pass
        raise ValueError(f"{shown(text)} is not an IPv4 address with prefix length; write one such as 192.168.0.1/24")

    return group.convert("ipv4", "an IPv4 address with prefix length such as 192.168.0.1/24", convert)


def _address(text: str) -> IPv4Address:
    try:
        return IPv4Address(text)
    except AddressValueError as error:
        raise ValueError(
            f"{shown(text)} is not an IPv4 address; write one such as 192.168.0.11, without prefix length"
        ) from error
