"""The `groups` section: sets of hosts with a name, given or drawn by the seed.

    groups:
      clients:    [h1, h5..h8]                    given
      left:       {rack: leaf1}                   the hosts whose first link leads to this switch, or to these
      background: {share: 33 %}                   drawn among all hosts
      probing:    {count: 2, of: clients}         drawn among these
      foreground: rest                            the hosts that are in no group above

A group's name stands wherever hosts are named. A draw hangs on the seed and the group's own name alone: other groups do
not change it, and a larger share of the same group holds the smaller one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from fabriclab.formats import ranges
from fabriclab.formats.names import GROUP_NAME
from fabriclab.keys.mappings import Key, Keys, Named
from fabriclab.keys.quantities import LARGEST, WHOLE_NUMBER, Number, Percent
from fabriclab.keys.values import Either, Several, Text
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.reading.document import MappingValue, ScalarValue, Value
from fabriclab.lab.reading.names import Names, expand_hosts, read_words_of
from fabriclab.lab.reading.section import Section, Written, as_words, duplicates
from fabriclab.units import WHOLE_PPM

REST = "rest"
_WAYS = ("rack", "share", "count")
_OTHER_MEANINGS = ("all", "default", REST)
"""Words that stand for hosts themselves."""

_MEMBERS = Several(Text("a host"), "hosts, ranges and groups above, a list or one")
GROUP_RACK = Key(
    "rack",
    Several(Text("a switch"), "a switch or a list of them"),
    "The hosts whose first link leads to this switch, or to one of these.",
    examples=("leaf1",),
)
GROUP_SHARE = Key(
    "share",
    Percent(1, ranges.PPM.most),
    "This share of the hosts, rounded to the nearest whole number. The seed determines which.",
    examples=("33 %",),
)
GROUP_COUNT = Key("count", Number(1, LARGEST), "This number of hosts. The seed determines which.", examples=(2,))
GROUP_OF = Key("of", _MEMBERS, "The hosts among which the group is drawn.", unset="all hosts")
DRAWN_GROUP = Keys(
    "group",
    "Hosts that are behind a switch, or drawn by the seed",
    (GROUP_RACK, GROUP_SHARE, GROUP_COUNT, GROUP_OF),
    one_of=(("rack",), ("share",), ("count",)),
)
GROUPS = Named(
    Either((DRAWN_GROUP, Several(Text("a host"), f"a list of hosts, ranges and groups above, or `{REST}`"))),
    "a mapping of names of groups",
    "(?!(?:all|default|rest|[0-9]+)$)[A-Za-z0-9_-]*[A-Za-z0-9][A-Za-z0-9_-]*",
    "A group's name has letters, digits, '-' and '_', a letter among them, and is not a word for hosts such as `all`.",
)


def read_groups(root: Section, names: Names, seed: int) -> Names:
    """Return `names` with the groups of the experiment; what is wrong is recorded."""
    section = root.section("groups", None)
    for name in section.names() if section else ():
        value = section.get(name) if section else None
        if section is not None and value is not None:
            hosts = _GroupReader(section, name, names, seed).read(value)
            names = replace(names, groups={**names.groups, name: hosts})
    return names


def draw(hosts: Sequence[str], count: int, name: str, seed: int) -> tuple[str, ...]:
    """Return so many of `hosts` in their own order, drawn for a group of that name; the same on every machine."""

    def lot(host: str) -> bytes:
        return hashlib.blake2b(f"{seed} group {name} {host}".encode(), digest_size=16).digest()

    drawn = set(sorted(hosts, key=lot)[:count])
    return tuple(host for host in hosts if host in drawn)


class _GroupReader:
    """Reads one group; `names` holds the groups above it."""

    def __init__(self, section: Section, name: str, names: Names, seed: int) -> None:
        self._section = section
        self._name = name
        self._names = names
        self._seed = seed
        self._key = section.path(name)
        self._problems = section.problems

    def read(self, value: Value) -> tuple[str, ...]:
        """Return the group's hosts, none after recording what is wrong with it."""
        self._check_name()
        if not isinstance(value, MappingValue):
            return self._members(value, self._key)
        group = Section(value, self._key, self._problems, DRAWN_GROUP)
        ways = [way for way in _WAYS if way in group]
        if len(ways) != 1:
            self._problems.add(
                value.place,
                self._key,
                "write one of a list of hosts, rack: leaf1, share: 33 %, count: 4, or rest",
                self._name,
            )
            return ()
        if ways == ["rack"]:
            return self._rack(group)
        return self._drawn(group)

    def _check_name(self) -> None:
        taken = {**dict.fromkeys(self._names.hosts, "a host"), **dict.fromkeys(_OTHER_MEANINGS, "a word for hosts")}
        place = self._section.mapping.key_place(self._name)
        if self._name in taken:
            self._problems.add(
                place, self._key, f"{shown(self._name)} is {taken[self._name]}; give the group another name", self._name
            )
        elif WHOLE_NUMBER.fullmatch(self._name) or not _is_word(self._name):
            message = (
                f"{shown(self._name)} cannot name a group; write letters, digits, '-' and '_', a letter among them"
            )
            self._problems.add(place, self._key, message, self._name)

    def _members(self, value: Value, key: str) -> tuple[str, ...]:
        """Return the hosts of `rest`, of one word, or of a list of words."""
        if isinstance(value, ScalarValue) and value.text.strip() == REST:
            return self._rest(value, key)
        hosts: list[Written[str]] = []
        for word in as_words(value, key, self._problems) or []:
            try:
                hosts += [Written(host, key, word.text, word.place) for host in expand_hosts(word, self._names)]
            except ValueError as error:
                word.complain(self._problems, str(error))
        for again in duplicates(hosts):
            again.complain(self._problems, f"host {shown(again.value)} occurs twice in the group")
        return tuple(dict.fromkeys(host.value for host in hosts))

    def _rest(self, value: ScalarValue, key: str) -> tuple[str, ...]:
        taken = {host for hosts in self._names.groups.values() for host in hosts}
        rest = tuple(host for host in self._names.hosts if host not in taken)
        if not self._names.groups:
            self._problems.add(
                value.place,
                key,
                f"'{REST}' has no group to leave out; write it below the groups that it leaves out",
                value.text,
            )
            return ()
        if not rest and all(self._names.groups.values()):
            self._problems.add(value.place, key, f"'{REST}' is empty: every host is in a group above", value.text)
        return rest

    def _rack(self, group: Section) -> tuple[str, ...]:
        value = group.get("rack")
        if "of" in group:
            group.complain("of", "belongs to share or count; a rack has all its hosts")
        switches = None if value is None else read_words_of(value, group, "rack", self._names.switches, "switch")
        hosts = tuple(host for host in self._names.hosts if self._names.racks.get(host) in (switches or ()))
        if switches and not hosts and self._names.complete and set(switches) <= set(self._names.switches):
            leaves = sorted(set(self._names.racks.values()))
            group.complain(
                "rack", f"no host's first link leads to {', '.join(switches)}; {did_you_mean(switches[0], leaves)}"
            )
        return hosts

    def _drawn(self, group: Section) -> tuple[str, ...]:
        among = group.get("of")
        hosts = self._names.hosts if among is None else self._members(among, group.path("of"))
        if not hosts:
            return ()
        if "count" in group:
            count = group.value("count", Number(1, len(hosts), why=f"it is drawn among {len(hosts)} hosts"))
        else:
            count = self._shared(group, len(hosts))
        return () if count is None else draw(hosts, count.value, self._name, self._seed)

    def _shared(self, group: Section, hosts: int) -> Written[int] | None:
        """Return how many hosts a share is, rounded to the nearest."""
        share = group.read(GROUP_SHARE)
        if share is None:
            return None
        count = (share.value * hosts + WHOLE_PPM // 2) // WHOLE_PPM
        if count == 0:
            share.complain(
                self._problems,
                f"{shown(share.text)} of {hosts} hosts is less than one host; write a larger share, or count: 1",
            )
        return Written(count, share.key, share.text, share.place)


def _is_word(name: str) -> bool:
    return GROUP_NAME.is_in(name)
