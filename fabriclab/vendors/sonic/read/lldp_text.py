"""What a switch heard by LLDP, in the text of `show lldp table`, or of `lldpctl` as `show techsupport` saves it.

The table has the columns LocalPort, RemoteDevice, RemotePortID, Capability, RemotePortDescr (sonic-utilities,
scripts/lldpshow). SONiC sends the port's alias as its id, and its description, else its name, beside it (sonic-swss,
lldpmgrd).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADER = re.compile(r"\s*LocalPort\s+RemoteDevice\s+RemotePortID\b")
_RULE = re.compile(r"\s*-+(\s+-+)+\s*")
_PROMPT = re.compile(r"[A-Za-z0-9_.-]+@([A-Za-z0-9_.-]+):[^$#]*[$#]\s*(?:sudo\s+)?(?:show\s+lldp|lldpctl)")
_INTERFACE = re.compile(r"Interface:\s+(\S+?),?(?:\s+via:\s*(\w+).*)?\s*")
_FIELD = re.compile(r"\s+(SysName|PortID|PortDescr):\s*(.*?)\s*")
_PORT_ID = re.compile(r"(?:local|ifname|ifalias)\s+(.*)")


@dataclass(frozen=True)
class Heard:
    """A neighbour of a port."""

    port: str
    """The switch's own."""
    device: str
    """The neighbour's name; empty: it sends none."""
    far_ports: tuple[str, ...]
    """What the neighbour's port may be called: its id, its description."""
    line: int


@dataclass(frozen=True)
class LldpText:
    """A text of LLDP."""

    hostname: str
    """The switch that printed it, by its prompt; empty: the text has no prompt."""
    heard: tuple[Heard, ...]


def parse_lldp(text: str) -> LldpText | None:
    """Return what a text says, without neighbours of the management port; None for a text that is neither."""
    lines = text.splitlines()
    prompt = next((match[1] for line in lines if (match := _PROMPT.match(line.strip()))), "")
    if any(_HEADER.match(line) for line in lines):
        heard = tuple(_table(lines))
    elif any(_INTERFACE.fullmatch(line) for line in lines):
        heard = tuple(_details(lines))
    else:
        return None
    return LldpText(prompt, tuple(one for one in heard if one.port != "eth0"))


def _table(lines: list[str]) -> Iterator[Heard]:
    """Yield the rows below the rule, whose dashes say where columns begin: a name may hold a blank."""
    columns: list[int] = []
    is_header = False
    for number, line in enumerate(lines, start=1):
        if is_header and _RULE.fullmatch(line):
            columns = [match.start() for match in re.finditer("-+", line)]
        elif columns and (line.strip("- \t") == "" or line.lstrip().startswith("Total entries")):
            columns = []
        elif columns:
            ends = [*columns[1:], max(len(line), columns[-1])]
            cells = [line[start:end].strip() for start, end in zip(columns, ends, strict=True)]
            port, device, *more = [*cells, "", "", ""][:5]
            yield Heard(port, device, _ports(more[0], more[2]), number)
        is_header = _HEADER.match(line) is not None


def _details(lines: list[str]) -> Iterator[Heard]:
    port, start, fields = "", 0, dict[str, str]()
    for number, line in enumerate([*lines, "Interface: end"], start=1):
        if match := _INTERFACE.fullmatch(line):
            if port:
                told = _PORT_ID.fullmatch(fields.get("PortID", ""))
                far_ports = _ports("" if told is None else told[1], fields.get("PortDescr", ""))
                yield Heard(port, fields.get("SysName", ""), far_ports, start)
            port, start, fields = match[1].rstrip(","), number, {}
        elif field := _FIELD.fullmatch(line):
            fields.setdefault(field[1], field[2])


def _ports(*words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word and word.lower() != "not received"))
