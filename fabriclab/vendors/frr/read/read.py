"""From a file to what it says: each top-level command by its reader; what is FRR's alone is counted, what nobody knows
is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.setup.frr import ORDER
from fabriclab.vendors.common.command_text import Command, decoded
from fabriclab.vendors.frr.read.bgp import read_bgp
from fabriclab.vendors.frr.read.blocks import SOURCE, parse_frr_text
from fabriclab.vendors.frr.read.config import FilePart, FrrConfig, Unknown
from fabriclab.vendors.frr.read.context import Context
from fabriclab.vendors.frr.read.interfaces import read_interface
from fabriclab.vendors.frr.read.routes import INTERIOR, read_interior, read_static_route, read_vrf

_KEPT = re.compile(
    r"route-map|(?:ip|ipv6) (?:prefix-list|access-list|forwarding|nht|protocol|router-id|import-table|multicast-routing"
    r"|mroute|pim|igmp|mld|msdp|nd|ospf|table)|(?:access|community)-list|mac access-list|bfd|log|debug|service|line"
    r"|password|enable|frr|router-id|router (?:ripng|pim6?)|segment-routing|key chain|mpls(?: ldp)?|pbr-map|pbr"
    r"|nexthop-group|rpki|agentx|domainname|banner|zebra|fpm|bgp|evpn|vni|nhrp|l2vpn|pseudowire|username|srv6|vrrp"
    r"|allow-reserved-ranges|allow-external-route-update|affinity-map|traffic-eng|dump|smux|version|integrated-vtysh"
    r"|config|logical-router|mgmt|no(?: \S+)?|netns|link-params|write|do"
)
"""Commands that no lab is made of: FRR takes them as they are."""
_EVERY_ROUTER_HAS = ("interface", "router", "hostname", "frr", "ip", "ipv6", "vrf")
_Reader = Callable[[Command, FrrConfig, Context], None]


def read_frr(data: bytes, file: str, problems: Problems) -> FrrConfig:
    """Return what a configuration says; what is wrong in it is recorded. Raises LabError for what is not text."""
    return _read_parts(data, file, (), problems)


def read_daemons_files(texts: Mapping[str, bytes], problems: Problems) -> FrrConfig:
    """Return what the files of one router's daemons say together; `texts`: by the names of the files, in the order in
    which they are joined.

    The name of the router is that of its own host, if they agree: old files have `hostname bgpd`. Raises LabError for
    what is not text.
    """
    parts, lines = [], list[str]()
    for file, data in texts.items():
        if data.strip():  # FRR's packages come with empty ones
            parts.append(FilePart(file, len(lines) + 1))
            lines += [*decoded(data, file, SOURCE).splitlines(), "!"]
    joined = "".join(f"{line}\n" for line in lines).encode()
    config = _read_parts(joined, next(iter(texts)), tuple(parts), problems)
    names = {words[1] for line in lines if len(words := line.split()) == 2 and words[0] == "hostname"}
    hosts = names - set(ORDER)
    if len(hosts) != 1 or len(names) != len(hosts):
        config.hostname, config.hostname_line = (hosts.pop() if len(hosts) == 1 else ""), None
    return config


def _read_parts(data: bytes, file: str, parts: tuple[FilePart, ...], problems: Problems) -> FrrConfig:
    text = parse_frr_text(data, file)
    config = FrrConfig(file, text.data, parts=parts)
    context = Context(config, problems)
    if not any(command.words[0] in _EVERY_ROUTER_HAS for command in text.commands):
        problems.add(
            config.place(None),
            "",
            "is not an FRR configuration: no line begins with hostname, interface or router; "
            "give the output of `vtysh -c 'show running-config'`",
        )
        return config
    for command in text.commands:
        _read(command, config, context)
    return config


def _read(command: Command, config: FrrConfig, context: Context) -> None:
    reader = _reader_of(command)
    kept = _KEPT.match(command.text)
    if reader is not None:
        reader(command, config, context)
    elif kept is not None and command.text[kept.end() : kept.end() + 1] in ("", " "):
        config.kept[kept[0]] = config.kept.get(kept[0], 0) + 1
    else:
        config.unknown.append(Unknown(command.line, command.text))


def _reader_of(command: Command) -> _Reader | None:
    match command.words:
        case ("hostname", _):
            return _read_hostname
        case ("frr", "defaults", _):
            return _read_defaults
        case ("interface", _, *_):
            return read_interface
        case ("router", "bgp", *_):
            return read_bgp
        case ("router", protocol, *_) if protocol in INTERIOR:
            return read_interior
        case ("ip" | "ipv6", "route", *_):
            return read_static_route
        case ("vrf", _):
            return read_vrf
    return None


def _read_hostname(command: Command, config: FrrConfig, context: Context) -> None:
    del context
    config.hostname, config.hostname_line = command.words[1], command.line


def _read_defaults(command: Command, config: FrrConfig, context: Context) -> None:
    del context
    config.is_datacenter = command.words[2] == "datacenter"
