"""The picture of a lab's topology."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.api.lab import Lab, PathLike
from fabriclab.api.lab_names import directory_of, find_lab_or_file
from fabriclab.api.rendering import rendered
from fabriclab.errors import ArgumentError
from fabriclab.files import write_text
from fabriclab.lab.network.read import read_one_topology
from fabriclab.lab.network.topology import LabNode, Link, Topology
from fabriclab.picture import Edge, Network, Vertex, network_svg


@dataclass(frozen=True)
class Picture:
    """A drawing of a lab's nodes and links, with the tiers from top to bottom. A notebook shows it."""

    name: str
    """The lab's."""
    svg: str
    """The text of an SVG file."""

    def write(self, file: PathLike, *, force: bool = False) -> Path:
        """Write the SVG file and return its path.

        Raises ArgumentError if it already exists and `force` is not set, OSError.
        """
        path = Path(file)
        if path.exists() and not force:
            raise ArgumentError("{0} already exists; {force} replaces it", path)
        write_text(path, self.svg)
        return path

    def _repr_svg_(self) -> str:
        """Return what a notebook shows."""
        return self.svg


def graph(lab: Lab | PathLike, *, variables: Sequence[PathLike] = ()) -> Picture:
    """Return the picture of a lab's topology or of a Containerlab file. No experiment is needed.

    `variables` are files with the variables of a Go template, by default those beside it.

    Raises LabError for mistakes in the topology, ArgumentError if there is no lab.
    """
    if isinstance(lab, Lab):
        topology = lab.written.topology
    else:
        path = find_lab_or_file(Path(lab))
        topology = read_one_topology(path, rendered(path, variables), directory_of(path, Path(lab)))
    return Picture(topology.name, network_svg(network_of_topology(topology)))


def network_of_topology(topology: Topology) -> Network:
    """Return the network that is drawn for a topology."""
    vertices = tuple(
        Vertex(node.name, node.role == "host", node.tier.value if node.tier else None, _details(node))
        for node in topology.nodes
    )
    return Network(topology.name, vertices, tuple(_edge(link) for link in topology.links))


def _details(node: LabNode) -> tuple[str, ...]:
    asn = () if node.asn is None else (f"AS {node.asn.value}",)
    return asn if node.loopback is None else (*asn, str(node.loopback.value))


def _edge(link: Link) -> Edge:
    rates = [None if end.rate is None else end.rate.value for end in link.ends]
    delays = [None if end.delay is None else end.delay.value for end in link.ends]
    a, b = (f"{end.node}:{end.alias or end.interface}" for end in link.ends)
    return Edge(a, b, (rates[0], rates[1]), (delays[0], delays[1]))
