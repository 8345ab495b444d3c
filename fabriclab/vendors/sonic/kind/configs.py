"""Switches of kind sonic-vs: what their config_db.json says becomes the lab's, and where the lab says something else,
both are named.

Containerlab gives such a node interfaces `ethN`; SONiC calls them `EthernetN` (`interface_names`), and so does the lab
from here on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path
from typing import TypeVar

from fabriclab.formats.family import Family
from fabriclab.keys.wording import shown
from fabriclab.lab.network.topology import Endpoint, Link, WrittenNode
from fabriclab.lab.reading.files import MissingError, UnreadableError, read_lab_file
from fabriclab.lab.reading.problems import LabError, Place, Problems
from fabriclab.lab.reading.section import Written
from fabriclab.units import format_rate
from fabriclab.vendors.sonic.read.bgp_tables import LINK_PREFIX6
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.interface_names import port_of_link
from fabriclab.vendors.sonic.read.json_text import LARGEST_BYTES
from fabriclab.vendors.sonic.read.neighbours import NS_A_METRE, port_mtu
from fabriclab.vendors.sonic.read.port_groups import first_ipv6
from fabriclab.vendors.sonic.read.read import examine_config_db

T = TypeVar("T")
_BITS_A_MBIT = 10**6


def read_configs(nodes: Sequence[WrittenNode], directory: Path, problems: Problems) -> dict[str, ConfigDb]:
    """Return the configuration of each switch of kind sonic-vs; what is wrong with a file is recorded."""
    configs = {}
    for node in nodes:
        if node.config is None:
            continue
        try:
            data = read_lab_file(directory, node.config.value, LARGEST_BYTES)
        except UnreadableError as error:
            hint = "; write one, for example by fabriclab sonic export" if isinstance(error, MissingError) else ""
            node.config.complain(problems, f"{shown(node.config.value)}: {error}{hint}")
            continue
        try:
            config, found = examine_config_db(data, str(directory / node.config.value))
        except LabError as error:
            config, found = None, _collected(error)
        problems.add_all(found)
        if config is not None and not found:
            configs[node.name] = config
    return configs


def _collected(error: LabError) -> Problems:
    found = Problems()
    for problem in error.mistakes:
        found.add(Place(problem.file, problem.line), problem.key, problem.message, problem.value)
    return found


def ports_to_hosts(
    links: Iterable[Link], configs: Mapping[str, ConfigDb], hosts: Collection[str]
) -> Iterator[tuple[ConfigDb, str]]:
    """Yield the ports of links to hosts, by SONiC's names, each with its switch's file."""
    for link in links:
        for near, far in (link.ends, link.ends[::-1]):
            port = port_of_link(near.interface)
            if near.node in configs and far.node in hosts and port is not None:
                yield configs[near.node], port


def bind_links(
    links: Iterable[Link], configs: Mapping[str, ConfigDb], problems: Problems, families: Collection[Family]
) -> tuple[Link, ...]:
    """Return the links with SONiC's names, and what the files say of their ports: rate, MTU, delay, and the addresses
    of the lab's families."""
    return tuple(_LinkBinder(configs, problems, families).bind(link) for link in links)


class _LinkBinder:
    """Binds the ends of links that are a SONiC switch's."""

    def __init__(self, configs: Mapping[str, ConfigDb], problems: Problems, families: Collection[Family]) -> None:
        self._configs = configs
        self._families = families
        self._problems = problems

    def bind(self, link: Link) -> Link:
        bound = [self._end(end) for end in link.ends]
        if not any(end.node in self._configs for end in bound):
            return link
        mtu = link.mtu
        for end in bound:
            mtu = self._mtu(end, mtu)
        a, b = map(self._address, bound)
        a, b = _with_others(a, b), _with_others(b, a)
        if 6 in self._families:
            a, b = _with_others6(a, b), _with_others6(b, a)
        return replace(link, a=a, b=b, mtu=mtu)

    def _end(self, end: Endpoint) -> Endpoint:
        """Return an end under SONiC's name, with its speed and its cable's length."""
        config = self._configs.get(end.node)
        if config is None:
            return end
        name = port_of_link(end.interface)
        if name is None:
            message = (
                f"{shown(end.port)}: Containerlab names the interfaces of sonic-vs eth1, eth2 and so on; "
                "SONiC has Ethernet0, Ethernet4"
            )
            self._problems.add(end.place, end.key, message, end.port)
            return end
        port = config.ports.get(name)
        if port is None:
            message = (
                f"{shown(end.port)} is {name} in SONiC, but PORT of {config.file} has no port of that name "
                f"({config.place('PORT')})"
            )
            self._problems.add(end.place, end.key, message, end.port)
            return replace(end, interface=name)
        metres = config.cable_metres.get(name, 0)
        delay = end.delay or _written(metres * NS_A_METRE, f"{metres}m", config.place("CABLE_LENGTH"))
        return replace(end, interface=name, rate=self._rate(end, config, name, port.speed_mbps), delay=delay)

    def _rate(self, end: Endpoint, config: ConfigDb, name: str, speed_mbps: int | None) -> Written[int] | None:
        if speed_mbps is None:
            return end.rate
        said = _written(speed_mbps * _BITS_A_MBIT, str(speed_mbps), config.place("PORT", name, "speed"))
        if end.rate is not None and end.rate.value != said.value:
            message = (
                f"{end.rate.text} here, but {format_rate(said.value)} in PORT|{name}|speed ({said.place}); write the "
                "same, or links: {rate: ...} in experiment.yml, which slows the lab down"
            )
            end.rate.complain(self._problems, message)
        return end.rate or said

    def _mtu(self, end: Endpoint, mtu: Written[int] | None) -> Written[int] | None:
        config = self._configs.get(end.node)
        port = config.ports.get(end.interface) if config is not None else None
        if config is None or port is None:
            return mtu
        value = port_mtu(config, port)
        said = _written(value, str(value), config.place("PORT", port.name, "mtu"))
        if mtu is not None and mtu.value != said.value:
            mtu.complain(
                self._problems,
                f"{mtu.value} here, but {said.value} in PORT|{port.name}|mtu ({said.place}); write the same",
            )
        return mtu or said

    def _address(self, end: Endpoint) -> Endpoint:
        config = self._configs.get(end.node)
        if config is None:
            return end
        if 4 in self._families:
            end = self._address4(end, config)
        return self._address6(end, config) if 6 in self._families else end

    def _address4(self, end: Endpoint, config: ConfigDb) -> Endpoint:
        said = config.addresses.get(end.interface)
        if not said:
            return end
        table = f"INTERFACE|{end.interface}|{said[0]}"
        place = config.place("INTERFACE", f"{end.interface}|{said[0]}")
        if end.ipv4 is not None and end.ipv4.value != said[0]:
            end.ipv4.complain(self._problems, f"{end.ipv4.value} here, but {table} ({place}); write the same")
        return replace(end, ipv4=end.ipv4 or Written(said[0], table, str(said[0]), place))

    def _address6(self, end: Endpoint, config: ConfigDb) -> Endpoint:
        own = first_ipv6(config, end.interface)
        if own is None:
            return end
        table, place = f"INTERFACE|{end.interface}|{own}", config.place("INTERFACE", f"{end.interface}|{own}")
        if end.ipv6 is not None and end.ipv6.value != own:
            end.ipv6.complain(self._problems, f"{end.ipv6.value} here, but {table} ({place}); write the same")
        return replace(end, ipv6=end.ipv6 or Written(own, table, str(own), place))


def _with_others(end: Endpoint, other: Endpoint) -> Endpoint:
    """Return an end without an address, of a network that has one more only, with that one."""
    if end.ipv4 is not None or other.ipv4 is None:
        return end
    own = other.ipv4.value
    free = [address for address in own.network.hosts() if address != own.ip] if own.network.prefixlen >= 30 else []
    if not free:
        return end
    return replace(
        end,
        ipv4=Written(
            IPv4Interface((free[0], own.network.prefixlen)), other.ipv4.key, other.ipv4.text, other.ipv4.place
        ),
    )


def _with_others6(end: Endpoint, other: Endpoint) -> Endpoint:
    """Return an end without an address of IPv6, of a network that has one more only, with that one."""
    own = None if other.ipv6 is None else other.ipv6.value
    if end.ipv6 is not None or other.ipv6 is None or own is None or not LINK_PREFIX6 <= own.network.prefixlen < 128:
        return end
    free = next(address for address in own.network.hosts() if address != own.ip)
    value = IPv6Interface((free, own.network.prefixlen))
    return replace(end, ipv6=Written(value, other.ipv6.key, other.ipv6.text, other.ipv6.place))


def _written(value: int, text: str, place: Place) -> Written[int]:
    return Written(value, "", text, place)
