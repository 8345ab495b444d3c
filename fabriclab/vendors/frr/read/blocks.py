"""The text of an FRR configuration (frr.conf, or what `show running-config` prints) as top-level commands, each with
the lines below it.

FRR takes no notice of indentation: a line belongs to the context that was entered last in which it means something
(FRR's `lib/command.c`, `cmd_execute_command`). Here, what begins a context or means something at the top level only
ends the one before it; all else that is indented more than the line that entered the context, or stands there without
any, is below that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fabriclab.vendors.common.command_text import Command, decoded

SOURCE = "`vtysh -c 'show running-config'`"
_CONTEXTS = re.compile(
    r"interface \S+( vrf \S+)?$"
    r"|router (bgp|ospf6?|isis|rip|ripng|eigrp|babel|openfabric|pim6?)\b"
    r"|(vrf|logical-router|pbr-map|nexthop-group|affinity-map|key chain|pseudowire|l2vpn) \S+"
    r"|route-map \S+ (permit|deny) \d+"
    r"|(bfd|mpls ldp|segment-routing|rpki.*|line vty|end-of-configuration)$"
)
"""What enters a context, wherever it stands."""
_GLOBAL = re.compile(
    r"(ip|ipv6) (route|prefix-list|forwarding|nht|protocol|access-list|import-table|multicast-routing)\b"
    r"|(ip|ipv6) (mroute|router-id)\b"
    r"|(hostname|domainname|frr|log|debug|service|password|enable|line|access-list|mac|zebra|agentx|username|fpm)\b"
    r"|bgp (as-path|community-list|large-community-list|extcommunity-list|route-map|update-delay|send-extra-data)\b"
)
"""What stands at the top level only, where it is not indented."""
_HOLDS_INTERFACES = re.compile(r"(mpls ldp|l2vpn|pseudowire|nexthop-group)\b")
"""Contexts in which `interface` is a line of their own."""
_SUBCONTEXT = re.compile(r"(address-family|vni|peer|profile|vrf-policy|key|traffic-eng|srv6|locators|pcep|sr)\b")
_EXIT = re.compile(r"(exit(-\S+)?|quit)$")
_PREAMBLE = re.compile(r"Building configuration\.\.\.|Current configuration:|\S*[#>] ?(sh|show|vtysh|do|sudo)\b.*")
_PROMPT = re.compile(r"\S+[#>]$")
_SHORT = {"int": "interface", "inter": "interface", "intf": "interface"}


@dataclass(frozen=True)
class FrrText:
    """A configuration's text."""

    file: str
    commands: tuple[Command, ...]
    data: bytes
    """What FRR reads: the text without what a terminal has around it."""


def parse_frr_text(data: bytes, file: str) -> FrrText:
    """Return the commands of a file's bytes. Raises LabError if it is not text, or too large."""
    text = decoded(data, file, SOURCE)
    lines = text.splitlines()
    kept = ["" if _is_of_the_terminal(line) else line for line in lines]
    return FrrText(file, _commands(kept), _clean(kept))


def _is_of_the_terminal(line: str) -> bool:
    """Return whether a line is not configuration but what surrounds it on a terminal."""
    bare = line.strip()
    return _PREAMBLE.fullmatch(bare) is not None or _PROMPT.fullmatch(bare) is not None


def _clean(lines: list[str]) -> bytes:
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    return f"{text}\n".encode()


class _Reader:
    """Goes through the lines, and knows which context they are in."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self._entered: Command | None = None
        self._indent = 0
        self._below: list[Command] = []
        self._in_subcontext = False

    def read(self, line: Command, indent: int) -> None:
        """Read a line that is indented that much."""
        if _EXIT.fullmatch(line.text) is not None:
            self._exit(line.text, indent)
        elif self._entered is not None and self._is_below(line.text, indent):
            self._in_subcontext = self._in_subcontext or _SUBCONTEXT.match(line.text) is not None
            self._below.append(line)
        else:
            self.leave()
            if _CONTEXTS.match(line.text) is not None:
                self._entered, self._indent = line, indent
            elif line.text != "end":
                self.commands.append(line)

    def leave(self) -> None:
        """Leave the context that was entered."""
        if self._entered is not None:
            below = tuple(self._below)
            self.commands.append(Command(self._entered.line, self._entered.words, below, 1 + len(below)))
        self._entered, self._below, self._in_subcontext = None, [], False

    def _exit(self, text: str, indent: int) -> None:
        if self._entered is None:
            return
        if text != "exit-vrf" and (self._in_subcontext or indent > self._indent):
            self._below.append(Command(0, (text,)))
            self._in_subcontext = False
        else:
            self.leave()

    def _is_below(self, text: str, indent: int) -> bool:
        assert self._entered is not None
        if _CONTEXTS.match(text) is not None:
            return _HOLDS_INTERFACES.match(self._entered.text) is not None and indent > self._indent
        if text == "end":
            return False
        is_bare = not self._below and self._entered.words[0] == "vrf"
        return indent > self._indent or is_bare or _GLOBAL.match(text) is None


def _commands(lines: list[str]) -> tuple[Command, ...]:
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        words = tuple(line.split())
        if words and not words[0].startswith(("!", "#")):
            words = (_SHORT.get(words[0], words[0]), *words[1:])
            reader.read(Command(number, words), len(line) - len(line.lstrip()))
    reader.leave()
    return tuple(reader.commands)
