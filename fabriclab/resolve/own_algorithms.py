"""Which of the user's own algorithms a plan uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabriclab.formats.plan.algorithm import HOMA, AlgorithmKind, OwnAlgorithm
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.lab.experiment import Experiment
from fabriclab.qdiscs import Own


def used_algorithms(plan: Plan, experiments: Iterable[Experiment]) -> tuple[OwnAlgorithm, ...]:
    """Return the algorithms that a plan names, of those that its experiment names now or at an event, by their names.

    One that every host overrides is not among them.
    """
    written = {(one.kind, one.name): one for experiment in experiments for one in experiment.algorithms}
    used = set(_used(plan)) if written else set()
    return tuple(written[key] for key in sorted(written) if key in used)


def _used(plan: Plan) -> Iterator[tuple[AlgorithmKind, str]]:
    for node in (*plan.nodes, *(node for event in plan.events for node in event.nodes)):
        yield from _used_by(node)
    for traffic in plan.traffic:
        if traffic.carried_by.transport == "homa":
            yield "transport", HOMA
        control = traffic.carried_by.congestion_control
        if control is not None:
            yield "congestion_control", control


def _used_by(node: Node) -> Iterator[tuple[AlgorithmKind, str]]:
    if node.transport is not None:
        yield "congestion_control", node.transport.congestion_control
    for port in node.ports:
        roce = None if port.nic is None else port.nic.roce
        if roce is not None and roce.control is not None:
            yield "roce_control", roce.control.name
        for queue in (port.queue, None if port.nic is None else port.nic.queue):
            if queue is not None and isinstance(queue.aqm, Own):
                yield "qdisc", queue.aqm.id
        for each in () if port.switch_port is None else port.switch_port.queues:
            if each.sharing is not None:
                yield "sharing", each.sharing.policy
