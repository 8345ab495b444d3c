"""A plan in words: the network, who was drawn into groups, each piece of traffic with what was computed for
it, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.api.cores import cores_line
from fabriclab.api.warnings import counted_sentences
from fabriclab.cli.text.switch import switch_lines
from fabriclab.formats.plan.model import Pcap, Plan
from fabriclab.formats.plan.node import Node, PortChannel, Vlan
from fabriclab.keys.wording import listed
from fabriclab.registry.traffic_kinds import load
from fabriclab.resolve.interfaces import interfaces, neighbours
from fabriclab.traffic_kinds import words
from fabriclab.units import SIZE, format_count, format_quantity, format_rate

_FEW = 8


def plan_text(plan: Plan) -> str:
    """Return the plan's summary, some lines for each part."""
    hosts = [node for node in plan.nodes if node.role == "host"]
    links = sum(len(node.ports) for node in plan.nodes) // 2
    settings = ", ".join(f"{name} {value}" for name, value in plan.settings.items())
    lines = [
        f"{plan.lab}: {plan.title}",
        f"  {format_count(len(hosts), 'host')}, {format_count(len(plan.nodes) - len(hosts), 'switch')}, "
        f"{format_count(links, 'link')}",
        f"  seed {plan.seed}; ends at {words.time(plan.limit_ns)} at the latest",
        *([f"  settings: {settings}"] if settings else []),
        *(f"  {line}" for line in layer2_lines(plan)),
        *(f"  {line}" for line in _frr_lines(plan)),
        *(["groups:"] if plan.groups else []),
        *(
            f"  {name} ({format_count(len(members), 'host')}): {', '.join(members)}"
            for name, members in plan.groups.items()
        ),
        "traffic:",
    ]
    for traffic in plan.traffic:
        first, *more = load(traffic.kind).sentences(traffic, plan)
        lines += [f"  {traffic.name} ({traffic.kind}): {first}", *(f"    {line}" for line in more)]
    switches = switch_lines(plan)
    lines += ["switches with a shared buffer:", *(f"  {line}" for line in switches)] if switches else []
    lines += [] if plan.probes.pcap is None else [_captured(plan.probes.pcap)]
    lines += [line] if (line := cores_line(plan)) else []
    lines += [
        *(f"warning: {sentence}" for sentence in counted_sentences([plan.warnings])),
        *(f"note: {note}" for note in _notes(plan)),
    ]
    return "\n".join([*lines, "The whole plan: --json; the commands of one node: --node NAME."]) + "\n"


def _frr_lines(plan: Plan) -> Iterator[str]:
    """Yield a line for each version of FRR that is not the virtual machine's, with its nodes."""
    for version in sorted({node.frr for node in plan.nodes if node.frr is not None}):
        yield f"FRR {version}: {listed(node.name for node in plan.nodes if node.frr == version)}"


def _captured(pcap: Pcap) -> str:
    most = format_quantity(float(pcap.file_limit_bytes * len(pcap.ports)), SIZE, digits=3)
    ports = pcap.ports if len(pcap.ports) <= _FEW else (*pcap.ports[: _FEW - 1], f"{len(pcap.ports) - _FEW + 1} more")
    kept = format_quantity(pcap.snaplen_bytes, SIZE)
    return f"captured: {', '.join(ports)}; {kept} of each packet, at most {most}"


def _notes(plan: Plan) -> Iterator[str]:
    """Yield what runs, and probably was not meant so."""
    switch_ports = [port for node in plan.nodes if node.role == "switch" for port in node.ports]
    # Of a shared buffer the plan's own warnings tell, class by class.
    marking = any(port.queue is None or port.queue.marks for port in switch_ports)
    hosts = [node for node in plan.nodes if node.transport is not None]
    without = sum(node.transport is not None and node.transport.mptcp is None for node in hosts)
    for traffic in plan.traffic:
        carrier = traffic.carried_by
        if carrier.congestion_control == "dctcp" and not marking:
            yield (
                f"traffic.{traffic.name} runs over DCTCP, but no switch has an ecn_threshold: nothing is marked, so "
                "DCTCP behaves like Reno"
            )
        if carrier.transport == "mptcp" and without:
            whose = f"{without} of {format_count(len(hosts), 'host')}"
            yield (
                f"traffic.{traffic.name} runs over MPTCP, but {whose} have no `mptcp` section: "
                "their connections have one subflow"
            )


def layer2_lines(plan: Plan) -> Iterator[str]:
    """Yield a line for each VLAN and for each port channel of a switch."""
    for node in plan.nodes:
        if node.role == "switch":
            yield from (_channel_line(node, channel) for channel in node.port_channels)
            yield from (_vlan_line(node, vlan, plan) for vlan in node.vlans)


def _channel_line(node: Node, channel: PortChannel) -> str:
    ports = [port for port in node.ports if port.interface in channel.members]
    lines = f"{len(ports)} x {format_rate(ports[0].rate_bps)} ({', '.join(channel.members)})"
    return (
        f"{node.name} {channel.name}: {lines} to {ports[0].peer_node} {channel.peer_interface}, "
        f"{channel.address or channel.ipv6 or 'of a VLAN'}"
    )


def _vlan_line(node: Node, vlan: Vlan, plan: Plan) -> str:
    (own,) = (interface for interface in interfaces(node) if interface.name == vlan.name)
    hosts = [f"{neighbour.node.name} {neighbour.interface.ip}" for neighbour in neighbours(node, own, plan.by_name())]
    return f"{node.name} {vlan.name}: {own.address}, members {', '.join(vlan.members)}; hosts {', '.join(hosts)}"
