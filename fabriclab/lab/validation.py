"""The `validation` section of an experiment: what an operator wants of the network, whatever its configuration says.

It is what `fabriclab validate` compares with. What is not written is taken from the lab itself: then a run shows
whether the network does what its configuration says, and not whether that is what was wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TypeVar

from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab import validation_keys as keys
from fabriclab.lab.network.links import read_mtu
from fabriclab.lab.reading.dscp import DSCP_NAMES, LARGEST_DSCP, parse_dscp
from fabriclab.lab.reading.section import Section, Written, as_words
from fabriclab.lab.switch.keys import EIGHTH
from fabriclab.lab.switch.numbered_sections import read_map
from fabriclab.lab.wanted_state import WrittenRoute, WrittenSession, read_routes, read_sessions

T = TypeVar("T")


@dataclass(frozen=True)
class WrittenPing:
    """Who asks whom by ping, and whether there is to be an answer."""

    name: str
    senders: tuple[str, ...]
    target: str
    """A node, or an address."""
    family: int | None
    """4 or 6; None: whichever the target's name leads to."""
    answers: bool
    source: str | None = None
    """The address that is asked from; None: whichever the route gives."""


@dataclass(frozen=True)
class WrittenValidation:
    """What is wanted; None or nothing: what the lab is."""

    queues: Mapping[int, int] = field(default_factory=dict)
    """The queue that a DSCP belongs in, on every switch."""
    lossless: tuple[int, ...] | None = None
    """The DSCPs that lose nothing; None: those of the switches' lossless priority groups."""
    thresholds: Mapping[int, int] = field(default_factory=dict)
    """Bytes in the queue of a DSCP at which marks begin."""
    mtu: int | None = None
    """Between hosts, bytes of an IP packet."""
    failure_action: str = keys.FAILURE_ACTION.or_default(None)
    """What happens to a link that fails: both ends lose the carrier, or it loses every packet in silence."""
    recovery_ns: int = keys.FAILURE_RECOVERY.or_default(None)
    """How long after a failure everybody must be reached again."""
    pings: tuple[WrittenPing, ...] = ()
    """Of a lab whose nodes' own files give them addresses and routes, as those that follow."""
    sessions: tuple[WrittenSession, ...] = ()
    routes: tuple[WrittenRoute, ...] = ()
    keys: tuple[str, ...] = field(default=(), compare=False)
    """What the section has."""


def read_validation(root: Section, nodes: Sequence[str]) -> WrittenValidation:
    """Return the section of a lab with these nodes; what is wrong is recorded."""
    section = root.section("validation", keys.VALIDATION)
    if section is None:
        return WrittenValidation()
    failure = section.section("failure", keys.FAILURE)
    mtu = read_mtu(section)
    return WrittenValidation(
        queues=_by_dscp(section, "queues", lambda below, key: below.value(key, EIGHTH)),
        lossless=_dscps(section, "lossless"),
        thresholds=_by_dscp(section, "thresholds", lambda below, key: below.value(key, keys.THRESHOLD)),
        mtu=None if mtu is None else mtu.value,
        failure_action=keys.FAILURE_ACTION.or_default(failure.read(keys.FAILURE_ACTION) if failure else None),
        recovery_ns=keys.FAILURE_RECOVERY.or_default(failure.read(keys.FAILURE_RECOVERY) if failure else None),
        pings=tuple(_pings(section, nodes)),
        sessions=tuple(read_sessions(section, nodes)),
        routes=tuple(read_routes(section, nodes)),
        keys=tuple(section.names()),
    )


def _pings(section: Section, nodes: Sequence[str]) -> Iterator[WrittenPing]:
    below = section.section("pings", None)
    for name in below.names() if below is not None else ():
        ping = None if below is None else below.section(name, keys.PING)
        if ping is None:
            continue
        ping.require("from", "to")
        senders = (ping.words("from") if "from" in ping else None) or []
        for sender in senders:
            if sender.value not in nodes:
                sender.complain(
                    section.problems, f"{shown(sender.value)} is not a node; {did_you_mean(sender.value, nodes)}"
                )
        target = ping.convert("to", "a node's name or an address", lambda text: _target(text, nodes))
        family, answers = ping.read(keys.PING_FAMILY), ping.read(keys.PING_ANSWERS)
        source = ping.convert("source", "an address of the node that sends the ping", _address)
        if target is not None:
            yield WrittenPing(
                name=name,
                senders=tuple(sender.value for sender in senders),
                target=target.value,
                family=None if family is None else family.value,
                answers=keys.PING_ANSWERS.or_default(answers),
                source=None if source is None else source.value,
            )


def _target(text: str, nodes: Sequence[str]) -> str:
    try:
        return text if text in nodes else str(ip_address(text))
    except ValueError:
        raise ValueError(f"{shown(text)} is neither a node nor an address; {did_you_mean(text, nodes)}") from None


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise ValueError(f"{shown(text)} is not an address; write one such as 10.0.0.1") from None


def _by_dscp(section: Section, name: str, read: Callable[[Section, str], Written[int] | None]) -> dict[int, int]:
    below = section.section(name, None)
    if below is None:
        return {}
    found = read_map(below, "DSCP", LARGEST_DSCP + 1, DSCP_NAMES, lambda key: read(below, key))
    return {dscp: written.value for dscp, written in found.items()}


def _dscps(section: Section, name: str) -> tuple[int, ...] | None:
    """Return a list of DSCPs; `none`, or an empty list, are none of them."""
    value = section.get(name)
    if value is None:
        return None
    found: list[int] = []
    for word in as_words(value, section.path(name), section.problems) or ():
        if word.value == "none":
            continue
        try:
            found.append(parse_dscp(word.value))
        except ValueError as error:
            word.complain(section.problems, str(error))
    return tuple(dict.fromkeys(found))
