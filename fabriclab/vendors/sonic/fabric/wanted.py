"""What somebody wants of a fabric's routes: a YAML file of who reaches what, through whom, over how many paths.

reach:       [{from: leaf*, to: hosts}]
unreachable: [{from: leaf1, to: 10.9.0.0/16}]
waypoints:   [{from: leaf*, to: hosts, through: spine*}]
widths:      [{from: leaf*, to: hosts, next_hops: 8}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import ip_network
from pathlib import Path
from typing import Literal

from fabriclab.formats.family import AnyNetwork, Family, is_within
from fabriclab.keys.wording import did_you_mean, listed, shown
from fabriclab.lab.reading.document import read_document
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section
from fabriclab.vendors.sonic.fabric.routing import Destination
from fabriclab.vendors.sonic.fabric.vrf_view import vrf_of

Kind = Literal["reach", "unreachable", "waypoint", "width"]
HOSTS, LOOPBACKS = "hosts", "loopbacks"
_KEYS = ("reach", "unreachable", "waypoints", "widths")
_MOST = 100_000


@dataclass(frozen=True)
class Wanted:
    """One demand."""

    kind: Kind
    sources: tuple[str, ...]
    to: str
    """hosts, loopbacks, or a prefix: of which networks of the fabric."""
    destinations: tuple[Destination, ...]
    through: tuple[str, ...] = ()
    next_hops: int | None = None
    paths: int | None = None
    place: Place | None = None
    """None: it is the default."""
    words: str = ""
    """The sources as they are written."""
    family: Family | None = None
    """Of the networks; None: of all families that there are."""
    vrf: str = ""
    """The VRF of switches and networks, where nobody names what is wanted; empty: the default one."""

    @property
    def is_of_prefix(self) -> bool:
        """Whether it names a prefix, and not a kind of networks."""
        return self.to not in (HOSTS, LOOPBACKS)


@dataclass(frozen=True)
class Networks:
    """What demands can be about."""

    switches: Sequence[str]
    destinations: Sequence[Destination]
    families: Sequence[Family]


def usual(networks: Networks) -> tuple[Wanted, ...]:
    """Return what is wanted where nobody says it: switches with hosts of a family reach all networks of hosts of it."""
    every = [one for one in networks.destinations if not one.is_loopback]
    by_vrf: dict[str, list[Destination]] = {}
    for one in every:
        by_vrf.setdefault(vrf_of(one.owner), []).append(one)
    # A VRF whose hosts are at one switch wants nothing of others.
    asked = {vrf: found for vrf, found in by_vrf.items() if len({one.owner for one in found}) > 1}
    return tuple(one for vrf, found in (asked or {"": every}).items() for one in _usual(vrf, found, networks))


def _usual(vrf: str, every: list[Destination], networks: Networks) -> Iterator[Wanted]:
    by_family = {family: [one for one in every if one.network.version == family] for family in networks.families}
    found = {family: hosts for family, hosts in by_family.items() if hosts} or {4: every}
    yield from (
        Wanted(
            "reach",
            tuple(dict.fromkeys(one.owner for one in hosts)),
            HOSTS,
            tuple(hosts),
            words="each switch with hosts",
            family=family if len(found) > 1 else None,
            vrf=vrf,
        )
        for family, hosts in found.items()
    )


def read_wanted(path: Path, networks: Networks) -> tuple[Wanted, ...]:
    """Return the demands of a file. Raises LabError with all that is wrong in it."""
    problems = Problems()
    document = read_document(path, problems, named=True)
    problems.raise_if_any()
    assert document is not None
    section = Section(document, "", problems, _KEYS)
    found = [one for name in section.names() if name in _KEYS for one in _list(section, name, networks)]
    if not found and not problems:
        problems.add(Place(str(path)), "", f"wants nothing; write one of {listed(_KEYS)}")
    problems.raise_if_any()
    return tuple(found)


def _list(section: Section, name: str, networks: Networks) -> Iterator[Wanted]:
    more = {"waypoints": ("through",), "widths": ("next_hops", "paths")}.get(name, ())
    kinds: dict[str, Kind] = {"waypoints": "waypoint", "widths": "width", "unreachable": "unreachable"}
    for key, value in section.items(name) or ():
        one = Section(value, key, section.problems, ("from", "to", *more))
        one.require("from", "to")
        sources, to = _switches(one, "from", networks), one.scalar("to", "hosts, loopbacks or a prefix")
        through = _switches(one, "through", networks) if name == "waypoints" else ()
        if name == "waypoints":
            one.require("through", example="through: spine*")
        next_hops, paths = (one.convert(word, "a whole number", _count) for word in ("next_hops", "paths"))
        if name == "widths" and next_hops is None and paths is None:
            one.require("next_hops", example="next_hops: 4")
        destinations = () if to is None else _destinations(one, to.value, networks)
        if to is not None and sources and destinations:
            yield Wanted(
                kinds.get(name, "reach"),
                sources,
                to.value,
                destinations,
                through,
                None if next_hops is None else next_hops.value,
                None if paths is None else paths.value,
                value.place,
                listed(word.value for word in one.words("from") or ()),
            )


def _switches(section: Section, name: str, networks: Networks) -> tuple[str, ...]:
    """Return the switches that names and patterns mean; what means none is recorded."""
    names = list(networks.switches)
    found: dict[str, None] = {}
    for word in section.words(name) or ():
        matched = [one for one in names if fnmatchcase(one, word.value)]
        if not matched:
            word.complain(section.problems, f"{shown(word.value)} is no switch; {did_you_mean(word.value, names)}")
        found |= dict.fromkeys(matched)
    return tuple(found)


def _destinations(section: Section, word: str, networks: Networks) -> tuple[Destination, ...]:
    which: dict[str, Callable[[Destination], bool]] = {
        HOSTS: lambda one: not one.is_loopback,
        LOOPBACKS: lambda one: one.is_loopback,
    }
    if word not in which:
        try:
            prefix = ip_network(word, strict=False)
        except ValueError:
            section.complain("to", f"{shown(word)} is not hosts, loopbacks or a prefix such as 10.0.0.0/8")
            return ()
        return _inside(section, word, prefix, networks.destinations)
    found = tuple(filter(which[word], networks.destinations))
    if not found:
        section.complain("to", f"the fabric has no {word}")
    return found


def _inside(
    section: Section, word: str, prefix: AnyNetwork, destinations: Sequence[Destination]
) -> tuple[Destination, ...]:
    """Return the networks in a prefix; of a smaller one, itself at the switches that are in it."""
    found = [one for one in destinations if is_within(one.network, prefix)]
    around = [one for one in destinations if is_within(prefix, one.network) and prefix != one.network]
    found += [Destination(prefix, one.owner, one.interface, one.is_loopback) for one in around]
    if not found:
        section.complain("to", f"{shown(word)} has no network of the fabric in it, and is in none")
    return tuple(found)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST):
        raise ValueError(f"must be a whole number from 1 to {_MOST}, not {shown(text)}")
    return int(text)
