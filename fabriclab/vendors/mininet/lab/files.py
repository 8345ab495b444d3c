"""The Containerlab file of a network: hosts as kind linux, switches as bridges, links with rate and delay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.units import UnitError, format_duration, format_rate, parse_duration
from fabriclab.vendors.mininet.lab.network import Link, Network, loops

_IMAGE = "fabriclab/host:latest"


@dataclass(frozen=True)
class Imported:
    """A lab, and what a reader should know of it."""

    text: str
    notes: tuple[str, ...]


def lab_of(network: Network, name: str, script: str) -> Imported:
    """Return the Containerlab file of a network."""
    notes = list(network.notes)
    losses = {end: link.loss_percent for link in network.links if link.loss_percent for end in link.ends}
    for end in losses:
        node = end.partition(":")[0]
        if network.nodes[node].is_switch:
            continue
        network.nodes[node].commands.append(
            f"tc qdisc add dev {end.partition(':')[2]} root netem loss {losses[end]:g}%"
        )
    notes += _link_notes(network)
    looped = sorted(set(loops(network)))
    if looped:
        notes.append(
            f"switches form a loop ({', '.join(looped[:6])}): bridges would send a broadcast round it for ever; "
            "`fabriclab run FILE --as frr` runs them as routers with ECMP instead"
        )
    return Imported("\n".join(_lines(network, name, script)) + "\n", tuple(notes))


def _lines(network: Network, name: str, script: str) -> Iterator[str]:
    yield f"# Made of {script} by `fabriclab import mininet`."
    yield f"name: {json.dumps(name)}"
    yield "topology:"
    yield "  nodes:"
    for node in network.nodes.values():
        if node.is_switch:
            yield f"    {json.dumps(node.name)}: {{kind: bridge}}"
            continue
        yield f"    {json.dumps(node.name)}:"
        yield "      kind: linux"
        yield f"      image: {_IMAGE}"
        if node.commands:
            yield "      exec:"
            yield from (f"        - {json.dumps(command)}" for command in node.commands)
    yield "  links:"
    for link in network.links:
        ends = ", ".join(json.dumps(end) for end in link.ends)
        said = {"rate": _rate(link), "delay": _delay(link)}
        vars_ = ", ".join(f"{key}: {value}" for key, value in said.items() if value is not None)
        # Mininet's links are Ethernet's as Linux makes it, and not of Containerlab's 9500 bytes.
        yield f"    - {{endpoints: [{ends}], mtu: 1500{f', vars: {{{vars_}}}' if vars_ else ''}}}"


def _rate(link: Link) -> str | None:
    return None if link.rate_mbps is None else format_rate(round(link.rate_mbps * 1e6))


def _delay(link: Link) -> str | None:
    """Return the delay as ours; None where it cannot be read, which `_link_notes` says."""
    if link.delay is None:
        return None
    written = link.delay.strip()
    try:
        # Without a unit tc(8) takes microseconds.
        return format_duration(parse_duration(f"{written} us" if written.replace(".", "").isdigit() else written))
    except UnitError:
        return None


def _link_notes(network: Network) -> Iterator[str]:
    queues = sorted({link.queue_packets for link in network.links if link.queue_packets})
    if queues:
        sizes = ", ".join(map(str, queues))
        yield (
            f"max_queue_size ({sizes} packets) is left out: `switches: {{default: {{buffer: {queues[0] * 1514} B}}}}` "
            "in an experiment.yml says it"
        )
    for link in network.links:
        if link.delay is not None and _delay(link) is None:
            yield f"{' to '.join(link.ends)}: delay={link.delay!r} is not a time such as 5ms, and is left out"
        if link.loss_percent and all(network.nodes[end.partition(":")[0]].is_switch for end in link.ends):
            yield f"{' to '.join(link.ends)}: loss={link.loss_percent:g} between switches is left out"
