"""The version of FRR of each node that runs it, where it is not the virtual machine's."""

from __future__ import annotations

from fabriclab.formats.plan.model import Bgp
from fabriclab.formats.plan.node import Node
from fabriclab.keys.wording import listed
from fabriclab.lab.experiment import Experiment
from fabriclab.lab.network.topology import Topology


def with_frr(
    nodes: tuple[Node, ...], topology: Topology, experiment: Experiment, notes: list[str], bgp: Bgp | None
) -> tuple[Node, ...]:
    """Return the nodes with their versions: what the experiment says of a switch, else what its own files ask for.
    A switch of which one is written, and that runs no FRR, is noted."""
    written = experiment.frr
    asked = {node.name: node.frr for node in topology.nodes} | dict(written)
    if idle := [node.name for node in nodes if node.name in written and not _runs_frr(node, bgp)]:
        notes.append(f"switches.NAME.frr of {listed(idle)} has no effect, because no FRR runs there")
    return tuple(
        node if asked.get(node.name) is None or not _runs_frr(node, bgp) else _with_version(node, asked[node.name])
        for node in nodes
    )


def _with_version(node: Node, version: str | None) -> Node:
    return node.model_copy(update={"frr": version})


def _runs_frr(node: Node, bgp: Bgp | None) -> bool:
    return (bgp is not None and node.role == "switch") or (node.setup is not None and bool(node.setup.daemons))
