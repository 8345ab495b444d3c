"""The two files of a lab whose switches are all of kind sonic-vs, each bound to its config_db.json."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fabriclab.formats.family import Family
from fabriclab.registry.vendors import SONIC_VS
from fabriclab.units import format_duration, format_rate
from fabriclab.vendors.sonic.lab.fabric_links import FabricLink
from fabriclab.vendors.sonic.lab.fabric_stubs import Stub, StubLink
from fabriclab.vendors.sonic.lab.fabric_switches import End, Fabric
from fabriclab.vendors.sonic.lab.files import LINUX_KIND, SONIC_IMAGE, SWITCH_IMAGE
from fabriclab.vendors.sonic.read.interface_names import LANES
from fabriclab.vendors.sonic.read.neighbours import NS_A_METRE

_BITS_A_MBIT = 10**6
INCAST = "incast"
"""The name of the traffic."""
_PORT = re.compile(r"Ethernet(0|[1-9][0-9]{0,4})")


def bound_file(switch: str) -> str:
    """Return the name of the file beside the topology that a switch is bound to."""
    return f"{switch}.json"


def bind(switch: str) -> str:
    """Return the bind of a switch's file."""
    return f"{bound_file(switch)}:{SONIC_VS.config_paths[0]}"


def link_name(port: str) -> str | None:
    """Return Containerlab's name of a port, eth1 of Ethernet0, eth2 of Ethernet4;
    None for a port between these, which has none."""
    match = _PORT.fullmatch(port)
    if match is None or int(match[1]) % LANES:
        return None
    return f"eth{int(match[1]) // LANES + 1}"


def topology_text(
    name: str, fabric: Fabric, links: Sequence[FabricLink], stubs: Sequence[Stub], families: Sequence[Family] = (4,)
) -> str:
    """Return topology.clab.yml, for a lab that has these families. A comment says by what each link was found."""
    switches = [stub for stub in stubs if stub.role == "switch"]
    nodes = (
        *map(_switch_node, switches),
        *(f"    {host}: {{kind: linux, labels: {{fabriclab.role: host}}}}" for host in hosts_of(stubs)),
    )
    edge = (
        *(_stub_link(link, fabric, families) for stub in stubs for link in stub.links),
        *(_link_behind(stub, fabric) for stub in switches if stub.has_host),
    )
    return topology_of(name, fabric, nodes, (*edge, *map(link_line, links)))


def topology_of(
    name: str, fabric: Fabric, nodes: Iterable[str], links: Iterable[str], comments: Iterable[str] = ()
) -> str:
    """Return topology.clab.yml with the fabric's switches, and with lines of other nodes and of links."""
    lines = [
        f"# Made by fabriclab sonic import: {len(fabric.switches)} switches, each with its own config_db.json.",
        "# Containerlab's eth1 is Ethernet0 in SONiC, and eth2 is Ethernet4. A comment says how each link was found.",
        *comments,
        f"name: {name}",
        "topology:",
        "  kinds:",
        f"    {SONIC_VS.name}: {{image: '{SONIC_IMAGE}'}}",
        LINUX_KIND,
        "  nodes:",
        *(f"    {switch}: {{kind: {SONIC_VS.name}, binds: ['{bind(switch)}']}}" for switch in fabric.switches),
        *nodes,
        "  links:",
        *links,
    ]
    return "".join(f"{line}\n" for line in lines)


def experiment_text(name: str, fabric: Fabric, stubs: Sequence[Stub], cell: str | None) -> str:
    """Return experiment.yml: one in-cast to begin with. All else is the files'."""
    switches = [stub for stub in stubs if stub.role == "switch"]
    lines = [
        f"title: {name}, as the config_db.json files of its switches describe it",
        "",
        *switch_lines(fabric, [stub.name for stub in switches], cell),
    ]
    lines += [
        "traffic:  # a first traffic: one in-cast",
        incast_line(hosts_of(stubs)[0]),
        "",
        "probes:",
        "  switches: {interval: 1 ms}",
        "  tcp: {interval: 1 ms}",
    ]
    return "".join(f"{line}\n" for line in lines)


def incast_line(receiver: str, senders: Sequence[str] = ()) -> str:
    """Return the line of the experiment's traffic: all hosts send to one, or those that are named."""
    who = f"[{', '.join(senders)}]" if senders else "all"
    return f"  {INCAST}: {{kind: rounds, senders: {who}, receiver: {receiver}, size: 64 KB, rounds: 10}}"


def hosts_of(stubs: Sequence[Stub]) -> list[str]:
    """Return the hosts of the lab, in the order of the topology."""
    return [
        *(stub.name for stub in stubs if stub.role == "host"),
        *(_host_behind(stub) for stub in stubs if stub.has_host),
    ]


def switch_lines(fabric: Fabric, others: Sequence[str], cell: str | None) -> Iterator[str]:
    """Yield the experiment's section `switches`. `others`: switches that no file describes."""
    without = [switch.name for switch in fabric.switches.values() if not switch.config.pools]
    if not others and cell is None and not without:
        yield from ("# Switches and routing are configured by the config_db.json files.", "")
        return
    yield "switches:"
    if cell is not None:
        yield from (f"  {switch}: {{cell: {cell}}}" for switch in fabric.switches if switch not in without)
    yield from (f"  {switch}: {{buffer: 16 MB}}  # its file has no BUFFER_POOL" for switch in without)
    yield from (f"  {name}: {{buffer: 16 MB}}  # no file gives the buffer" for name in others)
    yield ""


def _switch_node(stub: Stub) -> str:
    asn = "" if stub.asn is None else f", fabriclab.asn: {stub.asn}"
    return f"    {stub.name}: {{kind: linux, image: '{SWITCH_IMAGE}', labels: {{fabriclab.role: switch{asn}}}}}"


def _host_behind(stub: Stub) -> str:
    return f"{stub.name}-host"


def link_line(link: FabricLink) -> str:
    """Return the line of a link between two switches with files."""
    return f"    - {{endpoints: ['{clab(link.a)}', '{clab(link.b)}']}}  # {link.found_by}"


def _stub_link(link: StubLink, fabric: Fabric, families: Sequence[Family]) -> str:
    address = "" if link.address is None else f", ipv4: ['{link.address}', '']"
    address += f", ipv6: ['{link.address6}', '']" if link.address6 is not None and 6 in families else ""
    ends = f"'{link.node}:{link.interface}', '{clab(link.end)}'"
    return f"    - {{endpoints: [{ends}]{address}, vars: {variables(link.end, fabric)}}}  # {comment(link.found_by)}"


def _link_behind(stub: Stub, fabric: Fabric) -> str:
    """Return the link of a switch without a file to its host, as fast and as long as its first one."""
    number = 1 + max(int(link.interface.removeprefix("eth")) for link in stub.links)
    first = stub.links[0].end
    mtu = fabric.switches[first.switch].mtu(first.port)
    ends = f"'{_host_behind(stub)}:eth1', '{stub.name}:eth{number}'"
    return (
        f"    - {{endpoints: [{ends}], mtu: {mtu}, vars: {variables(first, fabric)}}}  # added, like the link to "
        f"{first}"
    )


def variables(end: End, fabric: Fabric) -> str:
    """Return what a link to a node without a file has of the port at its other end."""
    config = fabric.switches[end.switch].config
    rate_bps = (config.ports[end.port].speed_mbps or 1) * _BITS_A_MBIT
    delay_ns = config.cable_metres.get(end.port, 0) * NS_A_METRE
    return f"{{rate: {format_rate(rate_bps)}, delay: {format_duration(delay_ns)}}}"


def clab(end: End) -> str:
    """Return an end by Containerlab's name."""
    return f"{end.switch}:{link_name(end.port)}"


def comment(text: str) -> str:
    """Return a comment: names of a file may hold anything, a comment is one line."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
