"""A program's commands are made once a session, and not for each call of typer's runner.

Typer makes them out of the functions' annotations: of 60 commands that takes 40 ms, longer than most of what tests call
by them. A program is called once a process and makes them once, too. A call leaves nothing behind in them: what it is
about lies in its context.
"""

from __future__ import annotations

import functools
import sys


def make_commands_once() -> None:
    """Let typer's runner keep the commands of each application, where tests use it."""
    testing = sys.modules.get("typer.testing")
    if testing is not None and not hasattr(testing.__dict__["_get_command"], "cache_info"):
        testing.__dict__["_get_command"] = functools.cache(testing.__dict__["_get_command"])
