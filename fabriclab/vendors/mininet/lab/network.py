"""A network as Mininet would make it: interfaces by their names, addresses by their defaults.

Sources: Mininet's `mininet/net.py` (addresses count up from ipBase in the order of hosts), `mininet/node.py` (a host's
ports count from 0, a switch's from 1) and `mininet/link.py` (bw in Mbps, loss in per cent).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabriclab.formats.names import NODE_NAME
from fabriclab.lab import LabError
from fabriclab.lab.reading.problems import Mistake

_IP_BASE = "10.0.0.0/8"
_SETUP = ("ip", "ifconfig", "route", "sysctl", "tc", "arp", "ethtool")
"""Programs whose commands make a network; others measure it, and are of one run."""
_SHELL = re.compile(r"[;&|<>$`()*?\n]")
_NUMBER = (int, float)


@dataclass
class Node:
    """A host or a switch."""

    name: str
    is_switch: bool
    ports: dict[int, str] = field(default_factory=dict)
    """Names of interfaces."""
    commands: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Link:
    """A link with what its script says of it; None: nothing."""

    ends: tuple[str, str]
    """`NODE:INTERFACE`."""
    rate_mbps: float | None
    delay: str | None
    loss_percent: float | None
    queue_packets: int | None


@dataclass
class Network:
    """Nodes by name, links, and what a reader should know."""

    nodes: dict[str, Node]
    links: list[Link]
    notes: list[str]


def read_network(found: Mapping[str, Any], script: str) -> Network:
    """Return the network of what the stand-in wrote. Raises LabError."""
    names = [str(one["name"]) for one in found["nodes"]]
    for name in names:
        if not NODE_NAME.is_in(name):
            raise _error(script, f"{name!r} is no name of a node here; write letters, digits, '-' and '_'")
    network = Network({one["name"]: Node(one["name"], one["switch"]) for one in found["nodes"]}, [], [])
    network.notes += [str(one) for one in found["left_out"]]
    for one in found["links"]:
        network.links.append(_link(one, network, script))
    _give_addresses(found["nodes"], str(found["options"].get("ipBase", _IP_BASE)), network, script)
    for one in found["nodes"]:
        _take_commands(network.nodes[one["name"]], one["commands"], network.notes)
    return network


def _link(one: Mapping[str, Any], network: Network, script: str) -> Link:
    ends = []
    for side, number in (("a", "1"), ("b", "2")):
        node = network.nodes.get(str(one[side]))
        if node is None:
            raise _error(script, f"a link joins {one['a']!r} and {one['b']!r}, and no node is called {one[side]!r}")
        port = one.get(f"port{number}")
        base = 1 if node.is_switch else 0
        port = port if isinstance(port, int) else max(node.ports, default=base - 1) + 1
        node.ports[port] = str(one.get(f"intfName{number}") or f"{node.name}-eth{port}")
        ends.append(f"{node.name}:{node.ports[port]}")
        address = (one.get(f"params{number}") or {}).get("ip")
        if address:
            node.commands.append(f"ip addr add {address} dev {node.ports[port]}")
    delay = one.get("delay")
    return Link(
        (ends[0], ends[1]),
        _number(one, "bw", script),
        f"{delay}" if delay is not None else None,
        _number(one, "loss", script),
        int(size) if (size := _number(one, "max_queue_size", script)) is not None else None,
    )


def _number(one: Mapping[str, Any], key: str, script: str) -> float | None:
    value = one.get(key)
    if value is None or (isinstance(value, _NUMBER) and not isinstance(value, bool)):
        return value
    try:
        return float(value)
    except ValueError:
        raise _error(script, f"link {one['a']} to {one['b']}: {key}={value!r} is not a number") from None


def _give_addresses(described: Sequence[Mapping[str, Any]], base: str, network: Network, script: str) -> None:
    """Give each host what it is called by; the first interface has it, unless a link gave it one of its own."""
    try:
        block = ipaddress.IPv4Network(base, strict=False)
    except ValueError:
        raise _error(script, f"ipBase={base!r} is not a network, such as 10.0.0.0/8") from None
    hosts = (one for one in described if not one["switch"])
    for count, one in enumerate(hosts, 1):
        node = network.nodes[one["name"]]
        if not node.ports:
            continue
        first = node.ports[min(node.ports)]
        setup = []
        if one["mac"]:
            setup.append(f"ip link set dev {first} address {one['mac']}")
        address = f"{block.network_address + count}/{block.prefixlen}" if one["ip"] is None else str(one["ip"])
        if address and not any(command.endswith(f" dev {first}") for command in node.commands):
            setup.append(f"ip addr add {address if '/' in address else f'{address}/{block.prefixlen}'} dev {first}")
        node.commands = setup + node.commands
        if one["defaultRoute"]:
            way = str(one["defaultRoute"])
            node.commands.append(f"ip route add default {way if ' ' in way else f'dev {way}'}")


def _take_commands(node: Node, commands: Sequence[str], notes: list[str]) -> None:
    """Take what sets a node up; count what does not."""
    others = [one for one in commands if one.split(maxsplit=1)[:1] and one.split()[0] not in _SETUP]
    node.commands += [_whole(one) for one in commands if one.split()[:1] and one.split()[0] in _SETUP]
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        notes.append(f"{node.name}: commands that set up no network are left out: `{others[0][:60]}`{more}")


def _whole(command: str) -> str:
    """Return a command as Containerlab's exec takes it: without a shell, unless it needs one."""
    quoted = command.replace("'", "'\\''")
    return f"sh -c '{quoted}'" if _SHELL.search(command) else command


def loops(network: Network) -> Iterator[str]:
    """Yield a switch of each loop of switches."""
    group = {name: name for name in network.nodes}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    for link in network.links:
        a, b = (end.partition(":")[0] for end in link.ends)
        if network.nodes[a].is_switch and network.nodes[b].is_switch:
            if root(a) == root(b):
                yield a
            group[root(a)] = root(b)


def _error(script: str, message: str) -> LabError:
    return LabError([Mistake(script, None, "", "", message)])
