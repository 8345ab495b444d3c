"""Mistyped commands and options: what else was probably meant is said with the error."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from fabriclab.cli.arguments.panels import in_order
from fabriclab.cli.host.failure import BAD_INPUT, say
from fabriclab.keys.wording import shown

_MEANT = {
    "help": "fabriclab --help",
    "version": "fabriclab --version",
    "list": "fabriclab labs",
    "ls": "fabriclab labs",
    "show": "fabriclab plan LAB",
    "init": "fabriclab generate star -o labs/mine",
    "new": "fabriclab generate star -o labs/mine",
}
"""What other programs call a command, and how it is called here."""
_TYPES = {
    "Input should be a valid integer, unable to parse string as an integer": "a whole number",
    "Input should be a valid number, unable to parse string as a number": "a number",
    "Input should be greater than or equal to ": "at least ",
    "Input should be less than or equal to ": "at most ",
}
"""How typer says that a value has the wrong type, and what it must be."""
_SET = "--set"
_UsageError: Any = typer.BadParameter.__mro__[1]
"""Click's; newer releases of typer have a click of their own."""


class Group(TyperGroup):
    """Commands, with the names that other programs have for them."""

    every: ClassVar[Any] = None
    """A function that makes all commands, where this has only the one that is run."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of `fabriclab --help`."""
        return in_order(super().list_commands(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named first, or say what it is called here."""
        word = args[0] if args else ""
        if word not in self.commands and word.lower() in _MEANT:
            say(f"{word}: no such command; write `{_MEANT[word.lower()]}`")
            raise typer.Exit(BAD_INPUT)
        return super().resolve_command(ctx, args)


class Command(TyperCommand):
    """A command whose errors say to which command an option belongs, and how a parameter of a lab is set."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return what is left of the arguments; an error has a hint where there is one."""
        written = list(args)
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            hints = list(_hints(ctx, written, getattr(error, "option_name", None)))
            if hasattr(error, "message"):
                error.message = "; ".join([_in_words(error.message, _written(error, written)), *hints])
            raise


def _written(error: Any, written: Sequence[str]) -> str | None:
    """Return the word that an option was given, where there is a single one; None where it is not known."""
    names = getattr(getattr(error, "param", None), "opts", ())
    words = [word for before, word in itertools.pairwise(written) if before in names]
    words += [word.partition("=")[2] for word in written if word.partition("=")[0] in names and "=" in word]
    return words[0] if len(words) == 1 else None


def _in_words(message: str, written: str | None) -> str:
    """Return a message of typer without the words of the library that it checks types with (pydantic)."""
    message = message.removeprefix("Value error, ").rstrip(".")
    if written is None:
        return message
    for theirs, wanted in _TYPES.items():
        if message.startswith(theirs):
            return f"{shown(written)} must be {wanted}{message.removeprefix(theirs)}"
    return message


def _hints(ctx: Any, written: Sequence[str], option: str | None) -> Iterator[str]:
    takes_settings = _SET in _options(ctx.command)
    if option is not None:
        group = ctx.parent.command if ctx.parent is not None else None
        commands = group.every() if isinstance(group, Group) and group.every else getattr(group, "commands", {})
        owners = [name for name, command in commands.items() if option in _options(command)]
        if owners:
            yield f"{option} is an option of {' and '.join(f'`{name}`' for name in owners)}"
        elif takes_settings:
            yield f"to set a parameter of the lab, write {_SET} {option.lstrip('-')}=VALUE"
        return
    for before, word in zip(("", *written), written, strict=False):
        if takes_settings and "=" in word and not word.startswith("-") and before != _SET:
            yield f"to set a parameter, write {_SET} {word}"
        if before == _SET and "=" not in word:
            yield f"write {_SET} {word}=VALUE, without a blank"


def _options(command: Any) -> list[str]:
    return [name for parameter in command.params for name in parameter.opts]
