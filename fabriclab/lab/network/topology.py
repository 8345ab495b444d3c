"""The topology as written in `topology.clab.yml`, a Containerlab file: nodes with their roles, links with rate, delay
and addresses.

Format: https://containerlab.dev/manual/topo-def-file/ . What Containerlab knows and fabriclab cannot run is an
error; keys that nothing here acts on are listed (`not_applied.py`), never ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from pathlib import Path

from fabriclab.formats.family import FAMILIES, Family
from fabriclab.formats.names import NODE_NAME
from fabriclab.formats.plan.setup import Dummy, Setup
from fabriclab.keys.wording import did_you_mean, listed, shown, told_once
from fabriclab.lab.network.apart import count_links, stands_apart
from fabriclab.lab.network.kinds import ALL_KINDS, BRIDGES, LINUX, guessed_role, is_frr_bind
from fabriclab.lab.network.labels import ROLE_LABEL, Role, WrittenLabels, read_labels
from fabriclab.lab.network.not_applied import Unapplied, unapplied_of_node
from fabriclab.lab.network.own_configuration import OwnConfiguration
from fabriclab.lab.network.role_hints import NO_HINTS, RoleHints, binds_one_of, read_hints
from fabriclab.lab.network.startup_configs import startup_configs
from fabriclab.lab.reading.document import MappingValue, ScalarValue
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section, Written, as_words
from fabriclab.lab.setup.read import WrittenSetup, read_setup
from fabriclab.registry.vendors import VENDORS, NodeKind, bound_at, kind_of, kind_of_machine

FILE_NAME = "topology.clab.yml"
RUNNABLE_KINDS = ("linux", *(vendor.kind.name for vendor in VENDORS if vendor.kind is not None))
_TAKEN_KINDS = (RUNNABLE_KINDS[0], *BRIDGES, *RUNNABLE_KINDS[1:])


@dataclass(frozen=True)
class Endpoint:
    """One end of a link. What is None was not written."""

    node: str
    interface: str
    key: str
    place: Place
    rate: Written[int] | None = None
    """Bits per second, of the direction that leaves the node here."""
    delay: Written[int] | None = None
    """Nanoseconds, one way, of the same direction."""
    mac: Written[str] | None = None
    ipv4: Written[IPv4Interface] | None = None
    alias: str = ""
    """What the file calls the interface, in the words of its kind, where Linux has another name for it."""
    ipv6: Written[IPv6Interface] | None = None
    loss: Written[int] | None = None
    """Packets of a million that are lost, of the same direction: netem's, of one of the node's commands."""

    @property
    def port(self) -> str:
        """Return the port's name, `node:interface`."""
        return f"{self.node}:{self.interface}"

    def address(self, family: Family) -> Written[IPv4Interface] | Written[IPv6Interface] | None:
        """Return its address of a family."""
        return self.ipv4 if family == 4 else self.ipv6


@dataclass(frozen=True)
class Link:
    """A link between two nodes."""

    a: Endpoint
    b: Endpoint
    mtu: Written[int] | None
    key: str
    place: Place

    @property
    def ends(self) -> tuple[Endpoint, Endpoint]:
        """Both ends, in the order of the file."""
        return (self.a, self.b)


@dataclass(frozen=True)
class LabNode:
    """A node and where it stands."""

    name: str
    role: Role
    place: Place
    asn: Written[int] | None = None
    """Autonomous system number for BGP."""
    loopback: Written[IPv4Address] | None = None
    """The address by which the node itself is known, whatever its links do."""
    tier: Written[int] | None = None
    """Level in the fabric, 1 at the top (RFC 7938 counts so)."""
    own: OwnConfiguration | None = None
    """What the configuration of a node of a vendor's kind, such as sonic-vs, says of it; None for others."""
    foreign: str | None = None
    """The kind of a node that is drawn only: its software does not run here."""
    configs: tuple[Written[str], ...] = ()
    """What such a node is configured by: names of files, or a text of several lines."""
    setup: Setup | None = None
    """What its own files do in it, beside what the lab asks for."""
    loopback6: Written[IPv6Address] | None = None
    """The same as `loopback`, of IPv6."""
    dummies: tuple[Dummy, ...] = ()
    """Devices of its own that lead nowhere."""
    frr: str | None = None
    """The version of FRR that its image or its configuration asks for, if it was built; None: the virtual machine's."""


@dataclass(frozen=True)
class Topology:
    """Nodes and links in the order of the file."""

    name: str
    nodes: tuple[LabNode, ...]
    links: tuple[Link, ...]
    not_applied: tuple[Unapplied, ...] = ()
    """What the file says and nothing here acts on."""
    notes: tuple[str, ...] = ()
    """What was guessed, or left out, a sentence each."""
    configures_network: bool = False
    """Whether addresses or routes are the matter of some nodes' own files."""

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts in the order of the file."""
        return tuple(node.name for node in self.nodes if node.role == "host")

    @cached_property
    def switches(self) -> tuple[str, ...]:
        """Names of the switches in the order of the file."""
        return tuple(node.name for node in self.nodes if node.role == "switch")

    @cached_property
    def ports(self) -> dict[str, Link]:
        """Every port's name, `node:interface`, with its link."""
        return {end.port: link for link in self.links for end in link.ends}

    def foreign_sentences(self) -> tuple[str, ...]:
        """Return a sentence for each kind whose software does not run here."""
        kinds: dict[str, list[str]] = {}
        for node in self.nodes:
            if node.foreign not in (None, *BRIDGES):
                kinds.setdefault(node.foreign, []).append(f"{node.name} (line {node.place.line})")
        return tuple(
            f"kind {kind} of {listed(names)} does not run here; --as frr runs FRR in its place"
            for kind, names in kinds.items()
        )

    def written_families(self) -> tuple[Family, ...]:
        """Return the families of which ports have addresses in the file, or that switches' own configurations have;
        IPv4 where none has any."""
        own = {family for node in self.nodes if node.own is not None for family in node.own.families}
        if 6 in own:
            return tuple(family for family in FAMILIES if family in own)
        ends = [end for link in self.links for end in link.ends]
        written = {4: any(end.ipv4 for end in ends), 6: any(end.ipv6 for end in ends)}
        return tuple(family for family in FAMILIES if written[family]) or (4,)

    def switch_ports(self) -> tuple[str, ...]:
        """Return the names of all ports of switches, in the order of links."""
        return tuple(port for port in self.ports if port.partition(":")[0] in self.switches)


def parse_name(root: Section) -> str:
    """Return the lab's name, the key `name` of the topology; what is wrong with it is recorded."""
    root.require("name", example="name: my-lab")
    name = root.scalar("name", "the lab's name")
    if name is None:
        return ""
    if not NODE_NAME.is_in(name.value):
        name.complain(
            root.problems, f"{shown(name.value)} is not a lab name; write letters, digits, '-' and '_', at most 63"
        )
    return name.value


@dataclass(frozen=True)
class WrittenNode:
    """A node before its role is settled (that may need the links)."""

    name: str
    place: Place
    labels: WrittenLabels
    kind: str | None = None
    config: Written[str] | None = None
    """The file that is bound to where a vendor's switch has its configuration, relative to the topology."""
    not_applied: tuple[Unapplied, ...] = ()
    hints: RoleHints = NO_HINTS
    is_foreign: bool = False
    """Whether it is of a kind whose software does not run here."""
    setup: WrittenSetup | None = None
    configs: tuple[Written[str], ...] = ()


class NodeReader:
    """Reads the nodes, each with what it inherits: defaults, then its kind, its group, itself;
    labels are merged (Containerlab's order)."""

    def __init__(
        self,
        topology: Section,
        node_keys: tuple[str, ...],
        kinds: tuple[str, ...],
        directory: Path,
        *,
        any_kind: bool = False,
    ) -> None:
        """`directory` has the files that the nodes name. `any_kind`: nodes whose software does not run here are read
        too, not refused."""
        self._any_kind = any_kind
        self._directory = directory
        self._problems = topology.problems
        self._node_keys = node_keys
        self._kinds = kinds
        self._defaults = _filled(topology, "defaults", node_keys)
        self._by_kind = dict(self._named(topology, "kinds"))
        self._by_group = dict(self._named(topology, "groups"))
        self._nodes = list(self._named(topology, "nodes"))
        self._links = count_links(topology, self.names)
        self.alone: dict[str, Place] = dict(self._alone()) if self._links else {}
        """Nodes that no link joins with another one, and that need none."""
        self.apart: Mapping[str, Place] = {} if any_kind else self.alone
        """Those of them that are left out."""
        self.unmanaged: set[str] = set()
        """Nodes that were read and are not in the management network: they may have an eth0 of their own."""

    @property
    def names(self) -> list[str]:
        """All names of nodes, in the order of the file."""
        return [name for name, _ in self._nodes]

    def nodes(self) -> list[WrittenNode]:
        """Return the nodes in the order of the file, without those that stand apart."""
        return [self._node(name, section) for name, section in self._nodes if name not in self.apart]

    def _alone(self) -> Iterator[tuple[str, Place]]:
        """Yield the nodes that stand apart; what is wrong in them is nobody's matter here."""
        for name, section in self._nodes:
            if not self._links[name] and stands_apart(*self._layers(section, Problems())):
                yield name, section.place

    def _named(self, topology: Section, part: str) -> Iterator[tuple[str, Section]]:
        container = _filled(topology, part, None)
        for name in container.names() if container else ():
            value = container.get(name) if container else None
            if value is None or (isinstance(value, ScalarValue) and value.is_null):
                place = topology.place if container is None else container.mapping.key_place(name)
                value = MappingValue({}, {}, place)
            yield name, Section(value, f"{topology.path(part)}.{name}", self._problems, self._node_keys)

    def _node(self, name: str, node: Section) -> WrittenNode:
        place = node.place
        if not NODE_NAME.is_in(name):
            message = (
                f"{shown(name)} cannot name a node; write letters, digits, '-', '_', "
                "at most 63 (a dot separates words of a key)"
            )
            self._problems.add(place, node.key, message, name)
        kind, layers = self._layers(node, self._problems)
        mode = next((value.text for layer in layers if isinstance(value := layer.get("network-mode"), ScalarValue)), "")
        if mode == "none":
            self.unmanaged.add(name)
        own = kind_of(kind)
        if own is not None and self._any_kind and not binds_one_of(layers, own.config_paths):
            own = None
        config = None if own is None else self._config(node, layers, own)
        configs = startup_configs(name, layers, bound_at(kind)) if self._any_kind else ()
        if self._any_kind and configs and "\n" not in configs[0].value:
            own, config = (kind_of_machine(kind), configs[0]) if kind_of_machine(kind) is not None else (own, config)
        is_bridge = kind in BRIDGES and not self._any_kind
        is_foreign = not is_bridge and own is None and (kind not in RUNNABLE_KINDS or kind_of(kind) is not None)
        labels, hints = read_labels(layers), read_hints(layers)
        is_host = labels.role is None and guessed_role(kind or LINUX, self._links[name], *hints)[0] == "host"
        runs = {"is_bridge": is_bridge, "inherits_frr": not is_host}
        setup = self._setup(node, layers, runs) if kind == LINUX or is_bridge else None
        applied = () if own is None else own.config_paths
        acting = setup or WrittenSetup(Setup()) if kind == LINUX else None
        not_applied = tuple(unapplied_of_node(name, layers, applied, acting))
        return WrittenNode(name, place, labels, kind, config, not_applied, hints, is_foreign, setup, configs)

    def _setup(self, node: Section, layers: list[Section], runs: Mapping[str, bool]) -> WrittenSetup | None:
        """Return what the node's own files do; what is wrong in them is a note where nothing is to run."""
        if not self._any_kind:
            return read_setup(node, layers, self._directory, **runs)
        problems = Problems()
        quiet = [Section(layer.mapping, layer.key, problems, None) for layer in layers]
        setup = read_setup(quiet[0], quiet, self._directory, **runs)
        told = tuple(str(problem) for problem in problems.found())
        return setup if setup is None or not told else replace(setup, notes=(*setup.notes, *told))

    def _config(self, node: Section, layers: list[Section], kind: NodeKind) -> Written[str] | None:
        """Return the file that is bound to the kind's place for it; the nearest layer that binds one counts."""
        for layer in layers:
            value = layer.get("binds")
            for bind in as_words(value, layer.path("binds"), self._problems) or () if value is not None else ():
                path, _, rest = bind.value.partition(":")
                if rest.partition(":")[0] in kind.config_paths:
                    return Written(path, bind.key, bind.text, bind.place)
        example = f"binds: ['{node.key.rpartition('.')[2]}.json:{kind.config_paths[0]}']"
        self._problems.add(
            node.place, node.path("binds"), f"no {kind.config_name}; write {example}, a file beside the topology"
        )
        return None

    def _layers(self, node: Section, problems: Problems) -> tuple[str | None, list[Section]]:
        """Return the node's kind, and what it inherits from, the nearest first."""
        group_name = _group(node)
        if group_name is None and self._defaults is not None:
            group_name = _group(self._defaults)
        group = self._by_group.get(group_name.value) if group_name else None
        if group_name is not None and group is None and self._by_group:
            group_name.complain(
                problems,
                f"{shown(group_name.value)} is not a group; {did_you_mean(group_name.value, self._by_group)}",
            )
        nearest_first = [layer for layer in (node, group, self._defaults) if layer is not None]
        kind = self._kind(node, nearest_first, problems)
        by_kind = self._by_kind.get(kind) if kind else None
        layers = [node, group, by_kind, self._defaults]
        return kind, [layer for layer in layers if layer is not None]

    def _kind(self, node: Section, layers: list[Section], problems: Problems) -> str | None:
        for layer in layers:
            if "kind" not in layer:
                continue
            kind = layer.scalar("kind", "a kind of node")
            known = ALL_KINDS if self._any_kind else _TAKEN_KINDS
            if kind is not None and kind.value not in known:
                kind.complain(problems, self._wrong_kind(kind.value))
            return None if kind is None else kind.value
        problems.add(node.place, node.path("kind"), f"missing; write kind: {RUNNABLE_KINDS[0]}")
        return None

    def _wrong_kind(self, kind: str) -> str:
        if kind in (*self._kinds, *ALL_KINDS):
            return (
                f"fabriclab cannot run nodes of kind {shown(kind)}; it runs: {', '.join(_TAKEN_KINDS)}; "
                "--as frr runs FRR in their place"
            )
        return f"{shown(kind)} is not a kind of node; {did_you_mean(kind, self._kinds)}"


def _filled(topology: Section, part: str, known: tuple[str, ...] | None) -> Section | None:
    """Return a part of the topology; None where it is absent or empty, which are one to Containerlab."""
    value = topology.get(part)
    is_empty = isinstance(value, ScalarValue) and value.is_null
    return None if is_empty else topology.section(part, known)


def _group(layer: Section) -> Written[str] | None:
    """Return the group that a layer names; `group:` without a value names none, as for Containerlab."""
    value = layer.get("group")
    is_absent = isinstance(value, ScalarValue) and (value.is_null or not value.text.strip())
    return None if is_absent else layer.scalar("group", "a group's name")


def settle_roles(
    nodes: list[WrittenNode], links: tuple[Link, ...], lone: Collection[str], problems: Problems
) -> tuple[tuple[LabNode, ...], tuple[str, ...]]:
    """Give every node a role: the label's, or the one that its kind, image, binds, commands and links hint at.

    Return the nodes, and a sentence on each role that was guessed of a node with several links. Record nodes without a
    link, except those that need none (`lone`).
    """
    degree = dict.fromkeys((node.name for node in nodes), 0)
    for link in links:
        for end in link.ends:
            degree[end.node] += 1
    settled, notes = [], []
    for node in nodes:
        key = f"topology.nodes.{node.name}"
        is_switch = kind_of(node.kind) is not None or node.config is not None
        guess, why = guessed_role(node.kind or LINUX, degree[node.name], *node.hints)
        is_configured = node.setup is not None and node.setup.configures_network
        role = node.labels.role or guess
        if is_switch and role == "host":
            problems.add(node.place, key, f"is of kind {node.kind}, a switch; remove the label {ROLE_LABEL}", node.name)
        if degree[node.name] == 0 and node.name not in lone and not is_configured:
            problems.add(node.place, key, "has no link; add one below topology.links or remove the node", node.name)
        is_plain = guess == "host" and degree[node.name] <= 1 and not any(map(is_frr_bind, node.hints.inherited))
        if node.labels.role is None and not (node.is_foreign or is_switch or is_plain):
            notes.append(f"{node.name} (line {node.place.line}) is taken for a {guess}: {why}")
        labels, foreign = node.labels, node.kind if node.is_foreign else None
        settled.append(
            LabNode(
                *(node.name, role, node.place, labels.asn, labels.loopback, labels.tier),
                foreign=foreign,
                configs=node.configs if node.is_foreign else (),
                loopback6=labels.loopback6,
            )
        )
        notes += () if node.setup is None else node.setup.notes
    return tuple(settled), told_once(notes, [node.name for node in settled])
