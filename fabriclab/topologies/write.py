"""A fabric as the text of a Containerlab file, and the experiment that a new lab begins with.

The file: https://containerlab.dev/manual/topo-def-file/ .

`group` is what `containerlab graph` sorts by, the labels `graph-level` (1 at the top) and `graph-icon` are what its
draw.io export (https://github.com/srl-labs/clab-io-draw) reads; that export looks at nodes only, so these two stand at
each node.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from fabriclab.topologies.fabric import Fabric, FabricLink, FabricNode
from fabriclab.units import format_count, format_duration, format_rate

_CAPABILITIES = ("NET_ADMIN", "NET_RAW", "SYS_ADMIN", "SYS_NICE")
"""What a node needs to set up links, qdiscs and its namespaces: instead of every capability,
which a machine in a container cannot give."""
_WIDEST_COMMAND = 110
_ORDER = ("superspine", "spine", "leaf", "server")


def topology_text(fabric: Fabric) -> str:
    """Return the topology file; the same fabric gives the same text."""
    return "\n".join([*_comment(fabric), *_head(fabric), *_nodes(fabric), *_links(fabric)]) + "\n"


def _comment(fabric: Fabric) -> Iterator[str]:
    hosts, nodes, links = len(fabric.hosts), len(fabric.nodes), len(fabric.links)
    switches = nodes - hosts
    yield (
        f"# {format_count(hosts, 'host')}, {format_count(switches, 'switch')}, {format_count(links, 'link')}. Made by:"
    )
    yield "#"
    yield from _wrapped_command(fabric.command)
    yield "#"
    yield from (f"#     {line}".rstrip() for line in fabric.picture)
    yield "#"
    yield from (f"# {fact}" for fact in fabric.facts)


def _wrapped_command(command: str) -> Iterator[str]:
    """Yield the command, broken before an option where a line would be too long."""
    line = "#     "
    for index, part in enumerate(command.split(" --")):
        word = part if index == 0 else f" --{part}"
        if len(line) + len(word) > _WIDEST_COMMAND:
            yield f"{line} \\"
            line = "#        "
        line += word
    yield line


def _head(fabric: Fabric) -> Iterator[str]:
    yield f"name: {fabric.name}"
    yield "topology:"
    yield "  kinds:"
    yield f"    linux: {{privileged: false, cap-add: [{', '.join(_CAPABILITIES)}]}}"
    yield "  groups:"
    tiers = {node.group: node for node in fabric.nodes}
    for group in _ORDER:
        if group in tiers:
            yield (
                f"    {group}: {{image: 'fabriclab/{_image(tiers[group])}:latest', labels: "
                f"{{{_group_labels(tiers[group])}}}}}"
            )


def _image(node: FabricNode) -> str:
    return "host" if node.is_host else "switch"


def _group_labels(node: FabricNode) -> str:
    return f"fabriclab.role: {_image(node)}, fabriclab.tier: {node.tier}"


def _nodes(fabric: Fabric) -> Iterator[str]:
    yield "  nodes:"
    for node in sorted(fabric.nodes, key=lambda node: node.tier):
        labels = [f"graph-level: {node.tier}", f"graph-icon: {_image(node)}"]
        if node.asn is not None:
            loopbacks = [f"fabriclab.loopback: {node.loopback}"]
            if node.loopback6 is not None:
                loopbacks.append(f"fabriclab.loopback6: '{node.loopback6}'")
            labels = [f"fabriclab.asn: {node.asn}", *loopbacks, *labels]
        yield f"    {node.name}: {{kind: linux, group: {node.group}, labels: {{{', '.join(labels)}}}}}"


def _links(fabric: Fabric) -> Iterator[str]:
    yield "  links:"
    for section, links in itertools.groupby(fabric.links, lambda link: link.section):
        yield f"    # {section}"
        yield from (_link(link, fabric.mtu_bytes) for link in links)


def _link(link: FabricLink, mtu_bytes: int) -> str:
    endpoints = ", ".join(f"'{port}'" for port in link.ports)
    addresses = f"ipv4: [{_listed(link.addresses)}]"
    if link.ipv6 is not None:
        addresses += f", ipv6: [{_listed(link.ipv6)}]"
    variables = f"rate: {format_rate(link.rate_bps)}, delay: {format_duration(link.delay_ns)}"
    return f"    - {{endpoints: [{endpoints}], mtu: {mtu_bytes}, {addresses}, vars: {{{variables}}}}}"


def _listed(addresses: Iterable[object]) -> str:
    return ", ".join(f"'{address}'" for address in addresses)


_TEXT = """title: In-cast over {name}, to begin with

# docs/language explains every key; `fabriclab check` says what is wrong after a change.
switches:
  default: {{buffer: 128 KB}}

hosts:
  default: {{congestion_control: cubic}}

traffic:
  incast: {{kind: rounds, senders: all, receiver: {receiver}, size: 64 KB, rounds: 10}}

probes:
  queues: {{ports: ['{port}']}}

parameters:
  buffer: switches.default.buffer
  senders: traffic.incast.senders
  congestion_control: hosts.default.congestion_control

matrix:
  buffers: {{congestion_control: [cubic, reno], buffer: [64 KB, 128 KB, 512 KB]}}
"""


def experiment_text(fabric: Fabric) -> str:
    """Return an experiment: all hosts answer the first one at once, and the queue before it is sampled."""
    receiver = fabric.hosts[0].name
    port = next(upper for lower, upper in (link.ports for link in fabric.links) if lower.partition(":")[0] == receiver)
    return _TEXT.format(name=fabric.name, receiver=receiver, port=port)
