"""What nodes' own files ask for that the virtual machine does not have: programs of images, and sysctls.

A command whose program is absent fails, and the run goes on, as in Containerlab. Such a sysctl is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fabriclab.formats.plan.setup import NodeFile, Setup, SetupCommand
from fabriclab.lab.setup.frr import starts_frr
from fabriclab.lab.setup.ifupdown import NETWORKING, SERVICES, without_networking
from fabriclab.lab.setup.kernel_lacks import of_lacking_feature
from fabriclab.lab.setup.machine_contents import has_program, has_sysctl
from fabriclab.lab.setup.shell_words import SHELLS, programs_of, programs_of_script, shell_text

_SYSCTL = "sysctl"
_MOST_SHOWN = 60
_ENDLESS_LOOP = re.compile(r"\bwhile\s+(?:true|:|\[\s*1\s*\])\s*(?:;|\n)\s*do\b(.*?)\bdone\b", re.DOTALL)
_WAITS = re.compile(r"\b(?:read|wait)\b")
_MPLS = "net.mpls."
"""The kernel gets these once a lab speaks of them."""
_NAME_LIKE = ("net.", "kernel.", "vm.", "fs.", "user.", "dev.")


def absent(name: str, setup: Setup) -> Iterator[str]:
    """Yield a sentence on each program that a node asks for and the machine does not have, and one on such sysctls."""
    # Of services the stand-ins have networking alone.
    files = [file for file in setup.files if file.path not in SERVICES]
    found: dict[str, list[str]] = {}
    for where, programs in _asked(setup):
        for program in programs:
            if not (is_there(program, files) or of_lacking_feature(program)):
                found.setdefault(program, []).append(where)
    for program, places in found.items():
        each = "; ".join(dict.fromkeys(places))
        yield f"{name}: {each}: the virtual machine has no {program}; the command fails, and the run goes on"
    sysctls = [*unknown_sysctls(setup.sysctls), *_sysctls_of_commands(setup)]
    if sysctls:
        yield f"{name}: the virtual machine's kernel has no sysctl {', '.join(sysctls)}; it is left out"


def spinning(command: SetupCommand, files: Sequence[NodeFile]) -> str | None:
    """Return what is absent of an endless loop that would only wait for that; None of any other command.

    Such a loop takes no virtual time, so the run would hang.
    """
    loop = _ENDLESS_LOOP.search(shell_text(command.argv) or "")
    if loop is None or _WAITS.search(loop[1]):
        return None
    asked = programs_of_script(loop[1])
    missing = [program for program in asked if not is_there(program, files)]
    return missing[0] if missing and missing == asked else None


def is_there(program: str, files: Sequence[NodeFile] = ()) -> bool:
    """Return whether a node of the virtual machine with these files of its own has a program."""
    name = program.rpartition("/")[2]
    brought = any(file.path == program or file.path.rpartition("/")[2] == name for file in files)
    return brought or has_program(program)


def known_sysctls(sysctls: Mapping[str, str]) -> dict[str, str]:
    """Return the sysctls that the machine's kernel has."""
    unknown = set(unknown_sysctls(sysctls))
    return {name: value for name, value in sysctls.items() if name not in unknown}


def unknown_sysctls(sysctls: Mapping[str, str]) -> Iterator[str]:
    """Yield the sysctls that the machine's kernel does not have."""
    yield from (name for name in sysctls if not name.startswith(_MPLS) and not has_sysctl(name))


def _asked(setup: Setup) -> Iterator[tuple[str, list[str]]]:
    """Yield who asks for programs, as the lab says it, and which."""
    if setup.main:
        yield f"the node's main program ({_shortly(setup.main)})", programs_of(setup.main)
    if setup.health is not None:
        yield f"its health check ({_shortly(setup.health.argv)})", programs_of(setup.health.argv)
    has_ifupdown = any(file.path == NETWORKING for file in setup.files)
    told = without_networking if has_ifupdown else list
    run = {word for command in setup.commands for word in command.argv}
    for command in setup.commands:
        if not (setup.daemons and starts_frr(command.argv)):
            yield f"{command.key} ({_shortly(command.argv)})", programs_of(told(command.argv))
    for file in setup.files:
        if file.path in run and _is_shell_script(file.text):
            yield file.source or file.path, programs_of_script(*told([file.text]))


def _is_shell_script(text: str) -> bool:
    first = text.partition("\n")[0]
    return not first.startswith("#!") or any(first.rpartition("/")[2].split()[-1:] == [shell] for shell in SHELLS)


def _sysctls_of_commands(setup: Setup) -> Iterator[str]:
    """Yield what commands set by `sysctl -w NAME=VALUE` and the kernel does not have, with the command."""
    for command in setup.commands:
        if command.argv[0].rpartition("/")[2] != _SYSCTL:
            continue
        names = (word.partition("=")[0] for word in command.argv[1:])
        those = {name: "" for name in names if name.startswith(_NAME_LIKE)}
        yield from (f"{name} (by {command.key})" for name in unknown_sysctls(those))


def _shortly(argv: Sequence[str]) -> str:
    """Return a command, or the script that a shell is given, on one line."""
    text = " ".join((shell_text(argv) or " ".join(argv)).split())
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
