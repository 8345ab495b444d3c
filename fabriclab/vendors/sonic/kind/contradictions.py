"""What the files of a lab's switches say differently of one thing: the rules of a fabric, on the lab's own links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fabriclab.lab.network.own_configuration import Contradiction
from fabriclab.lab.network.topology import LabNode, Link
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.vendors.sonic.fabric import FabricFinding, judge_fabric
from fabriclab.vendors.sonic.lab.fabric_links import FabricLink
from fabriclab.vendors.sonic.lab.fabric_switches import End, Fabric, FabricSwitch
from fabriclab.vendors.sonic.read.config_db import ConfigDb

_NO_LINK = frozenset({"link-speed", "link-fec", "link-autoneg"})
"""Rules whose errors keep a link down: a lab's links are up, so it is refused."""


def with_contradictions(
    nodes: Sequence[LabNode],
    links: Sequence[Link],
    configs: Mapping[str, ConfigDb],
    directory: Path,
    problems: Problems,
) -> tuple[LabNode, ...]:
    """Return the nodes with what their files and others say differently; what keeps a link down is recorded."""
    fabric = Fabric([FabricSwitch(name, config, b"") for name, config in configs.items()])
    joined = [link for link in map(_joined, links) if all(_is_port(fabric, end) for end in link.ends)]
    found: dict[str, list[Contradiction]] = {}
    # What is wrong by itself is told already; two files are compared when each of them is right.
    for name, one in judge_fabric(fabric, joined) if not problems else ():
        if one.rule in _NO_LINK and one.severity == "error":
            file = Place(fabric.switches[name].config.file, one.line)
            problems.add(file, one.where, one.sentence, one.value)
        else:
            found.setdefault(name, []).append(_contradiction(fabric, FabricFinding(name, one), directory))
    return tuple(
        node
        if node.own is None or node.name not in found
        else replace(node, own=replace(node.own, contradictions=tuple(found[node.name])))
        for node in nodes
    )


def _joined(link: Link) -> FabricLink:
    return FabricLink(End(link.a.node, link.a.interface), End(link.b.node, link.b.interface), "the topology")


def _is_port(fabric: Fabric, end: End) -> bool:
    switch = fabric.switches.get(end.switch)
    return switch is not None and end.port in switch.ports


def _contradiction(fabric: Fabric, each: FabricFinding, directory: Path) -> Contradiction:
    """Return a finding as a sentence without the lab's directory: a plan is the same wherever it was made."""
    place = Place(fabric.switches[each.switch].config.file, each.found.line)
    sentence = f"{place}: {each.found.where}: {each.found.sentence}"
    # Names in a file may hold anything; a warning is one line.
    line = "".join(letter if letter.isprintable() else "?" for letter in sentence.replace(f"{directory}/", ""))
    return Contradiction(each.found.severity, line)
