"""Messages about nodes' own commands, with where the lab says them: the engine knows a command by its log alone."""

from __future__ import annotations

import re

from fabriclab.formats.plan.model import Plan

_ENDED = re.compile(r"(?P<name>\S+)@(?P<node>\S+) ended with .*")


def with_places(message: str, plan: Plan) -> str:
    """Return a message in which each line about the end of a node's own command begins with the command's place."""
    places = {
        (node.name, command.name): command.key
        for node in plan.nodes
        if node.setup is not None
        for command in node.setup.commands
    }
    return "\n".join(f"{_place(line, places)}{line}" for line in message.split("\n"))


def _place(line: str, places: dict[tuple[str, str], str]) -> str:
    match = _ENDED.fullmatch(line)
    place = None if match is None else places.get((match["node"], match["name"]))
    return "" if place is None else f"{place}: "
