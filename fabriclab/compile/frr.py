"""FRR for a switch that speaks BGP: a configuration file for each daemon, and how the daemons are started.

Words: FRR's user guide, chapters BGP, BFD and Basic Setup. The design is RFC 7938's: eBGP on every link between
switches, equal paths by their length alone. Unnumbered sessions (`interface ... v6only`) run over IPv6 link-local
addresses and carry IPv4 routes (RFC 8950). Each daemon has a file of its own: one that reads the integrated `frr.conf`
itself complains about all that is another's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriclab.compile.frr_policies import neighbour_lines, network_lines, policy_lines
from fabriclab.formats.family import Family
from fabriclab.formats.job import Program
from fabriclab.formats.plan.model import Bgp, Plan
from fabriclab.formats.plan.node import Node, OwnBgp
from fabriclab.resolve.bgp import originated_prefixes
from fabriclab.resolve.interfaces import Interface, Neighbour, fabric_neighbours

_CONFIG_DIRECTORY = "etc/frr"
"""Relative to the node's root."""
_DAEMON_DIRECTORY = "/usr/lib/frr"
_GROUP = "fabric"
BFD_PROFILE = "fabric"
CONNECT_RETRY_S = 1
"""SONiC has 10: a lab need not wait so long for its traffic."""
_NS_PER_MS = 10**6


def speaks_bgp(node: Node, plan: Plan) -> bool:
    """Return whether the node runs FRR."""
    return plan.bgp is not None and node.role == "switch"


def runs_frr(node: Node, plan: Plan) -> bool:
    """Return whether the node runs FRR, by the lab's routing or by its own files."""
    return speaks_bgp(node, plan) or (node.setup is not None and bool(node.setup.daemons))


def compile_frr(node: Node, plan: Plan) -> dict[str, str]:
    """Return the texts of the node's FRR configuration by their paths below its root."""
    bgp = plan.bgp
    if bgp is None:
        return {}
    router = _router(node, plan, bgp) if node.bgp is None else own_router(node, node.bgp, bgp, plan.families)
    policies = policy_lines(node.bgp)
    sections: dict[str, list[str]] = {"zebra": [], "bgpd": [*policies, *router]}
    if bgp.bfd is not None:
        sections["bfdd"] = _bfd(bgp.bfd.interval_ns // _NS_PER_MS, bgp.bfd.multiplier)
    elif _has_bfd(node, plan):
        sections["bfdd"] = []
    head = ["frr defaults datacenter", f"hostname {node.name}"]
    return {
        _config_file(daemon): "".join(line + "\n" for line in [*head, *section]) for daemon, section in sections.items()
    }


def _has_bfd(node: Node, plan: Plan) -> bool:
    own = node.bgp is not None and any(neighbour.bfd for neighbour in node.bgp.neighbours)
    return own or (plan.bgp is not None and plan.bgp.bfd is not None)


def _config_file(daemon: str) -> str:
    return f"{_CONFIG_DIRECTORY}/{daemon}.conf"


def _bfd(interval_ms: int, multiplier: int) -> list[str]:
    timers = [
        f"  transmit-interval {interval_ms}",
        f"  receive-interval {interval_ms}",
        f"  detect-multiplier {multiplier}",
    ]
    return ["bfd", f" profile {BFD_PROFILE}", *timers, " exit", "exit"]


def router_head(node: Node) -> Iterator[str]:
    """Yield what every router says of itself."""
    yield f"router bgp {node.asn}"
    yield f" bgp router-id {node.loopback}"
    # Without it RFC 8212 keeps a session without policies from carrying any route.
    yield " no bgp ebgp-requires-policy"
    yield " no bgp default ipv4-unicast"
    yield " bgp bestpath as-path multipath-relax"


def _router(node: Node, plan: Plan, bgp: Bgp) -> Iterator[str]:
    """Yield the router: one session a link that carries both families where sessions have no addresses; else one for
    each family, over its own."""
    nodes = plan.by_name()
    groups = {family: _GROUP if family == plan.families[0] else f"{_GROUP}6" for family in plan.families}
    if bgp.unnumbered:
        groups = dict.fromkeys(plan.families, _GROUP)
    yield from router_head(node)
    yield f" timers bgp {bgp.keepalive_s} {bgp.hold_s}"
    for group in dict.fromkeys(groups.values()):
        yield f" neighbor {group} peer-group"
        yield f" neighbor {group} remote-as external"
        yield f" neighbor {group} timers connect {CONNECT_RETRY_S}"
        if bgp.bfd is not None:
            yield f" neighbor {group} bfd profile {BFD_PROFILE}"
    for family in plan.families[:1] if bgp.unnumbered else plan.families:
        for interface, neighbour in fabric_neighbours(node, nodes, family):
            yield from _neighbour(interface, neighbour, bgp, groups[family])
    for family in plan.families:
        yield f" address-family ipv{family} unicast"
        yield from (f"  network {prefix}" for prefix in originated_prefixes(node, nodes, (), family))
        yield f"  neighbor {groups[family]} activate"
        yield f"  maximum-paths {bgp.max_paths}"
        yield " exit-address-family"
    yield "exit"


def _neighbour(interface: Interface, neighbour: Neighbour, bgp: Bgp, group: str) -> Iterator[str]:
    if bgp.unnumbered:
        name = interface.name
        yield f" neighbor {name} interface v6only peer-group {group}"
    else:
        name = neighbour.interface.ip
        yield f" neighbor {name} peer-group {group}"
    yield f" neighbor {name} description {neighbour.node.name}:{neighbour.interface.name}"


def own_router(node: Node, own: OwnBgp, bgp: Bgp, families: Sequence[Family] = (4,)) -> Iterator[str]:
    """Yield the router of a switch whose own configuration says its neighbours and networks,
    as SONiC's templates write it. Policies are those of IPv4."""
    yield from router_head(node)
    names = [neighbour.address or neighbour.interface for neighbour in own.neighbours]
    for name, neighbour in zip(names, own.neighbours, strict=True):
        yield (
            f" neighbor {name}{'' if neighbour.address else ' interface v6only'} remote-as "
            f"{neighbour.asn or 'external'}"
        )
        yield f" neighbor {name} timers {neighbour.keepalive_s} {neighbour.hold_s}"
        yield f" neighbor {name} timers connect {CONNECT_RETRY_S}"
        if bgp.bfd is not None:
            yield f" neighbor {name} bfd profile {BFD_PROFILE}"
        elif neighbour.bfd:
            yield f" neighbor {name} bfd"
    for family in families:
        carrying = [pair for pair in zip(names, own.neighbours, strict=True) if pair[1].carries(family)]
        yield f" address-family ipv{family} unicast"
        yield from network_lines(own, family)
        yield from (f"  neighbor {name} activate" for name, _ in carrying)
        for name, neighbour in carrying:
            yield from neighbour_lines(name, own, neighbour, family)
        yield f"  maximum-paths {own.max_paths or bgp.max_paths}"
        yield " exit-address-family"
    yield "exit"


def compile_daemons(node: Node, plan: Plan) -> list[Program]:
    """Return the job's entries for the node's FRR daemons, in the order in which they are started."""
    names = ["zebra", *(["bfdd"] if _has_bfd(node, plan) else []), "bgpd"]
    # No terminal over TCP: vtysh comes through a socket in the file system.
    options = ["-P", "0", "--log", "stdout", "--log-level", "informational"]
    return [
        {
            "name": f"{name}@{node.name}",
            "node": node.name,
            "argv": [f"{_DAEMON_DIRECTORY}/{name}", "-f", f"/{_config_file(name)}", *options],
        }
        for name in names
    ]


def compile_router_sysctl(node: Node, plan: Plan) -> list[tuple[str, str]]:
    """Return the sysctls that the sessions need in a fabric of IPv4: IPv6 link-local addresses on the links between
    switches, and nowhere else (with IPv6 everywhere: `ipv6.py`)."""
    if plan.bgp is None or 6 in plan.families:
        return []
    own = () if node.bgp is None else node.bgp.neighbours
    without = {neighbour.interface for neighbour in own if neighbour.address is None}
    settings = []
    ports = {port.interface for port in node.ports}
    for interface, _ in fabric_neighbours(node, plan.by_name()):
        if not plan.bgp.unnumbered and interface.name not in without:
            continue
        # A port channel is made later, with the settings of new interfaces.
        name = f"net.ipv6.conf.{interface.name if interface.name in ports else 'default'}"
        settings += [
            # The address is made of the MAC address, which is unique: nothing to detect, nothing to wait for.
            (f"{name}.accept_dad", "0"),
            # zebra does the advertisements and reads the neighbours'.
            (f"{name}.accept_ra", "0"),
            (f"{name}.disable_ipv6", "0"),
        ]
    return list(dict.fromkeys(settings))
