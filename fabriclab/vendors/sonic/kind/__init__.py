"""Switches of kind sonic-vs in a lab: what their config_db.json says of links and nodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.lab.network.topology import LabNode, Link, WrittenNode
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.sonic.kind.configs import bind_links, read_configs
from fabriclab.vendors.sonic.kind.contradictions import with_contradictions
from fabriclab.vendors.sonic.kind.nodes import bind_nodes

Bound = tuple[tuple[LabNode, ...], tuple[Link, ...]]


def bind(
    written: Sequence[WrittenNode], nodes: Sequence[LabNode], links: Sequence[Link], directory: Path, problems: Problems
) -> Bound:
    """Return nodes and links with what the files of `written`, the switches of this kind, say of them;
    mistakes are recorded."""
    configs = read_configs(written, directory, problems)
    bound = bind_links(links, configs, problems)
    return with_contradictions(bind_nodes(nodes, bound, configs, problems), bound, configs, directory, problems), bound
