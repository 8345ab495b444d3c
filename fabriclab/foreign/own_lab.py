"""From a Containerlab file whose nodes all run here to a lab: the file as it is, and an experiment that lets it run.

What the file does not say is made up and said: rate and delay of links, switches' buffers, traffic.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fabriclab.foreign.made_up import BUFFER, DELAY, RATE, ping_lines, printable
from fabriclab.foreign.netlab_pings import netlab_pings
from fabriclab.lab.network.read import parse_topology
from fabriclab.lab.network.topology import Link, Topology
from fabriclab.lab.reading.document import MappingValue, parse_document, read_document
from fabriclab.lab.reading.plain_data import with_value
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.setup.read import KEYS

_LEAST_HOSTS = 2


class OwnLab(NamedTuple):
    """The two documents that a lab is read from."""

    topology: MappingValue
    experiment: MappingValue
    experiment_text: str
    notes: tuple[str, ...]
    """What was made up, a sentence each."""


def own_lab(file: Path) -> OwnLab:
    """Return the lab of a Containerlab file. Raises LabError with everything that is wrong in it."""
    problems = Problems()
    document = read_document(file, problems, named=True)
    topology = None if document is None else parse_topology(document, problems, file.parent)
    problems.raise_if_any()
    if document is None or topology is None:
        raise AssertionError("a file that cannot be read leaves a problem")
    unrated = [link for link in topology.links if any(end.rate is None for end in link.ends)]
    text = "".join(f"{line}\n" for line in _experiment(topology, file))
    experiment = parse_document(text, f"(made of {file.name})", problems)
    rated = _rated(document, unrated, problems)
    problems.raise_if_any()
    if experiment is None:
        raise AssertionError("a text of ours is a document")
    return OwnLab(rated, experiment, text, tuple(_notes(topology, unrated)))


def _rated(document: MappingValue, links: list[Link], problems: Problems) -> MappingValue:
    """Return the topology with a rate and a delay of every link."""
    for link in links:
        index = int(link.key.rpartition("[")[2].rstrip("]"))
        for name, value, written in (("rate", RATE, "rate"), ("delay", DELAY, "delay")):
            if all(getattr(end, written) is None for end in link.ends):
                words = ("topology", "links", index, "vars", name)
                document = with_value(document, words, value, link.place.file, problems)
    return document


def _sending(topology: Topology) -> list[str]:
    """Return the hosts that will have an address: all, unless those are the nodes' own matter."""
    hosts = [node for node in topology.nodes if node.role == "host"]
    if not topology.configures_network:
        return [node.name for node in hosts]
    linked = {end.node for link in topology.links for end in link.ends if end.ipv4 is not None}
    return [node.name for node in hosts if node.name in linked or (node.setup is not None and node.setup.commands)]


def _experiment(topology: Topology, file: Path) -> Iterator[str]:
    yield f"title: {printable(file.name)} as it is"
    if topology.switches:
        yield f"switches: {{default: {{buffer: {BUFFER}}}}}"
    hosts = _sending(topology)
    if len(hosts) >= _LEAST_HOSTS:
        named = "all" if len(hosts) == len(topology.hosts) else f"[{', '.join(hosts)}]"
        yield from ping_lines(named)
    yield "probes: {switches: {interval: 1 ms}}"
    pings = dict(netlab_pings(file.parent, [node.name for node in topology.nodes]))
    if pings:
        yield f"validation: {json.dumps({'pings': pings})}"


def _notes(topology: Topology, unrated: list[Link]) -> Iterator[str]:
    if unrated:
        yield f"{len(unrated)} links say no rate: {RATE}, {DELAY} each way"
    hosts = _sending(topology)
    if len(hosts) >= _LEAST_HOSTS:
        yield f"traffic is made up: each of {len(hosts)} hosts asks another one every 5 ms, which answers"
    else:
        keys = ", ".join(key for key in KEYS if key in ("exec", "binds"))
        yield f"no traffic: fewer than two hosts get an address by a link's ipv4 or their own {keys}"
