"""Links that the user says, or that LLDP saw: `links.txt`, `lldpctl -f json`, `show lldp neighbors`.

A line of `links.txt` has the two ends of a link, `leaf1:swp1 spine1:swp3`, or the VRF of an interface, `leaf1:swp5 vrf
RED`; `#` begins a comment. What LLDP saw is a router's own: the file is called as the router is, `leaf1.lldp.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.reading.files import UnreadableError, read_named_file
from fabriclab.lab.reading.problems import LabError, Place, Problems
from fabriclab.vendors.common.command_text import LARGEST_BYTES, decoded
from fabriclab.vendors.frr.lab.routers import End, Routers

_END = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*):([A-Za-z0-9][A-Za-z0-9_./-]*)")
_BETWEEN = ("-", "--", "<->", "->", "–")
_LLDP_TEXT = re.compile(r"^\s*(Interface|SysName|PortID|PortDescr):\s+(.*)$")


@dataclass(frozen=True)
class SaidLink:
    """A link as it was said."""

    a: End
    b: End
    place: Place
    source: str


@dataclass
class Said:
    """All that was said beside the configurations."""

    links: list[SaidLink] = field(default_factory=list)
    vrfs: dict[End, str] = field(default_factory=dict)


def read_said(paths: list[Path], routers: Routers, problems: Problems) -> Said:
    """Return what the files say; what is wrong in them is recorded."""
    said = Said()
    for path in paths:
        try:
            text = decoded(read_named_file(path, LARGEST_BYTES), str(path), "a file of links")
        except UnreadableError as error:
            problems.add(Place(str(path)), "", str(error))
            continue
        except LabError as error:
            for one in error.mistakes:
                problems.add(Place(one.file, one.line), one.key, one.message, one.value)
            continue
        _SaidReader(path, routers, problems, said).read(text)
    return said


class _SaidReader:
    """Reads one file."""

    def __init__(self, path: Path, routers: Routers, problems: Problems, said: Said) -> None:
        self._path = path
        self._routers = routers
        self._problems = problems
        self._said = said

    def read(self, text: str) -> None:
        if text.lstrip().startswith(("{", "[")):
            document = self._json(text)
            if document is not None:
                self._read_lldp(_of_json(document))
        elif re.search(r"^\s*Interface:.*via: *LLDP", text, re.MULTILINE):
            self._read_lldp(_of_text(text))
        else:
            for number, line in enumerate(text.splitlines(), 1):
                self._read_line(number, line.partition("#")[0].split())

    def _json(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 1)
            self._problems.add(Place(str(self._path), line), "", "is not JSON; give the output of `lldpctl -f json`")
            return None

    def _read_line(self, number: int, words: list[str]) -> None:
        place = Place(str(self._path), number)
        words = [word for word in words if word not in _BETWEEN]
        if not words:
            return
        if len(words) == 3 and words[1] == "vrf":
            end = self._end(place, words[0], must_be_router=True)
            if end is not None:
                self._said.vrfs[end] = words[2]
            return
        if len(words) != 2:
            self._problems.add(
                place, "", f"{shown(' '.join(words))} is not a link; write its two ends, leaf1:swp1 spine1:swp3"
            )
            return
        a, b = (self._end(place, word) for word in words)
        if a is None or b is None:
            return
        if a.node not in self._routers and b.node not in self._routers:
            known = did_you_mean(a.node, self._routers)
            self._problems.add(place, words[0], f"neither {a.node} nor {b.node} is a router here; {known}", a.node)
        elif a.node == b.node:
            self._problems.add(place, words[0], f"joins {a.node} with itself; a link has two nodes", a.node)
        else:
            self._said.links.append(SaidLink(a, b, place, self._path.name))

    def _end(self, place: Place, text: str, *, must_be_router: bool = False) -> End | None:
        match = _END.fullmatch(text)
        if match is None:
            self._problems.add(place, text[:80], f"{shown(text)} is not an end of a link; write leaf1:swp1", text)
            return None
        end = End(match[1], match[2])
        router = self._routers.get(end.node)
        if router is None:
            if must_be_router:
                known = did_you_mean(end.node, self._routers)
                self._problems.add(place, text, f"{shown(end.node)} is not a router here; {known}", end.node)
                return None
            return end
        if end.interface not in router.config.interfaces and must_be_router:
            known = did_you_mean(end.interface, router.config.interfaces)
            message = f"{end.node} has no interface {shown(end.interface)} ({router.config.file}); {known}"
            self._problems.add(place, text, message, end.interface)
            return None
        return end

    def _read_lldp(self, seen: Iterator[tuple[str, str, list[str]]]) -> None:
        """Take what a router saw: its interface, the neighbour, and what the neighbour's port is called, perhaps."""
        own = re.sub(r"[._-]?(lldp|neighbors)?$", "", self._path.name.partition(".")[0])
        own = own if own in self._routers else self._path.resolve().parent.name
        place = Place(str(self._path))
        if own not in self._routers:
            known = did_you_mean(own, self._routers)
            message = (
                "is not named after a router; the file has a router's neighbours, so give it the router's name, "
                f"such as leaf1.lldp.json; {known}"
            )
            self._problems.add(place, "", message)
            return
        for interface, neighbour, ports in seen:
            node = neighbour.partition(".")[0]
            if node not in self._routers:
                continue
            known_ports = self._routers[node].config.interfaces
            port = next((name for name in ports if name in known_ports), None)
            if port is not None:
                self._said.links.append(SaidLink(End(own, interface), End(node, port), place, "LLDP"))


def _of_json(document: Any) -> Iterator[tuple[str, str, list[str]]]:
    """Yield interface, neighbour and the names of its port of `lldpctl -f json`."""
    interfaces = document.get("lldp", {}).get("interface", []) if isinstance(document, dict) else []
    for one in interfaces if isinstance(interfaces, list) else [interfaces]:
        for name, seen in one.items() if isinstance(one, dict) else ():
            chassis, port = (seen.get(key, {}) if isinstance(seen, dict) else {} for key in ("chassis", "port"))
            if not (isinstance(chassis, dict) and isinstance(port, dict)):
                continue
            neighbour = next((key for key, value in chassis.items() if isinstance(value, dict)), "")
            identity = port.get("id")
            called = [identity.get("value") if isinstance(identity, dict) else None, port.get("descr")]
            yield name, neighbour, [word for word in called if isinstance(word, str)]


def _of_text(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the same of what `lldpctl`, or `show lldp neighbors`, prints."""
    interface, neighbour, ports = "", "", list[str]()
    for line in [*text.splitlines(), "Interface: ,"]:
        match = _LLDP_TEXT.match(line)
        if match is None:
            continue
        key, value = match[1], match[2].strip()
        if key == "Interface":
            if interface and neighbour:
                yield interface, neighbour, ports
            interface, neighbour, ports = value.partition(",")[0].strip(), "", []
        elif key == "SysName":
            neighbour = value
        else:
            ports.append(value.split()[-1] if value else "")
