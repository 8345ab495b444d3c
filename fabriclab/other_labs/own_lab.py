"""From a Containerlab file whose nodes all run here to a lab: the file as it is, and an experiment that lets it run.

What the file does not say is made up and said: rate and delay of links, switches' buffers, traffic.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fabriclab.keys.wording import listed
from fabriclab.lab.network.keys import CONTAINERLAB_MTU_BYTES
from fabriclab.lab.network.named_files import moved_up
from fabriclab.lab.network.netem import is_by_netem
from fabriclab.lab.network.read import parse_topology, read_file_or_text
from fabriclab.lab.network.topology import Link, Topology
from fabriclab.lab.reading.document import MappingValue, parse_document
from fabriclab.lab.reading.made_text import MadeText
from fabriclab.lab.reading.plain_data import with_value
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written
from fabriclab.lab.routing import SLOW_STILL_NS, STILL_NS
from fabriclab.lab.setup.addressing import may_address
from fabriclab.other_labs.defaults import BUFFER, DELAY, RATE, ping_lines, printable
from fabriclab.other_labs.kathara import left_out
from fabriclab.other_labs.netlab_tests import NetlabTests, netlab_tests
from fabriclab.units import format_count

_LEAST_HOSTS = 2


class OwnLab(NamedTuple):
    """The two documents that a lab is read from."""

    topology: MappingValue
    experiment: MappingValue
    experiment_text: str
    notes: tuple[str, ...]
    """What was made up, a sentence each."""


def own_lab(file: Path, made_text: MadeText | None = None, directory: Path | None = None) -> OwnLab:
    """Return the lab of a Containerlab file; `made_text`: what it comes to, where it is a template or another
    program's; `directory`: the lab's, if that is not the one in which the file lies, but one above.

    Raises LabError with everything that is wrong in it.
    """
    problems = Problems()
    document = read_file_or_text(file, made_text, problems, named=True)
    directory = file.parent if directory is None else directory
    document = None if document is None else moved_up(document, file, directory)
    topology = None if document is None else parse_topology(document, problems, directory)
    problems.raise_if_any()
    if document is None or topology is None:
        raise AssertionError("a file that cannot be read leaves a problem")
    tests = netlab_tests(directory, [node.name for node in topology.nodes])
    made = _MadeUp(topology, tests, _addressed(topology))
    text = "".join(f"{line}\n" for line in made.experiment(file.name))
    experiment = parse_document(text, f"(made of {file.name})", problems)
    rated = _sized(_rated(document, made.unrated, problems), made.unsized, problems)
    problems.raise_if_any()
    if experiment is None:
        raise AssertionError("a text of ours is a document")
    return OwnLab(rated, experiment, text, (*made.notes(), *left_out(file)))


def _rated(document: MappingValue, links: Sequence[Link], problems: Problems) -> MappingValue:
    """Return the topology with a rate and a delay of every link."""
    for link in links:
        for name, value in (("rate", RATE), ("delay", DELAY)):
            if all(_is_unsaid(getattr(end, name)) for end in link.ends):
                words = ("topology", "links", _index(link), "vars", name)
                document = with_value(document, words, value, link.place.file, problems)
    return document


def _sized(document: MappingValue, links: Sequence[Link], problems: Problems) -> MappingValue:
    """Return the topology with an MTU of every link."""
    for link in links:
        words = ("topology", "links", _index(link), "mtu")
        document = with_value(document, words, CONTAINERLAB_MTU_BYTES, link.place.file, problems)
    return document


def _index(link: Link) -> int:
    return int(link.key.rpartition("[")[2].rstrip("]"))


def _is_unsaid(written: Written[int] | None) -> bool:
    """Return whether a link itself does not say a rate or a delay, be there one of netem."""
    return written is None or is_by_netem(written)


def _addressed(topology: Topology) -> list[str]:
    """Return the hosts that will have an address: all, unless those are the nodes' own matter."""
    hosts = [node for node in topology.nodes if node.role == "host"]
    if not topology.configures_network:
        return [node.name for node in hosts]
    linked = {end.node for link in topology.links for end in link.ends if end.ipv4 is not None}
    return [node.name for node in hosts if node.name in linked or (node.setup is not None and may_address(node.setup))]


@dataclass(frozen=True)
class _MadeUp:
    """What the file says nothing of."""

    topology: Topology
    tests: NetlabTests
    """What netlab expects, of a lab that it wrote."""
    hosts: Sequence[str]
    """Hosts that will have an address."""

    @property
    def unrated(self) -> list[Link]:
        """Links that say no rate."""
        return [link for link in self.topology.links if any(_is_unsaid(end.rate) for end in link.ends)]

    @property
    def unsized(self) -> list[Link]:
        """Links that say no MTU."""
        return [link for link in self.topology.links if link.mtu is None]

    @property
    def unaddressed(self) -> list[str]:
        """Hosts that will have no address, where others have one: such as one that only captures."""
        if self.tests.wanted or len(self.hosts) < _LEAST_HOSTS:
            return []
        return [name for name in self.topology.hosts if name not in self.hosts]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of hosts that netlab expects to reach each other."""
        pings = [ping for ping in self.tests.wanted.get("pings", {}).values() if ping["answers"]]
        every = [(sender, ping["to"]) for ping in pings for sender in ping["from"]]
        return list(dict.fromkeys((one, other) for one, other in every if one in self.hosts and other in self.hosts))

    def experiment(self, name: str) -> Iterator[str]:
        """Yield the lines of an experiment."""
        yield f"title: {printable(name)} as it is"
        if self.topology.switches:
            yield f"switches: {{default: {{buffer: {BUFFER}}}}}"
        if self.pairs:
            yield "traffic:  # between hosts of which netlab's own validation says that they reach each other"
            for number, (one, other) in enumerate(self.pairs, 1):
                yield (
                    f"  ping-{number}: {{kind: flows, senders: [{one}], receiver: {other}, size: 100 B, count: 10, "
                    "interval: 5 ms}"
                )
        elif len(self.hosts) >= _LEAST_HOSTS:
            is_all = len(self.hosts) == len(self.topology.hosts)
            yield from ping_lines("all" if is_all else f"[{', '.join(self.hosts)}]")
        yield "probes: {switches: {interval: 1 ms}}"
        if self.tests.wait_s * 10**9 > STILL_NS:
            yield f"routing: {{still: {max(self.tests.wait_s, SLOW_STILL_NS // 10**9)} s}}"
        if self.tests.wanted:
            # netlab pings nobody where its tests name nobody; some of its hosts are bridges without an address.
            asks_otherwise = self.tests.wanted.keys() & {"answers", "steps"}
            yield f"validation: {json.dumps({**({'pings': {}} if asks_otherwise else {}), **self.tests.wanted})}"
        elif self.unaddressed:
            yield f"validation: {json.dumps({'pings': self._pings()})}"

    def _pings(self) -> dict[str, Any]:
        """Return what `validate` asks where some hosts have no address."""
        return {
            f"to-{host}": {"from": [other for other in self.hosts if other != host], "to": host, "answers": True}
            for host in self.hosts
        }

    def notes(self) -> Iterator[str]:
        """Yield a sentence on each thing that was made up."""
        if self.unrated:
            yield f"{format_count(len(self.unrated), 'link')} without a rate: {RATE}, {DELAY} each way"
        if self.unsized:
            count = format_count(len(self.unsized), "link")
            yield f"{count} without an MTU: {CONTAINERLAB_MTU_BYTES} bytes, as in Containerlab"
        if self.pairs:
            yield f"traffic is made up: flows of 100 B between the {len(self.pairs)} pairs of hosts that netlab pings"
        elif len(self.hosts) >= _LEAST_HOSTS:
            yield f"traffic is made up: each of {len(self.hosts)} hosts asks another one every 5 ms, which answers"
        else:
            yield "no traffic: fewer than two hosts get an address by a link's ipv4 or their own exec"
        if self.unaddressed:
            them = "it" if len(self.unaddressed) == 1 else "them"
            yield (
                f"no traffic to or from {listed(self.unaddressed)}, and `validate` does not ask {them}: the lab gives "
                f"{them} no address"
            )
        if self.tests.asked:
            count = format_count(len(self.tests.asked), "test")
            yield f"fabriclab validate asks {count} of netlab's own validation"
        if self.tests.left:
            file = self.tests.file
            yield f"not asked of netlab's own validation: {file}:{f', {file}:'.join(self.tests.left)}"
        if self.tests.why_none:
            yield f"netlab's own validation is not asked: {self.tests.why_none}"
