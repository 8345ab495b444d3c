"""Reading a startup-config of SR Linux: addresses, MTU, AS number.

It is JSON, lines of `set / interface ...`, or the CLI's own form with braces; all three come down to paths of words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from ipaddress import IPv4Interface
from typing import Any

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

_PORT = re.compile(r"ethernet-(\d+)/(\d+)(?:/(\d+))?")
_TOKEN = re.compile(r'"[^"\n]*"|[{}\[\]]|[^\s{}\[\]]+|\n')
_ETHERNET_BYTES = 14
"""SR Linux's port MTU counts the Ethernet header, an IP MTU does not."""
_KEYS = ("name", "index", "ip-prefix", "vlan-id")
"""Leaves of JSON that name an element of a list, in YANG's words."""
Path = tuple[str, ...]


def read(data: bytes, file: str, interfaces: Collection[str]) -> StandIn:
    """Return what a startup-config says. Raises LabError for what is not configuration."""
    del interfaces
    text = decoded(data, file, "`info` or `info | as json`")
    found = _Found()
    for path in _paths(text, file):
        found.take(path)
    return StandIn(
        addresses=found.addresses,
        mtus={name: found.ip_mtus.get(name, mtu) for name, mtu in (found.port_mtus | found.ip_mtus).items()},
        loopback=None if found.loopback is None else found.loopback.ip,
        asn=found.asn,
        read=(
            *counted("address", found.addresses),
            *counted("MTU", {*found.port_mtus, *found.ip_mtus}),
            *(() if found.asn is None else (f"AS {found.asn}",)),
        ),
        unread=found.unread.words(),
    )


class _Found:
    """What was found so far."""

    def __init__(self) -> None:
        self.addresses: dict[str, IPv4Interface] = {}
        self.port_mtus: dict[str, int] = {}
        self.ip_mtus: dict[str, int] = {}
        self.loopback: IPv4Interface | None = None
        self.asn: int | None = None
        self.unread = Unread()

    def take(self, path: Path) -> None:
        """Take a leaf's path, value and all."""
        match path:
            case ("interface", name, "subinterface", _, "ipv4", "address", text, *_) if (
                parsed_address(text) is not None
            ):
                self._address(name, text)
            case ("interface", name, "subinterface", _, "ip-mtu", text) if (mtu := _mtu(text, 0)) is not None:
                self.ip_mtus[_linux(name)] = mtu
            case ("interface", name, "mtu", text) if (mtu := _mtu(text, _ETHERNET_BYTES)) is not None:
                self.port_mtus[_linux(name)] = mtu
            case ("network-instance", "default", "protocols", "bgp", "autonomous-system", text):
                self.asn = parsed_number(text, 1, LARGEST_ASN)
            case (*_, "admin-state", _) | ("interface", _, "description", *_) | ("interface", _):
                pass
            case ("interface", _, "subinterface", _, "ipv4") | ("interface", _, "subinterface", _):
                pass
            case ("network-instance", "default", "interface", *_):
                pass
            case (head, _, *rest) if head in ("interface", "network-instance") and rest:
                deeper = rest[2:] if rest[0] == "subinterface" else rest[1:] if rest[0] == "protocols" else rest
                self.unread.add(f"{head}'s {(deeper or rest)[0]}")
            case (head, *_):
                self.unread.add(head)

    def _address(self, name: str, text: str) -> None:
        address = parsed_address(text)
        if address is None:
            return
        if name.startswith(("lo", "system")):
            self.loopback = self.loopback or address
        else:
            self.addresses.setdefault(_linux(name), address)


def _mtu(text: str, header: int) -> int | None:
    value = parsed_number(text, SMALLEST_MTU, LARGEST_MTU)
    return None if value is None else max(SMALLEST_MTU, value - header)


def _linux(name: str) -> str:
    """Return what Linux calls a port: ethernet-1/3 is e1-3, and its breakout 2 e1-3-2."""
    match = _PORT.fullmatch(name)
    return name if match is None else "e" + "-".join(group for group in match.groups() if group is not None)


def _paths(text: str, file: str) -> Iterator[Path]:
    if text.lstrip().startswith("{"):
        try:
            yield from _of_json(json.loads(text), ())
        except (ValueError, RecursionError) as error:
            message = "is not JSON; give the output of `info | as json`"
            raise LabError([Mistake(file, getattr(error, "lineno", None), "", "", message)]) from error
    elif re.search(r"^\s*(set\s+)?/", text, re.MULTILINE) is not None:
        for line in text.splitlines():
            words = [word.strip('"') for word in _TOKEN.findall(line.partition("#")[0])]
            words = [word for word in words if word not in ("set", "/", "{", "}")]
            if words:
                yield (words[0].lstrip("/"), *words[1:])
    else:
        yield from _of_braces(text)


def _of_json(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, inner in value.items():
            name = str(key).rpartition(":")[2]
            if name not in _KEYS or isinstance(inner, (dict, list)):
                yield from _of_json(inner, (*path, name))
        if all(str(key).rpartition(":")[2] in _KEYS for key in value):
            yield path
    elif isinstance(value, list):
        for inner in value:
            named = inner if isinstance(inner, dict) else {}
            key = next((named[name] for name in _KEYS if name in named), None)
            yield from _of_json(inner, path if key is None else (*path, str(key)))
    else:
        yield (*path, str(value))


def _of_braces(text: str) -> Iterator[Path]:
    """Yield the leaves of the CLI's form: what stands before a brace is the path of what is in it."""
    stack: list[list[str]] = []
    words: list[str] = []
    is_empty = False
    for token in _TOKEN.findall(re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)):
        if token == "{":
            stack.append(words)
            words, is_empty = [], True
        elif token in ("\n", "}"):
            if words or (token == "}" and is_empty):
                yield tuple(word for level in [*stack, words] for word in level)
                is_empty = False
            if token == "}" and stack:
                stack.pop()
                is_empty = False
            words = []
        elif token not in ("[", "]"):
            words.append(token.strip('"'))
