"""Whether a fabric's routes are what somebody wants, by its configurations alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabriclab.keys.wording import listed
from fabriclab.lab.network.own_configuration import NotEmulated
from fabriclab.resolve.bgp_paths import KeptOut
from fabriclab.units import format_count
from fabriclab.vendors.sonic.fabric.forwarding import Fate, Forwarding, Part
from fabriclab.vendors.sonic.fabric.routing import Destination, FabricRouting
from fabriclab.vendors.sonic.fabric.view import View
from fabriclab.vendors.sonic.fabric.vrf_view import vrf_of
from fabriclab.vendors.sonic.fabric.wanted import Networks, Wanted

_MOST_CAUSES = 2
_LEAKS = ("import_vpn", "import_vrf")
"""Fields of BGP_GLOBALS_AF by which routes come from elsewhere."""


@dataclass(frozen=True)
class Breach:
    """A pair that is not as it is wanted."""

    source: str
    destination: Destination
    why: str


@dataclass(frozen=True)
class ReachFinding:
    """What becomes of a demand."""

    wanted: Wanted
    pairs: int
    """Of a switch and a network, a part of it each."""
    breaches: tuple[Breach, ...]
    unknown: tuple[Breach, ...] = ()
    """Pairs whose routes come from a VPN or another VRF, which nobody calculates."""


@dataclass(frozen=True)
class Way:
    """What becomes of packets of a switch to a network, or to a part of it."""

    source: str
    destination: Destination
    fate: Fate


@dataclass(frozen=True, eq=False)
class Reach:
    """The reachability of a fabric."""

    routings: tuple[FabricRouting, ...]
    """Of each family that it has; of IPv4 in any case."""

    @property
    def view(self) -> View:
        """The switches and their links."""
        return self.routings[0].view

    @cached_property
    def destinations(self) -> tuple[Destination, ...]:
        """All networks, those of IPv4 first."""
        return tuple(one for routing in self.routings for one in routing.destinations)

    @property
    def unrouted6(self) -> int:
        """How many interfaces of hosts have IPv6, whose routes nobody carries."""
        return len(self.view.hosts6) if len(self.routings) == 1 else 0

    @property
    def networks(self) -> Networks:
        """What demands can be about."""
        return Networks(list(self.view.fabric.switches), self.destinations, [one.family for one in self.routings])

    @property
    def sessions(self) -> int:
        """How many sessions are up, whatever routes they carry."""
        switches = ((name, own) for routing in self.routings for name, own in routing.sessions.items())
        return len({(name, session.key) for name, own in switches for session, _ in own.values()}) // 2

    @cached_property
    def _forwardings(self) -> tuple[Forwarding, ...]:
        return tuple(map(Forwarding, self.routings))

    def parts(self, destination: Destination) -> tuple[Part, ...]:
        """Return the parts of a network, with the ways of all switches to them."""
        return self._of(destination).parts(destination)

    def _of(self, destination: Destination) -> Forwarding:
        version = destination.network.version
        return next(one for one in self._forwardings if one.routing.family == version)

    @cached_property
    def not_judged(self) -> tuple[NotEmulated, ...]:
        """What acts on routes in a switch, and is not part of the answer."""
        switches = self.view.fabric.switches.values()
        every = (one for switch in switches for one in switch.config.not_emulated if one.touches == "routes")
        return tuple({one.sentence: one for one in every}.values())

    @cached_property
    def _leaking(self) -> frozenset[str]:
        """The parts of switches that take routes of VPNs or of other VRFs."""
        switches = self.view.fabric.switches.values()
        return frozenset(
            switch.name for switch in switches if any(one.path[-1] in _LEAKS for one in switch.config.not_emulated)
        )

    def ways(self) -> Iterator[Way]:
        """Yield the ways of each switch to each network that it is not in."""
        for destination in self.destinations:
            for part in self.parts(destination):
                for name in self.view.fabric.switches:
                    if name not in part.owners and vrf_of(name) == vrf_of(destination.owner):
                        yield Way(name, destination, part.fate(name))

    def judged(self, wanted: Sequence[Wanted]) -> tuple[ReachFinding, ...]:
        """Return a finding for each demand."""
        return tuple(self._judged(one) for one in wanted)

    def _judged(self, wanted: Wanted) -> ReachFinding:
        pairs, breaches, unknown = 0, list[Breach](), list[Breach]()
        for destination in wanted.destinations:
            for part in self.parts(destination):
                for source in wanted.sources:
                    if (
                        source in part.owners
                        or source == destination.owner
                        or not _is_asked(wanted, source, destination)
                    ):
                        continue
                    pairs += 1
                    why = self._breach(wanted, source, destination, part)
                    if why:
                        lost = part.fate(source).lost
                        is_unknown = lost is not None and lost.switch in self._leaking
                        (unknown if is_unknown else breaches).append(Breach(source, destination, why))
        return ReachFinding(wanted, pairs, tuple(breaches), tuple(unknown))

    def _breach(self, wanted: Wanted, source: str, destination: Destination, part: Part) -> str:
        """Return why a pair is not as it is wanted; empty: it is."""
        fate = part.fate(source)
        of_part = "" if part.network == destination.network else f" (its part {part.network})"
        if wanted.kind == "unreachable":
            return f"{format_count(fate.paths, 'path')} arrive{of_part}" if fate.paths else ""
        if fate.lost is not None:
            some = f"of its paths {fate.paths} arrive, but others end" if fate.paths else "packets end"
            return f"{some} at {fate.lost.switch}{of_part}: {fate.lost.why}{self._causes(source, destination, fate)}"
        if wanted.kind == "waypoint":
            path = part.avoids(source, wanted.through)
            return f"{' - '.join(path)}{of_part} passes none of {listed(wanted.through)}" if path else ""
        for least, found, what in ((wanted.next_hops, fate.width, "next hop"), (wanted.paths, fate.paths, "path")):
            if least is not None and found < least:
                return f"{format_count(found, what)}{of_part}, not {least}{self._causes(source, destination, fate)}"
        return ""

    def _causes(self, source: str, destination: Destination, fate: Fate) -> str:
        """Return what keeps a network from switches, in words after a semicolon; empty where nothing is known."""
        routing = self._of(destination).routing
        outcome = routing.outcome(destination.network)
        if str(fate.part) in routing.unsettled:
            return "; the policies of switches contradict each other, so that its routes never settle"
        end = source if fate.lost is None else fate.lost.switch
        astray = routing.astray(end, destination.network)
        if astray is not None:
            return f"; {end}'s next hop {astray[0]} is no switch's address"
        if outcome is None:
            return f"; {destination.owner} does not announce {destination.network}"
        looped = () if fate.lost is None else (one for one in outcome.looped if one.switch == fate.lost.switch)
        kept = dict.fromkeys(_sentence(one) for one in outcome.kept_out or looped)
        return f"; {listed(list(kept)[:_MOST_CAUSES])}" if kept else ""


def _is_asked(wanted: Wanted, source: str, destination: Destination) -> bool:
    """Return whether a demand means a pair: switches of a VRF need reach hosts and loopbacks of the same one only."""
    return wanted.kind == "unreachable" or wanted.is_of_prefix or vrf_of(source) == vrf_of(destination.owner)


def _sentence(kept: KeptOut) -> str:
    peer = "" if kept.peer is None else f" {'from' if kept.direction == 'in' else 'to'} {kept.peer.switch}"
    return f"{kept.switch}: {kept.by} ({kept.direction}) keeps it out{peer}"
