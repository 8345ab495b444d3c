"""A device's startup script as commands: each line by itself, so that what fails is told by its line, and what starts
FRR or changes a port is known."""

from __future__ import annotations

import re
import shlex

from fabriclab.lab.setup.frr import starts_frr

_STRUCTURE = re.compile(
    r"^\s*(?:if|for|while|until|case|select|function|do|done|fi|then|else|elif|esac)\b|[{(]\s*$|^\s*[})]|\\$|<<",
    re.MULTILINE,
)
"""What makes lines depend on each other."""
_SHELL = re.compile(r"[;&|<>$`(){}*?~!]|^\s*[A-Za-z_]\w*=")
_PROGRAMS = ("arp", "brctl", "bridge", "ifconfig", "ip", "route", "sysctl", "tc", "vtysh")
"""What every node has. Any other may be absent: a shell tells that and goes on, as in Kathará."""


def startup_commands(text: str, path: str) -> list[tuple[int, str]]:
    """Return what runs a startup script, which lies at `path` in the node: each command, as Containerlab's `exec` has
    it, with the line that says it."""
    if _STRUCTURE.search(text):
        return [(1, f"bash {path}")]
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, _command(line)) for number, line in lines if line and not line.startswith("#")]


def _command(line: str) -> str:
    try:
        words = [] if _SHELL.search(line) else shlex.split(line, comments=True)
    except ValueError:
        words = []
    is_plain = bool(words) and (words[0].rpartition("/")[2] in _PROGRAMS or starts_frr(words))
    return shlex.join(words if is_plain else ["bash", "-c", line])
