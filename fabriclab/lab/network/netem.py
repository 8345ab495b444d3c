"""What nodes' own `tc` commands make of their ports: netem's delay, rate and loss become those of the link. Any other
change of a port's root qdisc is told, because the emulated port is gone then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fabriclab.formats import ranges
from fabriclab.formats.plan.setup import Setup, SetupCommand
from fabriclab.lab.network.topology import Endpoint, Link, WrittenNode
from fabriclab.lab.reading.section import Written
from fabriclab.lab.setup.read import WrittenSetup
from fabriclab.lab.setup.tc import Netem, RootChange, root_changes
from fabriclab.units import format_duration, format_percent, format_rate

_OF_LINK = "topology.links["
"""How the keys of what links say themselves begin."""


class _Change(NamedTuple):
    """A change of a port's root qdisc, and the command that makes it."""

    node: str
    command: SetupCommand
    change: RootChange

    @property
    def port(self) -> str:
        return f"{self.node}:{self.change.interface}"


class Impaired(NamedTuple):
    """Nodes and links with netem where it belongs."""

    nodes: list[WrittenNode]
    links: tuple[Link, ...]
    notes: tuple[str, ...]
    """A sentence on each command that changes a port's root qdisc."""


def with_netem(nodes: Sequence[WrittenNode], links: Sequence[Link]) -> Impaired:
    """Return the links with the delay, rate and loss of netem in nodes' commands, and the nodes without such commands.

    A command that does more stays, and so do several of one port.
    """
    by_port = {end.port: end for link in links for end in link.ends}
    changes = [change for node in nodes for change in _changes(node) if change.port in by_port]
    impaired: dict[str, Endpoint] = {}
    for one in changes:
        alone = sum(other.port == one.port for other in changes) == 1
        end = None if one.change.netem is None or not alone else _impaired(by_port[one.port], one.change.netem, one)
        if end is not None:
            impaired[one.port] = end
    taken = {(one.node, one.command.name) for one in changes if one.port in impaired}
    return Impaired(
        [_without(node, taken) for node in nodes],
        tuple(
            replace(link, a=impaired.get(link.a.port, link.a), b=impaired.get(link.b.port, link.b)) for link in links
        ),
        tuple(_sentence(one, is_taken=one.port in impaired) for one in changes),
    )


def _changes(node: WrittenNode) -> Iterator[_Change]:
    setup = Setup() if node.setup is None else node.setup.setup
    texts = {file.path: file.text for file in setup.files}
    for command in setup.commands:
        for change in root_changes(command.argv, texts):
            yield _Change(node.name, command, change)


def _impaired(end: Endpoint, netem: Netem, by: _Change) -> Endpoint | None:
    """Return an end with netem's values; None where a link cannot have them."""
    delay_ns = (netem.delay_ns or 0) + (0 if end.delay is None else end.delay.value)
    slower = netem.rate_bps is not None and (end.rate is None or netem.rate_bps < end.rate.value)
    wanted: Mapping[str, int | None] = {
        "delay": None if netem.delay_ns is None else delay_ns,
        "rate": netem.rate_bps if slower else None,
        "loss": netem.loss_ppm,
    }
    bounds = {"delay": ranges.DELAY, "rate": ranges.LINE_RATE, "loss": ranges.PPM}
    values = {name: value for name, value in wanted.items() if value is not None}
    if any(not bounds[name].least <= value <= bounds[name].most for name, value in values.items()):
        return None
    text = " ".join(by.command.argv)
    fields: dict[str, Any] = {name: Written(value, by.command.key, text, end.place) for name, value in values.items()}
    return replace(end, **fields)


def is_by_netem(written: Written[int] | None) -> bool:
    """Return whether a link's rate or delay is of a node's command alone."""
    return written is not None and not written.key.startswith(_OF_LINK)


def _without(node: WrittenNode, taken: set[tuple[str, str]]) -> WrittenNode:
    """Return a node without the commands whose work its links do."""
    if node.setup is None:
        return node
    kept = tuple(one for one in node.setup.setup.commands if (node.name, one.name) not in taken)
    setup = replace(node.setup, setup=replace(node.setup.setup, commands=kept))
    return replace(node, setup=None if setup == WrittenSetup(Setup()) else setup)


def _sentence(one: _Change, *, is_taken: bool) -> str:
    interface, netem = one.change.interface, one.change.netem
    if is_taken and netem is not None:
        return f"{one.node}: {one.command.key}: netem of {interface} is its link's: {', '.join(_words(netem))}"
    return (
        f"{one.node}: {one.command.key}: tc changes the root qdisc of {interface}: from then on the link's rate and "
        "the port's buffer do not act there"
    )


def _words(netem: Netem) -> Iterator[str]:
    if netem.delay_ns is not None:
        yield f"{format_duration(netem.delay_ns)} more delay"
    if netem.rate_bps is not None:
        yield f"{format_rate(netem.rate_bps)} at most"
    if netem.loss_ppm is not None:
        yield f"{format_percent(netem.loss_ppm)} loss"
