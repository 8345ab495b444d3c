"""A device's startup script as commands: each line by itself, so that what fails is told by its line, and what starts
FRR or changes a port is known.

`ifconfig` and `route` (net-tools) become `ip` commands, for the virtual machine has iproute2 alone.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

_STRUCTURE = re.compile(
    r"^\s*(?:if|for|while|until|case|select|function|do|done|fi|then|else|elif|esac)\b|[{(]\s*$|^\s*[})]|\\$|<<",
    re.MULTILINE,
)
"""What makes lines depend on each other."""
_SHELL = re.compile(r"[;&|<>$`(){}*?~!]|^\s*[A-Za-z_]\w*=")
_CLASSES = ((128, 8), (192, 16), (256, 24))
"""The length of a prefix by the first byte of an address that has no mask."""


def startup_commands(text: str, path: str) -> list[str]:
    """Return what runs a startup script, which lies at `path` in the node, as Containerlab's `exec` has it."""
    if _STRUCTURE.search(text):
        return [f"bash {path}"]
    lines = (line.strip() for line in text.splitlines())
    return [_command(line) for line in lines if line and not line.startswith("#")]


def _command(line: str) -> str:
    if _SHELL.search(line):
        return shlex.join(["bash", "-c", line])
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return shlex.join(["bash", "-c", line])
    name = words[0].rpartition("/")[2] if words else ""
    try:
        if name == "ifconfig":
            return _ifconfig(words[1:]) or line
        return (_route(words[1:]) or line) if name == "route" else shlex.join(words)
    except ValueError:
        return line


def _ifconfig(words: Sequence[str]) -> str | None:
    """Return the `ip` command of an ifconfig; None of what has none. Raises ValueError for an address that is none."""
    if not words:
        return None
    interface, rest = words[0].partition(":")[0], list(words[1:])
    options = {word: rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("netmask", "broadcast", "mtu")}
    left = [word for word in rest if word not in (*options, *options.values(), "up", "inet")]
    if rest in (["up"], ["down"]):
        return f"ip link set dev {interface} {rest[0]}"
    if not left and "mtu" in options:
        return f"ip link set dev {interface} mtu {options['mtu']}"
    if left[:2] == ["hw", "ether"] and len(left) == 3:
        return f"ip link set dev {interface} address {left[2]}"
    if len(left) != 1:
        return None
    return f"ip address add {_with_length(left[0], options.get('netmask'))} dev {interface}"


def _with_length(address: str, mask: str | None) -> str:
    if mask is not None:
        return str(IPv4Interface(f"{address}/{mask}"))
    if "/" in address:
        return address
    first = int(IPv4Address(address)) >> 24
    return f"{address}/{next(length for below, length in _CLASSES if first < below)}"


def _route(words: Sequence[str]) -> str | None:
    """Return the `ip` command of a route; None of what has none. Raises ValueError for a network that is none."""
    left = list(words)
    if left[:1] not in (["add"], ["del"]):
        return None
    verb = left.pop(0)
    options: dict[str, str] = {}
    for name in ("gw", "netmask", "metric", "dev"):
        if name in left[:-1]:
            at = left.index(name)
            options[name] = left[at + 1]
            del left[at : at + 2]
    kind = left.pop(0) if left[:1] in (["-net"], ["-host"]) else ""
    if not left or len(left) > 2:
        return None
    if len(left) == 2:
        options.setdefault("dev", left[1])
    target = left[0]
    if target not in ("default", "0.0.0.0/0"):
        mask = options.get("netmask", "32" if kind != "-net" and "/" not in target else None)
        target = str(IPv4Network(_with_length(target, mask)))
    via = f" via {options['gw']}" if "gw" in options else ""
    dev = f" dev {options['dev']}" if "dev" in options else ""
    metric = f" metric {options['metric']}" if "metric" in options else ""
    return f"ip route {verb} {target}{via}{dev}{metric}"
