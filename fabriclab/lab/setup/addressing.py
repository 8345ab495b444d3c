"""Whether a node's commands set addresses or routes, and whether they may give it an address: by their words, and by
those of the scripts that they run and the node binds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabriclab.formats.plan.setup import Setup, SetupCommand
from fabriclab.lab.setup.ifupdown import NETWORKING, STARTS
from fabriclab.lab.setup.shell_words import programs_of_script, shell_text

_ADDRESSING = re.compile(r"(?:^|[/\s;&|])(?:ip|ifconfig|route|vtysh|dhclient|udhcpc)(?:\s|$)")
_NO_ADDRESS = re.compile(
    r"(?:\S*/)?(?:ip (?:-\S+ )*(?:l(?:ink)?|r(?:oute)?|ru(?:le)?|n(?:eigh)?) |(?:sysctl|touch|echo|sleep|ethtool|tc) )"
)
_HARMLESS = frozenset(
    (
        *("brctl", "cat", "chmod", "chown", "chpasswd", "cp", "date", "echo", "env", "ethtool", "grep", "head"),
        *("hostname", "ln", "ls", "mkdir", "mount", "mv", "rm", "sed", "service", "sleep", "sort", "sysctl"),
        *("systemctl", "tail", "tc", "tee", "touch", "tr", "uname", "useradd", "usermod", "wc"),
    )
)
"""Programs that give an interface no address; services, where none of them is networking."""
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)


def sets_addresses(setup: Setup) -> bool:
    """Return whether a node's commands set addresses or routes."""
    if _has_ifupdown(setup) or any(command.by == "netlab" for command in setup.commands):
        return True
    run = (setup.main, *(command.argv for command in setup.commands))
    texts = (*map(" ".join, run), *(script for argv in run for script in _scripts(setup, argv)))
    return any(_ADDRESSING.search(_COMMENT.sub("", text)) is not None for text in texts)


def may_address(setup: Setup) -> bool:
    """Return whether a node's commands may give it an address: none can of which each is known to do something else."""
    return any(command.by == "netlab" or _may(command, setup) for command in setup.commands)


def _may(command: SetupCommand, setup: Setup) -> bool:
    script = next(_scripts(setup, command.argv), shell_text(command.argv))
    if script is None:
        return _NO_ADDRESS.match(" ".join(command.argv)) is None
    if _has_ifupdown(setup) and STARTS.search(script):
        return True
    names = {program.rpartition("/")[2] for program in programs_of_script(script) if "init.d/" not in program}
    return _ADDRESSING.search(_COMMENT.sub("", script)) is not None or not names <= _HARMLESS


def _has_ifupdown(setup: Setup) -> bool:
    return any(file.path == NETWORKING for file in setup.files)


def _scripts(setup: Setup, argv: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts of the node's own files that a command names."""
    return (file.text for file in setup.files if file.text and file.path in argv)
