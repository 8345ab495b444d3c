"""Which ports of a fabric cables join, and which of them lead to devices that no file describes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabriclab.keys.wording import shown
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.sonic.lab.cabling import Cable, CableEnd, heard_cables
from fabriclab.vendors.sonic.lab.fabric_switches import End, Fabric, FabricSwitch
from fabriclab.vendors.sonic.read.entries import suggestion

_LLDP = "LLDP"


@dataclass(frozen=True)
class LaidCables:
    """The cables of a fabric."""

    joined: Mapping[End, End] = field(default_factory=dict)
    """The other end of ports that lead to a switch of the fabric; each cable from both ends."""
    outside: Mapping[End, CableEnd] = field(default_factory=dict)
    """What ports lead to that has no file."""
    source: Mapping[End, str] = field(default_factory=dict)
    """What says so, for each port of the other two."""


def laid_cables(fabric: Fabric, cables: Sequence[Cable], notes: dict[str, None]) -> LaidCables:
    """Return the cables that are given, and those that switches' archives have heard of by LLDP.

    Raises LabError for a port that a switch does not have, and for a port that two cables lead from.
    """
    problems = Problems()
    heard = [one for switch in fabric.switches.values() for one in _heard_by(switch)]
    resolver = _Resolver(fabric, notes, problems)
    far: dict[End, End | CableEnd] = {}
    said: dict[End, Cable] = {}
    for near, other, cable in resolver.directions([*cables, *heard]):
        if far.setdefault(near, other) != other:
            message = f"{near} leads to {_text(other)} here, but to {_text(far[near])} by {said[near].source}"
            problems.add(cable.place, "", f"{message}; a port has one cable")
        said.setdefault(near, cable)
    problems.raise_if_any()
    return LaidCables(
        joined={near: other for near, other in far.items() if isinstance(other, End)},
        outside={near: other for near, other in far.items() if isinstance(other, CableEnd)},
        source={near: cable.source for near, cable in said.items()},
    )


def _heard_by(switch: FabricSwitch) -> Iterator[Cable]:
    if switch.lldp is not None:
        yield from heard_cables(switch.lldp, switch.name, switch.config.file)


def _text(end: End | CableEnd) -> str:
    return str(end) if isinstance(end, End) else f"{end.device}:{' or '.join(end.ports)}"


@dataclass(frozen=True)
class _Resolver:
    """Finds the ports that cables name."""

    fabric: Fabric
    notes: dict[str, None]
    problems: Problems

    def directions(self, cables: Sequence[Cable]) -> Iterator[tuple[End, End | CableEnd, Cable]]:
        """Yield each cable from each of its ends that is in the fabric: that end, and the other one."""
        counts = Counter((cable.place.file, cable.a) for cable in cables if cable.said_by == _LLDP)
        for cable in cables:
            if counts[cable.place.file, cable.a] > 1:
                port = f"{cable.a.device}:{cable.a.ports[0]}"
                self.notes[f"{port}: hears several neighbours by LLDP ({cable.source}), so it is not a cable"] = None
                continue
            a, b = self._end(cable, cable.a), self._end(cable, cable.b)
            if a is not None and b is not None:
                if isinstance(a, End):
                    yield a, b, cable
                if isinstance(b, End):
                    yield b, a, cable

    def _end(self, cable: Cable, end: CableEnd) -> End | CableEnd | None:
        """Return a port of the fabric, an end outside, or None for a port that cannot be told."""
        switch = self._switch(end.device)
        if switch is None:
            return end
        port = next((found for word in end.ports if (found := switch.port_named(word)) is not None), None)
        if port is not None:
            return End(switch.name, port)
        if cable.said_by == _LLDP:
            # A port may send its MAC address, or a text of the operator's: the other end then says more.
            self.notes[f"{cable.source}: {_text(end)} is no PORT of {switch.name}, left out"] = None
        else:
            hint = suggestion(end.ports[0], switch.config.ports)
            message = f"{shown(end.ports[0])} is not a PORT of {switch.name} ({switch.config.place('PORT')}); {hint}"
            self.problems.add(cable.place, end.device, message, end.ports[0])
        return None

    def _switch(self, device: str) -> FabricSwitch | None:
        """Return the switch of a name, which LLDP may send with its domain."""
        return self.fabric.named(device) or self.fabric.named(device.partition(".")[0])
