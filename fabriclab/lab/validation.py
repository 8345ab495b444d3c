"""The `validation` section of an experiment: what an operator wants of the network, whatever its configuration says.

It is what `fabriclab validate` compares with. What is not written is taken from the lab itself: then a run shows
whether the network does what its configuration says, and not whether that is what was wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from fabriclab.lab import validation_keys as keys
from fabriclab.lab.network.links import read_mtu
from fabriclab.lab.reading.dscp import DSCP_NAMES, LARGEST_DSCP, parse_dscp
from fabriclab.lab.reading.section import Section, Written, as_words
from fabriclab.lab.switch.keys import EIGHTH
from fabriclab.lab.switch.numbered_sections import read_map
from fabriclab.lab.wanted_pings import WrittenPing, read_pings
from fabriclab.lab.wanted_state import WrittenRoute, WrittenSession, read_routes, read_sessions
from fabriclab.lab.wanted_steps import WrittenAnswer, WrittenStep, read_answers, read_steps

T = TypeVar("T")


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
    answers: tuple[WrittenAnswer, ...] = ()
    steps: tuple[WrittenStep, ...] = ()
    """One after another, after all else."""
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
        pings=tuple(read_pings(section, nodes)),
        sessions=tuple(read_sessions(section, nodes)),
        routes=tuple(read_routes(section, nodes)),
        answers=tuple(read_answers(section, nodes)),
        steps=tuple(read_steps(section, nodes)),
        keys=tuple(section.names()),
    )


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
