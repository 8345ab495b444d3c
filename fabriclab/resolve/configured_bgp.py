"""BGP of switches that are what their own configuration says."""

from __future__ import annotations

from fabriclab.formats.plan.model import Bgp
from fabriclab.formats.plan.node import BgpNeighbour, OwnBgp
from fabriclab.lab.network.own_configuration import OwnConfiguration, OwnSession
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.routing import AS_CONFIGURED, PROTOCOL


def resolve_own_bgp(own: OwnConfiguration | None, bgp: Bgp | None) -> OwnBgp | None:
    """Return what a switch's file says; None for a switch without one, and where the lab's routes are static."""
    if own is None or bgp is None:
        return None
    return OwnBgp(
        neighbours=tuple(_resolve_session(session) for session in own.sessions),
        networks=tuple(map(str, own.networks)),
        max_paths=own.max_paths,
        policies=own.policies,
        announcements=own.announcements,
    )


def _resolve_session(session: OwnSession) -> BgpNeighbour:
    return BgpNeighbour(
        interface=session.interface,
        address=None if session.address is None else str(session.address),
        asn=session.asn,
        keepalive_s=session.keepalive_s,
        hold_s=session.hold_s,
        bfd=session.bfd,
        policy=session.policy,
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
