"""What commands are to print, `validation.answers`, and changes with what is to hold after each, `validation.steps`:
of labs whose nodes' own files give them addresses and routes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabriclab.lab import validation_keys as keys
from fabriclab.lab.reading.section import Section
from fabriclab.lab.templates import Condition
from fabriclab.lab.wanted_pings import WrittenPing, read_pings
from fabriclab.lab.wanted_state import WrittenRoute, WrittenSession, read_nodes, read_routes, read_sessions


@dataclass(frozen=True)
class WrittenAnswer:
    """What a command is to print on some nodes."""

    name: str
    nodes: tuple[str, ...]
    command: str
    """A line of the shell."""
    condition: Condition
    severity: keys.Severity = "error"


@dataclass(frozen=True)
class WrittenStep:
    """A change of some nodes, and what is to hold after it."""

    name: str
    nodes: tuple[str, ...]
    command: str
    """A line of the shell."""
    wait_ns: int
    """Between the change and what is asked."""
    pings: tuple[WrittenPing, ...] = ()
    sessions: tuple[WrittenSession, ...] = ()
    routes: tuple[WrittenRoute, ...] = ()
    answers: tuple[WrittenAnswer, ...] = ()


def read_answers(section: Section, nodes: Sequence[str]) -> Iterator[WrittenAnswer]:
    """Yield the answers of a section of a lab with these nodes; what is wrong is recorded."""
    below = section.section("answers", None)
    for name in below.names() if below is not None else ():
        one = None if below is None else below.section(name, keys.ANSWER)
        if one is None:
            continue
        one.require("on", "run", "holds")
        command, where = one.value("run", keys.COMMAND), read_nodes(one, nodes)
        condition = one.convert("holds", "a condition", Condition)
        if command is not None and condition is not None:
            severity = keys.SEVERITY.or_default(one.read(keys.SEVERITY))
            yield WrittenAnswer(name, where, command.value, condition.value, severity)


def read_steps(section: Section, nodes: Sequence[str]) -> Iterator[WrittenStep]:
    """Yield the steps of a section of a lab with these nodes, in their order; what is wrong is recorded."""
    below = section.section("steps", None)
    for name in below.names() if below is not None else ():
        one = None if below is None else below.section(name, keys.STEP)
        if one is None:
            continue
        one.require("on", "run")
        command, where, wait = one.value("run", keys.COMMAND), read_nodes(one, nodes), one.read(keys.STEP_WAIT)
        pings, sessions = tuple(read_pings(one, nodes)), tuple(read_sessions(one, nodes))
        routes, answers = tuple(read_routes(one, nodes)), tuple(read_answers(one, nodes))
        if command is not None:
            wait_ns = keys.STEP_WAIT.or_default(wait)
            yield WrittenStep(name, where, command.value, wait_ns, pings, sessions, routes, answers)
