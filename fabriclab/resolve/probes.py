"""What is sampled.

An experiment that says nothing of it gets the queues before its receivers: where flows meet, and where most is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from fabriclab.formats.plan.model import Pcap, Probes
from fabriclab.formats.plan.node import Node
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.lab.experiment import Experiment
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.probes import WrittenPcap
from fabriclab.lab.switch.facing_ports import shared_ports

_LAST_HOP_INTERVAL_NS, _LAST_HOP_PORTS = 1_000_000, 16
"""The interval of the ports before the receivers, which are sampled where an experiment has no probes: it holds up to
so many ports, and is longer with more."""


def resolve_probes(
    experiment: Experiment, topology: Topology, nodes: Sequence[Node], traffic: Sequence[Traffic]
) -> Probes:
    """Return what is sampled; without a section `probes` that is the last hop of all traffic,
    and all that shares a buffer."""
    written = experiment.probes
    switch_ports = written.switch_ports
    if switch_ports is None and written.switch_interval_ns is not None:
        switch_ports = shared_ports(topology, experiment.shared_switches)
    last_hops = last_hop_ports(nodes, traffic) if written.is_default else ()
    # What programs send has no flows of the plan's, by which the sampler knows connections.
    enabled = {each.name for each in experiment.traffic if not each.program_nodes()}
    running = {host for each in experiment.traffic for host in each.program_nodes()}
    watched = written.connections.hosts
    tcp_classes = tuple(name for name in written.tcp_traffic if name in enabled)
    return Probes(
        queue_interval_ns=_interval_ns(len(last_hops)) if last_hops else written.queue_interval_ns,
        queue_ports=last_hops or written.queue_ports,
        # A probe of traffic that is not enabled would have nothing to look at.
        tcp_interval_ns=written.tcp_interval_ns if tcp_classes else None,
        tcp_classes=tcp_classes,
        interface_interval_ns=written.interface_interval_ns,
        switch_interval_ns=written.switch_interval_ns,
        switch_ports=switch_ports or (),
        pcap=_resolve_pcap(written.pcap),
        connection_hosts=tuple(node.name for node in nodes if node.name in (running if watched is None else watched)),
    )


def _resolve_pcap(written: WrittenPcap | None) -> Pcap | None:
    if written is None:
        return None
    return Pcap(ports=written.ports, snaplen_bytes=written.snaplen_bytes, file_limit_bytes=written.file_limit_bytes)


def last_hop_ports(nodes: Sequence[Node], traffic: Sequence[Traffic]) -> tuple[str, ...]:
    """Return the switch ports (`node:interface`) that face hosts to which traffic sends data, in the order of the plan.

    A user's trace may send to any host.
    """
    hosts = [node.name for node in nodes if node.role == "host"]
    receivers = frozenset(
        host for each in traffic for direction in each.directions(hosts) for host in direction.receivers
    )
    switches = [node for node in nodes if node.role == "switch"]
    return tuple(
        f"{node.name}:{port.interface}" for node in switches for port in node.ports if port.peer_node in receivers
    )


def _interval_ns(ports: int) -> int:
    """Return an interval with which many ports cost no more than a few: a fabric's every port, each often,
    would be most of a run."""
    return _LAST_HOP_INTERVAL_NS * -(-ports // _LAST_HOP_PORTS)
