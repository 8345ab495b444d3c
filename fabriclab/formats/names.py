"""The kinds of text in a plan: what names a node, a file, a program. Whatever becomes part of a path, of a command or
of a line that a kernel's program reads has a kind that cannot lead anywhere else."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Interface, ip_address, ip_network
from typing import Annotated

from fabriclab.constraints import Scalars, Text, matching
from fabriclab.formats.where_clause import Scalar

_MOST_LETTERS = 1 << 24
"""Of a text that is a file's: far above what a lab may bind."""
_NO_CONTROLS = r"[^\x00-\x1f\x7f-\x9f]*"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_QUAD = rf"(?:{_OCTET}\.){{3}}{_OCTET}"
_ADDRESSES_REMEMBERED = 1 << 16


def _is_below(text: str) -> bool:
    """Return whether a relative path stays below the directory that it starts in."""
    return text != "" and not text.startswith("/") and not {"..", "."} & set(text.split("/")) and LINE.is_in(text)


def _is_in_node(text: str) -> bool:
    parts = text.split("/")
    return text.startswith("/") and not text.endswith("/") and not {"..", "."} & set(parts) and LINE.is_in(text)


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    """Return whether texts parse as an address of a kind, without a zone; they recur from plan to plan."""

    @lru_cache(_ADDRESSES_REMEMBERED)
    def fits(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return "%" not in text

    return fits


def _ipv6_interface(text: str) -> IPv6Interface:
    if "/" not in text:
        raise ValueError(text)
    return IPv6Interface(text)


def _gateway(text: str) -> object:
    return text if text == "" else ip_address(text)


def _destination(text: str) -> object:
    return text if text == "default" else ip_network(text)


NODE_NAME = matching("a name of letters, digits, '-' and '_', such as leaf1", r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
"""What a lab, a node, an event may be called."""
TRAFFIC_NAME = matching("a name of letters, digits, '-' and '_'", r"[_-]*[A-Za-z0-9][A-Za-z0-9_-]*", 200)
GROUP_NAME = TRAFFIC_NAME
INTERFACE_NAME = matching(
    "an interface's name of at most 15 letters, digits, '-', '_' and '.', such as eth1",
    r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}",
)
PORT_NAME = matching("a port such as leaf1:eth1", r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}:[A-Za-z0-9][A-Za-z0-9_.-]{0,14}")
POOL_NAME = matching("a pool's name", r"[A-Za-z0-9][A-Za-z0-9._-]{0,126}")
LOG_NAME = matching("a log's name of letters, digits, '-', '_' and '.'", r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
OUTPUT_NAME = matching("a file's name such as result.csv", r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
SCHEDULER_NAME = matching("a name of letters, digits and '_'", r"[a-z0-9_]{1,15}")
VERSION = matching("a version such as 3.4.1", r"[0-9A-Za-z.+~-]{1,50}")
PACKAGE_NAME = matching("a Debian package's name", r"[a-z0-9][a-z0-9+.-]+", 200)
"""Debian Policy, section 5.6.1."""
JAR = matching(
    "an archive as GROUP:ARTIFACT:VERSION[:CLASSIFIER]=SHA256",
    r"[\w.-]+:[\w.-]+:[\w.-]+(?::[\w.-]+)?=[0-9a-f]{64}",
    1000,
)
SOURCE_NAME = matching("a C file's name such as mine.c or mine.h", r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,97}\.[ch]")
SHA256 = matching("a SHA-256 of 64 hexadecimal digits", r"[0-9a-f]{64}")
MAC = matching("a MAC address", r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}")
IPV4 = matching("an address such as 10.0.0.1", _QUAD)
IPV6 = Text("an address such as 2001:db8::1", _parses(IPv6Address), 100)
IPV4_INTERFACE = matching("an address with prefix length such as 10.0.0.1/31", rf"{_QUAD}/(?:3[0-2]|[12]?[0-9])")
IPV6_INTERFACE = Text("an address with prefix length such as 2001:db8::1/64", _parses(_ipv6_interface), 100)
ADDRESS = Text("an address such as 10.0.0.1 or 2001:db8::1", _parses(ip_address), 100)
GATEWAY = Text("an address such as 10.0.0.1, or empty", _parses(_gateway), 100)
DESTINATION = Text("a network such as 10.0.0.0/24, or default", _parses(_destination), 100)
LAB_PATH = Text("a file's path below the lab's directory, such as mine.csv", _is_below)
NODE_PATH = Text("a file's absolute path in the node, such as /etc/frr/frr.conf", _is_in_node)
VARIABLE_NAME = matching("a variable's name", r"[^=\x00\n]+", 1000)
WORD = matching("a word of a command, without a zero byte", r"[^\x00]*", 1 << 17)
"""MAX_ARG_STRLEN of Linux."""
LINE = matching("a line of text", _NO_CONTROLS, 1 << 16)
PROSE = matching(f"a text of at most {1 << 16} letters", r"[^\x00]*", 1 << 16)
CONTENT = Text(f"a text of at most {_MOST_LETTERS} letters", lambda _: True, _MOST_LETTERS)
"""What stands in a file."""

Setting = Annotated[Scalar, Scalars()]
"""A parameter's value."""
SettingName = Annotated[str, LINE]
NodeName = Annotated[str, NODE_NAME]
InterfaceName = Annotated[str, INTERFACE_NAME]
PortName = Annotated[str, PORT_NAME]
Word = Annotated[str, WORD]
