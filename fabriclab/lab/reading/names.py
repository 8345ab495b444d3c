"""Names in an experiment: hosts by name, range (`h1..h16`), group, count, or all of them; ports as `node:interface`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabriclab.formats.family import FAMILIES, Family
from fabriclab.formats.plan.algorithm import AlgorithmKind
from fabriclab.keys.quantities import WHOLE_NUMBER
from fabriclab.keys.wording import did_you_mean, nearest, shown
from fabriclab.lab.reading.document import Value
from fabriclab.lab.reading.own_algorithms import OwnAlgorithms
from fabriclab.lab.reading.section import Section, Written, as_words, duplicates

_RANGE = re.compile(r"(?P<stem>.*?)(?P<first>[0-9]{1,9})\.\.(?P<stem2>.*?)(?P<last>[0-9]{1,9})")
_LONGEST_RANGE = 100_000


@dataclass(frozen=True)
class Names:
    """What an experiment may name.

    Not `complete`: the topology has problems, so a missing role or port may be their consequence.
    """

    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    ports: tuple[str, ...]
    switch_ports: tuple[str, ...]
    complete: bool = True
    racks: Mapping[str, str] = field(default_factory=dict)
    """The node that each host's first link leads to: its switch, or the host that it is wired to."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The hosts of each group; none of one that has problems of its own."""
    profiles: Mapping[str, str] = field(default_factory=dict)
    """By switch, the text of the profile of those that are what their own configuration says."""
    own: OwnAlgorithms = field(default_factory=dict)
    """The user's own algorithms."""
    families: tuple[Family, ...] = FAMILIES
    """Of which the fabric has addresses."""

    def own_names(self, kind: AlgorithmKind) -> dict[str, str]:
        """Return what each file of own algorithms of a kind registers itself as, by the file as it is written."""
        return {file: algorithm.name for (one, file), algorithm in self.own.items() if one == kind}

    def host_words(self) -> list[str]:
        """Return every name that stands for hosts, groups first."""
        return [*self.groups, *self.hosts]


def expand_range(text: str) -> list[str] | None:
    """Return the names of `h1..h16`; None when the text is not a range. Raises ValueError for one that goes nowhere."""
    if ".." not in text:
        return None
    match = _RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"{shown(text)} is not a range; write the first and the last name, such as 'h1..h16'")
    stem, first, last = match["stem"], match["first"], match["last"]
    if match["stem2"] != stem:
        raise ValueError(f"{shown(text)}: both names of a range start alike, such as 'h1..h16'")
    if int(last) < int(first):
        raise ValueError(f"{shown(text)} runs backwards; write '{stem}{last}..{stem}{first}'")
    if int(last) - int(first) >= _LONGEST_RANGE:
        raise ValueError(f"{shown(text)} has more than {_LONGEST_RANGE} names")
    width = len(first) if first.startswith("0") else 0
    return [f"{stem}{number:0{width}d}" for number in range(int(first), int(last) + 1)]


def expand_hosts(written: Written[str], names: Names, *, counts: bool = False) -> tuple[str, ...]:
    """Return the hosts of a name, a range or a group. Raises ValueError for one that is not a host; `counts`: a count
    would have been right, too."""
    text = written.value
    if text in names.groups:
        return names.groups[text]
    expanded = expand_range(text) or [text]
    known = set(names.hosts)
    for name in expanded:
        if name not in known:
            where = f" (of {shown(text)})" if len(expanded) > 1 else ""
            is_unlike = counts and nearest(name, names.host_words()) is None
            what = "neither a count, such as 2, nor a host" if is_unlike else "not a host"
            raise ValueError(f"{shown(name)}{where} is {what}; {did_you_mean(name, names.host_words())}")
    return tuple(expanded)


class HostReader:
    """Reads who takes part in one piece of traffic."""

    def __init__(self, section: Section, names: Names) -> None:
        self._section = section
        self._names = names

    def receiver(self) -> Written[str] | None:
        """Return the receiving host."""

        def convert(text: str) -> str:
            if text not in self._names.hosts:
                raise ValueError(f"{shown(text)} is not a host; {did_you_mean(text, self._names.hosts)}")
            return text

        return self._section.convert("receiver", "a host's name", convert)

    def hosts(self, key: str, receiver: str | None = None) -> tuple[str, ...] | None:
        """Return the hosts of `key`, None when it is absent or wrong.

        A count means the first so many hosts of the file. Counts, groups and `all` leave the receiver out.
        """
        value = self._section.get(key)
        words = None if value is None else as_words(value, self._section.path(key), self._section.problems)
        if words is None:
            return None
        others = [host for host in self._names.hosts if host != receiver]
        if not others and not self._names.complete:
            return None  # the topology is wrong, and says so
        if len(words) == 1 and words[0].value == "all":
            return tuple(others)
        if len(words) == 1 and WHOLE_NUMBER.fullmatch(words[0].value):
            return self._first(key, words[0], others, receiver)
        return self._named(key, words, receiver)

    def _first(
        self, key: str, count: Written[str], others: Sequence[str], receiver: str | None
    ) -> tuple[str, ...] | None:
        if 1 <= int(count.value) <= len(others):
            return tuple(others[: int(count.value)])
        whose = f"{len(others)} hosts" + (" other than the receiver" if receiver is not None else "")
        count.complain(self._section.problems, f"{count.value} {key} of {whose}; write 1 to {len(others)}")
        return None

    def _named(self, key: str, words: list[Written[str]], receiver: str | None) -> tuple[str, ...] | None:
        hosts = self._expanded(words, receiver)
        if hosts == [] and any(self._names.groups.get(word.value) for word in words):
            message = f"{shown(words[0].text)} is only {shown(receiver or '')}, the receiver; name other {key}"
            words[0].complain(self._section.problems, message)
        for again in duplicates(hosts or []):
            again.complain(self._section.problems, f"host {shown(again.value)} occurs twice among the {key}")
        for host in hosts or []:
            if host.value == receiver:
                host.complain(
                    self._section.problems, f"{shown(host.value)} is the receiver too; leave it out of the {key}"
                )
        return tuple(host.value for host in hosts) if hosts else None

    def _expanded(self, words: list[Written[str]], receiver: str | None) -> list[Written[str]] | None:
        hosts: list[Written[str]] = []
        for word in words:
            try:
                expanded = expand_hosts(word, self._names, counts=len(words) == 1)
            except ValueError as error:
                word.complain(self._section.problems, str(error))
                return None
            if word.value in self._names.groups:
                expanded = tuple(host for host in expanded if host != receiver)
            hosts += [Written(host, word.key, word.text, word.place) for host in expanded]
        return hosts


def read_ports(section: Section, name: str, names: Names) -> tuple[str, ...] | None:
    """Return the ports that `name` lists; `all` means every port of every switch."""
    words = section.words(name)
    if words is None:
        return None
    if [word.value for word in words] == ["all"]:
        return names.switch_ports
    for word in words:
        if names.complete and word.value not in names.ports:
            word.complain(
                section.problems, f"{shown(word.value)} is not a port; {did_you_mean(word.value, names.ports)}"
            )
    for again in duplicates(words):
        again.complain(section.problems, f"port {shown(again.value)} occurs twice")
    return tuple(word.value for word in words)


def read_words_of(value: Value, section: Section, name: str, valid: Sequence[str], what: str) -> tuple[str, ...] | None:
    """Return words that are all among `valid`; `what` says what they are."""
    words = as_words(value, section.path(name), section.problems)
    if words is None:
        return None
    for word in words:
        if word.value not in valid:
            word.complain(section.problems, f"{shown(word.value)} is not a {what}; {did_you_mean(word.value, valid)}")
    return tuple(word.value for word in words)
