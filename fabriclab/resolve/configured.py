"""Labs whose nodes' own files give them addresses and routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabriclab.formats.plan.setup import Configured
from fabriclab.formats.plan.traffic import Iperf3Traffic
from fabriclab.lab.experiment import Experiment
from fabriclab.lab.hosts.transport import WrittenTransport
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.reading.problems import LabError, Mistake
from fabriclab.lab.reading.section import Written, value_or
from fabriclab.lab.routing import AS_CONFIGURED, SLOW_STILL_NS, STILL_NS, WrittenRouting
from fabriclab.lab.setup.frr import runs_slow_protocol
from fabriclab.resolve.configured_bgp import default_protocol

_BY_ROUTES = ("initial_window", "delayed_ack", "window_limit")
"""Keys of a host that act by metrics of its routes."""

_LIMIT_NS = 300 * 10**9


def protocol_of(routing: WrittenRouting, topology: Topology) -> str:
    """Return how switches come by their routes. Raises LabError where their own files say otherwise."""
    protocol = value_or(routing.protocol, default_protocol(topology))
    running = [node.name for node in topology.nodes if node.setup is not None and node.setup.daemons]
    if protocol != AS_CONFIGURED and running and routing.protocol is not None:
        message = (
            f"{', '.join(running)}: the node's own files configure FRR; write {AS_CONFIGURED}, or remove binds and "
            "startup-config"
        )
        raise LabError([_mistake(routing.protocol, message)])
    return protocol


def resolve_configured(experiment: Experiment, topology: Topology) -> Configured | None:
    """Return what is waited for where routing is the nodes' own matter, else None.

    Raises LabError for what takes addresses or routes that the lab itself gives.
    """
    if protocol_of(experiment.routing, topology) != AS_CONFIGURED:
        return None
    mistakes = [*_wrong_hosts(experiment.hosts), *_wrong_parts(experiment, topology)]
    if mistakes:
        raise LabError(mistakes)
    slow = any(node.setup is not None and runs_slow_protocol(node.setup.daemons) for node in topology.nodes)
    still_ns = value_or(experiment.routing.still, SLOW_STILL_NS if slow else STILL_NS)
    limit_ns = value_or(experiment.routing.convergence_limit, max(_LIMIT_NS, 2 * still_ns))
    if limit_ns < still_ns:
        wrong = experiment.routing.convergence_limit or experiment.routing.still
        assert wrong is not None
        raise LabError(
            [
                _mistake(
                    wrong,
                    "convergence_limit is less than still, so the run would end before routes can have been unchanged "
                    "for that long",
                )
            ]
        )
    return Configured(still_ns=still_ns, limit_ns=limit_ns)


def _wrong_hosts(hosts: Mapping[str, WrittenTransport]) -> Iterator[Mistake]:
    seen: set[tuple[str, int | None, str]] = set()
    for name, transport in hosts.items():
        if transport.mptcp is not None and not transport.mptcp.is_none and transport.mptcp.place is not None:
            place, key = transport.mptcp.place, f"hosts.{name}.mptcp"
            message = f"needs addresses that the lab gives, but routing is {AS_CONFIGURED}; write ip mptcp in exec"
            yield Mistake(place.file, place.line, key, "", message)
        for name in _BY_ROUTES:
            written: Written[Any] | None = getattr(transport, name)
            if isinstance(written, Written) and (written.place.file, written.place.line, name) not in seen:
                seen.add((written.place.file, written.place.line, name))
                yield _mistake(
                    written, f"needs addresses and routes that the lab gives, but routing is {AS_CONFIGURED}"
                )


def _wrong_parts(experiment: Experiment, topology: Topology) -> Iterator[Mistake]:
    place = topology.links[0].place if topology.links else topology.nodes[0].place
    for traffic in experiment.traffic:
        if isinstance(traffic, Iperf3Traffic):
            message = f"iperf3 must know addresses before a run, but routing is {AS_CONFIGURED}; write kind: long"
            yield Mistake(place.file, None, f"traffic.{traffic.name}", "", message)
    if any(experiment.layer2.values()):
        names = ", ".join(name for name, layer2 in experiment.layer2.items() if layer2)
        message = f"the lab makes the VLANs and port channels of {names}, but routing is {AS_CONFIGURED}"
        yield Mistake(place.file, None, "switches", "", message)


def _mistake(written: Written[Any], message: str) -> Mistake:
    return Mistake(written.place.file, written.place.line, written.key, written.text, message)
