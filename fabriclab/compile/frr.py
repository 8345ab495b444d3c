"""FRR for a switch that speaks BGP: a configuration file for each daemon, and how the daemons are started.

Words: FRR's user guide, chapters BGP, BFD and Basic Setup. The design is RFC 7938's: eBGP on every link between switches, equal paths
by their length alone. Unnumbered sessions (`interface ... v6only`) run over IPv6 link-local addresses and carry IPv4 routes (RFC 8950).
Each daemon has a file of its own: one that reads the integrated `frr.conf` itself complains about all that is another's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabriclab.plan.bgp import originated_prefixes
from fabriclab.plan.model import Bgp, Node, Plan, Port

_CONFIG_DIRECTORY = "etc/frr"
"""Relative to the node's root."""
_DAEMON_DIRECTORY = "/usr/lib/frr"
_GROUP = "fabric"
_BFD_PROFILE = "fabric"
_CONNECT_RETRY_S = 1
_NS_PER_MS = 10**6


def speaks_bgp(node: Node, plan: Plan) -> bool:
    """Return whether the node runs FRR."""
    return plan.bgp is not None and node.role == "switch"


def fabric_ports(node: Node, plan: Plan) -> list[Port]:
    """Return the node's ports to switches."""
    return [port for port in node.ports if plan.node(port.peer_node).role == "switch"]


def compile_frr(node: Node, plan: Plan) -> dict[str, str]:
    """Return the texts of the node's FRR configuration by their paths below its root."""
    bgp = plan.bgp
    if bgp is None:
        return {}
    sections: dict[str, list[str]] = {"zebra": [], "bgpd": list(_router(node, plan, bgp))}
    if bgp.bfd is not None:
        sections["bfdd"] = _bfd(bgp.bfd.interval_ns // _NS_PER_MS, bgp.bfd.multiplier)
    head = ["frr defaults datacenter", f"hostname {node.name}"]
    return {_config_file(daemon): "".join(line + "\n" for line in [*head, *section]) for daemon, section in sections.items()}


def _config_file(daemon: str) -> str:
    return f"{_CONFIG_DIRECTORY}/{daemon}.conf"


def _bfd(interval_ms: int, multiplier: int) -> list[str]:
    timers = [f"  transmit-interval {interval_ms}", f"  receive-interval {interval_ms}", f"  detect-multiplier {multiplier}"]
    return ["bfd", f" profile {_BFD_PROFILE}", *timers, " exit", "exit"]


def _router(node: Node, plan: Plan, bgp: Bgp) -> Iterator[str]:
    yield f"router bgp {node.asn}"
    yield f" bgp router-id {node.loopback}"
    # Without it RFC 8212 keeps a session without policies from carrying any route.
    yield " no bgp ebgp-requires-policy"
    yield " no bgp default ipv4-unicast"
    yield " bgp bestpath as-path multipath-relax"
    yield f" timers bgp {bgp.keepalive_s} {bgp.hold_s}"
    yield f" neighbor {_GROUP} peer-group"
    yield f" neighbor {_GROUP} remote-as external"
    yield f" neighbor {_GROUP} timers connect {_CONNECT_RETRY_S}"
    if bgp.bfd is not None:
        yield f" neighbor {_GROUP} bfd profile {_BFD_PROFILE}"
    for port in fabric_ports(node, plan):
        yield from _neighbour(port, plan, bgp)
    nodes = {each.name: each for each in plan.nodes}
    yield " address-family ipv4 unicast"
    yield from (f"  network {prefix}" for prefix in originated_prefixes(node, nodes))
    yield f"  neighbor {_GROUP} activate"
    yield f"  maximum-paths {bgp.max_paths}"
    yield " exit-address-family"
    yield "exit"


def _neighbour(port: Port, plan: Plan, bgp: Bgp) -> Iterator[str]:
    if bgp.unnumbered:
        name = port.interface
        yield f" neighbor {name} interface v6only peer-group {_GROUP}"
    else:
        name = plan.peer_of(port).address.partition("/")[0]
        yield f" neighbor {name} peer-group {_GROUP}"
    yield f" neighbor {name} description {port.peer_node}:{port.peer_interface}"


def compile_daemons(node: Node, plan: Plan) -> list[dict[str, Any]]:
    """Return the job's entries for the node's FRR daemons, in the order in which they are started."""
    names = ["zebra", *(["bfdd"] if plan.bgp is not None and plan.bgp.bfd is not None else []), "bgpd"]
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
    """Return the sysctls that the sessions need: IPv6 link-local addresses on the links between switches, and nowhere else."""
    if plan.bgp is None or not plan.bgp.unnumbered:
        return []
    settings = []
    for port in fabric_ports(node, plan):
        interface = f"net.ipv6.conf.{port.interface}"
        settings += [
            # The address is made of the MAC address, which is unique: nothing to detect, nothing to wait for.
            (f"{interface}.accept_dad", "0"),
            # zebra does the advertisements and reads the neighbours'.
            (f"{interface}.accept_ra", "0"),
            (f"{interface}.disable_ipv6", "0"),
        ]
    return settings
