"""Reading a whole topology file, and what must hold for all of it: addresses do not overlap,
every host reaches every other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Protocol

from fabriclab.formats.family import FAMILIES, AnyAddress, AnyNetwork, Family
from fabriclab.keys.wording import shown
from fabriclab.lab.network import containerlab
from fabriclab.lab.network.addresses import LONGEST_IPV6_PREFIX
from fabriclab.lab.network.apart import apart_sentences
from fabriclab.lab.network.dummies import dummies_of
from fabriclab.lab.network.kinds import LINUX
from fabriclab.lab.network.links import read_links
from fabriclab.lab.network.named_files import moved_up
from fabriclab.lab.network.netem import with_netem
from fabriclab.lab.network.not_applied import merged, unapplied_of_file
from fabriclab.lab.network.topology import (
    FILE_NAME,
    LabNode,
    Link,
    NodeReader,
    Topology,
    WrittenNode,
    parse_name,
    settle_roles,
)
from fabriclab.lab.reading.document import MappingValue, read_document
from fabriclab.lab.reading.made_text import MadeText
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section
from fabriclab.lab.setup.read import settle_order
from fabriclab.registry.vendors import VENDORS


class Kind(Protocol):
    """What a vendor's `kind` has."""

    def bind(
        self,
        written: Sequence[WrittenNode],
        nodes: Sequence[LabNode],
        links: Sequence[Link],
        directory: Path,
        problems: Problems,
    ) -> tuple[tuple[LabNode, ...], tuple[Link, ...]]:
        """Return a lab's nodes and links with what the configurations of `written`,
        files below `directory`, say of them."""


def read_one_topology(path: Path, made: MadeText | None = None, directory: Path | None = None) -> Topology:
    """Return the topology in a lab's directory, or in a file of any name, with nodes of any kind (`LabNode.foreign`).

    `made`: what the file comes to, where it is a template or another program's. `directory`: the lab's, if that is not
    the one in which the file lies, but one above. Raises LabError with everything that is wrong in it.
    """
    problems = Problems()
    is_lab = path.is_dir() or not path.exists()
    file = path / FILE_NAME if is_lab else path
    document = read_file_or_text(file, made, problems, named=not is_lab)
    directory = file.parent if directory is None else directory
    document = None if document is None else moved_up(document, file, directory)
    topology = None if document is None else parse_topology(document, problems, directory, any_kind=True)
    problems.raise_if_any()
    if topology is None:
        raise AssertionError("a file that cannot be read leaves a problem")
    return topology


def read_file_or_text(file: Path, made: MadeText | None, problems: Problems, *, named: bool) -> MappingValue | None:
    """Return the document of a file, or of the text that was made of it; None after recording why there is none."""
    return read_document(file, problems, named=named) if made is None else made.document(problems)


def parse_topology(
    document: MappingValue, problems: Problems, directory: Path = Path(), *, any_kind: bool = False
) -> Topology:
    """Return the topology of a Containerlab file; what is wrong is recorded.

    `directory` has the files that it binds. `any_kind`: nodes whose software does not run here are read, too; a lab
    with such nodes need not be one that can run.
    """
    before = len(problems)
    root = Section(document, "", problems, containerlab.FILE_KEYS)
    name = parse_name(root)
    root.require("topology", example="topology: with nodes and links")
    section = root.section("topology", containerlab.TOPOLOGY_KEYS)
    if section is None:
        return Topology(name, (), ())
    section.require("nodes", example="nodes: with a name for each")
    reader = NodeReader(section, containerlab.NODE_KEYS, containerlab.NODE_KINDS, directory, any_kind=any_kind)
    written = reader.nodes()
    foreign = {node.name: node.kind or "" for node in written if node.is_foreign}
    if not foreign:
        section.require("links", example="links: with a list of endpoints (there is no management network here)")
    links_before = len(problems)
    able = [] if any_kind else [name for name in reader.names if name in {*reader.apart, *_linux(written)}]
    unmanaged = {*reader.unmanaged, *reader.apart}
    links, left_out, dummies = read_links(section, reader.names, foreign, able, unmanaged)
    is_whole = links_before == len(problems) and not left_out and "links" in section
    lone = reader.alone if is_whole and not foreign else reader.names
    written, links, impairments = (written, links, ()) if any_kind else with_netem(written, links)
    nodes, guesses = settle_roles(written, links, lone, problems)
    nodes, links = _bound(written, nodes, links, directory, problems)
    nodes = tuple(replace(node, dummies=dummies_of(node.name, dummies)) for node in nodes)
    nodes = _set_up(written, nodes, reader.apart, Problems() if any_kind else problems)
    apart = apart_sentences(reader.apart, {node.name: node.setup for node in written if node.setup is not None})
    configures = any(node.setup is not None and node.setup.configures_network for node in written)
    configures = configures or any(node.own is not None and node.own.setup is not None for node in nodes)
    not_applied = merged([*unapplied_of_file(root), *(one for node in written for one in node.not_applied)])
    notes = tuple(
        f"{PurePath(document.place.file).name}: {note}" for note in (*guesses, *left_out, *apart, *impairments)
    )
    topology = Topology(name, nodes, links, not_applied, notes, configures)
    if before == len(problems) and not (foreign or configures):
        for family in FAMILIES:
            _check_addresses(links, family, problems)
        _check_loopbacks(topology, problems)
        _check_reachable(topology, section.place, problems)
    return topology


def _linux(written: Sequence[WrittenNode]) -> Iterator[str]:
    """Yield the nodes that are what their owner makes of them."""
    yield from (node.name for node in written if node.kind == LINUX)


def _set_up(
    written: Sequence[WrittenNode], nodes: tuple[LabNode, ...], apart: Collection[str], problems: Problems
) -> tuple[LabNode, ...]:
    """Return the nodes with what their own files do, in an order that each waits for those before it, but for no node
    that stands `apart`."""
    setups = {node.name: node.setup for node in written if node.setup is not None}
    settled = settle_order(setups, [node.name for node in written], apart, problems)
    versions = {name: setup.frr for name, setup in setups.items()}
    own = {node.name: node.own.setup for node in nodes if node.own is not None}
    return tuple(
        replace(node, setup=settled.get(node.name, own.get(node.name)), frr=versions.get(node.name)) for node in nodes
    )


def _bound(
    written: Sequence[WrittenNode],
    nodes: tuple[LabNode, ...],
    links: tuple[Link, ...],
    directory: Path,
    problems: Problems,
) -> tuple[tuple[LabNode, ...], tuple[Link, ...]]:
    """Return nodes and links with what the configurations of vendors' switches say of them.

    Most labs have none, and load none.
    """
    for vendor in VENDORS:
        own = [
            node
            for node in written
            if vendor.kind is not None
            and node.kind in (vendor.kind.name, vendor.kind.virtual_machine)
            and not node.is_foreign
        ]
        if own:
            kind: Kind = vendor.load("kind")
            nodes, links = kind.bind(own, nodes, links, directory, problems)
    return nodes, links


def _check_addresses(links: tuple[Link, ...], family: Family, problems: Problems) -> None:
    """Both ends of a link are in one network, and no two links' networks overlap."""
    pair = 31 if family == 4 else LONGEST_IPV6_PREFIX
    used: dict[AnyNetwork, Link] = {}
    exact: set[tuple[int, int]] = set()
    wider: set[tuple[int, int]] = set()
    for link in links:
        written = [address for end in link.ends if (address := end.address(family)) is not None]
        if not written:
            continue
        network = written[0].value.network
        if len(written) == 1 and network.prefixlen != pair:
            other = link.a if link.a.address(family) is None else link.b
            written[0].complain(problems, f"{other.port} has no address; write both ends', or a /{pair} here")
        if len(written) == 2 and written[1].value.network != network:
            message = (
                f"{shown(written[1].text)} and {shown(written[0].text)} are in different networks; "
                "the ends of a link share one"
            )
            written[1].complain(problems, message)
        elif len(written) == 2 and written[1].value.ip == written[0].value.ip:
            written[1].complain(problems, f"{shown(written[1].text)} is the address of the link's other end too")
        *above, own = _prefixes(network)
        if own in wider or any(prefix in exact for prefix in (*above, own)):
            taken, other_link = next(
                (taken, other_link) for taken, other_link in used.items() if network.overlaps(taken)
            )
            line = other_link.place.line
            written[0].complain(
                problems, f"{network} overlaps {taken} of the link in line {line}; each link has its own network"
            )
        used[network] = link
        exact.add(own)
        wider.update(above)


def _prefixes(network: AnyNetwork) -> list[tuple[int, int]]:
    """Return length and first bits of each network that holds this one, the widest first, this one last.

    Two networks overlap where one holds the other, so that looking for these finds out without comparing every two of a
    large fabric.
    """
    bits = network.max_prefixlen
    return [(length, int(network.network_address) >> (bits - length)) for length in range(network.prefixlen + 1)]


def _check_loopbacks(topology: Topology, problems: Problems) -> None:
    """No two nodes have one loopback address, and none lies in a link's network."""
    written = [
        address
        for link in topology.links
        for end in link.ends
        for address in (end.ipv4, end.ipv6)
        if address is not None
    ]
    first: dict[AnyAddress, str] = {}
    every = [(node, one) for node in topology.nodes for one in (node.loopback, node.loopback6)]
    for owner, loopback in every:
        if loopback is None:
            continue
        address = loopback.value
        other = first.setdefault(address, owner.name)
        if other != owner.name:
            loopback.complain(problems, f"{address} is the loopback address of {other} too; each node has its own")
        for end in written:
            if address in end.value.network:
                message = (
                    f"{address} lies in {end.value.network} of the link in line {end.place.line}; "
                    "take one outside all links"
                )
                loopback.complain(problems, message)
                break


def _check_reachable(topology: Topology, section_place: Place, problems: Problems) -> None:
    """Every host reaches every other through switches; hosts forward nothing."""
    hosts = topology.hosts
    if len(hosts) < 2:
        place = topology.nodes[0].place if topology.nodes else section_place
        problems.add(
            place, "topology.nodes", f"{len(hosts)} host(s); traffic needs two or more ({{fabriclab.role: host}})"
        )
        return
    reached = _reached_from(hosts[0], topology)
    for node in topology.nodes:
        if node.name not in reached:
            message = (
                f"no path from host {shown(hosts[0])} to here; links between switches are missing (hosts forward "
                "nothing)"
            )
            problems.add(node.place, f"topology.nodes.{node.name}", message, node.name)


def _reached_from(host: str, topology: Topology) -> set[str]:
    """Return the nodes that packets of `host` reach through its first switch; without any switch, its direct
    neighbours.

    Starting at one switch finds a host that stands between two separate fabrics, too: its default route could not serve
    both.
    """
    neighbours = defaultdict(list)
    for link in topology.links:
        neighbours[link.a.node].append(link.b.node)
        neighbours[link.b.node].append(link.a.node)
    switches = set(topology.switches)
    start = next((node for node in neighbours[host] if node in switches), None)
    if start is None:
        return {host, *neighbours[host]}
    reached, frontier = {start}, [start]
    while frontier:
        for neighbour in neighbours[frontier.pop()]:
            if neighbour not in reached:
                reached.add(neighbour)
                if neighbour in switches:
                    frontier.append(neighbour)
    return reached
