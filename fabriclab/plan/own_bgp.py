"""BGP of switches that are what their own configuration says."""

from __future__ import annotations

from fabriclab.lab import defaults
from fabriclab.lab.topology import SonicSession, SonicSwitch, Topology
from fabriclab.plan.model import Bgp
from fabriclab.plan.node import BgpNeighbour, OwnBgp


def resolve_own_bgp(sonic: SonicSwitch | None, bgp: Bgp | None) -> OwnBgp | None:
    """Return what a switch's file says; None for a switch without one, and where the lab's routes are static."""
    if sonic is None or bgp is None:
        return None
    return OwnBgp(
        neighbours=tuple(_resolve_session(session) for session in sonic.sessions),
        networks=tuple(map(str, sonic.networks)),
        max_paths=sonic.max_paths,
    )


def _resolve_session(session: SonicSession) -> BgpNeighbour:
    return BgpNeighbour(
        interface=session.interface,
        address=None if session.address is None else str(session.address),
        asn=session.asn,
        keepalive_s=session.keepalive_s,
        hold_s=session.hold_s,
        bfd=session.bfd,
    )


def default_protocol(topology: Topology) -> str:
    """Return BGP where a SONiC switch's file has sessions, over addresses unless none has one."""
    sessions = [session for node in topology.nodes if node.sonic is not None for session in node.sonic.sessions]
    if not sessions:
        return defaults.PROTOCOL
    return "bgp-numbered" if any(session.address is not None for session in sessions) else "bgp-unnumbered"
