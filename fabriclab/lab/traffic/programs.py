"""What a lab writes of a program: where it runs, its words, what it waits for, what it needs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic import Awaited, ProgramTraffic, Traffic
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.reading.document import ScalarValue, SequenceValue, Value, must_be
from fabriclab.lab.reading.files import UnreadableError, read_lab_file
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section, value_of
from fabriclab.lab.traffic.scope import complain_unreadable
from fabriclab.registry.applications import APPLICATIONS

PACKAGE = r"[a-z0-9][a-z0-9+.-]+"
"""Debian Policy, section 5.6.1."""
VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
AWAITED = r"[A-Za-z0-9_-]+(?::[0-9]{1,5})?"
OUTPUT_FILE = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
JAR = r"[\w.-]+:[\w.-]+:[\w.-]+(?::[\w.-]+)? [0-9a-f]{64}"
"""Maven's coordinates, and a checksum."""
_LARGEST_PORT = ranges.TCP_PORT.most
_LARGEST_LIST_BYTES = 1 << 20


def read_node(section: Section, names: Names) -> str | None:
    """Return the host or switch that a program runs on; None after recording what is wrong."""
    nodes = (*names.hosts, *names.switches)

    def convert(text: str) -> str:
        if text not in nodes and names.complete:
            raise ValueError(f"{shown(text)} is not a node; {did_you_mean(text, nodes)}")
        return text

    written = section.convert("node", "a node's name", convert)
    return value_of(written)


def read_argv(section: Section) -> tuple[str, ...] | None:
    """Return a program's words: a list, or a text that is divided as a shell would; None after recording what is
    wrong."""
    value = section.get("argv")
    if value is None:
        return None
    words = _listed(value, section) if isinstance(value, SequenceValue) else _divided(value, section)
    if words is not None and (not words or not words[0]):
        section.complain("argv", "must begin with a program, such as [redis-server, --save, '']")
        return None
    if words is not None and any("\0" in word for word in words):
        section.complain("argv", "holds a NUL, which no program can be given")
        return None
    return words


def _listed(value: SequenceValue, section: Section) -> tuple[str, ...] | None:
    key, problems = section.path("argv"), section.problems
    words = [_word(item, f"{key}[{index}]", problems) for index, item in enumerate(value.items)]
    known = [word for word in words if word is not None]
    return tuple(known) if len(known) == len(words) else None


def _word(item: Value, key: str, problems: Problems) -> str | None:
    """Return an argument as it stands: blanks at its ends are part of it."""
    if isinstance(item, ScalarValue) and not item.is_null:
        return item.text
    problems.add(item.place, key, must_be("an argument ('' for an empty one)", item))
    return None


def _divided(value: Value, section: Section) -> tuple[str, ...] | None:
    written = section.scalar("argv", "a list of words, or a command")
    if written is None:
        return None
    try:
        return tuple(shlex.split(written.text))
    except ValueError as error:
        written.complain(section.problems, f"{shown(written.text)}: {str(error).lower()}; write a list of words")
        return None


def read_after(section: Section) -> tuple[Awaited, ...]:
    """Return what a program waits for; that it is there is looked at when all programs are known (`check_programs`)."""
    found = []
    for word in section.words("after") or []:
        if re.fullmatch(AWAITED, word.value) is None:
            message = f"{shown(word.value)}: write a program's name for its end, or NAME:PORT for its TCP port"
            word.complain(section.problems, message)
            continue
        program, _, port = word.value.partition(":")
        if port and not 1 <= int(port) <= _LARGEST_PORT:
            word.complain(section.problems, f"{port} is not a TCP port; write one from 1 to {_LARGEST_PORT}")
            continue
        found.append(Awaited(program=program, port=int(port) if port else None))
    return tuple(found)


def read_environment(section: Section) -> tuple[tuple[str, str], ...]:
    """Return variables by their names."""
    variables = section.section("environment", None)
    if variables is None:
        return ()
    found = []
    for name in variables.names():
        value = variables.get(name)
        if re.fullmatch(VARIABLE, name) is None:
            message = f"{shown(name)} cannot name a variable; write letters, digits and '_', no digit first"
            section.problems.add(variables.mapping.key_place(name), variables.path(name), message, name)
        elif isinstance(value, ScalarValue) and not value.is_null:
            found.append((name, value.text))
        elif value is not None:
            variables.complain(name, must_be("a text ('' for an empty one)", value))
    return tuple(found)


def read_output(section: Section) -> str | None:
    """Return the name of the file that a program's output goes to."""

    def convert(text: str) -> str:
        if re.fullmatch(OUTPUT_FILE, text) is None:
            raise ValueError(
                f"{shown(text)} is not a file name; write letters, digits, '_', '-' and '.', such as result.csv"
            )
        return text

    written = section.convert("output", "a file's name", convert)
    return value_of(written)


def read_packages(section: Section) -> tuple[str, ...]:
    """Return the names of Debian packages."""
    found = []
    for word in section.words("packages") or []:
        if re.fullmatch(PACKAGE, word.value) is None:
            message = f"{shown(word.value)} is not the name of a Debian package, such as redis-server"
            word.complain(section.problems, message)
        else:
            found.append(word.value)
    return tuple(dict.fromkeys(found))


def read_jars(section: Section, directory: Path) -> tuple[str, ...]:
    """Return the Java archives that a file of the lab's directory lists."""
    file = section.scalar("jars", "a file's name")
    if file is None:
        return ()
    try:
        text = read_lab_file(directory, file.value, _LARGEST_LIST_BYTES).decode(errors="replace")
    except UnreadableError as error:
        complain_unreadable(file, section, directory, error, "*.txt")
        return ()
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if words and re.fullmatch(JAR, " ".join(words)) is None:
            right = "write GROUP:ARTIFACT:VERSION, a blank and the SHA-256 of the archive"
            file.complain(
                section.problems, f"{file.value}:{number}: {shown(line.strip())} is not a Java archive; {right}"
            )
            break
        if words:
            found.append("=".join(words))
    if not found and text.strip() == "":
        file.complain(section.problems, f"{shown(file.value)} is empty; it lists Java archives, one a line")
    return tuple(dict.fromkeys(found))


def check_programs(every: Sequence[Traffic], section: Section) -> None:
    """Record what programs can't wait for, and whatever keeps the run from ending."""
    programs = {program.name: program for traffic in every for program in traffic.programs()}
    for application in APPLICATIONS:
        if any(traffic.kind == application.name for traffic in every):
            application.load("lab.cluster").check_clusters(every, section)
    for program in programs.values():
        for awaited in program.after:
            _check_awaited(program, awaited, programs, section)
        _check_output(program, programs, section)
    for name in _circle(programs):
        complain(section, name, "after", f"waits for itself: {' waits for '.join(_circle(programs))}")
        break
    if every and len(programs) == len(every) and all(program.serves for program in programs.values()):
        last = next(reversed(programs))
        complain(section, last, "serves", "all others serve too, so nothing ends the run; remove `serves` from one")


def _check_awaited(
    program: ProgramTraffic, awaited: Awaited, programs: Mapping[str, ProgramTraffic], section: Section
) -> None:
    other = programs.get(awaited.program)
    if other is None:
        others = [name for name in programs if name != program.name]
        known = did_you_mean(awaited.program, others) if others else "there is no other program"
        off = awaited.program in section
        said = "is not enabled, or is not a program" if off else f"is not a program of this lab; {known}"
        complain(section, program.name, "after", f"{shown(awaited.program)} {said}")
    elif awaited.port is None and other.serves and other.stop_ns is None:
        message = f"{shown(awaited.program)} serves until the others have ended; wait for a port of it, NAME:PORT"
        complain(section, program.name, "after", message)


def _check_output(program: ProgramTraffic, programs: Mapping[str, ProgramTraffic], section: Section) -> None:
    same = [other.name for other in programs.values() if program.output and other.output == program.output]
    if program.name in same[1:]:
        complain(section, program.name, "output", f"{shown(program.output or '')} is the output of {same[0]} already")


def _circle(programs: Mapping[str, ProgramTraffic]) -> list[str]:
    """Return programs of which each waits for the next, the last for the first; empty where there is no such circle."""

    def search(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in cleared or name not in programs:
            return []
        for awaited in programs[name].after:
            if found := search(awaited.program, [*path, name]):
                return found
        cleared.add(name)
        return []

    cleared: set[str] = set()
    for name in programs:
        if found := search(name, []):
            return found
    return []


def complain(section: Section, program: str, key: str, message: str) -> None:
    """Record what is wrong with a key of a traffic; `section` is all traffic."""
    own = section.section(program, None)
    if own is not None:
        own.complain(key, message)
