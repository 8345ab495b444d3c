"""Reading NVUE's startup.yaml and ifupdown2's interfaces: addresses, MTU, AS number."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from ipaddress import IPv4Interface
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from fabriclab.lab.reading.problems import LabError, Mistake
from fabriclab.registry.vendors import StandIn
from fabriclab.vendors.common.command_text import decoded
from fabriclab.vendors.common.stand_in import (
    LARGEST_ASN,
    LARGEST_MTU,
    SMALLEST_MTU,
    Unread,
    counted,
    parsed_address,
    parsed_number,
)

_RANGE = re.compile(r"([A-Za-z]+)(\d+)-(\d+)")
_MOST_PORTS = 1024
_SWP = re.compile(r"swp(\d+)")


def read(data: bytes, file: str, interfaces: Collection[str]) -> StandIn:
    """Return what a startup.yaml or an /etc/network/interfaces says. Raises LabError for what is neither."""
    text = decoded(data, file, "`nv config show`, or /etc/network/interfaces")
    found = _Found(interfaces)
    if re.search(r"^\s*(auto|iface)\s", text, re.MULTILINE) is not None:
        found.take_ifupdown(text)
    else:
        found.take_nvue(_loaded(text, file))
    return StandIn(
        addresses=found.addresses,
        mtus=found.mtus,
        loopback=None if found.loopback is None else found.loopback.ip,
        asn=found.asn,
        read=(
            *counted("address", found.addresses),
            *counted("MTU", found.mtus),
            *(() if found.asn is None else (f"AS {found.asn}",)),
        ),
        unread=found.unread.words(),
    )


def _loaded(text: str, file: str) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except (YAMLError, RecursionError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        message = "is not YAML; give the output of `nv config show`"
        raise LabError([Mistake(file, None if line is None else line + 1, "", "", message)]) from error


class _Found:
    """What was found so far."""

    def __init__(self, interfaces: Collection[str]) -> None:
        self._interfaces = interfaces
        self.addresses: dict[str, IPv4Interface] = {}
        self.mtus: dict[str, int] = {}
        self.loopback: IPv4Interface | None = None
        self.asn: int | None = None
        self.unread = Unread()

    def take_nvue(self, document: Any) -> None:
        """Take what stands below `set`; NVUE's file is a list of such."""
        for part in document if isinstance(document, list) else [document]:
            said = _mapping(_mapping(part).get("set", part))
            for key, value in said.items():
                if key == "interface":
                    self._nvue_interfaces(_mapping(value))
                elif key == "router":
                    self._nvue_router(_mapping(value))
                elif key not in ("header", "vrf"):
                    self.unread.add(str(key), _leaves(value))
                elif key == "vrf":
                    self._nvue_vrfs(_mapping(value))

    def _nvue_interfaces(self, interfaces: Mapping[str, Any]) -> None:
        for names, value in interfaces.items():
            said = _mapping(value)
            for name in _each(str(names)):
                for text in _mapping(_mapping(said.get("ip")).get("address")):
                    self._address(name, str(text))
                self._mtu(name, str(_mapping(said.get("link")).get("mtu", "")))
            for key, inner in said.items():
                if key not in ("ip", "type", "link"):
                    self.unread.add(f"interface's {key}", _leaves(inner))
            others = {key: one for key, one in _mapping(said.get("ip")).items() if key != "address"}
            self.unread.add("interface's ip", _leaves(others))

    def _nvue_router(self, router: Mapping[str, Any]) -> None:
        for key, value in router.items():
            if key == "bgp":
                self._as_number(_mapping(value))
            others = {name: one for name, one in _mapping(value).items() if name != "autonomous-system"}
            self.unread.add(f"router {key}", _leaves(others))

    def _nvue_vrfs(self, vrfs: Mapping[str, Any]) -> None:
        for name, value in vrfs.items():
            router = _mapping(_mapping(value).get("router"))
            if name == "default":
                self._as_number(_mapping(router.get("bgp")))
            self.unread.add(f"vrf {name}", _leaves(value))

    def _as_number(self, bgp: Mapping[str, Any]) -> None:
        self.asn = self.asn or parsed_number(str(bgp.get("autonomous-system", "")), 1, LARGEST_ASN)

    def take_ifupdown(self, text: str) -> None:
        """Take what stands below each `iface`."""
        name = ""
        for line in text.splitlines():
            match line.partition("#")[0].split():
                case ["iface", name, *_]:
                    pass
                case ["auto" | "allow-hotplug" | "source", *_] | []:
                    pass
                case ["address", text_of_address]:
                    self._address(name, text_of_address)
                case ["mtu", number]:
                    self._mtu(name, number)
                case [head, *_]:
                    self.unread.add(f"iface's {head}")

    def _address(self, name: str, text: str) -> None:
        address = parsed_address(text)
        if address is None:
            self.unread.add("interface's address of another kind")
        elif name == "lo":
            self.loopback = self.loopback or address
        else:
            self.addresses.setdefault(self._linux(name), address)

    def _mtu(self, name: str, text: str) -> None:
        mtu = parsed_number(text, SMALLEST_MTU, LARGEST_MTU)
        if mtu is not None:
            self.mtus[self._linux(name)] = mtu

    def _linux(self, name: str) -> str:
        """Return what a port is called where FRR stands in: Containerlab's eth3 of swp3, unless its link says swp3."""
        match = _SWP.fullmatch(name)
        return name if match is None or name in self._interfaces else f"eth{match[1]}"


def _each(names: str) -> Iterator[str]:
    """Yield the interfaces of `swp1-3,swp7`."""
    for word in names.split(","):
        match = _RANGE.fullmatch(word.strip())
        if match is None:
            yield word.strip()
        else:
            first, last = (int(number[:6]) for number in match.groups()[1:])
            yield from (f"{match[1]}{number}" for number in range(first, min(last, first + _MOST_PORTS) + 1))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _leaves(value: Any) -> int:
    """Return how many lines something has, about."""
    if isinstance(value, dict):
        return sum(_leaves(inner) or 1 for inner in value.values()) or (1 if value else 0)
    return 1 if value is not None else 0
