"""From a topology with nodes of any kind to the two files of a lab: every switch runs FRR, every port has a rate.

What such a file does not say is made up and said: addresses and AS numbers (by the lab itself), rate and delay of
links, a host behind each switch that has none, traffic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from fabriclab.keys.wording import listed
from fabriclab.lab.network.topology import Endpoint, LabNode, Link, Topology
from fabriclab.lab.reading.problems import LabError, Mistake, Place
from fabriclab.other_labs.defaults import BUFFER, DELAY, RATE, ping_lines, printable
from fabriclab.other_labs.identities import link_mtus, node_identities
from fabriclab.other_labs.link_addresses import addressed, link_addresses
from fabriclab.other_labs.stand_ins import read_stand_ins
from fabriclab.registry.vendors import StandIn
from fabriclab.units import format_duration, format_rate

_LEAST_HOSTS = 2
_IMAGES = {"host": "fabriclab/host", "switch": "fabriclab/switch"}


@dataclass(frozen=True)
class FrrLab:
    """A lab's two files as texts."""

    topology: str
    experiment: str
    notes: tuple[str, ...]
    """What was left out or made up, a sentence each."""
    file: str
    """The file that it is made of."""
    places: Mapping[str, tuple[str, Place]]
    """Key and place of a node or a link in that file, by its key in the lab's own topology."""

    def in_the_file(self, mistake: Mistake) -> Mistake:
        """Return a mistake in the lab's texts, which nobody wrote, with the line of the file that it follows from."""
        key = _WRITTEN.match(mistake.key)
        written = self.places.get("" if key is None else key[0])
        if key is not None and written is not None:
            return replace(mistake, file=self.file, line=written[1].line, key=f"{written[0]}{mistake.key[key.end() :]}")
        return replace(mistake, file=self.file, line=None, message=f"{mistake.message} (in what --as frr makes of it)")


_WRITTEN = re.compile(r"topology\.(?:nodes\.[^.]+|links\[[0-9]+\])")


@dataclass
class _Parts:
    """What the lab is made of."""

    nodes: list[LabNode]
    links: list[Link]
    stubs: list[tuple[str, str, str]] = field(default_factory=list)
    """Hosts that are made up: name, switch, and the switch's interface."""
    notes: list[str] = field(default_factory=list)
    stand_ins: Mapping[str, StandIn] = field(default_factory=dict)
    """What the switches' own configurations say."""


def frr_lab(topology: Topology, file: str, name: str | None = None) -> FrrLab:
    """Return the lab of a topology that was read from `file`, called `name` if that is given.

    Raises LabError for one without a node.
    """
    if not topology.nodes:
        raise LabError([Mistake(file, None, "topology.nodes", "", "no node; a lab has some")])
    parts = _joined(topology)
    _add_hosts(parts)
    hosts = sum(node.role == "host" for node in parts.nodes) + len(parts.stubs)
    if hosts < _LEAST_HOSTS:
        place = parts.nodes[0].place
        message = "one host, and no switch that a second one could be behind; a lab has two hosts"
        raise LabError([Mistake(file, place.line, f"topology.nodes.{parts.nodes[0].name}", "", message)])
    _take_configurations(parts, topology, file)
    unrated = sum(end.rate is None for link in parts.links for end in link.ends)
    if unrated:
        parts.notes.append(f"{unrated} ends of links say no rate: {RATE}, {DELAY} each way")
    return FrrLab(
        topology="".join(f"{line}\n" for line in _topology(name or topology.name, parts, file)),
        experiment="".join(f"{line}\n" for line in _experiment(file, parts)),
        notes=(*topology.notes, *parts.notes),
        file=file,
        places=_places(parts),
    )


def _places(parts: _Parts) -> dict[str, tuple[str, Place]]:
    """Return where the file has each node and link; what is made up stands at its switch."""
    nodes = {node.name: (f"topology.nodes.{node.name}", node.place) for node in parts.nodes}
    nodes |= {stub: nodes[switch] for stub, switch, _ in parts.stubs}
    links = [*((link.key, link.place) for link in parts.links), *(nodes[stub] for stub, _, _ in parts.stubs)]
    return {
        **{f"topology.nodes.{name}": place for name, place in nodes.items()},
        **{f"topology.links[{number}]": place for number, place in enumerate(links)},
    }


def _joined(topology: Topology) -> _Parts:
    """Return the largest part of the topology that hangs together, first in the file of several."""
    group = {node.name: {node.name} for node in topology.nodes}
    for link in topology.links:
        a, b = group[link.a.node], group[link.b.node]
        if a is not b:
            a |= b
            group.update(dict.fromkeys(b, a))
    kept = max((group[node.name] for node in topology.nodes), key=len)
    parts = _Parts(
        [node for node in topology.nodes if node.name in kept],
        [link for link in topology.links if link.a.node in kept],
    )
    apart = [node.name for node in topology.nodes if node.name not in kept]
    if apart:
        parts.notes.append(f"left out, as no link joins them with the others: {listed(apart)}")
    return parts


def _take_configurations(parts: _Parts, topology: Topology, file: str) -> None:
    """Take what the switches' own configurations say of addresses, MTU, AS numbers, loopbacks, buffers and QoS."""
    read = read_stand_ins(topology, Path(file))
    parts.stand_ins = read.by_node
    addresses = link_addresses(parts.links, read.by_node)
    identities = node_identities(parts.nodes, read.by_node, addresses.networks)
    mtus = link_mtus(parts.links, read.by_node)
    parts.nodes = [identities.by_node[node.name] for node in parts.nodes]
    parts.links = [
        replace(_mirrored(addressed(link, addresses.by_port)), mtu=mtus.by_link[link.key]) for link in parts.links
    ]
    parts.notes += [*read.notes, *addresses.notes, *identities.notes, *mtus.notes]


def _mirrored(link: Link) -> Link:
    """Return a link whose one end is as fast and as far as the other one, of which alone it is said."""
    a, b = link.ends
    return replace(
        link,
        a=replace(a, rate=a.rate or b.rate, delay=a.delay or b.delay),
        b=replace(b, rate=b.rate or a.rate, delay=b.delay or a.delay),
    )


def _add_hosts(parts: _Parts) -> None:
    """Give a host to each switch without one; a lone switch gets two."""
    hosts = {node.name for node in parts.nodes if node.role == "host"}
    taken = {node.name for node in parts.nodes}
    used = {end.port for link in parts.links for end in link.ends}
    served = {end.node for link in parts.links for end in link.ends if _other(link, end).node in hosts}
    switches = [node.name for node in parts.nodes if node.role == "switch"]
    wanted = [switch for switch in switches if switch not in served]
    short = _LEAST_HOSTS - len(hosts) - len(wanted)
    wanted += switches[:1] * max(0, short)
    for switch in wanted:
        name = _free(f"{switch}-host", taken)
        interface = _free_interface(switch, used)
        parts.stubs.append((name, switch, interface))
    if parts.stubs:
        parts.notes.append(f"made up, for a switch without a host: {listed([name for name, _, _ in parts.stubs])}")


def _other(link: Link, end: Endpoint) -> Endpoint:
    return link.b if end is link.a else link.a


def _free(name: str, taken: set[str]) -> str:
    number, found = 2, name
    while found in taken:
        found, number = f"{name}{number}", number + 1
    taken.add(found)
    return found


def _free_interface(node: str, used: set[str]) -> str:
    number = next(number for number in range(1, len(used) + 2) if f"{node}:eth{number}" not in used)
    used.add(f"{node}:eth{number}")
    return f"eth{number}"


def _topology(name: str, parts: _Parts, file: str) -> Iterator[str]:
    yield f"# Made by fabriclab of {printable(PurePath(file).name)}: FRR in the place of its switches."
    yield "# A comment has what that file calls a node's kind, or the ends of a link."
    yield f"name: {name}"
    yield "topology:"
    yield "  nodes:"
    for node in parts.nodes:
        labels = [f"fabriclab.role: {node.role}"]
        labels += [] if node.asn is None else [f"fabriclab.asn: {node.asn.value}"]
        labels += [] if node.loopback is None else [f"fabriclab.loopback: {node.loopback.value}"]
        labels += [] if node.tier is None else [f"fabriclab.tier: {node.tier.value}"]
        yield _node(node.name, node.role, ", ".join(labels)) + ("" if node.foreign is None else f"  # {node.foreign}")
    for stub, _, _ in parts.stubs:
        yield _node(stub, "host", "fabriclab.role: host") + "  # made up"
    yield "  links:"
    yield from (_link(link) for link in parts.links)
    for stub, switch, interface in parts.stubs:
        yield f"    - {{endpoints: ['{stub}:eth1', '{switch}:{interface}'], vars: {_vars(None, None)}}}  # made up"


def _node(name: str, role: str, labels: str) -> str:
    return f"    {name}: {{kind: linux, image: '{_IMAGES[role]}', labels: {{{labels}}}}}"


def _link(link: Link) -> str:
    """Return a link in the extended form, in which each end has its own rate and delay."""
    ends = ", ".join(_end(end) for end in link.ends)
    mtu = "" if link.mtu is None else f", mtu: {link.mtu.value}"
    called = " – ".join(f"{end.node}:{end.alias or end.interface}" for end in link.ends)
    comment = f"  # {printable(called)}" if any(end.alias for end in link.ends) else ""
    return f"    - {{type: veth, endpoints: [{ends}]{mtu}}}{comment}"


def _end(end: Endpoint) -> str:
    mac = "" if end.mac is None else f", mac: '{end.mac.value}'"
    ipv4 = "" if end.ipv4 is None else f", ipv4: '{end.ipv4.value}'"
    ipv6 = "" if end.ipv6 is None else f", ipv6: '{end.ipv6.value}'"
    rate, delay = (None if value is None else value.value for value in (end.rate, end.delay))
    return f"{{node: {end.node}, interface: '{end.interface}'{mac}{ipv4}{ipv6}, vars: {_vars(rate, delay)}}}"


def _vars(rate: int | None, delay: int | None) -> str:
    rated = RATE if rate is None else format_rate(rate)
    return f"{{rate: {rated}, delay: {DELAY if delay is None else format_duration(delay)}}}"


def _experiment(file: str, parts: _Parts) -> Sequence[str]:
    switches = [node.name for node in parts.nodes if node.role == "switch"]
    return [
        f"title: {printable(PurePath(file).name)} with FRR",
        "",
        *switch_sections(switches, parts.stand_ins),
        *(["routing: {protocol: bgp-numbered}", ""] if switches else []),
        *ping_lines("all"),
        "",
        "probes:",
        "  switches: {interval: 1 ms}",
    ]


_HEAD = re.compile(r"#|(format|title|source|hardware|bandwidth|port_rate):|  - ")
"""What a profile's file has beyond a switch's own section."""


def switch_sections(switches: Sequence[str], stand_ins: Mapping[str, StandIn]) -> Iterator[str]:
    """Yield the section's lines; a blank line ends it. Nothing where there is no switch."""
    with_profile = [name for name in switches if name in stand_ins and stand_ins[name].profile]
    if not switches:
        return
    yield "switches:"
    if not with_profile:
        yield f"  default: {{buffer: {BUFFER}}}"
    for name in switches if with_profile else ():
        if name not in with_profile:
            yield f"  {name}: {{buffer: {BUFFER}}}"
            continue
        yield f"  {name}:"
        lines = stand_ins[name].profile.splitlines()
        yield from (f"    {line}" for line in lines if _HEAD.match(line) is None)
    yield ""
