"""Switches of kind sonic-vs in a lab: what their config_db.json says of links and nodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.lab.network.topology import LabNode, Link, WrittenNode
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.sonic.kind.configs import bind_links, ports_to_hosts, read_configs
from fabriclab.vendors.sonic.kind.contradictions import with_contradictions
from fabriclab.vendors.sonic.kind.nodes import bind_nodes
from fabriclab.vendors.sonic.read.families import lab_families

Bound = tuple[tuple[LabNode, ...], tuple[Link, ...]]


def bind(
    written: Sequence[WrittenNode], nodes: Sequence[LabNode], links: Sequence[Link], directory: Path, problems: Problems
) -> Bound:
    """Return nodes and links with what the files of `written`, the switches of this kind, say of them;
    mistakes are recorded."""
    configs = read_configs(written, directory, problems)
    hosts = {node.name for node in nodes if node.role == "host"}
    families = lab_families(configs.values(), ports_to_hosts(links, configs, hosts))
    bound = bind_links(links, configs, problems, families)
    found = bind_nodes(nodes, bound, configs, problems, families)
    return with_contradictions(found, bound, configs, directory, problems), bound
