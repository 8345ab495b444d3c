"""BGP of switches that are what their own configuration says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from ipaddress import ip_interface

from fabriclab.formats.family import FAMILIES, Family, family_of
from fabriclab.formats.plan.model import Bgp
from fabriclab.formats.plan.node import BgpNeighbour, Node, OwnBgp
from fabriclab.lab.network.own_configuration import OwnConfiguration, OwnSession
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.routing import AS_CONFIGURED, PROTOCOL
from fabriclab.resolve.bgp import extra_behind
from fabriclab.resolve.interfaces import families_of, interfaces, neighbours


def resolve_own_bgp(own: OwnConfiguration | None, bgp: Bgp | None, families: Collection[Family]) -> OwnBgp | None:
    """Return what a switch's file says of the families that the lab has; None for a switch without one, and where the
    lab's routes are static."""
    if own is None or bgp is None:
        return None
    return OwnBgp(
        neighbours=tuple(
            _resolve_session(one) for one in own.sessions if not one.families or {*one.families} & {*families}
        ),
        networks=tuple(str(one) for one in own.networks if len(own.families) == 1 or one.version in families),
        max_paths=own.max_paths,
        policies=own.policies if 4 in families else None,
        policies6=own.policies6 if 6 in families else None,
        announcements=tuple(one for one in own.announcements if family_of(one.prefix) in families),
    )


def with_networks_of_the_lab(nodes: tuple[Node, ...], topology: Topology) -> tuple[Node, ...]:
    """Return the nodes, of which those with a configuration of their own also announce the networks of hosts to which
    the lab gave addresses: it says nothing of these."""
    every = {node.name: node for node in nodes}
    ends = [end for link in topology.links for end in link.ends]
    written = {(end.port, family) for end in ends for family in FAMILIES if end.address(family) is not None}
    found = []
    for node, lab_node in zip(nodes, topology.nodes, strict=True):
        if node.bgp is not None and lab_node.own is not None:
            layer2 = lab_node.own.layer2
            said = {
                (f"{node.name}:{one.name}", family)
                for groups in (layer2.vlans, layer2.port_channels)
                for one in groups
                for family in FAMILIES
                if (one.ipv4 if family == 4 else one.ipv6) is not None
            }
            more = tuple(_networks_of_the_lab(node, every, written | said))
            networks = tuple(dict.fromkeys([*node.bgp.networks, *more]))
            node = node.model_copy(update={"bgp": node.bgp.model_copy(update={"networks": networks})})
        found.append(node)
    return tuple(found)


def with_peers_of_the_lab(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the nodes, of which those with a configuration of their own know a switch without one by the address that
    the lab gave it: of a port channel's network it may be another one than their configuration says."""
    every = {node.name: node for node in nodes}
    found = []
    for node in nodes:
        if node.bgp is not None:
            known = tuple(_as_in_the_lab(node, one, every) for one in node.bgp.neighbours)
            node = node.model_copy(update={"bgp": node.bgp.model_copy(update={"neighbours": known})})
        found.append(node)
    return tuple(found)


def _as_in_the_lab(node: Node, session: BgpNeighbour, nodes: Mapping[str, Node]) -> BgpNeighbour:
    if session.address is None or family_of(session.address) not in families_of(node):
        return session
    over = [one for one in interfaces(node, family_of(session.address)) if one.name == session.interface]
    peers = [peer for one in over for peer in neighbours(node, one, nodes) if peer.node.bgp is None]
    if len(peers) != 1 or peers[0].node.role != "switch":
        return session
    return session.model_copy(update={"address": peers[0].interface.ip})


def _networks_of_the_lab(
    node: Node, nodes: Mapping[str, Node], written: Collection[tuple[str, Family]]
) -> Iterator[str]:
    every = ((family, one) for family in families_of(node) for one in interfaces(node, family))
    for family, interface in every:
        if nodes[interface.ports[0].peer_node].role == "host":
            if (f"{node.name}:{interface.name}", family) not in written:
                yield str(ip_interface(interface.address).network)
            yield from (str(network) for network, _ in extra_behind(node, interface, nodes))


def _resolve_session(session: OwnSession) -> BgpNeighbour:
    return BgpNeighbour(
        interface=session.interface,
        address=None if session.address is None else str(session.address),
        asn=session.asn,
        keepalive_s=session.keepalive_s,
        hold_s=session.hold_s,
        bfd=session.bfd,
        policy=session.policy,
        families=session.families,
        policy6=session.policy6,
    )


def default_protocol(topology: Topology) -> str:
    """Return BGP where a switch's own configuration has sessions, over addresses unless none has one; as configured
    where nodes' own files give them addresses or routes."""
    if topology.configures_network:
        return AS_CONFIGURED
    sessions = [session for node in topology.nodes if node.own is not None for session in node.own.sessions]
    if not sessions:
        return PROTOCOL.or_default(None)
    return "bgp-numbered" if any(session.address is not None for session in sessions) else "bgp-unnumbered"
