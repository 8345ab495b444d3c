"""Who pauses whom, back to the port that is congested and not paused itself; computed from what a run sampled.

A queue that was paused, and for how long, and the priority group that paused it, are counters of the switches
(`probes/README.md`): no pause is missed. A group pauses because of frames that came in by its port and wait in the
switch's egress queues. Which queues these are, the samples say: those that frames from that port can get to by the
paths of the run's flows, and that held at least a tenth of what all of them held while the group paused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fabriclab.formats.pauses import Held, PauseTree, QueueName, Root, Stopped
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.node import Port
from fabriclab.formats.plan.switch import IDENTITY
from fabriclab.formats.plan.turns import Turns, turns
from fabriclab.results.pause_cycles import find_cycles
from fabriclab.results.queue_series import Series, queue_series
from fabriclab.results.summary import Measured, Metrics

_LEAST_PART = 0.1
"""Of what a switch held: a queue with less is not why it paused."""
_OF_QUEUES = ("bytes", "sent_bytes", "pauses_received", "paused_ns", "storms")
NO_PFC = "no port sends pause frames (no pfc)"
NOT_SAMPLED = "no switch port was sampled (probes.switches)"


def pause_tree(measured: Measured, plan: Plan) -> PauseTree:
    """Return who paused whom in a run."""
    if not any(port.switch_port is not None and port.switch_port.pfc for node in plan.nodes for port in node.ports):
        return PauseTree(NO_PFC)
    if measured.switches.queues is None or not plan.probes.switch_ports:
        return PauseTree(NOT_SAMPLED)
    queues = queue_series(measured.switches.queues, "queue", _OF_QUEUES)
    groups = queue_series(measured.switches.groups, "group", ("xoffs", "xoff_ns"))
    flows = measured.flows.select("src", "dst").unique().collect(engine="streaming")
    paths = None if plan.configured is not None else turns(plan.nodes, plan.events, flows.iter_rows())
    stopped = sorted(_stopped(plan, queues, groups, paths), key=lambda one: (-one.paused_ns, one.name))
    cycles = find_cycles({one.name: [held.name for held in one.due_to] for one in stopped}, queues)
    return PauseTree(None, tuple(stopped), tuple(_roots(plan, stopped, queues)), cycles)


def pause_metrics(tree: PauseTree) -> Metrics:
    """Return the metrics of deadlocks; None where pauses were not measured."""
    if tree.reason is not None:
        return dict.fromkeys(("deadlocks", "deadlock_ns"))
    return {
        "deadlocks": sum(cycle.times for cycle in tree.deadlocks),
        "deadlock_ns": sum(cycle.stood_ns for cycle in tree.deadlocks),
    }


def _stopped(
    plan: Plan, queues: Mapping[QueueName, Series], groups: Mapping[QueueName, Series], paths: Turns | None
) -> Iterator[Stopped]:
    """Yield the queues that were stopped, as they count it, or, where nobody sampled them, as the port that did it."""
    last_ns = max((int(one.time_ns[-1]) for one in queues.values()), default=0)
    sampled = {port for port, _ in queues}
    for node in plan.nodes:
        for port in node.ports:
            name, by = f"{node.name}:{port.interface}", f"{port.peer_node}:{port.peer_interface}"
            peer = plan.peer_of(port)
            for queue, group in _stops(port, peer):
                own, theirs = queues.get((name, queue)), groups.get((by, group))
                if name in sampled:
                    times, paused_ns = (own.grown("pauses_received"), own.grown("paused_ns")) if own else (0, 0)
                else:
                    times, paused_ns = (theirs.grown("xoffs"), theirs.grown("xoff_ns")) if theirs else (0, 0)
                if paused_ns > 0:
                    due_to = () if theirs is None else _due_to(plan, by, group, theirs, queues, paths)
                    yield Stopped(name, queue, by, times, paused_ns, paused_ns / max(1, last_ns), due_to)


def _stops(port: Port, peer: Port) -> list[tuple[int, int]]:
    """Return the queues of a port that its neighbour can stop, each with the neighbour's group that does."""
    own, theirs = port.switch_port, peer.switch_port
    if own is None or own.pfc is None or theirs is None:
        return []
    return list(
        {
            own.maps.priority_to_queue[priority]: theirs.maps.priority_to_group[priority]
            for priority in own.pfc.priorities
        }.items()
    )


def _due_to(
    plan: Plan, by: str, group: int, xoff: Series, queues: Mapping[QueueName, Series], paths: Turns | None
) -> tuple[Held, ...]:
    """Return the queues that held what came in by a port while its group paused the neighbour."""
    lasted = np.diff(xoff.columns["xoff_ns"], prepend=0)
    lasted[xoff.time_ns <= 0] = 0
    total = int(lasted.sum())
    node, _, _ = by.partition(":")
    means = {
        name: int((queues[name].at(xoff.time_ns, "bytes") * lasted).sum() // total)
        for name in _egress(plan, node, by, group, paths)
        if name in queues and total
    }
    least = _LEAST_PART * sum(means.values())
    held = [Held(*name, mean) for name, mean in means.items() if mean > 0 and mean >= least]
    return tuple(sorted(held, key=lambda one: (-one.mean_bytes, one.name)))


def _egress(plan: Plan, node: str, by: str, group: int, paths: Turns | None) -> Iterator[QueueName]:
    """Yield the queues that frames of a group of a port can get to."""
    for port in plan.node(node).ports:
        name, buffer = f"{node}:{port.interface}", port.switch_port
        if buffer is None or name == by or (paths is not None and name not in paths.get(by, ())):
            continue
        for queue in {buffer.maps.tc_to_queue[tc] for tc in IDENTITY if buffer.maps.tc_to_group[tc] == group}:
            yield name, queue


def _roots(plan: Plan, stopped: Sequence[Stopped], queues: Mapping[QueueName, Series]) -> Iterator[Root]:
    """Yield where pauses begin, those that stopped queues longest first."""
    waits = {one.name for one in stopped}
    found: dict[tuple[str, int | None], Root] = {}
    for one in stopped:
        for held in one.due_to:
            if held.name not in waits:
                peak = int(queues[held.name].columns["bytes"].max())
                found.setdefault(held.name, Root(held.port, held.queue, "congested", peak))
        if not one.due_to:
            is_host = plan.node(one.by.partition(":")[0]).role == "host"
            found.setdefault((one.by, None), Root(one.by, None, "host" if is_host else "not sampled", None))
    yield from found.values()
