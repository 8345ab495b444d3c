"""The text of an EOS configuration (`show running-config`) as commands with the commands below them, by indentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.vendors.common.command_text import Command, decoded

_MOST_PROBLEMS = 50
_EVERY_SWITCH_HAS = ("hostname", "interface", "qos")


@dataclass(frozen=True)
class ConfigText:
    """A file, and what was found wrong in it."""

    file: str
    commands: tuple[Command, ...]
    problems: Problems = field(default_factory=Problems)

    def complain(self, command: Command, message: str, value: str = "") -> None:
        """Record what is wrong with a command.

        Raises LabError when a file has so many mistakes that reading on is of no use.
        """
        self.problems.add(Place(self.file, command.line), command.text[:80], message, value)
        if len(self.problems) >= _MOST_PROBLEMS:
            self.problems.raise_if_any()


def is_eos(config: ConfigText) -> bool:
    """Return whether a text has any of the commands that every switch's configuration has;
    other texts are lines, too."""
    return any(command.words[0] in _EVERY_SWITCH_HAS for command in config.commands)


def parse_config_text(data: bytes, file: str) -> ConfigText:
    """Return the commands of a file's bytes. Raises LabError if it is not text, or too large."""
    lines = [
        (number, len(line) - len(line.lstrip()), tuple(line.split()))
        for number, line in enumerate(decoded(data, file, "`show running-config`").splitlines(), 1)
    ]
    # `!` parts sections, `!!` is a comment.
    return ConfigText(file, _tree([one for one in lines if one[2] and not one[2][0].startswith("!")]))


def _tree(lines: Sequence[tuple[int, int, tuple[str, ...]]]) -> tuple[Command, ...]:
    """Return the commands of lines (number, indentation, words): a line belongs to the one above it
    that is indented less."""
    levels: list[tuple[int, list[Command]]] = [(-1, [])]
    for number, indent, words in reversed(lines):
        # From the end: what is indented more and was met already is below this line. Each level is in reverse order.
        below: list[Command] = []
        while levels[-1][0] > indent:
            below += reversed(levels.pop()[1])
        if levels[-1][0] != indent:
            levels.append((indent, []))
        levels[-1][1].append(Command(number, words, tuple(below), 1 + sum(one.size for one in below)))
    return tuple(one for _, level in reversed(levels) for one in reversed(level))
