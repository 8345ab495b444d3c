"""What settings change while a lab runs, as lines for its nodes: two plans, compared.

All of it is changed in place: what is queued stays queued, connections stay. What can't be changed so is refused before
(`fabriclab.resolve.changed_nodes`).

Words of routing: FRR's user guide, chapters VTYSH and BGP. New timers of BGP hold for a session from its next OPEN
message on (RFC 4271, section 4.2); those of BFD, and the number of paths, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fabriclab.compile.frr import compile_frr, speaks_bgp
from fabriclab.compile.link_state import Links, down_ports, state_of_port
from fabriclab.compile.load_balancing import compile_end_of_choice
from fabriclab.compile.port import Changing, compile_line_change, compile_port_buffer_change
from fabriclab.compile.routing import compile_ip
from fabriclab.compile.switch_port import compile_memory_change
from fabriclab.compile.transport import compile_sysctl
from fabriclab.formats.job import Step, Tool
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.resolve.changed_nodes import UnchangeableError, changed_nodes


class Network(NamedTuple):
    """A lab at some time: its plan as settings have made it, its links, and what of its ports can change."""

    plan: Plan
    links: Links
    changing: Callable[[str], Changing]
    """Of a port (`node:interface`)."""
    stock: bool = False


def compile_settings_change(network: Network, after: Plan) -> list[Step]:
    """Return what the nodes do: queues and lines, then routes and sysctls of hosts, then FRR.

    Raises UnchangeableError for what they can't.
    """
    before = network.plan
    differing = {node.name for node in changed_nodes(before, after)}
    pairs = list(zip(before.nodes, after.nodes, strict=True))
    hosts_differ = any(old.transport != new.transport for old, new in pairs)
    steps: list[Step] = []
    for old, new in pairs:
        if new.name in differing:
            steps += _ports(network, after, old, new)
    for old, new in pairs:
        # The window of a host's limit is offered by all the others.
        if new.name in differing or (hosts_differ and new.role == "host"):
            steps += _ip(network, after, old, new)
            steps += _step(new.name, "sysctl", _sysctl(before, after, old, new))
        if speaks_bgp(new, after) and before.bgp != after.bgp:
            lines = compile_frr_change(compile_frr(old, before), compile_frr(new, after))
            steps += _step(new.name, "vtysh", lines)
    return steps


def _step(node: str, tool: Tool, lines: Sequence[str]) -> list[Step]:
    return [{"node": node, "tool": tool, "lines": list(lines)}] if lines else []


def _ports(network: Network, after: Plan, old: Node, new: Node) -> Iterator[Step]:
    """Yield the steps of a node's ports. PID 1 reads `switch_port` and what it knows of RED itself; tc has the rest."""
    grown, shrunk = (compile_memory_change(old, new, first=first) for first in (True, False))
    ours, lines, buffers = [*grown], [], []
    for here, there in zip(old.ports, new.ports, strict=True):
        name = f"{new.name}:{there.interface}"
        state = state_of_port(network.links, name)
        line = compile_line_change(after, new, there, state.line(here), state.line(there), stock=network.stock)
        buffer = compile_port_buffer_change((old, here), (new, there), network.changing(name))
        if there.switch_port is None:
            lines += line
            buffers += buffer
        else:
            ours += [*line, *buffer]
    for found in (lines, buffers, [*ours, *shrunk]):
        yield from _step(new.name, "tc", found)


def _ip(network: Network, after: Plan, old: Node, new: Node) -> list[Step]:
    """Return the step that gives a host's routes other metrics; those over a link that is down come with its `up`."""
    here, there = (compile_ip(node, plan).splitlines() for node, plan in ((old, network.plan), (new, after)))
    down = {name.partition(":")[2] for name in down_ports(network.links) if name.partition(":")[0] == new.name}
    lines: list[str] = []
    for line in (line for line in there if line not in here):
        words = line.split()
        match words[:3]:
            case ["route", "add" | "replace", _]:
                lines.append(" ".join(["route", "replace", *words[2:]]))
            case ["mptcp", "limits", _]:
                lines.append(line)
            case ["mptcp", "endpoint", "add"]:
                lines += [f"mptcp endpoint delete id {words[words.index('id') + 1]}", line]
            case _:
                raise UnchangeableError(f"{new.name}: `ip {line}` runs only when the lab starts")
    known = {_destination(line) for line in there}
    for line in here:
        if line not in there and line.startswith("route ") and _destination(line) not in known:
            lines.append("route del " + _destination(line))
    return _step(new.name, "ip", [line for line in lines if down.isdisjoint(line.split())])


def _destination(line: str) -> str:
    """Return what a route is known by: its prefix, and its table if it has one of its own."""
    words = line.split()
    table = f" table {words[words.index('table') + 1]}" if "table" in words else ""
    return words[2] + table if words[0] == "route" else ""


def _sysctl(before: Plan, after: Plan, old: Node, new: Node) -> list[str]:
    here, there = (compile_sysctl(node, plan).splitlines() for node, plan in ((old, before), (new, after)))
    return [line for line in there if line not in here] + compile_end_of_choice(old, new)


Placed = tuple[tuple[str, ...], str]
"""A line, and the lines that it stands below."""


def compile_frr_change(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the lines, from the top of the configuration on; texts by their files, as `compile_frr` makes them: of the
    same daemons."""
    lines: list[str] = []
    for name, text in after.items():
        old, new = list(_placed(before[name])), list(_placed(text))
        for path, line in (entry for entry in new if entry not in old):
            lines += [*path, line, *(["exit"] * len(path))]
        told = {(path, line.split()[0]) for path, line in new}
        for path, line in (entry for entry in old if entry not in new):
            if (path, line.split()[0]) not in told or line.startswith("neighbor "):
                lines += [*path, f"no {line}", *(["exit"] * len(path))]
    return lines


def _placed(text: str) -> Iterator[Placed]:
    path: list[str] = []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        words = line.strip()
        path = path[:depth]
        if not words.startswith("exit"):
            yield tuple(path), words
            path.append(words)
