"""What the network around a host with MPTCP must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriclab.formats.family import Family
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.lab.hosts.keys import MOST_ENDPOINTS, MPTCP_SUBFLOWS
from fabriclab.lab.hosts.transport import WrittenTransport
from fabriclab.lab.network.layer2 import WrittenLayer2
from fabriclab.lab.network.segments import Layer2
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.reading.problems import Problems


def check_mptcp(
    topology: Topology, written: Mapping[str, WrittenLayer2], hosts: Mapping[str, WrittenTransport], problems: Problems
) -> None:
    """Record hosts with MPTCP behind VLANs and port channels: their interfaces have one address
    each, and one way out."""
    layer2 = Layer2(topology, written)
    reasons = {node: f"has the port channel {channels[0].name}" for node, channels in layer2.channels.items()}
    for segment in layer2.segments():
        if segment.vlan is not None:
            reasons |= {end.node: f"is in {segment.vlan.name} of {segment.ends[0].node}" for end in segment.ends[1:]}
    for host, transport in hosts.items():
        mptcp = transport.mptcp
        if host in reasons and mptcp is not None and not mptcp.is_none and mptcp.place is not None:
            message = (
                f"{host} {reasons[host]}; MPTCP is for hosts whose links are networks of their own (write mptcp: "
                f"none for {host})"
            )
            problems.add(mptcp.place, f"hosts.{host}.mptcp", message, host)


def check_endpoints(
    families: Sequence[Family], hosts: Mapping[str, WrittenTransport], traffic: Sequence[Traffic], problems: Problems
) -> None:
    """Record hosts that need more endpoints than the kernel has, where MPTCP runs over both families."""
    over = {each.carried_by.ip or families[0] for each in traffic if each.carried_by.transport == "mptcp"}
    if len(over) < 2:
        return
    most = MOST_ENDPOINTS // len(over)
    for host, transport in hosts.items():
        mptcp = transport.mptcp
        if mptcp is None or mptcp.is_none:
            continue
        subflows = MPTCP_SUBFLOWS.or_default(mptcp.subflows)
        place = mptcp.subflows.place if mptcp.subflows is not None else mptcp.place
        if subflows > most and place is not None:
            message = (
                f"{host} has {subflows} subflows, of each family as MPTCP runs over both, and the kernel has "
                f"{MOST_ENDPOINTS} endpoints; write {most} at most"
            )
            problems.add(place, f"hosts.{host}.mptcp.subflows", message, host)
            return
