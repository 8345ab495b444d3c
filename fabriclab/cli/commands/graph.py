"""`fabriclab graph`: the topology of a lab as a picture."""

from __future__ import annotations

from pathlib import Path

from fabriclab.api.lab_names import find_lab_or_file
from fabriclab.cli.host.failure import BadInputError, say
from fabriclab.cli.host.output import write_output
from fabriclab.graph import Edge, Network, Vertex, network_svg
from fabriclab.lab.network.read import read_one_topology
from fabriclab.lab.network.topology import LabNode, Link, Topology


def graph(lab_directory: Path, out: str | None, force: bool) -> None:
    """Draw the topology in a lab's directory, or in a file of any name; the experiment beside it is not read."""
    topology = read_one_topology(find_lab_or_file(lab_directory))
    text = network_svg(network_of_topology(topology))
    if out == "-":
        write_output([text], None)
        return
    file = Path(out or f"{topology.name}.svg")
    if file.exists() and not force:
        raise BadInputError(f"{file} is there already; --force replaces it")
    write_output([text], file)
    say(str(file))


def network_of_topology(topology: Topology) -> Network:
    """Return what is drawn of a topology."""
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
    return Edge(link.a.port, link.b.port, (rates[0], rates[1]), (delays[0], delays[1]))
