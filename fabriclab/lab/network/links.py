"""Links of a Containerlab file: the short form (`endpoints: ['h1:eth1', 's1:eth1']`) and the
extended form (`type: veth`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from fabriclab.formats.names import INTERFACE_NAME
from fabriclab.keys.wording import did_you_mean, nearest, shown
from fabriclab.lab.network import containerlab
from fabriclab.lab.network.addresses import parse_ipv4, parse_ipv6
from fabriclab.lab.network.dummies import DummyLink, dummy_end
from fabriclab.lab.network.keys import LINK_DELAY, LINK_MTU, LINK_RATE
from fabriclab.lab.network.kinds import interface_name
from fabriclab.lab.network.topology import Endpoint, Link
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value, must_be
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section, Written, as_text

_VARS = ("rate", "delay")
_NEAR_VAR = 0.74
"""Closer than this to one of our words, another variable is a mistyped one;
else it is Containerlab's or the user's own."""
_MANAGEMENT = "eth0"
_RESERVED_INTERFACES = {
    "lo": "the loopback interface",
    _MANAGEMENT: "Containerlab's management interface",
    "all": "a sysctl's word for all interfaces",
    "default": "a sysctl's word for new interfaces",
}
T = TypeVar("T")
_MAC = re.compile(r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}")


class ReadLinks(NamedTuple):
    """The links of a file."""

    links: tuple[Link, ...]
    """Those between two nodes that are whole."""
    left_out: tuple[str, ...]
    """A sentence on each that leads out of the lab."""
    dummies: tuple[DummyLink, ...]


def read_links(
    topology: Section,
    nodes: Collection[str],
    foreign: Mapping[str, str] = MappingProxyType({}),
    with_dummies: Collection[str] = (),
    unmanaged: Collection[str] = (),
) -> ReadLinks:
    """Return all links; record what is wrong with them.

    `foreign`: the kinds of nodes whose interfaces have names in the words of these. `with_dummies`: nodes that can have
    dummy devices. `unmanaged`: nodes that are not in the management network, so eth0 is an interface like others.
    """
    links, notes, dummies = [], list[str](), list[DummyLink]()
    for key, value in topology.items("links") or []:
        reader = _LinkReader(key, topology.problems, nodes, foreign, notes, unmanaged)
        if (dummy := reader.read_dummy(value, with_dummies)) is not None:
            dummies.append(dummy)
        elif not reader.is_dummy and (link := reader.read(value)) is not None:
            links.append(link)
    ends = [*(end for link in links for end in link.ends), *(dummy.end for dummy in dummies)]
    _check_ports(ends, topology.problems)
    _check_macs(ends, topology.problems)
    return ReadLinks(tuple(links), tuple(notes), tuple(dummies))


def read_vars(section: Section) -> tuple[Written[int] | None, Written[int] | None]:
    """Return rate and delay, each None where it is not written."""
    rate = section.read(LINK_RATE)
    delay = section.read(LINK_DELAY)
    return rate, delay


def read_mtu(section: Section) -> Written[int] | None:
    """Return the MTU in bytes, None where it is not written."""
    return section.read(LINK_MTU)


class _LinkReader:
    """Reads one link."""

    def __init__(
        self,
        key: str,
        problems: Problems,
        nodes: Collection[str],
        foreign: Mapping[str, str],
        notes: list[str],
        unmanaged: Collection[str],
    ) -> None:
        self._key = key
        self._problems = problems
        self._nodes = nodes
        self._foreign = foreign
        self._notes = notes
        self._unmanaged = unmanaged
        self.is_dummy = False
        """Whether the link was one of type dummy, be it a right one or not."""

    def read_dummy(self, value: Value, able: Collection[str]) -> DummyLink | None:
        """Return a dummy device of a node that is `able` to have one."""
        found = None if not isinstance(value, MappingValue) else dummy_end(value, self._nodes)
        if found is None or (found.node in self._nodes and found.node not in able):
            return None
        self.is_dummy = True
        known = containerlab.DUMMY_LINK_KEYS if found.is_extended else containerlab.SHORT_LINK_KEYS
        link = Section(value, self._key, self._problems, known)
        read = self._extended_end if found.is_extended else self._short_end
        if found.value is None:
            link.require("endpoint", example="endpoint: {node: h1, interface: eth2}")
            return None
        end = read(found.value, link.path(found.key))
        return None if end is None else DummyLink(end, read_mtu(link))

    def read(self, value: Value) -> Link | None:
        if not isinstance(value, MappingValue):
            message = must_be("a mapping such as endpoints: ['h1:eth1', 's1:eth1']", value)
            self._problems.add(value.place, self._key, message)
            return None
        extended = "type" in value.entries
        known = containerlab.VETH_LINK_KEYS if extended else containerlab.SHORT_LINK_KEYS
        if extended and not self._is_veth(Section(value, self._key, self._problems, None)):
            return None
        link = Section(value, self._key, self._problems, known)
        if self._leads_out(link):
            return None
        mtu = read_mtu(link)
        ends = self._endpoints(link, extended)
        if ends is None:
            return None
        a, b = self._with_addresses(link, self._with_link_vars(link, ends))
        if a.node == b.node and a.node in self._foreign:
            self._notes.append(f"{self._key} (line {link.place.line}) is left out: it joins two ports of {a.node}")
            return None
        if a.node == b.node:
            self._problems.add(
                link.place, self._key, f"connects {shown(a.node)} with itself; a link has two nodes", a.node
            )
            return None
        return Link(a, b, mtu, self._key, link.place)

    def _is_veth(self, link: Section) -> bool:
        kind = link.scalar("type", "a type of link")
        if kind is None or kind.value == "veth":
            return kind is not None
        if kind.value in containerlab.LINK_TYPES:
            self._leave_out(kind.value, link.place)
        else:
            kind.complain(
                self._problems,
                f"{shown(kind.value)} is not a type of link; {did_you_mean(kind.value, containerlab.LINK_TYPES)}",
            )
        return False

    def _leads_out(self, link: Section) -> bool:
        """Return whether an end in the short form is the host, its network or nothing: such a link is left out."""
        value = link.get("endpoints")
        for end in value.items if isinstance(value, SequenceValue) else ():
            name = end.text.partition(":")[0].strip() if isinstance(end, ScalarValue) else ""
            if name in containerlab.SPECIAL_NODES and name not in self._nodes:
                self._leave_out(name, link.place)
                return True
        return False

    def _leave_out(self, kind: str, place: Place) -> None:
        self._notes.append(f"{self._key} (line {place.line}) is left out: its type, {kind}, leads out of the lab")

    def _endpoints(self, link: Section, extended: bool) -> tuple[Endpoint, Endpoint] | None:
        link.require("endpoints", example="endpoints: ['h1:eth1', 's1:eth1']")
        items = link.items("endpoints")
        if items is None:
            return None
        if len(items) != 2:
            link.complain("endpoints", f"{len(items)} endpoints; a link has two")
            return None
        a, b = (self._extended_end(value, key) if extended else self._short_end(value, key) for key, value in items)
        return None if a is None or b is None else (a, b)

    def _short_end(self, value: Value, key: str) -> Endpoint | None:
        if isinstance(value, MappingValue):
            self._problems.add(value.place, key, "is a mapping; endpoints of this form need type: veth in the link")
            return None
        written = as_text(value, key, self._problems, "'node:interface'")
        if written is None:
            return None
        node, colon, interface = written.value.partition(":")
        if not (node and colon and interface):
            written.complain(
                self._problems, f"{shown(written.value)} is not an endpoint; write 'node:interface', such as 'h1:eth1'"
            )
            return None
        name = self._interface(node, interface)
        good_node = self._check_node(Written(node, key, written.text, written.place))
        good_interface = self._check_interface(node, Written(name, key, written.text, written.place))
        alias = "" if name == interface else interface
        return Endpoint(node, name, key, written.place, alias=alias) if good_node and good_interface else None

    def _extended_end(self, value: Value, key: str) -> Endpoint | None:
        if isinstance(value, ScalarValue):
            self._problems.add(
                value.place,
                key,
                must_be("a mapping such as {node: h1, interface: eth1}, because the link has type: veth", value),
            )
            return None
        end = Section(value, key, self._problems, containerlab.ENDPOINT_KEYS)
        end.require("node", example="node: its name")
        end.require("interface", example="interface: a name such as eth1")
        node, interface = end.scalar("node", "a node's name"), end.scalar("interface", "an interface's name")
        rate, delay = self._vars(end)
        mac = end.convert("mac", "a MAC address", parse_mac)
        ipv4 = end.convert("ipv4", "an IPv4 address", partial(parse_ipv4, alone=self.is_dummy))
        ipv6 = end.convert("ipv6", "an IPv6 address", partial(parse_ipv6, alone=self.is_dummy))
        if node is None or interface is None:
            return None
        name = self._interface(node.value, interface.value)
        good_node = self._check_node(node)
        good_interface = self._check_interface(node.value, replace(interface, value=name))
        if not (good_node and good_interface):
            return None
        alias = "" if name == interface.value else interface.value
        return Endpoint(node.value, name, key, end.place, rate, delay, mac, ipv4, alias, ipv6)

    def _interface(self, node: str, written: str) -> str:
        """Return Linux's name of an interface."""
        return interface_name(self._foreign[node], written) if node in self._foreign else written

    def _check_node(self, node: Written[str]) -> bool:
        if node.value in self._nodes:
            return True
        node.complain(self._problems, f"{shown(node.value)} is not a node; {did_you_mean(node.value, self._nodes)}")
        return False

    def _check_interface(self, node: str, interface: Written[str]) -> bool:
        name = interface.value
        if name in _RESERVED_INTERFACES and not (name == _MANAGEMENT and node in self._unmanaged):
            interface.complain(
                self._problems, f"{shown(name)} is {_RESERVED_INTERFACES[name]}; number the ports from eth1"
            )
        elif len(name) > 15:
            interface.complain(
                self._problems, f"interface name {shown(name)} has {len(name)} characters; Linux takes at most 15"
            )
        elif not INTERFACE_NAME.is_in(name):
            interface.complain(
                self._problems,
                f"{shown(name)} is not an interface name; write letters, digits, '-', '_', '.'; such as 'eth1'",
            )
        else:
            return True
        return False

    def _vars(self, section: Section) -> tuple[Written[int] | None, Written[int] | None]:
        value = section.get("vars")
        if value is None or (isinstance(value, ScalarValue) and value.is_null):
            return None, None
        variables = Section(value, section.path("vars"), self._problems, None)
        for name in variables.names():
            near = nearest(name, _VARS, _NEAR_VAR)
            if name not in _VARS and near is not None:
                place = variables.mapping.key_place(name)
                self._problems.add(place, variables.path(name), f"unknown variable; did you mean {near!r}?", name)
        return read_vars(variables)

    def _with_link_vars(self, link: Section, ends: tuple[Endpoint, Endpoint]) -> tuple[Endpoint, Endpoint]:
        """Give each end the link's rate and delay where it has none of its own."""
        rate, delay = self._vars(link)
        a, b = (replace(end, rate=end.rate or rate, delay=end.delay or delay) for end in ends)
        return a, b

    def _with_addresses(self, link: Section, ends: tuple[Endpoint, Endpoint]) -> tuple[Endpoint, Endpoint]:
        """Give each end its addresses of the link's `ipv4` and `ipv6` lists; an empty text there means none
        (Containerlab's rule)."""
        addressed = list(ends)
        owners = ["" if end.ipv4 is None else end.port for end in ends]
        for index, ipv4 in self._listed(link, "ipv4", "an IPv4 address", parse_ipv4, owners):
            addressed[index] = replace(addressed[index], ipv4=ipv4)
        owners = ["" if end.ipv6 is None else end.port for end in ends]
        for index, ipv6 in self._listed(link, "ipv6", "an IPv6 address", parse_ipv6, owners):
            addressed[index] = replace(addressed[index], ipv6=ipv6)
        return addressed[0], addressed[1]

    def _listed(
        self, link: Section, key: str, what: str, parse: Callable[[str], T], owners: Sequence[str]
    ) -> Iterator[tuple[int, Written[T]]]:
        """Yield which end has which address of a link's list; `owners`: the ports that have one of their own, else an
        empty text."""
        items = link.items(key) or []
        if len(items) > 2:
            link.complain(key, f"{len(items)} addresses; a link has two ends")
        for index, (path, value) in enumerate(items[:2]):
            if isinstance(value, ScalarValue) and not value.text.strip():
                continue
            written = as_text(value, path, self._problems, what)
            if written is None:
                continue
            try:
                address = Written(parse(written.text), path, written.text, written.place)
            except ValueError as error:
                written.complain(self._problems, str(error))
                continue
            if owners[index]:
                written.complain(self._problems, f"{owners[index]} has an address of its own; remove one of the two")
            yield index, address


def parse_mac(text: str) -> str:
    """Return a unicast MAC address in lower case with colons. Raises ValueError."""
    if _MAC.fullmatch(text) is None:
        raise ValueError(f"{shown(text)} is not a MAC address; write six bytes, such as '02:fa:00:00:00:01'")
    mac = text.lower().replace("-", ":")
    if int(mac[:2], 16) & 1 or mac == "00:00:00:00:00:00":
        raise ValueError(f"{shown(text)} is a group address or zero; an interface's has an even first byte, such as 02")
    return mac


def _check_ports(ends: list[Endpoint], problems: Problems) -> None:
    first: dict[str, Endpoint] = {}
    for end in ends:
        other = first.setdefault(end.port, end)
        if other is not end:
            called = f"{end.node}:{end.alias or end.interface}"
            message = f"port {shown(called)} has a link already, in line {other.place.line}"
            if end.alias and other.alias != end.alias:
                message += f"; it and {shown(other.alias or other.interface)} are {end.interface} for Linux"
            problems.add(end.place, end.key, message, end.port)


def _check_macs(ends: list[Endpoint], problems: Problems) -> None:
    first: dict[str, Endpoint] = {}
    for end in ends:
        if end.mac is not None and first.setdefault(end.mac.value, end) is not end:
            end.mac.complain(
                problems,
                f"{shown(end.mac.text)} is the address of {first[end.mac.value].port} too; each port has its own",
            )
