"""What the configurations of switches say that FRR stands in for: read by their vendors' folders, each told with what
of it acts and what was not read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from fabriclab.keys.wording import listed
from fabriclab.lab.network.own_configuration import OwnConfiguration
from fabriclab.lab.network.topology import LabNode, Topology
from fabriclab.lab.reading.files import LARGEST_YAML_BYTES, UnreadableError, read_lab_file
from fabriclab.lab.reading.problems import LabError
from fabriclab.lab.reading.section import Written
from fabriclab.registry.vendors import FRR, SONIC_VS, ReadStandIn, StandIn, stand_in_of

_FRR_CONF = "/etc/frr/frr.conf"


@dataclass(frozen=True)
class StandIns:
    """What configurations give to the switches in the place of theirs."""

    by_node: Mapping[str, StandIn]
    notes: tuple[str, ...]
    """A sentence on each file."""


def read_stand_ins(topology: Topology, file: Path) -> StandIns:
    """Return what the configurations say that the nodes of a topology name; `file` is the topology's own."""
    found: dict[str, StandIn] = {}
    notes: list[str] = []
    silent: dict[str, list[str]] = {}
    for node in topology.nodes:
        if node.role != "switch":
            continue
        if node.own is not None:
            found[node.name] = _of_own(node, node.own)
            notes += _sentences(node.name, PurePath(node.own.file).name, found[node.name])
        elif (frr_conf := _frr_conf(node)) is not None:
            stand_in, said = _read(node, _FRR_CONF, frr_conf, stand_in_of(FRR), _linked(node, topology))
            notes += said
            found |= {} if stand_in is None else {node.name: stand_in}
        elif node.foreign is not None and not node.configs:
            silent.setdefault(node.foreign, []).append(node.name)
        elif node.foreign is not None:
            stand_in, said = _read_all(node, topology, file)
            notes += said
            if stand_in is not None:
                found[node.name] = stand_in
    for kind, names in silent.items():
        notes.append(f"no configuration is named for {listed(names)} ({kind}): topology and ports are taken")
    return StandIns(found, tuple(notes))


def _of_own(node: LabNode, own: OwnConfiguration) -> StandIn:
    """Return what is taken of a switch whose kind runs here, too, and is bound to its configuration already."""
    words = ["rates, MTU and addresses of ports"]
    words += ["buffers and QoS"] if own.profile else []
    words += [] if node.asn is None else [f"AS {node.asn.value}"]
    file, reader = Path(own.file), stand_in_of(SONIC_VS.name)
    assert reader is not None
    unread = reader(read_lab_file(file.parent, file.name, LARGEST_YAML_BYTES), file.name, ()).unread
    unread += ("VLANs and port channels",) if own.layer2 else ()
    return StandIn(profile=own.profile, read=tuple(words), unread=unread, notes=own.notes)


def _frr_conf(node: LabNode) -> bytes | None:
    """Return the frr.conf that a node binds; None for one that binds none."""
    files = () if node.setup is None else node.setup.files
    return next((file.text.encode() for file in files if file.path == _FRR_CONF), None)


def _linked(node: LabNode, topology: Topology) -> list[str]:
    return [end.interface for link in topology.links for end in link.ends if end.node == node.name]


def _read_all(node: LabNode, topology: Topology, file: Path) -> tuple[StandIn | None, list[str]]:
    """Return what all files of a node say together, the first that says a thing, and a sentence on each."""
    reader, notes = stand_in_of(node.foreign), list[str]()
    together: StandIn | None = None
    for config in node.configs:
        name = "its startup-config" if "\n" in config.value else config.value
        try:
            data = _data(config, name, file.parent)
        except UnreadableError as error:
            notes.append(f"{node.name}: {name} is not read: {error}")
            continue
        found, said = _read(node, name, data, reader, _linked(node, topology))
        notes += said
        if found is not None:
            together = found if together is None else together.over(found)
    return together, notes


def _read(
    node: LabNode, name: str, data: bytes, reader: ReadStandIn | None, linked: Sequence[str]
) -> tuple[StandIn | None, list[str]]:
    """Return what a file says, and what is said of it; None for a file that its vendor would not take either."""
    if reader is None:
        return None, [f"{node.name}: {name} is not read: no reader of {node.foreign} configurations is here"]
    try:
        found = reader(data, f"{node.name}'s {name}", linked)
    except LabError as error:
        return None, [f"{node.name}: {name} is not read: {error.mistakes[0]}"]
    return found, _sentences(node.name, name, found)


def _data(config: Written[str], name: str, directory: Path) -> bytes:
    """Return what a node's startup-config holds: the text itself, or the file of that name."""
    return config.value.encode() if "\n" in config.value else read_lab_file(directory, name, LARGEST_YAML_BYTES)


def _sentences(node: str, file: str, found: StandIn) -> list[str]:
    read = f"taken of {file}: {', '.join(found.read)}" if found.read else f"nothing is taken of {file}"
    unread = f"; not read: {', '.join(found.unread)}" if found.unread else ""
    return [f"{node}: {read}{unread}", *(f"{node}: {note}" for note in found.notes)]
