"""What can be run and is probably not meant, as sentences: what was found of each switch,
said once for all switches and ports alike."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from fabriclab.formats.finding import SEVERITIES, Severity
from fabriclab.formats.plan.node import Node
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.keys.wording import listed
from fabriclab.lab.experiment import LinkOverrides
from fabriclab.lab.network.keys import CONTAINERLAB_MTU_BYTES, DEFAULT_MTU_BYTES
from fabriclab.lab.network.not_applied import unapplied_sentences
from fabriclab.lab.network.topology import Topology
from fabriclab.resolve.bridge_loops import bridge_loops
from fabriclab.resolve.buffers import SharedBuffer
from fabriclab.resolve.switch.checks import unmarked
from fabriclab.resolve.switch.findings import SwitchFinding, in_words_of, merged
from fabriclab.resolve.switch.notes import number_ranges
from fabriclab.units import format_count

_MOST_NAMED = 6
_NUMBERED = ("queues", "priority_groups")


def plan_warnings(
    shared: Mapping[str, SharedBuffer], nodes: Sequence[Node], traffic: Sequence[Traffic]
) -> tuple[str, ...]:
    """Return one sentence for each thing that was found in the switches with a shared buffer."""
    codepoints = _dctcp_codepoints(nodes, traffic)
    switches: dict[tuple[str, str], list[str]] = {}
    for name, buffer in shared.items():
        without_marks = merged(unmarked(buffer.switch, buffer.ports, codepoints))
        findings = [
            *buffer.warnings,
            *(in_words_of(finding, buffer.remedies, buffer.fields) for finding in without_marks),
        ]
        for finding in _with_ranges(findings):
            switches.setdefault((_at(finding, buffer), finding.sentence), []).append(name)
    return tuple(f"{_switches(names)}{at}: {sentence}" for (at, sentence), names in switches.items())


def file_warnings(topology: Topology) -> tuple[str, ...]:
    """Return what a topology says and nothing acts on, and what switches say in configurations of
    their own and do not have."""
    notes = (f"{node.name}: {note}" for node in topology.nodes if node.own is not None for note in node.own.notes)
    said = (*topology.notes, *unapplied_sentences(topology.not_applied), *notes)
    return (*said, *bridge_loops(topology), *contradictions(topology), *_not_emulated(topology))


def contradictions(topology: Topology, severities: Container[Severity] = SEVERITIES) -> tuple[str, ...]:
    """Return what switches' own configurations say differently of one thing, as bad as is asked for."""
    found = ((node.name, node.own.contradictions) for node in topology.nodes if node.own is not None)
    return tuple(f"{name}: {one.sentence}" for name, every in found for one in every if one.severity in severities)


def _not_emulated(topology: Topology) -> tuple[str, ...]:
    """Return what switches' own configurations have that acts in the switch, and not in a lab."""
    found = ((node.name, node.own.not_emulated) for node in topology.nodes if node.own is not None)
    return tuple(f"{name}: {one.sentence}" for name, every in found for one in every)


def mtu_warnings(topology: Topology, over: LinkOverrides) -> Iterator[str]:
    """Yield what links without an MTU have here and in Containerlab, of a file with images that are not ours: it was
    written for Containerlab."""
    unsized = [link for link in topology.links if link.mtu is None]
    is_brought = any(one.key == "image" for one in topology.not_applied)
    if unsized and is_brought and over.mtu is None:
        lines = [link.place.line or 0 for link in unsized]
        where = f"line {lines[0]}" if len(lines) == 1 else f"lines {min(lines)} to {max(lines)}"
        yield (
            f"{PurePath(unsized[0].place.file).name}: {format_count(len(unsized), 'link')} without an MTU ({where}): "
            f"{DEFAULT_MTU_BYTES} bytes; Containerlab gives them {CONTAINERLAB_MTU_BYTES}, as does links: {{mtu: "
            f"{CONTAINERLAB_MTU_BYTES}}} in the experiment"
        )


def _switches(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} switches ({names[0]} to {names[-1]})"


def _at(finding: SwitchFinding, buffer: SharedBuffer) -> str:
    """Say at which ports, unless it is all of them."""
    return "" if len(finding.ports) in (0, len(buffer.ports)) else f" ({listed(finding.ports)})"


def _with_ranges(findings: Iterable[SwitchFinding]) -> Iterator[SwitchFinding]:
    """Yield findings that differ in the number of their queue or group alone as one: `queues.0..7.wred.min`."""
    numbers: dict[SwitchFinding, list[int]] = {}
    for finding in findings:
        if finding.path[0] in _NUMBERED and finding.path[1].isdigit():
            alike = replace(finding, path=(finding.path[0], "", *finding.path[2:]))
            numbers.setdefault(alike, []).append(int(finding.path[1]))
        else:
            numbers.setdefault(finding, [])
    for finding, found in numbers.items():
        yield replace(finding, path=(finding.path[0], number_ranges(found), *finding.path[2:])) if found else finding


def _dctcp_codepoints(nodes: Sequence[Node], traffic: Sequence[Traffic]) -> tuple[int, ...]:
    """Return the DSCPs of flows that DCTCP may carry."""
    by_default = frozenset(
        node.name for node in nodes if node.transport is not None and node.transport.congestion_control == "dctcp"
    )
    found = set()
    for each in traffic:
        if each.carried_by.transport in ("roce", "homa"):
            continue
        control = each.carried_by.congestion_control
        if control == "dctcp" or (control is None and by_default & each.sending(by_default)):
            found.add(each.carried_by.dscp)
    return tuple(sorted(found))
