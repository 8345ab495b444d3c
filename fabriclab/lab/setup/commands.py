"""Containerlab's `exec`, `cmd`, `entrypoint`, `stages` and `healthcheck`: what is run in a node, and when.

Source: containerlab.dev/manual/nodes; types/stages.go, exec/exec.go. No shell runs a command: its words are split as a
shell splits them, and nothing is expanded.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from fabriclab.formats.plan.setup import HealthCheck, SetupCommand
from fabriclab.keys.quantities import Number
from fabriclab.keys.values import Word
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section, Written, as_text, as_words
from fabriclab.lab.setup.shell_words import SHELLS

STAGES = ("create", "create-links", "configure", "healthy", "exit")
_STAGE: Word[str] = Word(STAGES)
_TARGET: Word[str] = Word(("container", "host"))
_PHASE: Word[str] = Word(("on-enter", "on-exit"))
_BEFORE_EXEC = (("create", "on-enter"), ("create", "on-exit"), ("create-links", "on-enter"))
"""In these stages a node has no links yet; here it has, and what is asked then comes first."""
_NS_PER_S = 10**9
_ENDLESS = "infinity"
_HEALTH_KEYS = ("test", "interval", "timeout", "retries", "start-period")
_INTERVAL_S, _TIMEOUT_S, _RETRIES = 30, 30, 3
"""Docker's defaults."""
_PATIENCE = 10
"""So many times as many tries as make Docker call a container unhealthy: after that the run fails."""


class Stage(NamedTuple):
    """What a node's stages say."""

    waits: tuple[Written[str], ...]
    """Names of nodes that come first."""
    wants_health: frozenset[str]
    """Those of them that must be healthy."""
    before: tuple[SetupCommand, ...]
    after: tuple[SetupCommand, ...]
    """Commands before and after those of `exec`."""
    host_side: tuple[str, ...]
    """Commands that Containerlab runs on its host."""


def read_exec(layers: Sequence[Section], problems: Problems) -> list[SetupCommand]:
    """Return the commands of `exec`, the farthest layer's first, each text once."""
    found: dict[str, tuple[Written[str], bool]] = {}
    for layer in reversed(layers):
        value = layer.get("exec")
        if isinstance(value, SequenceValue):
            for index, item in enumerate(value.items):
                written = as_text(item, f"{layer.path('exec')}[{index}]", problems, "a command")
                if written is not None:
                    found.setdefault(written.value, (written, item.place.file != layer.place.file))
        elif value is not None and not (isinstance(value, ScalarValue) and value.is_null):
            layer.complain("exec", "is not a list; write exec: ['ip route add default via 10.0.0.1']")
    commands = (_command(one, f"exec-{number}", problems, far) for number, (one, far) in enumerate(found.values(), 1))
    return [command for command in commands if command is not None]


def read_main(layers: Sequence[Section], problems: Problems) -> tuple[str, ...]:
    """Return the node's main program: the words of `entrypoint` and `cmd` of the nearest layers that have them; none
    where it would only wait: a shell without input, or sleep."""
    words = [*_words(layers, "entrypoint", problems), *_words(layers, "cmd", problems)]
    name = words[0].rpartition("/")[2] if words else ""
    only_waits = (name in SHELLS and len(words) == 1) or (name == "sleep" and _ENDLESS in words)
    return () if only_waits or words[:2] == ["tail", "-f"] else tuple(words)


def _words(layers: Sequence[Section], key: str, problems: Problems) -> list[str]:
    for layer in layers:
        value = layer.get(key)
        if value is not None and not (isinstance(value, ScalarValue) and not value.text.strip()):
            written = as_text(value, layer.path(key), problems, "a command")
            return [] if written is None else list(_split(written, problems))
    return []


def _command(written: Written[str], name: str, problems: Problems, is_elsewhere: bool = False) -> SetupCommand | None:
    """Return a command; `is_elsewhere`: another file than the node's says it, such as a startup script of Kathará's."""
    argv = _split(written, problems)
    file, line = PurePath(written.place.file).name, written.place.line
    where = f"{file}:{line}" if is_elsewhere or written.place.said else f"{written.key} (line {line})"
    return SetupCommand(name=name, argv=argv, by="containerlab", key=where) if argv else None


def _split(written: Written[str], problems: Problems) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(written.value))
    except ValueError as error:
        written.complain(problems, f"{shown(written.value)} cannot be split into words: {str(error).lower()}")
        return ()


def read_stages(layers: Sequence[Section], problems: Problems) -> Stage:
    """Return what `stages` of a node and what it inherits from say."""
    waits: dict[str, Written[str]] = {}
    health, before, after, host_side = set[str](), list[SetupCommand](), list[SetupCommand](), list[str]()
    for layer in reversed(layers):
        stages = layer.section("stages", STAGES)
        for name in stages.names() if stages is not None else ():
            stage = None if stages is None else stages.section(name, ("wait-for", "exec"))
            if stage is None:
                continue
            for awaited in _entries(stage, "wait-for", ("node", "stage")):
                node, until = awaited.scalar("node", "a node's name"), awaited.value("stage", _STAGE)
                if node is not None and until is not None:
                    waits.setdefault(node.value, node)
                    health |= {node.value} if until.value == "healthy" else set()
            for number, entry in enumerate(_entries(stage, "exec", ("command", "target", "phase")), 1):
                target = entry.value("target", _TARGET)
                phase = entry.value("phase", _PHASE)
                written = entry.scalar("command", "a command")
                if written is None:
                    entry.require("command", example="command: touch /ready")
                elif target is not None and target.value == "host":
                    host_side.append(f"{written.key} (line {written.place.line})")
                elif command := _command(written, f"{name}-{number}", problems):
                    early = (name, "on-enter" if phase is None else phase.value) in _BEFORE_EXEC
                    (before if early else after).append(command)
    return Stage(tuple(waits.values()), frozenset(health), tuple(before), tuple(after), tuple(host_side))


def _entries(stage: Section, name: str, known: Sequence[str]) -> Iterator[Section]:
    for key, value in stage.items(name) or ():
        yield Section(value, key, stage.problems, known)


def read_health(layers: Sequence[Section], problems: Problems) -> HealthCheck | None:
    """Return the health check of the nearest layer that has one."""
    layer = next((layer for layer in layers if isinstance(layer.get("healthcheck"), MappingValue)), None)
    section = None if layer is None else layer.section("healthcheck", _HEALTH_KEYS)
    value = None if section is None else section.get("test")
    if section is None or value is None:
        return None
    words = [word.value for word in as_words(value, section.path("test"), problems) or ()]
    if words[:1] == ["CMD-SHELL"]:
        words = ["/bin/sh", "-c", " ".join(words[1:])]
    elif words[:1] == ["CMD"]:
        words = words[1:]
    if not words or words == ["NONE"]:
        return None
    interval, timeout, retries, start = (
        _seconds(section, name, least, default)
        for name, least, default in (
            ("interval", 1, _INTERVAL_S),
            ("timeout", 1, _TIMEOUT_S),
            ("retries", 1, _RETRIES),
            ("start-period", 0, 0),
        )
    )
    return HealthCheck(
        argv=tuple(words),
        start_ns=start * _NS_PER_S,
        interval_ns=interval * _NS_PER_S,
        limit_ns=timeout * _NS_PER_S,
        tries=retries * _PATIENCE,
    )


def _seconds(section: Section, name: str, least: int, default: int) -> int:
    written = section.value(name, Number(least, 3600, why="Docker counts in whole seconds"))
    return default if written is None else written.value
