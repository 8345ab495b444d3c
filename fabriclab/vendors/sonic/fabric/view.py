"""A fabric as its rules see it: switches, the links between them, and what each switch does with each class."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from fabriclab.lab.reading.problems import LabError, Mistake, Problems
from fabriclab.vendors.sonic.judge import SonicFinding
from fabriclab.vendors.sonic.judge.check import configured_switch
from fabriclab.vendors.sonic.judge.switch import ConfiguredSwitch
from fabriclab.vendors.sonic.lab.cabling import Cable
from fabriclab.vendors.sonic.lab.fabric_links import FabricLink, LinkFinder
from fabriclab.vendors.sonic.lab.fabric_switches import End, Fabric, FabricSwitch, read_fabric
from fabriclab.vendors.sonic.lab.laid_cables import laid_cables


class FabricFinding(NamedTuple):
    """What is wrong between switches, told at one of them."""

    switch: str
    found: SonicFinding


@dataclass(frozen=True)
class View:
    """The switches of a fabric and the links between them, both ends up."""

    fabric: Fabric
    links: Sequence[FabricLink]
    unsound: frozenset[str] = frozenset()
    """Switches whose tables of QoS are malformed."""
    down: Sequence[FabricLink] = ()
    """Links with an end that is down."""

    def switch(self, end: End) -> FabricSwitch:
        """Return the switch of an end."""
        return self.fabric.switches[end.switch]

    @cached_property
    def far(self) -> Mapping[End, End]:
        """The other end of each end."""
        return {near: far for link in self.links for near, far in (link.ends, link.ends[::-1])}

    @cached_property
    def neighbours(self) -> Mapping[str, Mapping[str, tuple[End, ...]]]:
        """By switch and neighbour: the switch's own ends of the links to it."""
        found: dict[str, dict[str, tuple[End, ...]]] = {name: {} for name in self.fabric.switches}
        for near, far in self.far.items():
            found[near.switch][far.switch] = (*found[near.switch].get(far.switch, ()), near)
        return found

    @cached_property
    def linked(self) -> tuple[FabricSwitch, ...]:
        """The switches that have a link to another one."""
        return tuple(switch for name, switch in self.fabric.switches.items() if self.neighbours[name])

    @cached_property
    def configured(self) -> Mapping[str, ConfiguredSwitch]:
        """The switches whose tables of QoS are sound, by name."""
        sound = [switch for switch in self.linked if switch.name not in self.unsound]
        built = {switch.name: configured_switch(switch.config) for switch in sound}
        return {name: one for name, one in built.items() if one is not None}

    def has_pfc(self, name: str) -> bool:
        """Return whether a switch enables PFC on any port: one without may be meant to be lossy."""
        return any(entry.pfc_enable for entry in self.fabric.switches[name].config.port_qos.values())

    def host_ports(self, switch: FabricSwitch) -> Iterator[str]:
        """Yield the ports of a switch that lead to no other switch of the fabric."""
        for port in switch.ports:
            if End(switch.name, port) not in self.far:
                yield port

    @cached_property
    def hosts6(self) -> tuple[tuple[str, str, bool], ...]:
        """The switches and interfaces with addresses of IPv6 that lead to no other switch, and whether each has no
        others."""
        found = []
        for switch in self.fabric.switches.values():
            cabled = {switch.channel_of.get(end.port, end.port) for end in self.far if end.switch == switch.name}
            for interface in switch.addresses_of(6):
                if interface not in cabled:
                    found.append((switch.name, interface, interface not in switch.config.addresses))
        return tuple(found)

    @cached_property
    def with_hosts(self) -> frozenset[str]:
        """The switches that have a port that leads to no other switch of the fabric."""
        return frozenset(switch.name for switch in self.linked if any(True for _ in self.host_ports(switch)))

    @cached_property
    def _hops(self) -> dict[str, Mapping[str, frozenset[str]]]:
        return {}

    def next_hops(self, start: str) -> Mapping[str, frozenset[str]]:
        """Return the neighbours that shortest paths to each switch with hosts begin with, where there are several
        links."""
        if start not in self._hops:
            self._hops[start] = self._next_hops(start)
        return self._hops[start]

    def _next_hops(self, start: str) -> Mapping[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        level = {name: {name} for name in self.neighbours[start]}
        while level:
            found |= level
            following: dict[str, set[str]] = defaultdict(set)
            for name, hops in level.items():
                for other in self.neighbours[name]:
                    if other != start and other not in found:
                        following[other] |= hops
            level = dict(following)
        return {
            name: frozenset(hops)
            for name, hops in found.items()
            if name in self.with_hosts and sum(len(self.neighbours[start][hop]) for hop in hops) > 1
        }


def read_view(paths: Sequence[Path], cables: Sequence[Cable]) -> View:
    """Return the fabric of several files. Raises LabError for files that cannot be read, that are one switch, or that
    contradict each other about a cable, and for a fabric without a link."""
    problems = Problems()
    fabric = read_fabric(paths, problems)
    problems.raise_if_any()
    finder = LinkFinder(fabric, {}, problems, laid_cables(fabric, cables, {}))
    links = finder.links()
    problems.raise_if_any()
    if not links:
        message = (
            "no link between these files was found; write DEVICE_NEIGHBOR or addresses of one /31, or give --cables"
        )
        raise LabError([Mistake(str(paths[0]), None, "", "", message)])
    return View(fabric, links)
